// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_trace_test.c - where periods go over many windows, with the settings of numa_core_test.c
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/string.h>

#define LOCAL		{ 1000, 0, 0, 0 }
#define REMOTE		{ 0, 0, 1000, 0 }
#define SHARED_HALF	{ 100, 400, 100, 400 }

/*
 * Faults of an address space that has just begun, or is old; each window is a pass, and
 * a second.  And the shortest, the longest and the last period, and what is learnt then.
 */
static const struct space_trace {
	const char *name;
	const struct numa_settings *settings;
	bool old;
	int rounds;
	struct {
		int windows;
		u64 pages[NUMA_NR_CLASSES];
	} phases[2];
	u32 least_ms, most_ms, end_ms, learnt_ms;
} space_traces[] = {
	/*
	 * What settles gets 110 %, once; with steady_pct it goes on.  Meanwhile what is
	 * calm has twice the kernel's, and what is shared four times.
	 */
	{ "series: all local", &series, true, 1, { { 50, LOCAL } }, 2000, 2000, 2000, 1100 },
	{ "all local", &reviewed, true, 1, { { 50, LOCAL } }, 2000, 5000, 5000, 5000 },
	/* As published, at about 50 ms for ever, though it does not help. */
	{ "series: all remote", &series, true, 1, { { 50, REMOTE } }, 50, 55, 55, 55 },
	{ "all remote", &reviewed, true, 1, { { 50, REMOTE } }, 250, 5000, 5000, 5000 },
	{ "migrated", &reviewed, true, 1, { { 3, REMOTE }, { 11, LOCAL } }, 250, 5000, 5000, 5000 },
	{ "phase change", &reviewed, true, 1, { { 10, LOCAL }, { 3, REMOTE } },
	  2000, 5000, 2203, 2203 },
	{ "series: shared", &series, true, 1, { { 50, SHARED_HALF } }, 4000, 4000, 4000, 1000 },
	{ "shared", &reviewed, true, 1, { { 50, SHARED_HALF } }, 4000, 5000, 5000, 5000 },
	{ "half and half", &reviewed, true, 1, { { 50, { 500, 0, 500, 0 } } },
	  250, 5000, 5000, 5000 },
	{ "alternating", &reviewed, true, 25, { { 1, LOCAL }, { 1, REMOTE } },
	  1000, 5000, 5000, 5000 },
	/* What is learnt is no shorter than the kernel's either, and settles from there. */
	{ "short life", &reviewed, false, 1, { { 4, REMOTE } }, 1000, 1100, 1100, 1100 },
	{ "idle", &reviewed, true, 1, { { 50, { 1, 0, 0, 0 } } }, 1000, 1000, 1000, 1000 },
};

NAMED_CASES(space, space_traces);

static void trace_of_an_address_space(struct kunit *test)
{
	const struct space_trace *c = test->param_value;
	struct numa_facts facts = { .resident = 5000, .kernel_ms = 1000 };
	u32 least = U32_MAX, most = 0;
	struct numa_decision got = { };
	struct numa_counts now = { };
	struct numa_period learnt;
	int i, window;

	if (c->old)
		facts = (struct numa_facts){ 9, 0, 5000, 9000, 9000, 1000 };
	numa_period_begin(&learnt, &now, &facts, c->settings);
	for (i = 0; i < 2 * c->rounds; i++)
		for (window = 0; window < c->phases[i % 2].windows; window++) {
			counts_add(&now, c->phases[i % 2].pages);
			got = numa_period_window(&learnt, &now, &facts, c->settings);
			least = min(least, got.period_ms);
			most = max(most, got.period_ms);
			facts.pass++;
			facts.lived_ms += 1000;
			facts.run_ms += 1000;
		}
	KUNIT_EXPECT_EQ(test, least, c->least_ms);
	KUNIT_EXPECT_EQ(test, most, c->most_ms);
	KUNIT_EXPECT_EQ(test, got.period_ms, c->end_ms);
	KUNIT_EXPECT_EQ(test, got.learnt_ms, c->learnt_ms);
}

