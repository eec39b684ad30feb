// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_core_test.c - the period of scanning, and what is scanned, on made-up faults
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa_core.c"

/* As published: nothing of ours. */
static const struct numa_settings series = {
	.min_ms = NUMA_PERIOD_MIN_MS,
	.max_ms = NUMA_PERIOD_MAX_MS,
	.min_faults = NUMA_MIN_FAULTS,
	.step_max_pct = 10000,
	.steady_pct = 100,
	.full_every = 1,
};

/* With all that the review asked for. */
static const struct numa_settings reviewed = {
	.min_ms = NUMA_PERIOD_MIN_MS,
	.max_ms = NUMA_PERIOD_MAX_MS,
	.min_faults = NUMA_MIN_FAULTS,
	.step_max_pct = 400,
	.steady_pct = 130,
	.mature_ms = 4000,
	.mature_run_ms = 1000,
	.thread_floor_ms = 1000,
	.full_every = 8,
	.by_thread = true,
	.by_region = true,
};

static void counts_add(struct numa_counts *counts, const u64 *pages)
{
	int i;

	for (i = 0; i < NUMA_NR_CLASSES; i++) {
		counts->pages[i] += pages[i];
		counts->faults += pages[i];
	}
}

#define PAGES(...) ((const u64 []) { __VA_ARGS__ })

static void faults_have_a_class(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_class(true, true), NUMA_LOCAL_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(true, false), NUMA_LOCAL_SHARED);
	KUNIT_EXPECT_EQ(test, numa_class(false, true), NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(false, false), NUMA_REMOTE_SHARED);
}

static void a_small_window_goes_on(struct kunit *test)
{
	struct numa_counts closed = { }, now = { }, window;

	/* Of counters that are about to wrap. */
	counts_add(&closed, PAGES(U64_MAX - 10, U64_MAX, 5, 0));
	now = closed;
	counts_add(&now, PAGES(40, 30, 20, 9));
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, NUMA_MIN_FAULTS, &window));
	counts_add(&now, PAGES(0, 0, 0, 1));
	KUNIT_EXPECT_TRUE(test, numa_counts_take(&closed, &now, NUMA_MIN_FAULTS, &window));
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_LOCAL_PRIVATE], 40ULL);
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_LOCAL_SHARED], 30ULL);
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_REMOTE_SHARED], 10ULL);
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, NUMA_MIN_FAULTS, &window));
	/* Faults make a window, not the pages of one huge page. */
	now.faults++;
	now.pages[NUMA_REMOTE_PRIVATE] += 512;
	KUNIT_EXPECT_FALSE(test, numa_counts_take(&closed, &now, NUMA_MIN_FAULTS, &window));
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
		numa_counts_take(&closed, &now, NUMA_MIN_FAULTS, &window);
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
struct step_case {
	const char *name;
	bool lengthening, intended;
	u8 older, rate;
	struct numa_sight sight;
	bool then, intends;
	unsigned int slope, kept;
	enum numa_reason reason;
};

static const struct step_case step_cases[] = {
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

static void step_case_name(const struct step_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(step, step_cases, step_case_name);

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
	unsigned int i;

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
	}
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
		u32 max_ms;
	} cases[] = {
		{ { 0, 0, 1000 }, 50 }, { { 0, 250, 1000 }, 1250 }, { { 0, 1000, 1000 }, 5000 },
		{ { 0, U64_MAX, 1000 }, 5000 }, { { 0, U64_MAX / 2, U64_MAX }, 2499 },
		{ { 0, 0, 0 }, 5000 }, { { 1, 0, 1000 }, 5000 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		KUNIT_EXPECT_EQ(test, numa_first_pass_max(&c->facts, &series), c->max_ms);
}

static void the_needy_thread_bounds(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_thread_bound(5000, 20, 40, &reviewed), 2500U);
	KUNIT_EXPECT_EQ(test, numa_thread_bound(5000, 1, 100, &reviewed), 1000U);
	/* As the others are; or already scanned faster than that. */
	KUNIT_EXPECT_EQ(test, numa_thread_bound(5000, 20, 25, &reviewed), 5000U);
	KUNIT_EXPECT_EQ(test, numa_thread_bound(500, 20, 40, &reviewed), 500U);
	KUNIT_EXPECT_EQ(test, numa_thread_bound(5000, 20, 40, &series), 5000U);
}

