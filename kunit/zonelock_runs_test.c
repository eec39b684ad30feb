// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock_runs_test.c - neighbours among the pages that go back to the buddy, and how many of
 * these go under one hold of zone->lock
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/prandom.h>

/* After zonelock_core_test.c, which includes the core. */
#include "../module/policy/zonelock/runs.c"

/* Pages of the model whose numbers count, and order and pages of most of their blocks. */
#define RUN_ORDER	3
#define RUN_PAGES	8
#define LARGE_ORDER	9
#define LARGE_PAGES	512
static struct list_head run_page[17 * LARGE_PAGES];

static unsigned long run_pfn(const struct list_head *page)
{
	return page - run_page;
}

/* Chain pages from @first on, @step apart. */
static void run_chain(struct list_head *to, int first, int step, unsigned int count)
{
	for (; count--; first += step)
		list_add_tail(&run_page[first], to);
}

static void neighbours_are_joined(struct kunit *test)
{
	static const struct {
		int first;
		int step;
		unsigned int count;
		unsigned int blocks;
		int block;	/* the first block */
	} chains[] = {
		{ 64, 1, 64, 8, 64 },		/* up */
		{ 127, -1, 64, 8, 120 },	/* down */
		{ 64, 1, 7, 0 },		/* too few */
		{ 65, 1, 8, 0 },		/* across a border */
		{ 65, 1, 15, 1, 72 },
		{ 79, -1, 9, 1, 72 },
		{ 63, -1, 9, 1, 56 },
		{ 0, 2, 64, 0 },		/* no neighbours */
	}, *c;

	for (c = chains; c < chains + ARRAY_SIZE(chains); c++) {
		LIST_HEAD(pages);
		LIST_HEAD(blocks);

		run_chain(&pages, c->first, c->step, c->count);
		KUNIT_EXPECT_EQ(test, c->blocks, runs_join(&pages, 0, RUN_ORDER, run_pfn, &blocks));
		KUNIT_EXPECT_EQ(test, c->blocks, length(&blocks));
		KUNIT_EXPECT_EQ(test, c->count - c->blocks * RUN_PAGES, length(&pages));
		if (c->blocks)
			KUNIT_EXPECT_PTR_EQ(test, &run_page[c->block], blocks.next);
	}
}

static unsigned long bad_pfn(const struct list_head *page)
{
	return page == &run_page[70] ? RUNS_ALONE : run_pfn(page);
}

/* A page in a bad state goes alone, so that the kernel finds it; no other run is cut. */
static void a_bad_page_goes_alone(struct kunit *test)
{
	LIST_HEAD(pages);
	LIST_HEAD(blocks);

	run_chain(&pages, 64, 1, 64);
	KUNIT_EXPECT_EQ(test, 7U, runs_join(&pages, 0, RUN_ORDER, bad_pfn, &blocks));
	KUNIT_EXPECT_PTR_EQ(test, &run_page[72], blocks.next);
	KUNIT_EXPECT_EQ(test, 8U, length(&pages));
}

/* The largest blocks first, then smaller ones of what is left. */
static void largest_blocks_first(struct kunit *test)
{
	LIST_HEAD(pages);
	LIST_HEAD(large);
	LIST_HEAD(small);

	run_chain(&pages, 56, 1, 160);
	KUNIT_EXPECT_EQ(test, 2U, runs_join(&pages, 0, 6, run_pfn, &large));
	KUNIT_EXPECT_PTR_EQ(test, &run_page[64], large.next);
	KUNIT_EXPECT_PTR_EQ(test, &run_page[128], large.prev);
	KUNIT_EXPECT_EQ(test, 4U, runs_join(&pages, 0, RUN_ORDER, run_pfn, &small));
	KUNIT_EXPECT_PTR_EQ(test, &run_page[56], small.next);
	KUNIT_EXPECT_PTR_EQ(test, &run_page[208], small.prev);
	KUNIT_EXPECT_TRUE(test, list_empty(&pages));
}

/* Whatever the order, each page is either in its list or in one block, and blocks are aligned. */
static void joined_once(struct kunit *test)
{
	struct rnd_state rnd;
	int round;

	prandom_seed_state(&rnd, 20260401);
	for (round = 0; round < 200; round++) {
		u8 seen[256] = { };
		unsigned int left = 256, nr, i;
		struct list_head *pos;
		LIST_HEAD(pages);
		LIST_HEAD(blocks);

		/* Runs of 1 to 32 pages, up or down, as far as they are not yet chained. */
		while (left) {
			u32 bits = prandom_u32_state(&rnd);
			int at = bits % 256, step = bits & 256 ? 1 : -1;

			for (i = 0; i <= (bits >> 9) % 32 && at >= 0 && at < 256; i++, at += step) {
				if (seen[at])
					continue;
				seen[at] = 1;
				list_add_tail(&run_page[at], &pages);
				left--;
			}
		}
		nr = runs_join(&pages, 0, RUN_ORDER, run_pfn, &blocks);
		KUNIT_ASSERT_EQ(test, nr, length(&blocks));
		list_for_each(pos, &pages)
			seen[run_pfn(pos)]++;
		list_for_each(pos, &blocks) {
			KUNIT_ASSERT_EQ(test, 0UL, run_pfn(pos) % RUN_PAGES);
			for (i = 0; i < RUN_PAGES; i++)
				seen[run_pfn(pos) + i]++;
		}
		for (i = 0; i < 256; i++)
			KUNIT_ASSERT_EQ(test, 2, seen[i]);
	}
}

