// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma_balance_core_test.c - how many pages of regular memory go to CMA memory, and when
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/cma/core_balance.c"

/*
 * 1 GiB with half of it reserved: 118928 pages are regular, so the goal is 4757 pages (18 MiB)
 * above the high watermark.
 */
static struct cma_view view_of(long regular_free, long free_cma)
{
	return (struct cma_view){
		.free = regular_free + free_cma, .free_cma = free_cma, .high = 1500,
		.managed = 250000, .cma = 131072,
	};
}

static void begins_before_reclaim(struct kunit *test)
{
	static const struct {
		long regular_free;
		bool moving;
		long want;
	} cases[] = {
		{ 100000, false, 0 },
		/* Half of the goal above the watermark, and a page less. */
		{ 1500 + 2378, false, 0 },
		{ 1500 + 2377, false, 2380 },
		/* Once begun, up to the goal. */
		{ 1500 + 2378, true, 2379 },
		{ 1500 + 4756, true, 1 },
		{ 1500 + 4757, true, 0 },
		/* At the high watermark, where reclaim ends, and with nothing left. */
		{ 1500, false, 4757 },
		{ 0, false, 6257 },
		/* A count that is off. */
		{ -100, false, 6357 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cma_view view = view_of(cases[i].regular_free, 131072);

		KUNIT_EXPECT_EQ(test, cases[i].want,
				cma_balance_want(&view, cases[i].moving));
	}
}

static void the_goal_is_of_regular_memory(struct kunit *test)
{
	struct cma_view view = view_of(0, 0);

	KUNIT_EXPECT_EQ(test, 4757L, cma_balance_goal(&view));
	/* More CMA memory than there is memory: the counts are off. */
	view.managed = 1000;
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_goal(&view));
}

static void looks_often_near_the_goal(struct kunit *test)
{
	struct cma_view view = view_of(1500 + 2 * 4757, 131072);

	KUNIT_EXPECT_FALSE(test, cma_balance_near(&view));
	view = view_of(1500 + 2 * 4757 - 1, 131072);
	KUNIT_EXPECT_TRUE(test, cma_balance_near(&view));
}

static void takes_what_owners_leave(struct kunit *test)
{
	struct cma_view view = view_of(1000, 131072);

	/* Up to where half of the free memory is CMA memory: the kernel gives no more. */
	KUNIT_EXPECT_EQ(test, (131072L - 1000) / 2, cma_balance_can(&view));
	view = view_of(131072, 131072);
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
	view = view_of(200000, 131072);
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
	/* What is kept, and nothing while an owner allocates. */
	view = view_of(1000, 20000);
	view.kept = 15000;
	KUNIT_EXPECT_EQ(test, 5000L, cma_balance_can(&view));
	view.kept = 20001;
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
	view.kept = 0;
	view.allocating = true;
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
	/* No CMA memory; a count that is off. */
	view = view_of(1000, 0);
	view.cma = 0;
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
	view = view_of(1000, -7);
	KUNIT_EXPECT_EQ(test, 0L, cma_balance_can(&view));
}

/* An unmovable load of 64 pages a look, beside the worker: reclaim never begins. */
static void keeps_ahead_of_a_load(struct kunit *test)
{
	long regular = 30000, cma = 131072, moved = 0, least = regular;
	bool moving = false;
	unsigned int i;

	for (i = 0; i < 1500; i++) {
		struct cma_view view = view_of(regular, cma);
		long pages = min(cma_balance_want(&view, moving),
				 cma_balance_can(&view));

		/* A pass has its budget. */
		moving = pages;
		pages = min(pages, 820L);
		regular += pages - 64;
		cma -= pages;
		moved += pages;
		least = min(least, regular);
	}
	KUNIT_EXPECT_GE(test, least, 1500L);
	KUNIT_EXPECT_GE(test, moved, 96000L - 30000);
	KUNIT_EXPECT_LE(test, moved, 96000L - 30000 + 1500 + 4757 + 820);
}

/* A zone of 10 blocks: pages that were used lately are taken when there are no others. */
static void searches_harder_then_rests(struct kunit *test)
{
	struct cma_search search = { };
	unsigned int i;

	for (i = 0; i < 10; i++, search.seen++)
		KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 10));
	/* Something was found: another round of the same kind. */
	search.found = 3;
	KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 10));
	KUNIT_EXPECT_FALSE(test, search.warm);
	/* Nothing: pages that were used lately are taken next. */
	search.seen = 10;
	KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 10));
	KUNIT_EXPECT_TRUE(test, search.warm);
	KUNIT_EXPECT_EQ(test, 0UL, search.seen);
	/* Nothing again. */
	search.seen = 10;
	KUNIT_EXPECT_FALSE(test, cma_search_goes_on(&search, 10));
	/* In a large zone, 16 blocks are enough to see that others are rare. */
	search = (struct cma_search){ .seen = 15 };
	KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 500000));
	KUNIT_EXPECT_FALSE(test, search.warm);
	search.seen = 16;
	KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 500000));
	KUNIT_EXPECT_TRUE(test, search.warm);
	search.seen = 499999;
	KUNIT_EXPECT_TRUE(test, cma_search_goes_on(&search, 500000));
	search.seen = 500000;
	KUNIT_EXPECT_FALSE(test, cma_search_goes_on(&search, 500000));
}