static void one_look_in_a_pass(struct kunit *test)
{
	/* Passes, local and remote pages of a window, and passes without a move then. */
	static const struct {
		u32 passes;
		u64 local, remote;
		u32 unmoved;
	} windows[] = {
		/* Half, of which there is no pass yet; then the first. */
		{ 0, 1000, 1000, 0 }, { 1, 1000, 1000, 0 }, { 1, 1000, 1000, 1 },
		/* In between it may be anything. */
		{ 0, 0, 1000, 1 }, { 0, 3000, 2000, 1 }, { 0, 1000, 1000, 1 },
		/* Too few are no look, but the pass was made. */
		{ 1, 0, 10, 2 }, { 1, 1000, 1000, 3 },
		/* By little at a time. */
		{ 1, 1100, 900, 4 }, { 1, 1150, 850, 5 }, { 1, 1200, 800, 6 }, { 1, 1200, 800, 0 },
		{ 1, 1200, 800, 1 },
	};
	struct numa_facts facts = { U32_MAX - 2, 0, 9, 9000, 9000, 1000 };
	struct numa_counts now = { };
	struct numa_period learnt;
	int i;

	numa_period_begin(&learnt, &now, &facts, &reviewed);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		facts.pass += windows[i].passes;
		counts_add(&now, PAGES(windows[i].local, 0, windows[i].remote, 0));
		numa_period_window(&learnt, &now, &facts, &reviewed);
		KUNIT_EXPECT_EQ_MSG(test, facts.pass - learnt.moved, windows[i].unmoved,
				    "window %d", i);
	}
}

/*
 * Whatever the faults: bounds hold, and that of the kernel; small windows teach nothing,
 * constant ones settle.
 */
static void random_windows_keep_the_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i;

	prandom_seed_state(&rnd, 20220128);
	for (round = 0; round < 200; round++) {
		u32 period_min_ms = 1 + prandom_u32_state(&rnd) % 3000;
		const struct numa_settings settings = {
			.period_min_ms = period_min_ms,
			.period_max_ms = period_min_ms + prandom_u32_state(&rnd) % 60000,
			.step_max_pct = 100 + prandom_u32_state(&rnd) % 9901,
			.steady_pct = 100 + prandom_u32_state(&rnd) % 200,
		};
		struct numa_facts facts = { .kernel_ms = prandom_u32_state(&rnd) };
		struct numa_counts now = { };
		struct numa_period learnt;
		u32 last, kernel_ms, steps = 0;

		numa_period_begin(&learnt, &now, &facts, &settings);
		for (i = 0; i < 300; i++) {
			int size = prandom_u32_state(&rnd) % 62;
			u64 big = prandom_u32_state(&rnd) * (1ULL << size) >> 16;
			struct numa_decision got;

			last = learnt.period_us;
			/* Random ones first, then all the same; a counter may wrap. */
			if (i < 50)
				counts_add(&now, PAGES(big, size, big >> size % 8, size / 2));
			else
				counts_add(&now, PAGES(1000 << round % 8, round * 3, 3000, round));
			facts.pass += i & 1;
			facts.scanned = prandom_u32_state(&rnd);
			facts.resident = prandom_u32_state(&rnd);
			facts.lived_ms = i * 100;
			facts.run_ms = i * 50;
			if (i < 50)
				facts.kernel_ms = prandom_u32_state(&rnd) >> size % 32;
			kernel_ms = clamp(facts.kernel_ms, settings.period_min_ms,
					  settings.period_max_ms);
			got = numa_period_window(&learnt, &now, &facts, &settings);
			KUNIT_ASSERT_GE(test, got.period_ms, settings.period_min_ms);
			KUNIT_ASSERT_LE(test, got.period_ms, settings.period_max_ms);
			if (!numa_past_scan_delay(&facts) || got.recent <= 30)
				KUNIT_ASSERT_GE(test, got.period_ms, kernel_ms);
			if (got.reason != NUMA_BY_FEW && (got.recent <= 5 || got.shared))
				KUNIT_ASSERT_GE(test, got.period_ms,
						min((got.shared ? 4 : 2) * kernel_ms,
						    settings.period_max_ms));
			if (got.reason == NUMA_BY_FEW)
				KUNIT_ASSERT_NE(test, got.limit, NUMA_LIMIT_CALM);
			if (got.reason == NUMA_BY_FEW && got.limit < NUMA_LIMIT_SCAN_DELAY)
				KUNIT_ASSERT_EQ(test, learnt.period_us, last);
			if (got.limit >= NUMA_LIMIT_SCAN_DELAY)
				KUNIT_ASSERT_GE(test, learnt.period_us, kernel_ms * 1000);
			/* Constant, and the history forgotten: never shorter again. */
			if (i >= 200)
				steps += learnt.period_us < last;
		}
		KUNIT_ASSERT_EQ(test, steps, 0U);
	}
}

