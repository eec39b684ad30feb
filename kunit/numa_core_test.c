// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_core_test.c - mode quiet: which windows are quiet, and the period that follows
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core.c"

/* Pages of hint faults: local and remote ones of one thread, of several; and moved ones. */
#define WINDOW(local, shared, remote, remote_shared, moved_) \
	{ .pages = { local, shared, remote, remote_shared }, .moved = moved_ }

static void faults_have_a_class(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, numa_class(true, true), NUMA_LOCAL_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(true, false), NUMA_LOCAL_SHARED);
	KUNIT_EXPECT_EQ(test, numa_class(false, true), NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, numa_class(false, false), NUMA_REMOTE_SHARED);
}

static void a_window_is_a_difference(struct kunit *test)
{
	const struct numa_counts closed = WINDOW(U64_MAX - 49, 7, 9, 9, U64_MAX);
	struct numa_counts now = WINDOW(462, 7, 9, 9, 4);
	struct numa_counts window;

	/* Counters wrap.  One huge page is one fault, and 512 pages. */
	now.faults = 1;
	KUNIT_EXPECT_FALSE(test, numa_counts_since(&closed, &now, &window));
	now.faults = 99;
	KUNIT_EXPECT_FALSE(test, numa_counts_since(&closed, &now, &window));
	now.faults = 100;
	KUNIT_EXPECT_TRUE(test, numa_counts_since(&closed, &now, &window));
	KUNIT_EXPECT_EQ(test, window.pages[NUMA_LOCAL_PRIVATE], 512ULL);
	KUNIT_EXPECT_EQ(test, window.moved, 5ULL);
	KUNIT_EXPECT_EQ(test, window.faults, 100ULL);
	KUNIT_EXPECT_EQ(test, numa_pages_of(&window), 512ULL);
	KUNIT_EXPECT_EQ(test, numa_remote_share(&window), 0U);
	KUNIT_EXPECT_EQ(test, numa_remote_share(&(struct numa_counts){ }), 0U);
	KUNIT_EXPECT_EQ(test, numa_remote_share(&(struct numa_counts)WINDOW(1, 1, 1, 1, 0)), 50U);
}

/* Windows, whether each is a change, and the factor of the period afterwards. */
static void quiet_windows_lengthen(struct kunit *test)
{
	static const struct {
		struct numa_counts window;
		bool part, change;	/* a part: the pass goes on */
		u8 factor;
	} windows[] = {
		/* All is remote, and moves; then all is local. */
		{ WINDOW(0, 0, 1000, 0, 1000), .change = true, .factor = 1 },
		{ WINDOW(750, 0, 250, 0, 250), .change = true, .factor = 1 },
		{ WINDOW(1000, 0, 0, 0, 0), .factor = 2 },
		{ WINDOW(900, 100, 0, 0, 0), .factor = 4 },
		{ WINDOW(1000, 0, 0, 0, 0), .factor = 4 },
		/* A part is never quiet, but may be a change: then the whole is none. */
		{ WINDOW(100, 0, 0, 0, 0), .part = true, .factor = 4 },
		{ WINDOW(79, 0, 21, 0, 0), .part = true, .change = true, .factor = 1 },
		{ WINDOW(1000, 0, 21, 0, 0), .factor = 1 },
		{ WINDOW(1000, 0, 21, 0, 0), .factor = 2 },
		/* Memory changes hands: remote, and by another thread; what it comes to stays. */
		{ WINDOW(700, 0, 0, 300, 0), .change = true, .factor = 1 },
		{ WINDOW(700, 0, 300, 0, 0), .factor = 2 },
		{ WINDOW(600, 0, 400, 0, 249), .factor = 4 },
		{ WINDOW(600, 0, 400, 0, 250), .change = true, .factor = 1 },
		/* To fewer remote faults is no change. */
		{ WINDOW(1000, 0, 0, 0, 0), .factor = 2 },
		{ WINDOW(U32_MAX, 0, U32_MAX, 0, 0), .change = true, .factor = 1 },
	};
	struct numa_quiet quiet = { };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, numa_quiet_look(&quiet, &windows[i].window,
							  !windows[i].part),
				    windows[i].change, "window %d", i);
		KUNIT_EXPECT_EQ_MSG(test, quiet.factor, windows[i].factor, "window %d", i);
	}
}

static void the_period_is_the_kernels_or_longer(struct kunit *test)
{
	static const struct {
		u8 factor;
		u32 own_ms, longest_ms, period_ms;
	} cases[] = {
		{ 0, 1000, 60000, 1000 }, { 1, 1300, 60000, 1300 }, { 4, 1300, 60000, 5200 },
		/* Twice the kernel's longest at most, but never shorter than the kernel's own. */
		{ 4, 60000, 60000, 120000 }, { 2, 60000, 60000, 120000 },
		{ 4, 240000, 60000, 240000 }, { 4, 100, 234, 400 }, { 4, 200, 234, 468 },
		{ 4, U32_MAX, U32_MAX, U32_MAX }, { 4, 1000, 0, 1000 }, { 4, 0, 0, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct numa_quiet quiet = { .factor = cases[i].factor };

		KUNIT_EXPECT_EQ_MSG(test, numa_quiet_period(&quiet, cases[i].own_ms,
							    cases[i].longest_ms),
				    cases[i].period_ms, "case %d", i);
	}
}

/* A thread asks once in 1000 ms, more or less: one ask in four is due, and none is late by one. */
static void the_next_ask_is_due(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, numa_is_due(4000, 1000, 3499));
	KUNIT_EXPECT_TRUE(test, numa_is_due(4000, 1000, 3500));
	/* With its own period, every ask. */
	KUNIT_EXPECT_TRUE(test, numa_is_due(1000, 1000, 996));
	KUNIT_EXPECT_TRUE(test, numa_is_due(U32_MAX, U32_MAX, U32_MAX));
	KUNIT_EXPECT_TRUE(test, numa_is_due(1000, 1000, 1ULL << 40));
}

static void any_windows_keep_the_bounds(struct kunit *test)
{
	struct numa_quiet quiet = { };
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 48);
	for (i = 0; i < 10000; i++) {
		struct numa_counts window = WINDOW(prandom_u32_state(&rnd) >> 8, 0,
						   prandom_u32_state(&rnd) >> (i % 32), 0,
						   prandom_u32_state(&rnd) >> (8 + i % 24));
		u8 before = max_t(u8, quiet.factor, 1);
		bool ends = prandom_u32_state(&rnd) & 1;
		bool change = numa_quiet_look(&quiet, &window, ends);

		KUNIT_EXPECT_LE(test, quiet.factor, NUMA_FACTOR_MAX);
		KUNIT_EXPECT_LE(test, quiet.share, 100);
		KUNIT_EXPECT_LE(test, quiet.factor, 2 * before);
		if (change)
			KUNIT_EXPECT_EQ(test, quiet.factor, 1);
		else if (!ends)
			KUNIT_EXPECT_EQ(test, max_t(u8, quiet.factor, 1), before);
	}
}

static struct kunit_case numa_core_cases[] = {
	KUNIT_CASE(faults_have_a_class),
	KUNIT_CASE(a_window_is_a_difference),
	KUNIT_CASE(quiet_windows_lengthen),
	KUNIT_CASE(the_period_is_the_kernels_or_longer),
	KUNIT_CASE(the_next_ask_is_due),
	KUNIT_CASE(any_windows_keep_the_bounds),
	{ }
};

static struct kunit_suite numa_core_suite = {
	.name = "livemm_numa_core",
	.test_cases = numa_core_cases,
};
