// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_core_test.c - limits of lists
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/common/drain.h"
#include "../module/policy/pcp/core.c"

/* Default and maximum size of a DMA32 list in a 2 GiB guest with two CPUs. */
#define GUEST_DEF	6985
#define GUEST_MAX	31216

static void max_is_the_kernels_for_fraction_8(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pcp_max_high(499456, 125, 2, GUEST_DEF, 63), GUEST_MAX);
	/* Never below the default, nor below four batches. */
	KUNIT_EXPECT_EQ(test, pcp_max_high(1000, 10, 64, GUEST_DEF, 63), GUEST_DEF);
	KUNIT_EXPECT_EQ(test, pcp_max_high(1000, 10, 64, 10, 63), 252);
	/* 64 TiB on one CPU do not overflow. */
	KUNIT_EXPECT_EQ(test, pcp_max_high(1UL << 34, 500, 1, 10, 63), INT_MAX);
	KUNIT_EXPECT_EQ(test, pcp_max_high(1UL << 34, 500, 0, 10, 63), INT_MAX);
}

static void a_block_does_not_empty_a_list(struct kunit *test)
{
	/* A drain that would empty the list is limited to a batch. */
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(31000, 31000, 63), 63);
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(40, 40, 63), 40);
	/* A partial drain stays as it is. */
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(2016, 31000, 63), 2016);
}

static void a_raised_list_does_not_go_under_one_hold(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(2016, 31000, 606, 63), 455);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(400, 31000, 606, 63), 400);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(2016, 31000, 300, 63), 252);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(31000, 31000, 8000, 63), 6000);
	/* A list with its own bound goes as without the policy. */
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(543, 606, 606, 63), 543);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(669, 669, 606, 63), 669);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(670, 670, 606, 63), 455);
	/* Limits that no pass has seen. */
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(31000, 31000, 0, 63), 31000);
}

/*
 * Thousands of instructions for which interrupts were off, with 2,016 pages and on stock: 6.1 and
 * 6.12; and of a hold on 7.2, whose longest on stock is a refill (bench/lists.md).
 */
static void a_list_gives_back_no_longer_than_the_kernel(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, false) * 764, 2016 * 235);
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, true) * 954, 2016 * 678);
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, true) * 790, 2016 * 581);
	/* The kernel drains a large bound from time to time. */
	KUNIT_EXPECT_EQ(test, lmm_give_pages(4300, 63, false), 2016);
	KUNIT_EXPECT_EQ(test, lmm_give_pages(0, 1, false), 4);
}

static void lists_give_in_proportion(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 0), 3000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 2000), 2000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 4000), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 4005), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, -5), 3000);
	KUNIT_EXPECT_EQ(test, pcp_keep(1000, 1000, 4000, 5), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(900, 1000, 0, 5), 1000);
}

/* What the lists keep leaves the zone what it lacks, or they keep no more than their defaults. */
static void random_lists_give_what_is_lacking(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i;

	prandom_seed_state(&rnd, 8);
	for (round = 0; round < 1000; round++) {
		long lacks = (long)(prandom_u32_state(&rnd) % 400000) - 50000;
		int def[16], count[16];
		long held = 0, kept = 0;

		for (i = 0; i < 16; i++) {
			def[i] = prandom_u32_state(&rnd) % 7000;
			count[i] = def[i] + prandom_u32_state(&rnd) % 30000;
			held += count[i] - def[i];
		}
		for (i = 0; i < 16; i++) {
			int got = pcp_keep(count[i], def[i], held, lacks);

			KUNIT_ASSERT_GE(test, got, def[i]);
			KUNIT_ASSERT_LE(test, got, count[i]);
			kept += got - def[i];
		}
		KUNIT_ASSERT_LE(test, kept, max(held - max(lacks, 0L), 0L));
		/* Rounding costs each list a page at most. */
		KUNIT_ASSERT_GE(test, kept, held - max(lacks, 0L) - 16);
	}
}

static struct kunit_case pcp_core_cases[] = {
	KUNIT_CASE(max_is_the_kernels_for_fraction_8),
	KUNIT_CASE(a_block_does_not_empty_a_list),
	KUNIT_CASE(a_raised_list_does_not_go_under_one_hold),
	KUNIT_CASE(a_list_gives_back_no_longer_than_the_kernel),
	KUNIT_CASE(lists_give_in_proportion),
	KUNIT_CASE(random_lists_give_what_is_lacking),
	{ }
};

static struct kunit_suite pcp_core_suite = {
	.name = "livemm_pcp_core",
	.test_cases = pcp_core_cases,
};