/* In vain for a minute: how often, if each search takes no time. */
static void vain_searches_become_rare(struct kunit *test)
{
	struct cma_search search = { };
	unsigned int at, searches = 0;

	for (at = 0; at < 60000; at += search.vain_ms) {
		search.seen = 500;
		search.warm = true;
		cma_search_rests(&search);
		searches++;
		KUNIT_EXPECT_EQ(test, search.seen, 0UL);
		KUNIT_EXPECT_FALSE(test, search.warm);
	}
	/* 100, 200, 400, ... 6400, then every 10 s. */
	KUNIT_EXPECT_EQ(test, searches, 12U);
	KUNIT_EXPECT_EQ(test, search.vain_ms, CMA_VAIN_MAX_MS);
}

/* A success begins anew, and so does a zone that has had room. */
static void rests_no_longer_than_needed(struct kunit *test)
{
	struct cma_search search = { .vain_ms = 6400, .warm = true };

	cma_search_moved(&search, 0);
	KUNIT_EXPECT_EQ(test, search.vain_ms, 6400U);
	cma_search_moved(&search, 7);
	KUNIT_EXPECT_EQ(test, search.found, 7UL);
	KUNIT_EXPECT_EQ(test, search.vain_ms, 0U);
	cma_search_rests(&search);
	KUNIT_EXPECT_EQ(test, search.vain_ms, CMA_VAIN_MIN_MS);

	search = (struct cma_search){ .vain_ms = 10000, .warm = true, .seen = 3 };
	cma_search_ends(&search);
	KUNIT_EXPECT_EQ(test, search.vain_ms, 0U);
	KUNIT_EXPECT_FALSE(test, search.warm);
	KUNIT_EXPECT_EQ(test, search.seen, 3UL);
	cma_search_rests(&search);
	KUNIT_EXPECT_EQ(test, search.vain_ms, CMA_VAIN_MIN_MS);
}

static void loses_no_wake_up(struct kunit *test)
{
	static const struct {
		long soonest;
		long planned;
		unsigned long after;
	} cases[] = {
		/* The last look was long ago. */
		{ -100, -95, 0 },
		{ 0, 200, 0 },
		/* A moment ago, and the next is far: a wake-up must not wait for that. */
		{ 5, 250, 5 },
		{ 1, 250, 1 },
		/* The next is sooner anyhow: the wake-up must not put that off. */
		{ 5, 3, 3 },
		{ 5, 5, 5 },
		/* That look is due. */
		{ 5, 0, 0 },
		{ 5, -1, 0 },
	};
	/* Jiffies begin shortly before they wrap around. */
	static const unsigned long nows[] = { 1000, 0, -3UL };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(nows); i++)
		for (j = 0; j < ARRAY_SIZE(cases); j++)
			KUNIT_EXPECT_EQ(test, cases[j].after,
					cma_woken_after(nows[i], nows[i] + cases[j].soonest,
							nows[i] + cases[j].planned));
}

/* A node that the request may not use does not keep the kernel from its choice for ever. */
static void other_nodes_count_for_a_while(struct kunit *test)
{
	struct cma_oom oom = { };
	u64 now = 1000000;
	unsigned int i;

	for (i = 0; i < CMA_OOM_FAR; i++)
		KUNIT_EXPECT_EQ(test, 5ULL, cma_oom_report(&oom, now + i, 0, 5));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_oom_report(&oom, now + i, 0, 5));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_oom_report(&oom, now + CMA_OOM_ROW_MS, 0, 5));
	/* The request's own nodes always count, and end the row. */
	KUNIT_EXPECT_EQ(test, 8ULL, cma_oom_report(&oom, now + CMA_OOM_ROW_MS, 3, 5));
	KUNIT_EXPECT_EQ(test, 5ULL, cma_oom_report(&oom, now + CMA_OOM_ROW_MS, 0, 5));
	/* So does a while without the OOM killer. */
	oom.far = CMA_OOM_FAR;
	KUNIT_EXPECT_EQ(test, 0ULL, cma_oom_report(&oom, now + 2 * CMA_OOM_ROW_MS, 0, 5));
	KUNIT_EXPECT_EQ(test, 5ULL, cma_oom_report(&oom, now + 3 * CMA_OOM_ROW_MS + 1, 0, 5));
	/* Nothing moved: the kernel chooses. */
	KUNIT_EXPECT_EQ(test, 0ULL, cma_oom_report(&oom, now + 3 * CMA_OOM_ROW_MS + 2, 0, 0));
}

static struct kunit_case cma_balance_core_cases[] = {
	KUNIT_CASE(begins_before_reclaim),
	KUNIT_CASE(the_goal_is_of_regular_memory),
	KUNIT_CASE(looks_often_near_the_goal),
	KUNIT_CASE(takes_what_owners_leave),
	KUNIT_CASE(keeps_ahead_of_a_load),
	KUNIT_CASE(searches_harder_then_rests),
	KUNIT_CASE(vain_searches_become_rare),
	KUNIT_CASE(rests_no_longer_than_needed),
	KUNIT_CASE(loses_no_wake_up),
	KUNIT_CASE(other_nodes_count_for_a_while),
	{}
};

static struct kunit_suite cma_balance_core_suite = {
	.name = "livemm-cma-balance-core",
	.test_cases = cma_balance_core_cases,
};