static void limits_of_a_period(struct kunit *test)
{
	/*
	 * A period that was learnt; pass, pages scanned and resident, time lived and run,
	 * the kernel's period, the rate of the neediest thread, while that of all is 1; and
	 * the period to use.
	 */
	static const struct {
		const char *name;
		u32 learnt_ms;
		struct numa_facts facts;
		u32 period_ms;
		enum numa_limit limit;
	} cases[] = {
		{ "none", 700, { 9, 0, 9, 9000, 9000, 1000, 0 }, 700, NUMA_LIMIT_NONE },
		{ "pass 0", 3000, { 0, 1, 10, 9000, 9000, 1000, 0 }, 500, NUMA_LIMIT_FIRST_PASS },
		{ "thread", 3000, { 9, 0, 9, 9000, 9000, 1000, 7 }, 1000, NUMA_LIMIT_THREAD },
		{ "not lived long", 60, { 9, 0, 9, 3999, 3999, 1000, 0 }, 1000, NUMA_LIMIT_YOUNG },
		{ "not run long", 60, { 9, 0, 9, 9000, 999, 1000, 0 }, 1000, NUMA_LIMIT_YOUNG },
		{ "long enough", 60, { 9, 0, 9, 4000, 1000, 1000, 0 }, 60, NUMA_LIMIT_NONE },
		{ "young, but slower", 3000, { 9, 0, 9, 0, 0, 1000, 0 }, 3000, NUMA_LIMIT_NONE },
		{ "young, pass 0", 3000, { 0, 0, 9, 0, 0, 1000, 0 }, 1000, NUMA_LIMIT_YOUNG },
		{ "young, needy", 3000, { 9, 0, 9, 0, 0, 2000, 99 }, 2000, NUMA_LIMIT_YOUNG },
		{ "kernel's too long", 60, { 9, 0, 9, 0, 0, 60000, 0 }, 5000, NUMA_LIMIT_YOUNG },
		{ "kernel's too short", 60, { 9, 0, 9, 0, 0, 0, 0 }, 60, NUMA_LIMIT_NONE },
	}, *c;
	const struct numa_counts none = { };

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		struct numa_decision got;
		struct numa_space space;

		numa_space_begin(&space, &none, &c->facts, &reviewed);
		space.period_us = c->learnt_ms * 1000;
		got = numa_space_window(&space, &none, &c->facts, &reviewed);
		KUNIT_EXPECT_EQ_MSG(test, got.period_ms, c->period_ms, "%s", c->name);
		KUNIT_EXPECT_EQ_MSG(test, got.limit, c->limit, "%s", c->name);
		/* It binds, but teaches nothing. */
		KUNIT_EXPECT_EQ_MSG(test, got.learnt_ms, c->learnt_ms, "%s", c->name);
	}
}

/*
 * Faults of an address space that has just begun, or is old; each window is a pass, and
 * a second.  And the shortest, the longest and the last period.
 */
struct space_trace {
	const char *name;
	const struct numa_settings *settings;
	bool old;
	int rounds;
	struct {
		int windows;
		u64 pages[NUMA_NR_CLASSES];
	} phases[2];
	u32 least_ms, most_ms, end_ms;
};

#define LOCAL		{ 1000, 0, 0, 0 }
#define REMOTE		{ 0, 0, 1000, 0 }
#define SHARED_HALF	{ 100, 400, 100, 400 }

static const struct space_trace space_traces[] = {
	/* What settles gets 110 %, once; with steady_pct it goes on. */
	{ "series: all local", &series, true, 1, { { 50, LOCAL } }, 1000, 1100, 1100 },
	{ "all local", &reviewed, true, 1, { { 50, LOCAL } }, 1000, 5000, 5000 },
	/* As published, at about 50 ms for ever, though it does not help. */
	{ "series: all remote", &series, true, 1, { { 50, REMOTE } }, 50, 55, 55 },
	{ "all remote", &reviewed, true, 1, { { 50, REMOTE } }, 250, 5000, 5000 },
	{ "migrated", &reviewed, true, 1, { { 3, REMOTE }, { 11, LOCAL } }, 250, 5000, 5000 },
	{ "phase change", &reviewed, true, 1, { { 10, LOCAL }, { 3, REMOTE } }, 1000, 5000, 2203 },
	{ "series: shared", &series, true, 1, { { 50, SHARED_HALF } }, 1000, 1000, 1000 },
	{ "shared", &reviewed, true, 1, { { 50, SHARED_HALF } }, 1000, 5000, 5000 },
	{ "half and half", &reviewed, true, 1, { { 50, { 500, 0, 500, 0 } } }, 250, 5000, 5000 },
	{ "alternating", &reviewed, true, 25, { { 1, LOCAL }, { 1, REMOTE } }, 1000, 5000, 5000 },
	{ "series: short life", &series, false, 1, { { 4, REMOTE } }, 50, 55, 55 },
	{ "short life", &reviewed, false, 1, { { 4, REMOTE } }, 1000, 1000, 1000 },
	{ "idle", &reviewed, true, 1, { { 50, { 1, 0, 0, 0 } } }, 1000, 1000, 1000 },
};

