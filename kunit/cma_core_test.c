// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma_core_test.c - which range is kept for its owner, and what owners have
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/cma/core.c"

#define BLOCK	512UL

static void remember(struct cma_range *range, unsigned long start, unsigned long pages,
		     unsigned long free, unsigned long now, unsigned long max)
{
	struct cma_range wanted = {
		.start = start, .end = start + pages, .until = now + 100, .free = free,
	};

	cma_remember(range, &wanted, now, max);
}

static void remembers_and_forgets(struct kunit *test)
{
	struct cma_range range = { };
	unsigned long now = -50UL;

	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, now));
	remember(&range, 1000, 200, 150, now, 10000);
	/* Forgotten across the wrap of jiffies. */
	KUNIT_EXPECT_EQ(test, 150UL, cma_forget(&range, now + 99));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, now + 100));
	/* The last range that was released is kept, not one before that lies elsewhere. */
	remember(&range, 1000, 200, 200, now, 10000);
	remember(&range, 3000, 100, 40, now + 20, 10000);
	KUNIT_EXPECT_EQ(test, 40UL, cma_forget(&range, now + 119));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1000, 1200, now + 20));
}

/* An owner takes its released range again: the range is forgotten. */
static void taken_again(struct kunit *test)
{
	struct cma_range range = { };

	remember(&range, 1000, 2048, 2048, 0, 10000);
	cma_taken(&range, 1000, 3048);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, 2));
	remember(&range, 1000, 2048, 2048, 2, 10000);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(&range, 3));
	/* The owner takes half of the range. */
	cma_taken(&range, 500, 2024);
	KUNIT_EXPECT_EQ(test, 1024UL, cma_forget(&range, 4));
	/* Taking an adjoining range changes nothing. */
	cma_taken(&range, 3048, 9000);
	KUNIT_EXPECT_EQ(test, 1024UL, cma_forget(&range, 4));
	/* From the middle of [2024, 3048): the longer part stays. */
	cma_taken(&range, 2500, 2600);
	KUNIT_EXPECT_EQ(test, 476UL, cma_forget(&range, 4));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 2500, 3048, 4));
	cma_taken(&range, 2100, 2200);
	KUNIT_EXPECT_EQ(test, 300UL, cma_forget(&range, 4));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 2024, 2200, 4));
}

/*
 * Two buffers are taken of a range one after the other, and nothing of the range stays.  When the
 * second comes back, the second is kept, and not the first, which its owner still has.
 */
static void taken_in_pieces(struct kunit *test)
{
	struct cma_range range = { };

	remember(&range, 1000, 4096, 4096, 0, 10000);
	cma_taken(&range, 1000, 3048);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(&range, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1000, 3048, 1));
	cma_taken(&range, 3048, 5096);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, 1));
	remember(&range, 3048, 2048, 2048, 1, 10000);
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1000, 3048, 2));
	KUNIT_EXPECT_TRUE(test, cma_keeps(&range, 3048, 3049, 2));
	/* From the end, and more than there is. */
	cma_taken(&range, 5000, 9000);
	KUNIT_EXPECT_EQ(test, 1952UL, cma_forget(&range, 2));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 5000, 5096, 2));
}

/* The kernel's bitmap says what an owner has, also from before the policy went on, and in parts. */
static void owned_until_released(struct kunit *test)
{
	unsigned long bitmap[4] = { };
	struct cma_owners owners = { bitmap, 1000, 1000 + 4 * BITS_PER_LONG, 0 };
	unsigned long i;

	for (i = 60; i < 140; i++)
		bitmap[i / BITS_PER_LONG] |= 1UL << i % BITS_PER_LONG;
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 0, 1060));
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 0, 1061));
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 1139, 5000));
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 1140, 5000));
	/* The middle is released: the rest stays, nothing else does. */
	for (i = 70; i < 130; i++)
		bitmap[i / BITS_PER_LONG] &= ~(1UL << i % BITS_PER_LONG);
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 1070, 1130));
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 1069, 1130));
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 1070, 1131));
	/* No pages, and pages of somebody else. */
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 1060, 1060));
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 0, 1000));
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, owners.end, ULONG_MAX));
	/* A bit for a block of 512 pages: a part of one is all of it. */
	owners = (struct cma_owners){ bitmap, 1024, 1024 + 4 * BITS_PER_LONG * BLOCK, 9 };
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 1024 + 70 * BLOCK - 1, 1024 + 70 * BLOCK));
	KUNIT_EXPECT_FALSE(test, cma_owned(&owners, 1024 + 70 * BLOCK, 1024 + 130 * BLOCK));
	KUNIT_EXPECT_TRUE(test, cma_owned(&owners, 1024 + 60 * BLOCK - 1, 1025 + 60 * BLOCK));
}

