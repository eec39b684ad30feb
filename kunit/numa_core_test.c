// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_core_test.c - the parts of the period of scanning, on made-up faults
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core.c"

/*
 * Bounds of the series.  The shortest is half of what the kernel's own limit comes to,
 * since memory has become faster; the longest was "found to work well", though the
 * kernel's own is 60000.
 */
#define SERIES_BOUNDS	.period_min_ms = 50, .period_max_ms = 5000

/* As published: nothing of ours. */
static const struct numa_settings series = {
	SERIES_BOUNDS,
	.step_max_pct = 10000,
	.steady_pct = 100,
};

/* With what the review asked for. */
static const struct numa_settings reviewed = {
	SERIES_BOUNDS,
	.step_max_pct = NUMA_STEP_MAX_PCT,
	.steady_pct = 130,
};

/* As the policy has it by itself. */
static const struct numa_settings defaults = {
	.period_min_ms = NUMA_PERIOD_MIN_MS,
	.period_max_ms = NUMA_PERIOD_MAX_MS,
	.step_max_pct = NUMA_STEP_MAX_PCT,
	.steady_pct = NUMA_STEADY_PCT,
};

/* Of an address space that is old, was scanned often, and has as much as was scanned. */
#define OLD(kernel_ms)	{ 9, 0, 9, 9000, 9000, kernel_ms }

static void counts_add(struct numa_counts *counts, const u64 *pages)
{
	int i;

	for (i = 0; i < NUMA_NR_CLASSES; i++) {
		counts->pages[i] += pages[i];
		counts->faults += pages[i];
	}
}

#define PAGES(...) ((const u64 []) { __VA_ARGS__ })

/* Bounds of a scan, by the size of the process and of a scan: the kernel's own rule. */
static const struct size_case {
	const char *name;
	u64 resident;	/* MiB */
	u32 scan_mib, scans, min_ms, max_ms;
} size_cases[] = {
	/* With 1000 and 60000 for a pass these are the kernel's. */
	{ "empty", 0, 256, 1, 1000, 60000 },
	{ "16 MiB", 16, 256, 1, 1000, 60000 },
	{ "256 MiB", 256, 256, 1, 1000, 60000 },
	{ "257 MiB", 257, 256, 2, 500, 30000 },
	{ "4 GiB", 4096, 256, 16, 100, 3750 },
	{ "64 GiB", 65536, 256, 256, 100, 234 },
	{ "4 TiB", 4 << 20, 256, 16384, 100, 100 },
	/* A scan of 2 MiB makes 256 MiB as large as 32 GiB, and no less fast. */
	{ "256 MiB by 2", 256, 2, 128, 7, 468 },
	{ "4 GiB by 2", 4096, 2, 2048, 1, 29 },
	{ "4 GiB by 4096", 4096, 4096, 1, 1000, 60000 },
	{ "none by none", 0, 0, 1, 1000, 60000 },
};

NAMED_CASES(size, size_cases);

static void bounds_are_those_of_a_pass(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct numa_settings settings = { .period_min_ms = 1000, .period_max_ms = 60000 };
	u32 scans = numa_scans_of_pass(c->resident << 8, c->scan_mib << 8);

	KUNIT_EXPECT_EQ(test, scans, c->scans);
	numa_settings_per_scan(&settings, scans, c->scan_mib);
	KUNIT_EXPECT_EQ(test, settings.period_min_ms, c->min_ms);
	KUNIT_EXPECT_EQ(test, settings.period_max_ms, c->max_ms);
}

static void floors_of_a_thread(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_scan_floor(256), 100U);
	KUNIT_EXPECT_EQ(test, numa_scan_floor(0), 1U);
	KUNIT_EXPECT_EQ(test, numa_scan_floor(U32_MAX), NUMA_SCAN_DELAY_RUN_MS);
	KUNIT_EXPECT_TRUE(test, numa_thread_may_ask(200, 200));
	KUNIT_EXPECT_FALSE(test, numa_thread_may_ask(999, 60000));
	KUNIT_EXPECT_TRUE(test, numa_thread_may_ask(1000, 60000));
}