/*
 * What the kernel does by itself, a pass at a time, on the faults that there were: the
 * more of them are private, or local, the longer its period; or else the shorter.
 */
struct stock {
	u32 period_ms, period_min_ms, period_max_ms;
	u64 pages[NUMA_NR_CLASSES];
};

static void stock_begin(struct stock *stock, u32 scans)
{
	/* The time is for a pass: an address space of many scans has them more often. */
	*stock = (struct stock){ .period_min_ms = max(1000 / scans, 100U) };
	stock->period_max_ms = max(60000 / scans, stock->period_min_ms);
	stock->period_ms = stock->period_min_ms;
}

static void stock_pass(struct stock *stock)
{
	const u64 *pages = stock->pages;
	u64 local = pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_LOCAL_SHARED];
	u64 private = pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_REMOTE_PRIVATE];
	u64 all = private + pages[NUMA_LOCAL_SHARED] + pages[NUMA_REMOTE_SHARED];
	int tenth = DIV_ROUND_UP(stock->period_ms, 10), slots;
	int period = stock->period_ms;

	if (!all || all == pages[NUMA_REMOTE_PRIVATE]) {
		period *= 2;
	} else {
		slots = (int)div64_u64(private * 10, all) - NUMA_PRIVATE_TENTHS;
		if (slots < 0)
			slots = max(slots, (int)div64_u64(local * 10, all) - NUMA_PRIVATE_TENTHS);
		period += (slots ?: 1) * tenth;
	}
	stock->period_ms = clamp(period, (int)stock->period_min_ms, (int)stock->period_max_ms);
	memset(stock->pages, 0, sizeof(stock->pages));
}

/*
 * An address space that a pass takes some scans for, each of a thousand pages, in mode
 * period: nothing is sampled.  All are remote at first and private; some scans' worth of
 * them migrates, as with the kernel at the second fault, the rest never does.  And the
 * most faults there may be, in percent of those that the kernel alone has.
 */
static const struct outcome_case {
	const char *name;
	u32 scans, migrate;
	bool local;
	u32 faults_pct;
} outcome_cases[] = {
	{ "small, migrates", 1, 1, false, 70 },
	{ "migrates", 4, 4, false, 65 },
	{ "large, migrates", 16, 16, false, 65 },
	{ "most migrates", 16, 14, false, 70 },
	/* What cannot be helped is not hurried. */
	{ "never migrates", 4, 0, false, 65 },
	{ "some migrates", 4, 1, false, 65 },
	/* What was seen a part at a time would look like one change after the other. */
	{ "half migrates", 4, 2, false, 70 },
	{ "large, half migrates", 16, 8, false, 75 },
	{ "small, local", 1, 1, true, 55 },
	{ "local", 4, 4, true, 55 },
	{ "large, local", 16, 16, true, 55 },
	/* A pass takes long, and so does a window. */
	{ "huge, migrates", 40, 40, false, 65 },
	{ "huge, some migrates", 40, 10, false, 70 },
	{ "huge, half migrates", 40, 20, false, 80 },
	{ "huger, half migrates", 64, 32, false, 90 },
	{ "huge, never migrates", 40, 0, false, 60 },
	{ "huge, local", 40, 40, true, 55 },
};

NAMED_CASES(outcome, outcome_cases);