/* Adjoining ranges join; the joined range is kept as long as the younger one. */
static void neighbours_join(struct kunit *test)
{
	struct cma_range range = { };

	remember(&range, 1000, 100, 100, 10, 10000);
	remember(&range, 1100, 100, 50, 5, 10000);
	KUNIT_EXPECT_EQ(test, 150UL, cma_forget(&range, 109));
	/* Pages of the overlap are free as the newer one says. */
	remember(&range, 950, 100, 0, 5, 10000);
	KUNIT_EXPECT_EQ(test, 100UL, cma_forget(&range, 109));
	KUNIT_EXPECT_TRUE(test, cma_keeps(&range, 950, 951, 109));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, 110));
}

static void no_more_than_may_be(struct kunit *test)
{
	struct cma_range range = { };

	/* A range larger than the limit: its first part is kept. */
	remember(&range, 0, 2000, 2000, 0, 1000);
	KUNIT_EXPECT_EQ(test, 1000UL, cma_forget(&range, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1000, 2000, 1));
	/* Two adjoining ranges exceed the limit: the newer one stays. */
	remember(&range, 1000, 900, 900, 5, 1000);
	KUNIT_EXPECT_EQ(test, 900UL, cma_forget(&range, 6));
	/* With a limit of 0 nothing is kept. */
	remember(&range, 0, 1, 1, 6, 0);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(&range, 6));
}

/* Random events: the pages stay within the limit. */
static void any_events_keep_the_range_sane(struct kunit *test)
{
	struct cma_range range = { };
	unsigned long now = -3000UL;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 8);
	for (i = 0; i < 20000; i++) {
		u32 bits = prandom_u32_state(&rnd);
		unsigned long start = bits % 4096;
		unsigned long pages = 1 + (bits >> 12) % 700;

		now += bits >> 28;
		if (bits & BIT(26))
			cma_taken(&range, start, start + pages);
		else
			remember(&range, start, pages, bits & BIT(27) ? pages : 0, now, 1500);
		cma_forget(&range, now);
		KUNIT_ASSERT_LE(test, range.free, range.end - range.start);
		KUNIT_ASSERT_LE(test, range.end - range.start, 1500UL);
	}
}

/* A page of a kept range is kept until the range's time is over. */
static void keeps_each_page(struct kunit *test)
{
	struct cma_range range = { };

	remember(&range, 1000, 100, 100, 0, 10000);
	KUNIT_EXPECT_TRUE(test, cma_keeps(&range, 1000, 1001, 1));
	KUNIT_EXPECT_TRUE(test, cma_keeps(&range, 1099, 1200, 1));
	KUNIT_EXPECT_TRUE(test, cma_keeps(&range, 0, 5000, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1100, 1200, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 900, 1000, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(&range, 1000, 1100, 100));
}

static struct kunit_case cma_core_cases[] = {
	KUNIT_CASE(remembers_and_forgets),
	KUNIT_CASE(taken_again),
	KUNIT_CASE(taken_in_pieces),
	KUNIT_CASE(owned_until_released),
	KUNIT_CASE(neighbours_join),
	KUNIT_CASE(no_more_than_may_be),
	KUNIT_CASE(any_events_keep_the_range_sane),
	KUNIT_CASE(keeps_each_page),
	{}
};

static struct kunit_suite cma_core_suite = {
	.name = "livemm-cma-core",
	.test_cases = cma_core_cases,
};