/*
 * What the kernel drains at most under one hold, from neighbours: pageblocks, blocks of order 3 at
 * both ends, and single pages.  Wherever the run begins, that is less than a tenth of the pages.
 */
static void a_large_drain_is_few_blocks(struct kunit *test)
{
	const unsigned int count = 63 << 5;
	unsigned int most = 0, sum = 0, tries = 0;
	int first;

	for (first = 0; first < LARGE_PAGES; first++) {
		unsigned int large, small, single;
		LIST_HEAD(pages);
		LIST_HEAD(blocks);
		LIST_HEAD(larger);

		run_chain(&pages, first + count - 1, -1, count);
		small = runs_join(&pages, 0, RUN_ORDER, run_pfn, &blocks);
		large = runs_join(&blocks, RUN_ORDER, LARGE_ORDER, run_pfn, &larger);
		small -= large * (LARGE_PAGES / RUN_PAGES);
		single = length(&pages);
		KUNIT_ASSERT_EQ(test, large, length(&larger));
		KUNIT_ASSERT_EQ(test, small, length(&blocks));
		KUNIT_ASSERT_EQ(test, count, large * LARGE_PAGES + small * RUN_PAGES + single);
		KUNIT_ASSERT_EQ(test, 0UL, run_pfn(larger.next) % LARGE_PAGES);
		KUNIT_ASSERT_GE(test, large, 2U);
		most = max(most, large + small + single);
		sum += large + small + single;
		tries++;
	}
	KUNIT_EXPECT_LE(test, most, 140U);
	KUNIT_EXPECT_LE(test, sum / tries, 100U);
}

/*
 * Cuts of a run, one below the other, as a list is drained.  What is not joined is kept until the
 * next cut, so that pageblocks across a border of two cuts are whole.
 */
static void blocks_are_kept_across_cuts(struct kunit *test)
{
	const unsigned int cut = 1008, cuts = 8;
	unsigned int most = 0, sum = 0;
	int first;

	for (first = 0; first < LARGE_PAGES; first++) {
		unsigned int left = cuts, large = 0, small;
		LIST_HEAD(pages);
		LIST_HEAD(blocks);
		LIST_HEAD(larger);

		while (left--) {
			run_chain(&pages, first + (left + 1) * cut - 1, -1, cut);
			runs_join(&pages, 0, RUN_ORDER, run_pfn, &blocks);
			large += runs_join(&blocks, RUN_ORDER, LARGE_ORDER, run_pfn, &larger);
		}
		small = length(&blocks);
		KUNIT_ASSERT_GE(test, large, 14U);
		KUNIT_ASSERT_EQ(test, cut * cuts,
				large * LARGE_PAGES + small * RUN_PAGES + length(&pages));
		most = max(most, large + small + length(&pages));
		sum += large + small + length(&pages);
	}
	KUNIT_EXPECT_LE(test, most, 140U);
	KUNIT_EXPECT_LE(test, sum / LARGE_PAGES, 90U);
}

/* How many pages go under one hold, by the pages that make a block. */
static void a_hold_ends(struct kunit *test)
{
	static const struct {
		unsigned int asked;
		unsigned int have;
		unsigned int keep;
		unsigned int in_block;
		unsigned int gone;
		bool is_part;
	} drains[] = {
		/* Never more blocks than the kernel's drain frees, nor more than four drains. */
		{ 2016, 32000, 0, 1, 2016 },
		{ 2016, 32000, 0, 8, 2016 },
		{ 2016, 32000, 0, 32, 6048 },
		{ 2016, 32000, 0, 512, 8064 },
		{ 126, 32000, 0, 8, 1134 },
		/* The lists keep as many as go. */
		{ 2016, 6000, 0, 512, 2016 },
		{ 2016, 8064, 0, 512, 4032 },
		/* Or what they may keep. */
		{ 2016, 6000, 252, 512, 5748 },
		{ 2016, 6000, 252, 1, 2016 },
		{ 2016, 2100, 252, 512, 1848 },
		/* Who asks for a batch wants no more to go, but for a part of a drain. */
		{ 63, 32000, 0, 512, 63 },
		{ 63, 32000, 0, 512, 8064, true },
		{ 63, 32000, 0, 1, 189, true },
		{ 63, 630, 0, 512, 315, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drains); i++) {
		struct drain_view view = {
			.asked = drains[i].asked,
			.batch = 63,
			.have = drains[i].have,
			.keep = drains[i].keep,
			.is_part = drains[i].is_part,
		};
		unsigned int cut;

		do {
			cut = drain_cut(&view);
			view.have -= cut;
			view.gone += cut;
			view.blocks = DIV_ROUND_UP(view.gone, drains[i].in_block);
		} while (cut == view.asked && drain_goes_on(&view));
		KUNIT_EXPECT_EQ_MSG(test, view.gone, drains[i].gone, "drain %u", i);
	}
}

static struct kunit_case zonelock_runs_cases[] = {
	KUNIT_CASE(a_hold_ends),
	KUNIT_CASE(neighbours_are_joined),
	KUNIT_CASE(a_bad_page_goes_alone),
	KUNIT_CASE(largest_blocks_first),
	KUNIT_CASE(joined_once),
	KUNIT_CASE(a_large_drain_is_few_blocks),
	KUNIT_CASE(blocks_are_kept_across_cuts),
	{}
};

static struct kunit_suite zonelock_runs_suite = {
	.name = "livemm-zonelock-runs",
	.test_cases = zonelock_runs_cases,
};