static void trace_name(const struct space_trace *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(space, space_traces, trace_name);

static void trace_of_an_address_space(struct kunit *test)
{
	const struct space_trace *c = test->param_value;
	struct numa_facts facts = { .resident = 5000, .kernel_ms = 1000 };
	u32 least = U32_MAX, most = 0;
	struct numa_decision got = { };
	struct numa_counts now = { };
	struct numa_space space;
	int i, window;

	if (c->old)
		facts = (struct numa_facts){ 9, 0, 5000, 9000, 9000, 1000, 0 };
	numa_space_begin(&space, &now, &facts, c->settings);
	for (i = 0; i < 2 * c->rounds; i++)
		for (window = 0; window < c->phases[i % 2].windows; window++) {
			counts_add(&now, c->phases[i % 2].pages);
			got = numa_space_window(&space, &now, &facts, c->settings);
			least = min(least, got.period_ms);
			most = max(most, got.period_ms);
			facts.pass++;
			facts.lived_ms += 1000;
			facts.run_ms += 1000;
		}
	KUNIT_EXPECT_EQ(test, least, c->least_ms);
	KUNIT_EXPECT_EQ(test, most, c->most_ms);
	KUNIT_EXPECT_EQ(test, got.period_ms, c->end_ms);
}

/* Whatever the faults: bounds hold, small windows teach nothing, constant ones settle. */
static void random_windows_keep_the_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i;

	prandom_seed_state(&rnd, 20220128);
	for (round = 0; round < 200; round++) {
		u32 min_ms = 1 + prandom_u32_state(&rnd) % 3000;
		const struct numa_settings settings = {
			.min_ms = min_ms,
			.max_ms = min_ms + prandom_u32_state(&rnd) % 60000,
			.min_faults = prandom_u32_state(&rnd) % 200,
			.step_max_pct = 100 + prandom_u32_state(&rnd) % 9901,
			.steady_pct = 100 + prandom_u32_state(&rnd) % 200,
			.mature_ms = prandom_u32_state(&rnd) % 5000,
			.thread_floor_ms = prandom_u32_state(&rnd) % 2000,
		};
		struct numa_facts facts = { .kernel_ms = prandom_u32_state(&rnd) };
		struct numa_counts now = { };
		struct numa_space space;
		u32 last, steps = 0;

		numa_space_begin(&space, &now, &facts, &settings);
		for (i = 0; i < 300; i++) {
			int size = prandom_u32_state(&rnd) % 62;
			u64 big = prandom_u32_state(&rnd) * (1ULL << size) >> 16;
			struct numa_decision got;

			last = space.period_us;
			/* Random ones first, then all the same; a counter may wrap. */
			if (i < 50)
				counts_add(&now, PAGES(big, size, big >> size % 8, size / 2));
			else
				counts_add(&now, PAGES(1000 << round % 8, round * 3, 3000, round));
			facts.pass += i & 1;
			facts.scanned = prandom_u32_state(&rnd);
			facts.resident = prandom_u32_state(&rnd);
			facts.lived_ms = i * 100;
			facts.need = prandom_u32_state(&rnd) % 101;
			got = numa_space_window(&space, &now, &facts, &settings);
			KUNIT_ASSERT_GE(test, got.period_ms, settings.min_ms);
			KUNIT_ASSERT_LE(test, got.period_ms, settings.max_ms);
			if (got.reason == NUMA_BY_FEW)
				KUNIT_ASSERT_EQ(test, space.period_us, last);
			/* Constant, and the history forgotten: never shorter again. */
			if (i >= 200)
				steps += space.period_us < last;
		}
		KUNIT_ASSERT_EQ(test, steps, 0U);
	}
}