/* When all that can migrate has, and the faults of ten minutes. */
struct outcome {
	u32 converged_ms;
	u64 faults;
};

/* With no settings it is the kernel alone. */
static struct outcome live(struct kunit *test, const struct outcome_case *c,
			   const struct numa_settings *settings)
{
	struct numa_facts facts = { .resident = 1000 * c->scans };
	struct numa_decision got = { .recent = 100 };
	struct outcome outcome = { };
	struct numa_counts now = { };
	struct numa_period learnt = { };
	u8 tried[64] = { };
	struct stock stock;
	u32 at = 0, ms, period;
	bool local;

	stock_begin(&stock, c->scans);
	facts.kernel_ms = stock.period_ms;
	if (settings)
		numa_period_begin(&learnt, &now, &facts, settings);
	/* A process is scanned for the first time when it has run for a second. */
	for (ms = 1000; ms < 600000; ms += period) {
		facts.lived_ms = ms;
		facts.run_ms = ms;
		facts.kernel_ms = stock.period_ms;
		/* A window is a pass, however many scans it takes. */
		if (settings && !at)
			got = numa_period_window(&learnt, &now, &facts, settings);
		period = settings ? got.period_ms : stock.period_ms;
		if (got.recent <= 30)
			KUNIT_EXPECT_GE(test, period, stock.period_ms);
		local = c->local || tried[at] == 2;
		stock.pages[local ? NUMA_LOCAL_PRIVATE : NUMA_REMOTE_PRIVATE] += 1000;
		counts_add(&now, local ? PAGES(1000, 0, 0, 0) : PAGES(0, 0, 1000, 0));
		if (!local && at < c->migrate && ++tried[at] == 2)
			outcome.converged_ms = ms;
		facts.scanned += 1000;
		if (++at == c->scans) {
			at = 0;
			facts.pass++;
			stock_pass(&stock);
		}
	}
	outcome.faults = now.faults;
	return outcome;
}

/* No later than the kernel alone, and with so many faults at most. */
static void outcome_beside_the_kernel(struct kunit *test)
{
	const struct outcome_case *c = test->param_value;
	struct outcome kernel = live(test, c, NULL), ours = live(test, c, &defaults);

	KUNIT_EXPECT_LE(test, ours.converged_ms, kernel.converged_ms);
	KUNIT_EXPECT_LE(test, ours.faults * 100, kernel.faults * c->faults_pct);
}

/* All memory of a process of 64 GiB is scanned in four minutes, not in 17 hours. */
static void a_pass_of_a_large_process_ends(struct kunit *test)
{
	struct numa_facts facts = OLD(234);
	struct numa_settings settings = defaults;
	struct numa_counts now = { };
	struct numa_decision got = { };
	struct numa_period learnt;
	u32 scans = numa_scans_of_pass(64ULL << 18, 65536), window;

	facts.resident = 64ULL << 18;
	numa_settings_per_scan(&settings, scans, 256);
	numa_period_begin(&learnt, &now, &facts, &settings);
	for (window = 0; window < 40; window++) {
		now.pages[NUMA_LOCAL_PRIVATE] += 1000000;
		now.faults += 1000000;
		facts.pass++;
		got = numa_period_window(&learnt, &now, &facts, &settings);
	}
	KUNIT_EXPECT_EQ(test, got.period_ms, 937U);
	KUNIT_EXPECT_LE(test, (u64)got.period_ms * scans, (u64)defaults.period_max_ms);
}

static struct kunit_case numa_trace_cases[] = {
	KUNIT_CASE(a_pass_of_a_large_process_ends),
	KUNIT_CASE_PARAM(trace_of_an_address_space, space_gen_params),
	KUNIT_CASE(one_look_in_a_pass),
	KUNIT_CASE(random_windows_keep_the_bounds),
	KUNIT_CASE_PARAM(outcome_beside_the_kernel, outcome_gen_params),
	{ }
};

static struct kunit_suite numa_trace_suite = {
	.name = "livemm_numa_trace",
	.test_cases = numa_trace_cases,
};
