// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_trend_core_test.c - mode period: where periods go over many windows
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core_trend.c"

#define LOCAL		{ 1000, 0, 0, 0 }
#define REMOTE		{ 0, 0, 1000, 0 }
#define SHARED_HALF	{ 100, 400, 100, 400 }

/* Faults of windows, each a pass; the shortest, the longest and the last period. */
static const struct trend_case {
	const char *name;
	int rounds;
	struct {
		int windows;
		u64 pages[NUMA_NR_CLASSES];
	} phases[2];
	u32 least_ms, most_ms, end_ms;
} trend_cases[] = {
	/* What settles gets 110 %, once. */
	{ "all local", 1, { { 50, LOCAL } }, 1000, 1100, 1100 },
	/* Scanned as fast as the bounds let it, though faster scanning does not help. */
	{ "all remote", 1, { { 50, REMOTE } }, 100, 110, 110 },
	/* The first window shortens what is shared, too. */
	{ "all shared", 1, { { 50, SHARED_HALF } }, 100, 160, 160 },
	{ "moved", 1, { { 3, REMOTE }, { 20, LOCAL } }, 100, 787, 787 },
	{ "then remote", 1, { { 10, LOCAL }, { 10, REMOTE } }, 296, 1100, 296 },
	/* As published: a slope may contradict its trend, of a rate that went 57, 32, 57, 38. */
	{ "to and fro", 25, { { 1, LOCAL }, { 1, REMOTE } }, 100, 5000, 5000 },
};

NAMED_CASES(trend, trend_cases);

static void trace_of_a_process(struct kunit *test)
{
	const struct trend_case *one = test->param_value;
	struct numa_trend trend = { };
	u32 least = U32_MAX, most = 0, period = 0, passes = 0;
	int i, window;

	for (i = 0; i < 2 * one->rounds; i++) {
		for (window = 0; window < one->phases[i % 2].windows; window++) {
			struct numa_counts counts = { };

			memcpy(counts.pages, one->phases[i % 2].pages, sizeof(counts.pages));
			numa_trend_window(&trend, &counts, passes++);
			period = numa_trend_period(&trend);
			least = min(least, period);
			most = max(most, period);
		}
	}
	KUNIT_EXPECT_EQ(test, least, one->least_ms);
	KUNIT_EXPECT_EQ(test, most, one->most_ms);
	KUNIT_EXPECT_EQ(test, period, one->end_ms);
}

/* A window takes 1/4 off the history of locality, and 1/2 off that of sharing. */
static void sums_decay(struct kunit *test)
{
	struct numa_counts window = { .pages = { 400, 0, 0, 800 } }, none = { };
	struct numa_trend trend = { };

	numa_trend_window(&trend, &window, 0);
	KUNIT_EXPECT_EQ(test, trend.rate, 66);
	numa_trend_window(&trend, &none, 0);
	KUNIT_EXPECT_EQ(test, trend.local, 300ULL);
	KUNIT_EXPECT_EQ(test, trend.remote, 600ULL);
	KUNIT_EXPECT_EQ(test, trend.private, 200ULL);
	KUNIT_EXPECT_EQ(test, trend.shared, 400ULL);
	KUNIT_EXPECT_EQ(test, trend.older, 66);
}

/* A rise has to be intended twice where the trend is to lengthen; once where it is not. */
static void the_trend_turns_at_two_windows(struct kunit *test)
{
	struct numa_counts local = { .pages = LOCAL }, remote = { .pages = REMOTE };
	struct numa_trend trend = { .lengthening = true, .intended = true };
	int i;

	for (i = 0; i < 5; i++)
		numa_trend_window(&trend, &local, 5);
	KUNIT_EXPECT_TRUE(test, trend.lengthening);
	/* Stable windows of a trend that lengthens intend to shorten. */
	KUNIT_EXPECT_FALSE(test, trend.intended);
	numa_trend_window(&trend, &remote, 6);
	KUNIT_EXPECT_FALSE(test, trend.lengthening);
	numa_trend_window(&trend, &local, 7);
	KUNIT_EXPECT_FALSE(test, trend.lengthening);
}

static void any_windows_keep_the_period(struct kunit *test)
{
	struct numa_trend trend = { };
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 10000; i++) {
		u32 period;
		struct numa_counts window = { };
		int class;

		for (class = 0; class < NUMA_NR_CLASSES; class++)
			window.pages[class] = (u64)prandom_u32_state(&rnd) << (i % 33) >> (i % 7);
		numa_trend_window(&trend, &window, i);
		period = numa_trend_period(&trend);
		KUNIT_EXPECT_GE(test, period, NUMA_PERIOD_MIN_MS);
		KUNIT_EXPECT_LE(test, period, NUMA_PERIOD_MAX_MS);
		KUNIT_EXPECT_GE(test, trend.rate, 1);
		KUNIT_EXPECT_LE(test, trend.rate, 100);
	}
}

/* The kernel's own bounds, but in a large process, whose longest may be below the shortest. */
static void the_kernel_gets_a_period_back(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_trend_back(100, 60000), 1000U);
	KUNIT_EXPECT_EQ(test, numa_trend_back(5000, 60000), 5000U);
	KUNIT_EXPECT_EQ(test, numa_trend_back(5000, 1500), 1500U);
	KUNIT_EXPECT_EQ(test, numa_trend_back(100, 400), 400U);
	KUNIT_EXPECT_EQ(test, numa_trend_back(100, 0), 1000U);
	KUNIT_EXPECT_EQ(test, numa_trend_back(5000, 0), 5000U);
}

static struct kunit_case numa_trend_core_cases[] = {
	KUNIT_CASE_PARAM(trace_of_a_process, trend_gen_params),
	KUNIT_CASE(sums_decay),
	KUNIT_CASE(the_trend_turns_at_two_windows),
	KUNIT_CASE(any_windows_keep_the_period),
	KUNIT_CASE(the_kernel_gets_a_period_back),
	{ }
};

static struct kunit_suite numa_trend_core_suite = {
	.name = "livemm_numa_trend_core",
	.test_cases = numa_trend_core_cases,
};