static void faults_have_a_class(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_class(true, true), NUMA_LOCAL_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(true, false), NUMA_LOCAL_SHARED);
	KUNIT_EXPECT_EQ(test, numa_class(false, true), NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(false, false), NUMA_REMOTE_SHARED);
}

/* Each its own, and fit for a line that is split at blanks. */
static void words_are_words(struct kunit *test)
{
	const char *words[NUMA_NR_REASONS + NUMA_NR_LIMITS];
	int i, other, of = NUMA_NR_REASONS;

	for (i = 0; i < NUMA_NR_REASONS; i++)
		words[i] = numa_reason_words[i];
	for (i = 0; i < NUMA_NR_LIMITS; i++)
		words[of + i] = numa_limit_words[i];
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		KUNIT_ASSERT_NOT_NULL(test, words[i]);
		KUNIT_EXPECT_GT(test, strlen(words[i]), 0UL);
		KUNIT_EXPECT_EQ(test, strspn(words[i], "abcdefghijklmnopqrstuvwxyz_"),
				strlen(words[i]));
		for (other = i < of ? 0 : of; other < i; other++)
			KUNIT_EXPECT_NE(test, strcmp(words[i], words[other]), 0);
	}
	KUNIT_EXPECT_STREQ(test, numa_reason_words[NUMA_BY_STEADY], "steady");
	KUNIT_EXPECT_STREQ(test, numa_limit_words[NUMA_LIMIT_KERNEL], "kernel");
	KUNIT_EXPECT_STREQ(test, numa_limit_words[NUMA_LIMIT_CALM], "calm");
}

static void a_small_window_goes_on(struct kunit *test)
{
	struct numa_counts closed = { }, now = { }, window;

	/* Of counters that are about to wrap. */
	counts_add(&closed, PAGES(U64_MAX - 10, U64_MAX, 5, 0));
	now = closed;
	counts_add(&now, PAGES(40, 30, 20, 9));
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, &window));
	counts_add(&now, PAGES(0, 0, 0, 1));
	KUNIT_EXPECT_TRUE(test, numa_counts_take(&closed, &now, &window));
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_LOCAL_PRIVATE], 40ULL);
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_LOCAL_SHARED], 30ULL);
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_REMOTE_SHARED], 10ULL);
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, &window));
	/* Faults make a window, not the pages of one huge page. */
	now.faults++;
	now.pages[NUMA_REMOTE_PRIVATE] += 512;
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, &window));
}

static void history_decays(struct kunit *test)
{
	/* 1/4 of local and remote, 1/2 of private and shared, in each window. */
	static const u64 locality[] = { 400, 300, 225, 169, 127 };
	static const u64 sharing[] = { 400, 200, 100, 50, 25 };
	struct numa_counts window = { .pages = { 400, 0, 0, 400 } }, none = { };
	struct numa_history history = { };
	int i;

	numa_history_add(&history, &window);
	for (i = 0; i < ARRAY_SIZE(locality); i++, numa_history_add(&history, &none)) {
		KUNIT_EXPECT_EQ(test, history.local, locality[i]);
		KUNIT_EXPECT_EQ(test, history.remote, locality[i]);
		KUNIT_EXPECT_EQ(test, history.shared, sharing[i]);
	}
	/* What goes on comes to four windows, and to two. */
	for (i = 0; i < 100; i++)
		numa_history_add(&history, &window);
	KUNIT_EXPECT_LE(test, abs((int)history.local - 1600), 4);
	KUNIT_EXPECT_LE(test, abs((int)history.private - 800), 2);
}