/* Ten threads, all local but one: what it needs, after some windows of 50 faults each. */
static unsigned int need_of(struct numa_thread *threads, u32 pass, int windows,
			    enum numa_class class)
{
	unsigned int need = 0;
	int i;

	for (; windows; windows--) {
		for (i = 0; i < 10 * 50; i++)
			numa_thread_fault(&threads[i % 10],
					  i % 10 == 7 ? class : NUMA_LOCAL_PRIVATE);
		need = numa_neediest(threads, 10, pass, NUMA_MIN_FAULTS);
	}
	return need;
}

static void the_outlier_is_not_averaged_away(struct kunit *test)
{
	struct numa_thread threads[10] = { };
	int i;

	/* One window has too few faults; then its rate is known. */
	KUNIT_EXPECT_EQ(test, need_of(threads, 5, 1, NUMA_REMOTE_PRIVATE), 0U);
	KUNIT_EXPECT_EQ(test, need_of(threads, 5, 1, NUMA_REMOTE_PRIVATE), 100U);
	KUNIT_EXPECT_EQ(test, need_of(threads, 6, 9, NUMA_REMOTE_PRIVATE), 100U);
	/* Two whole passes did not help it. */
	KUNIT_EXPECT_EQ(test, need_of(threads, 7, 1, NUMA_REMOTE_PRIVATE), 0U);
	/* Helped a little, it is worth more. */
	KUNIT_EXPECT_GE(test, need_of(threads, 8, 3, NUMA_LOCAL_PRIVATE), 70U);
	/* It ends: forgotten when it has been idle for a while. */
	for (i = 1; i < NUMA_THREAD_IDLE; i++)
		KUNIT_EXPECT_GE(test, numa_neediest(threads, 10, 8, NUMA_MIN_FAULTS), 70U);
	KUNIT_EXPECT_EQ(test, numa_neediest(threads, 10, 8, NUMA_MIN_FAULTS), 0U);
}

static void what_is_shared_is_hopeless(struct kunit *test)
{
	struct numa_thread threads[10] = { };

	KUNIT_EXPECT_EQ(test, need_of(threads, 5, 8, NUMA_REMOTE_SHARED), 0U);
	/* Counts of 32 bits do not overflow. */
	threads[7] = (struct numa_thread){ .now = { U32_MAX, U32_MAX / 2, 0 } };
	KUNIT_EXPECT_EQ(test, numa_neediest(threads, 10, 0, NUMA_MIN_FAULTS), 49U);
	KUNIT_EXPECT_LT(test, numa_thread_slot(U32_MAX), (unsigned int)NUMA_THREADS);
}

static void used_regions_are_scanned(struct kunit *test)
{
	const struct numa_range all = { 0, 64 * 1024 - 100 };
	struct numa_range run, left = { 2100, all.end };
	struct numa_vma vma;
	int pass;

	numa_vma_begin(&vma, all.end, 0);
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 3, &all, &run, &reviewed));
	KUNIT_EXPECT_EQ(test, run.end, all.end);
	/* Scanned in two parts, the border within a region: nothing is due. */
	numa_vma_scanned(&vma, &(struct numa_range){ 0, 1500 });
	KUNIT_EXPECT_EQ(test, vma.due, ~1ULL);
	numa_vma_scanned(&vma, &(struct numa_range){ 1500, all.end });
	KUNIT_EXPECT_FALSE(test, numa_vma_next(&vma, 3, &all, &run, &reviewed));
	/* Thread 3 uses regions 2 and 3; so they are scanned, but not by thread 4. */
	numa_vma_fault(&vma, 3, 2048);
	numa_vma_fault(&vma, 3, 4095);
	for (pass = 0; pass < 2; pass++) {
		numa_vma_visit(&vma, pass, &reviewed);
		KUNIT_EXPECT_FALSE(test, numa_vma_next(&vma, 4, &left, &run, &reviewed));
		KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 3, &left, &run, &reviewed));
		KUNIT_EXPECT_EQ(test, run.start, 2100ULL);
		KUNIT_EXPECT_EQ(test, run.end, 4096ULL);
	}
	/* Then thread 4 uses another. */
	numa_vma_visit(&vma, 2, &reviewed);
	numa_vma_fault(&vma, 4, 10240);
	KUNIT_EXPECT_FALSE(test, numa_vma_next(&vma, 3, &all, &run, &reviewed));
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 4, &all, &run, &reviewed));
	KUNIT_EXPECT_EQ(test, run.start, 10240ULL);
	/* Filters off: all. */
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 3, &all, &run, &series));
	/* What is missed is due, until it is scanned, and not with a gap of a pass. */
	numa_vma_scanned(&vma, &(struct numa_range){ 0, 5200 });
	numa_vma_visit(&vma, 3, &reviewed);
	numa_vma_missed(&vma, &(struct numa_range){ 5150, 5200 });
	numa_vma_scanned(&vma, &(struct numa_range){ 5200, 6200 });
	KUNIT_EXPECT_EQ(test, vma.due, 1ULL << 5);
	/* What is new is due; regions grow with the VMA. */
	numa_vma_fit(&vma, 64 * 1024 + 1);
	KUNIT_EXPECT_EQ(test, vma.due, 1ULL << 2 | ~0ULL << 31);
	numa_vma_fit(&vma, U64_MAX);
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 4, &all, &run, &reviewed));
}