static void rates_of_a_history(struct kunit *test)
{
	/* Percent of remote faults, tenths of private ones. */
	static const struct {
		struct numa_history history;
		unsigned int rate, private;
	} cases[] = {
		{ { 0, 0, 0, 0 }, 1, 0 },
		{ { 100, 0, 100, 0 }, 1, 9 },
		{ { 0, 100, 0, 100 }, 99, 0 },
		{ { 300, 100, 300, 100 }, 24, 7 },
		{ { 299, 100, 299, 100 }, 25, 7 },
		{ { 50, 50, 50, 50 }, 49, 4 },
		/* 30 % shared is not more than 30 %. */
		{ { 0, 999, 699, 300 }, 99, 6 },
		{ { 0, 999, 700, 299 }, 99, 7 },
		{ { 3ULL << 49, 1ULL << 49, 1ULL << 50, 0 }, 25, 10 },
		{ { 0, 1ULL << 51, 7ULL << 47, 3ULL << 47 }, 100, 7 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		KUNIT_EXPECT_EQ(test, numa_remote_rate(&c->history), c->rate);
		KUNIT_EXPECT_EQ(test, numa_private_share(&c->history), c->private);
	}
}

/* What compares so compares so at any size. */
static void extreme_counts_keep_their_rates(struct kunit *test)
{
	static const u64 pages[][2] = { { 1ULL << 63, 1ULL << 63 }, { U64_MAX, U64_MAX / 4 } };
	static const int rates[] = { 50, 20 };
	struct numa_history history = { };
	struct numa_counts window;
	int i;

	for (i = 0; i < 200; i++) {
		struct numa_counts closed = { }, now = { U64_MAX, { pages[i / 100][0] } };

		now.pages[NUMA_REMOTE_PRIVATE] = pages[i / 100][1];
		numa_counts_take(&closed, &now, &window);
		numa_history_add(&history, &window);
		KUNIT_ASSERT_LE(test, history.local, 1ULL << (NUMA_COUNT_BITS + 3));
		if (i % 100 > 50)
			KUNIT_ASSERT_LE(test, abs((int)numa_remote_rate(&history) -
						  rates[i / 100]), 1);
	}
}

/*
 * A state of the trend with the rates of the two windows before, the older one first;
 * a window; and what comes of them: trend, intention, and in percent what the period
 * is divided by and what slope is remembered.  Before, that is 200 % when shortening,
 * 50 % when lengthening.  1 is to lengthen.
 */
static const struct step_case {
	const char *name;
	bool lengthening, intended;
	u8 older, rate;
	struct numa_sight sight;
	bool then, intends;
	unsigned int slope, kept;
	enum numa_reason reason;
} step_cases[] = {
	/* Fewer faults are remote. */
	{ "fell once", 0, 0, 40, 30, { 20, 9, 2 }, 0, 1, 100, 200, NUMA_BY_WAIT },
	{ "fell twice", 0, 1, 40, 30, { 20, 9, 2 }, 1, 1, 75, 75, NUMA_BY_FALL },
	{ "falls on", 1, 1, 40, 30, { 15, 9, 2 }, 1, 1, 50, 50, NUMA_BY_FALL },
	{ "fell once, shared", 0, 0, 40, 30, { 20, 4, 2 }, 1, 1, 100, 76, NUMA_BY_SHARED },
	{ "fell twice, shared", 0, 1, 40, 30, { 20, 4, 2 }, 1, 1, 75, 75, NUMA_BY_FALL },
	{ "falls again", 1, 0, 40, 30, { 20, 9, 2 }, 1, 1, 100, 50, NUMA_BY_WAIT },
	{ "falls by way of a rise", 0, 1, 40, 90, { 20, 9, 2 }, 1, 1, 100, 100, NUMA_BY_FALL },
	{ "fell, rises a little", 1, 1, 40, 10, { 30, 9, 2 }, 1, 1, 100, 100, NUMA_BY_FALL },
	{ "by 6 is a fall", 0, 1, 40, 35, { 34, 9, 2 }, 1, 1, 87, 87, NUMA_BY_FALL },
	/* More are. */
	{ "rose twice", 1, 0, 20, 30, { 40, 9, 2 }, 0, 0, 150, 150, NUMA_BY_RISE },
	{ "rises on", 0, 0, 20, 30, { 45, 9, 2 }, 0, 0, 150, 150, NUMA_BY_RISE },
	{ "rose once", 1, 1, 20, 30, { 40, 9, 2 }, 1, 0, 100, 50, NUMA_BY_WAIT },
	{ "rises again", 0, 1, 20, 30, { 40, 9, 2 }, 0, 0, 100, 200, NUMA_BY_WAIT },
	{ "rose twice, shared", 1, 0, 20, 30, { 40, 6, 2 }, 1, 1, 50, 50, NUMA_BY_SHARED },
	{ "rises on, shared", 0, 0, 20, 30, { 40, 6, 2 }, 0, 1, 100, 200, NUMA_BY_SHARED },
	{ "rises again, shared", 0, 1, 20, 30, { 40, 6, 2 }, 1, 1, 100, 90, NUMA_BY_SHARED },
	{ "rises by way of a fall", 1, 0, 30, 10, { 40, 9, 2 }, 0, 0, 100, 100, NUMA_BY_RISE },
	{ "first window, all remote", 0, 0, 1, 1, { 99, 9, 0 }, 0, 0, 9900, 9900, NUMA_BY_RISE },
	{ "to 1 at once", 1, 1, 99, 99, { 1, 9, 2 }, 1, 1, 1, 1, NUMA_BY_FALL },
	/* As many. */
	{ "stable", 1, 1, 30, 30, { 30, 9, 2 }, 1, 0, 100, 50, NUMA_BY_STEADY },
	{ "5 up is stable", 0, 0, 30, 30, { 35, 9, 2 }, 0, 0, 200, 200, NUMA_BY_STABLE },
	{ "5 down too", 0, 0, 30, 30, { 25, 9, 2 }, 0, 1, 100, 200, NUMA_BY_WAIT },
	{ "settled", 0, 1, 30, 30, { 30, 9, 2 }, 1, 1, 90, 90, NUMA_BY_SETTLED },
	{ "settled, not all seen", 0, 1, 30, 30, { 30, 9, 1 }, 0, 0, 200, 200, NUMA_BY_STABLE },
	{ "not settled, uneven", 0, 1, 30, 27, { 30, 9, 2 }, 0, 0, 200, 200, NUMA_BY_STABLE },
	{ "stable, shared once", 0, 0, 30, 30, { 30, 6, 0 }, 0, 1, 100, 200, NUMA_BY_WAIT },
	{ "stable, shared twice", 0, 1, 30, 30, { 30, 6, 0 }, 1, 1, 90, 90, NUMA_BY_SHARED },
	{ "all shared", 0, 1, 30, 30, { 30, 0, 0 }, 1, 1, 58, 58, NUMA_BY_SHARED },
};

NAMED_CASES(step, step_cases);

static void step_of_the_trend(struct kunit *test)
{
	const struct step_case *c = test->param_value;
	struct numa_trend trend = {
		.lengthening = c->lengthening,
		.intended = c->intended,
		.rate = c->rate,
		.older = c->older,
		.slope = c->lengthening ? NUMA_SLOPE_ONE / 2 : NUMA_SLOPE_ONE * 2,
	};
	struct numa_step step = numa_trend_window(&trend, &c->sight, &series);

	KUNIT_EXPECT_EQ(test, trend.lengthening, c->then);
	KUNIT_EXPECT_EQ(test, trend.intended, c->intends);
	KUNIT_EXPECT_EQ(test, step.slope * 100 / NUMA_SLOPE_ONE, c->slope);
	KUNIT_EXPECT_EQ(test, trend.slope * 100 / NUMA_SLOPE_ONE, c->kept);
	KUNIT_EXPECT_EQ(test, step.reason, c->reason);
	KUNIT_EXPECT_EQ(test, trend.moved,
			abs((int)c->sight.rate - c->older) > 5 ? c->sight.pass : 0);
}

static void every_state_has_one_rule(struct kunit *test)
{
	const struct rule *r;
	int i, matched;

	for (i = 0; i < 2 * 2 * 3 * 3; i++) {
		matched = 0;
		for (r = rules; r < rules + ARRAY_SIZE(rules); r++)
			matched += r->trend >> i % 2 & r->intended >> i / 2 % 2 &
				   r->change >> i / 4 % 3 & r->plea >> i / 12 & 1;
		KUNIT_EXPECT_EQ_MSG(test, matched, 1, "state %d", i);
	}
}

/* A step goes with the trend, which takes two windows to turn, or sharing. */
static void every_step_keeps_the_promises(struct kunit *test)
{
	static const u8 rates[] = { 1, 6, 7, 30, 49, 50, 94, 99 };
	unsigned int i, longer = 0, shorter = 0, turns = 0;

	for (i = 0; i < 4 * 8 * 8 * 8 * 11; i++) {
		const struct numa_sight sight = {
			.rate = rates[i / 4 % 8],
			.private = i / 4 / 8 / 8 / 8,
			.pass = 5,
		};
		struct numa_trend trend = {
			.lengthening = i & 1,
			.intended = i & 2,
			.rate = rates[i / 4 / 8 % 8],
			.older = rates[i / 4 / 8 / 8 % 8],
			.slope = i & 1 ? NUMA_SLOPE_ONE / 3 : NUMA_SLOPE_ONE * 3,
		}, before = trend;
		struct numa_step step = numa_trend_window(&trend, &sight, &series);

		KUNIT_ASSERT_GT(test, step.slope, 0U);
		if (trend.lengthening || sight.private < NUMA_PRIVATE_TENTHS)
			KUNIT_ASSERT_LE(test, step.slope, NUMA_SLOPE_ONE);
		else
			KUNIT_ASSERT_GE(test, step.slope, NUMA_SLOPE_ONE);
		if (trend.lengthening != before.lengthening && sight.private >= NUMA_PRIVATE_TENTHS)
			KUNIT_ASSERT_TRUE(test, before.intended == trend.lengthening &&
					  trend.intended == trend.lengthening);
		longer += step.slope < NUMA_SLOPE_ONE;
		shorter += step.slope > NUMA_SLOPE_ONE;
		turns += trend.lengthening != before.lengthening;
	}
	/* And there are such steps. */
	KUNIT_EXPECT_GT(test, longer, 0U);
	KUNIT_EXPECT_GT(test, shorter, 0U);
	KUNIT_EXPECT_GT(test, turns, 0U);
}

static void periods_do_not_truncate(struct kunit *test)
{
	const u32 one = NUMA_SLOPE_ONE;

	/* In whole milliseconds, 50 would stay 50 for ever. */
	KUNIT_EXPECT_EQ(test, numa_period_divide(50000, one / 100 * 99, &series), 50533U);
	KUNIT_EXPECT_EQ(test, numa_period_divide(1000000, one * 99, &series), 50000U);
	KUNIT_EXPECT_EQ(test, numa_period_divide(1000000, 1, &series), 5000000U);
	KUNIT_EXPECT_EQ(test, numa_period_divide(U32_MAX, U32_MAX, &series), 65536U);
	KUNIT_EXPECT_EQ(test, numa_period_divide(0, one, &series), 50000U);
}

static void a_step_can_be_limited(struct kunit *test)
{
	const struct numa_sight sight = { .rate = 99, .private = 9 };
	struct numa_settings settings = series;
	struct numa_trend trend;
	u32 times;

	for (times = 1; times < 99; times += 7) {
		settings.step_max_pct = times * 100;
		numa_trend_begin(&trend, 0);
		KUNIT_EXPECT_EQ(test, numa_trend_window(&trend, &sight, &settings).slope,
				NUMA_SLOPE_ONE * times);
	}
}

static void steady_windows_lengthen(struct kunit *test)
{
	/* In pass 5 the rate was last seen to move. */
	static const struct {
		const struct numa_settings *settings;
		struct numa_sight sight;
		u32 pct;
	} cases[] = {
		{ &reviewed, { 10, 9, 5 }, 130 },
		{ &series, { 10, 9, 5 }, 100 },
		/* Many remote faults that may yet be helped: the pace is kept. */
		{ &reviewed, { 80, 9, 5 }, 100 },
		{ &reviewed, { 80, 9, 6 }, 100 },
		/* Shared ones may not; nor those that two passes did not help. */
		{ &reviewed, { 80, 6, 5 }, 130 },
		{ &reviewed, { 80, 9, 7 }, 130 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		struct numa_trend trend = { true, true, c->sight.rate, c->sight.rate, 1, 5 };

		KUNIT_EXPECT_EQ(test, numa_trend_window(&trend, &c->sight, c->settings).slope,
				ratio(100, c->pct));
	}
}

static void first_pass_scales_the_maximum(struct kunit *test)
{
	/* Pass, pages scanned and resident. */
	static const struct {
		struct numa_facts facts;
		u32 period_max_ms;
	} cases[] = {
		{ { 0, 0, 1000 }, 50 }, { { 0, 250, 1000 }, 1250 }, { { 0, 1000, 1000 }, 5000 },
		{ { 0, U64_MAX, 1000 }, 5000 }, { { 0, U64_MAX / 2, U64_MAX }, 2499 },
		{ { 0, 0, 0 }, 5000 }, { { 1, 0, 1000 }, 5000 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		KUNIT_EXPECT_EQ(test, numa_first_pass_max(&c->facts, &series), c->period_max_ms);
}

/* What the last window was; few faults are none. */
enum limit_window { FEW, ENOUGH, MOSTLY_SHARED };

/*
 * A period that was learnt; the last window, and percent of remote faults in it; pass,
 * pages scanned and resident, time lived and run, the kernel's period; the period to use,
 * what is learnt then, and why; passes in which the rate has not moved.
 */
static const struct limit_case {
	const char *name;
	u32 learnt_ms;
	enum limit_window window;
	unsigned int recent;
	struct numa_facts facts;
	u32 period_ms, kept_ms;
	enum numa_limit limit;
	u32 unmoved;
} limit_cases[] = {
	{ "none", 1700, FEW, 0, OLD(1000), 1700, 1700, NUMA_LIMIT_NONE },
	{ "pass 0", 3000, FEW, 0, { 0, 4, 10, 9000, 9000, 1000 }, 2000, 3000,
	  NUMA_LIMIT_FIRST_PASS },
	/* It may be as short as was learnt, if that is of use. */
	{ "few remote", 60, ENOUGH, 30, OLD(1000), 1000, 1000, NUMA_LIMIT_KERNEL },
	{ "many remote", 60, ENOUGH, 31, OLD(1000), 60, 60, NUMA_LIMIT_NONE },
	{ "many remote, a pass", 60, ENOUGH, 99, OLD(1000), 60, 60, NUMA_LIMIT_NONE, 1 },
	{ "many remote, not helped", 60, ENOUGH, 99, OLD(1000),
	  1000, 1000, NUMA_LIMIT_KERNEL, 2 },
	{ "not helped, but slower", 3000, ENOUGH, 99, OLD(1000),
	  3000, 3000, NUMA_LIMIT_NONE, 9 },
	{ "few faults", 60, FEW, 0, OLD(1000), 1000, 1000, NUMA_LIMIT_KERNEL },
	{ "as the kernel's", 1000, ENOUGH, 30, OLD(1000), 1000, 1000, NUMA_LIMIT_NONE },
	{ "pass 0, few remote", 3000, ENOUGH, 30, { 0, 1, 10, 9000, 9000, 1000 }, 1000, 3000,
	  NUMA_LIMIT_KERNEL },
	{ "pass 0, many remote", 3000, ENOUGH, 31, { 0, 1, 10, 9000, 9000, 1000 }, 500, 3000,
	  NUMA_LIMIT_FIRST_PASS },
	/* Nobody has when it is young. */
	{ "not lived long", 60, ENOUGH, 99, { 9, 0, 9, 3999, 3999, 1000 }, 1000, 1000,
	  NUMA_LIMIT_SCAN_DELAY },
	{ "not run long", 60, ENOUGH, 99, { 9, 0, 9, 9000, 999, 1000 }, 1000, 1000,
	  NUMA_LIMIT_SCAN_DELAY },
	{ "long enough", 60, ENOUGH, 99, { 9, 0, 9, 4000, 1000, 1000 }, 60, 60,
	  NUMA_LIMIT_NONE },
	{ "young, but slower", 3000, ENOUGH, 99, { 9, 0, 9, 0, 0, 1000 }, 3000, 3000,
	  NUMA_LIMIT_NONE },
	{ "young, pass 0", 3000, ENOUGH, 99, { 0, 0, 9, 0, 0, 1000 }, 1000, 3000,
	  NUMA_LIMIT_SCAN_DELAY },
	/* With hardly any remote, or many shared, scanning less is good enough at once. */
	{ "calm", 1000, ENOUGH, 5, OLD(1000), 2000, 1000, NUMA_LIMIT_CALM },
	{ "not quite calm", 1000, ENOUGH, 6, OLD(1000), 1000, 1000, NUMA_LIMIT_NONE },
	{ "shared", 1000, MOSTLY_SHARED, 99, OLD(1000), 4000, 1000, NUMA_LIMIT_CALM },
	{ "calm, learnt shorter", 60, ENOUGH, 0, OLD(1000), 2000, 1000, NUMA_LIMIT_CALM },
	{ "shared and calm", 1000, MOSTLY_SHARED, 0, OLD(1000), 4000, 1000, NUMA_LIMIT_CALM },
	{ "shared, learnt shorter", 60, MOSTLY_SHARED, 99, OLD(1000),
	  4000, 1000, NUMA_LIMIT_CALM },
	{ "calm, so long", 2000, ENOUGH, 0, OLD(1000), 2000, 2000, NUMA_LIMIT_NONE },
	{ "calm, longer", 3000, ENOUGH, 0, OLD(1000), 3000, 3000, NUMA_LIMIT_NONE },
	{ "calm, pass 0", 3000, ENOUGH, 5, { 0, 1, 10, 9000, 9000, 1000 }, 2000, 3000,
	  NUMA_LIMIT_CALM },
	{ "calm, more of pass 0", 3000, ENOUGH, 5, { 0, 5, 10, 9000, 9000, 1000 }, 2500, 3000,
	  NUMA_LIMIT_FIRST_PASS },
	{ "calm, young", 60, ENOUGH, 5, { 9, 0, 9, 0, 0, 1000 }, 2000, 1000, NUMA_LIMIT_CALM },
	/* The kernel's, too, is within the bounds. */
	{ "kernel's too long", 60, FEW, 0, OLD(60000), 5000, 5000, NUMA_LIMIT_KERNEL },
	{ "kernel's too short", 60, FEW, 0, OLD(0), 60, 60, NUMA_LIMIT_NONE },
	{ "longest", 60, FEW, 0, { 9, 0, 9, 0, 0, U32_MAX }, 5000, 5000, NUMA_LIMIT_SCAN_DELAY },
	{ "calm, kernel's too short", 60, ENOUGH, 0, OLD(0), 100, 60, NUMA_LIMIT_CALM },
	{ "shared, four times too long", 60, MOSTLY_SHARED, 99,
	  OLD(2000), 5000, 2000, NUMA_LIMIT_CALM },
	{ "calm, twice too long", 60, ENOUGH, 0, OLD(3000), 5000, 3000, NUMA_LIMIT_CALM },
	{ "calm, longest", 60, ENOUGH, 0, OLD(U32_MAX), 5000, 5000, NUMA_LIMIT_KERNEL },
};

NAMED_CASES(limit, limit_cases);

static void limit_of_a_period(struct kunit *test)
{
	const struct limit_case *c = test->param_value;
	struct numa_period learnt = {
		.period_us = c->learnt_ms * 1000,
		.moved = c->facts.pass - c->unmoved,
	};
	struct numa_decision got = {
		.learnt_ms = c->learnt_ms,
		.rate = 1,
		.recent = c->recent,
		.shared = c->window == MOSTLY_SHARED,
	};

	limit(&learnt, &got, c->window != FEW, &c->facts, &reviewed);
	KUNIT_EXPECT_EQ(test, got.period_ms, c->period_ms);
	KUNIT_EXPECT_EQ(test, got.limit, c->limit);
	KUNIT_EXPECT_EQ(test, got.learnt_ms, c->learnt_ms);
	/* It binds, but teaches nothing; but for the kernel's. */
	KUNIT_EXPECT_EQ(test, learnt.period_us, c->kept_ms * 1000);
}

static void what_a_window_says(struct kunit *test)
{
	/*
	 * Pages of windows, one after the other; percent of remote ones in this one alone,
	 * and whether, with those before it, too many are shared.
	 */
	static const struct {
		u64 pages[NUMA_NR_CLASSES];
		unsigned int recent;
		bool shared;
	} windows[] = {
		{ { 0, 0, 700, 300 }, 100, true }, { { 600, 400, 0, 0 }, 0, true },
		{ { 350, 350, 150, 150 }, 30, true }, { { 690, 0, 0, 310 }, 31, true },
		/* Too few to say anything. */
		{ { 0, 0, 99, 0 }, 0, false }, { { 0, 1, 0, 0 }, 99, true },
		{ { 1ULL << 62, 0, 1ULL << 62, 0 }, 50, false }, { { 1000, 0, 1, 0 }, 0, false },
	};
	struct numa_facts facts = OLD(1000);
	struct numa_counts now = { };
	struct numa_decision got;
	struct numa_period learnt;
	int i;

	numa_period_begin(&learnt, &now, &facts, &reviewed);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		counts_add(&now, windows[i].pages);
		got = numa_period_window(&learnt, &now, &facts, &reviewed);
		KUNIT_EXPECT_EQ_MSG(test, got.recent, windows[i].recent, "window %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.shared, windows[i].shared, "window %d", i);
	}
	/* No window. */
	got = numa_period_window(&learnt, &now, &facts, &reviewed);
	KUNIT_EXPECT_EQ(test, got.recent, 0U);
	KUNIT_EXPECT_FALSE(test, got.shared);
}

static struct kunit_case numa_core_cases[] = {
	KUNIT_CASE_PARAM(bounds_are_those_of_a_pass, size_gen_params),
	KUNIT_CASE(floors_of_a_thread),
	KUNIT_CASE(faults_have_a_class),
	KUNIT_CASE(words_are_words),
	KUNIT_CASE(a_small_window_goes_on),
	KUNIT_CASE(history_decays),
	KUNIT_CASE(rates_of_a_history),
	KUNIT_CASE(extreme_counts_keep_their_rates),
	KUNIT_CASE_PARAM(step_of_the_trend, step_gen_params),
	KUNIT_CASE(every_state_has_one_rule),
	KUNIT_CASE(every_step_keeps_the_promises),
	KUNIT_CASE(periods_do_not_truncate),
	KUNIT_CASE(a_step_can_be_limited),
	KUNIT_CASE(steady_windows_lengthen),
	KUNIT_CASE(first_pass_scales_the_maximum),
	KUNIT_CASE_PARAM(limit_of_a_period, limit_gen_params),
	KUNIT_CASE(what_a_window_says),
	{ }
};

static struct kunit_suite numa_core_suite = {
	.name = "livemm_numa_core",
	.test_cases = numa_core_cases,
};