/* However scans are cut, and whoever uses what: in so many passes each page has its turn. */
static void nothing_is_starved(struct kunit *test)
{
	/* Passes that came by and left out 128 pages. */
	static u8 unseen[2048];
	struct rnd_state rnd;
	struct numa_vma vma;
	u32 pass, i;
	bool spent;

	prandom_seed_state(&rnd, 7);
	memset(unseen, 0, sizeof(unseen));
	numa_vma_begin(&vma, 128 * sizeof(unseen), 0);
	for (pass = 1; pass < 300; pass += 1 + prandom_u32_state(&rnd) % 2) {
		struct numa_range run, left = { };

		for (i = 0; i < sizeof(unseen); i++)
			KUNIT_ASSERT_LE(test, ++unseen[i], reviewed.full_every + 4);
		numa_vma_visit(&vma, pass, &reviewed);
		numa_vma_fault(&vma, 1, prandom_u32_state(&rnd) % vma.pages);
		for (; left.end < vma.pages; left.start = left.end) {
			left.end += 128 * (1 + prandom_u32_state(&rnd) % 300);
			left.end = min(left.end, vma.pages);
			spent = !(prandom_u32_state(&rnd) % 64);
			while (left.start < left.end &&
			       numa_vma_next(&vma, pass % 2, &left, &run, &reviewed)) {
				left.start = run.end;
				if (spent) {
					numa_vma_missed(&vma, &run);
					continue;
				}
				numa_vma_scanned(&vma, &run);
				memset(unseen + run.start / 128, 0, (run.end - run.start) / 128);
			}
		}
	}
}

static void a_budget_is_of_entries(struct kunit *test)
{
	struct numa_budget budget;
	u64 pages;

	/* 1 in 16 present: it ends after eight times the addresses. */
	numa_budget_begin(&budget, 65536);
	while ((pages = numa_budget_range(&budget, 1)))
		numa_budget_charge(&budget, pages, pages / 16);
	KUNIT_EXPECT_EQ(test, budget.pages, 0ULL);
	/* All present: after as many entries, which is more in huge pages. */
	numa_budget_begin(&budget, 65536);
	KUNIT_EXPECT_EQ(test, numa_budget_range(&budget, 1), 65536ULL);
	KUNIT_EXPECT_EQ(test, numa_budget_range(&budget, 512), 8 * 65536ULL);
	numa_budget_charge(&budget, 65536, 65536);
	KUNIT_EXPECT_EQ(test, numa_budget_range(&budget, 1), 0ULL);
	numa_budget_charge(&budget, U64_MAX, U64_MAX);
	numa_budget_begin(&budget, U64_MAX);
	KUNIT_EXPECT_GT(test, numa_budget_range(&budget, 512), 1ULL << 63);
}

static struct kunit_case numa_core_cases[] = {
	KUNIT_CASE(faults_have_a_class),
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
	KUNIT_CASE(the_needy_thread_bounds),
	KUNIT_CASE(limits_of_a_period),
	KUNIT_CASE_PARAM(trace_of_an_address_space, space_gen_params),
	KUNIT_CASE(random_windows_keep_the_bounds),
	KUNIT_CASE(the_outlier_is_not_averaged_away),
	KUNIT_CASE(what_is_shared_is_hopeless),
	KUNIT_CASE(used_regions_are_scanned),
	KUNIT_CASE(nothing_is_starved),
	KUNIT_CASE(a_budget_is_of_entries),
	{ }
};

static struct kunit_suite numa_core_suite = {
	.name = "livemm_numa_core",
	.test_cases = numa_core_cases,
};
