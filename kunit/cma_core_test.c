// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma_core_test.c - where refills come from, and which ranges are kept
 *
 * The expected runs come from the formula of the series: a pageblock for the smaller side, and
 * for the larger side as many times more pages as that side is larger.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../module/policy/cma/core.c"

#define BLOCK	512UL

static const struct cma_settings by_ratio = { .mode = CMA_MODE_RATIO, .cap_pct = 100 };

/* 1 GiB with half of it reserved, as in the series; some of each kind is in use. */
static const struct cma_view half = {
	.free = 150000, .free_cma = 100000, .high = 1000, .managed = 250000, .cma = 131072,
};

/* Settings: a mode, and how much of CMA memory may be in use, in percent. */
#define RATIO(cap)		{ CMA_MODE_RATIO, cap }
#define CMA_FIRST(cap)		{ CMA_MODE_CMA_FIRST, cap }
#define REGULAR_FIRST(cap)	{ CMA_MODE_REGULAR_FIRST, cap }
#define KEEP(cap)		{ CMA_MODE_KEEP, cap }

/* Each verdict; where two reasons apply, the one that is named. */
static void each_verdict(struct kunit *test)
{
	static const struct {
		struct cma_view view;
		struct cma_settings settings;
		bool lending;
		enum cma_verdict want;
	} cases[] = {
		{ half, RATIO(100), false, CMA_REGULAR_RATIO },
		{ half, RATIO(100), true, CMA_LEND_RATIO },
		{ half, CMA_FIRST(100), false, CMA_LEND_FIRST },
		{ half, REGULAR_FIRST(100), true, CMA_REGULAR_FIRST },
		/* Nothing reserved, more reserved than managed, more free than reserved. */
		{ { 1000, 0, 10, 5000, 0 }, RATIO(100), true, CMA_AS_STOCK_DRIFT },
		{ { 1000, 500, 10, 999, 1000 }, RATIO(100), true, CMA_AS_STOCK_DRIFT },
		{ { 1000, 501, 10, 5000, 500 }, RATIO(100), true, CMA_AS_STOCK_DRIFT },
		/* An error within @slack, the pending counts of the CPUs, is no drift. */
		{ { 1000, 501, 10, 5000, 500, .slack = 1 }, RATIO(100), true, CMA_LEND_RATIO },
		{ { 1000, 501, 10, 5000, 500, .slack = 1 }, CMA_FIRST(0), true, CMA_REGULAR_CAP },
		{ { 1000, 0, 10, 5000, 500 }, CMA_FIRST(100), true, CMA_AS_STOCK_EMPTY },
		/* A negative count: a CPU's counts are pending. */
		{ { 1000, -3, 10, 5000, 500 }, CMA_FIRST(100), true, CMA_AS_STOCK_EMPTY },
		/* A refill got none: within the error, the count is not trusted. */
		{ { 1000, 125, 10, 5000, 500, .slack = 125, .dry = true }, CMA_FIRST(100), true,
		  CMA_AS_STOCK_EMPTY },
		{ { 1000, 126, 10, 5000, 500, .slack = 125, .dry = true }, CMA_FIRST(100), true,
		  CMA_LEND_FIRST },
		{ { 1000, 125, 10, 5000, 500, .slack = 125 }, CMA_FIRST(100), true,
		  CMA_LEND_FIRST },
		/* Regular memory at its high watermark, and below. */
		{ { 1000, 500, 500, 5000, 600 }, RATIO(100), false, CMA_LEND_PRESSURE },
		{ { 500, 500, 500, 5000, 600 }, RATIO(100), false, CMA_LEND_PRESSURE },
		{ { 1001, 500, 500, 5000, 600 }, RATIO(100), false, CMA_REGULAR_RATIO },
		/* An owner comes first. */
		{ { 1001, 500, 500, 5000, 600, .allocating = true }, RATIO(100),
		  true, CMA_REGULAR_BUSY },
		{ { 1000, 400, 500, 5000, 600, 400 }, RATIO(100), true, CMA_REGULAR_KEPT },
		{ { 1000, 400, 500, 5000, 600, 500 }, CMA_FIRST(100), true, CMA_REGULAR_KEPT },
		/* A process that pins memory, whatever the mode would lend. */
		{ { 1001, 500, 500, 5000, 600, .pins = true }, CMA_FIRST(100), true,
		  CMA_REGULAR_PINS },
		{ { 1001, 500, 500, 5000, 600, .pins = true }, RATIO(100), true,
		  CMA_REGULAR_PINS },
		{ { 1000, 500, 500, 5000, 600, .pins = true }, CMA_FIRST(100), true,
		  CMA_AS_STOCK_PRESSURE },
		/* Under pressure the kernel's own rule replaces a reason for regular memory. */
		{ { 1000, 500, 500, 5000, 600, .allocating = true }, RATIO(100),
		  true, CMA_AS_STOCK_PRESSURE },
		{ { 900, 400, 500, 5000, 600, 400 }, RATIO(100), true, CMA_AS_STOCK_PRESSURE },
		{ { 900, 400, 500, 5000, 600 }, CMA_FIRST(10), true, CMA_AS_STOCK_PRESSURE },
		{ { 900, 400, 500, 5000, 600 }, REGULAR_FIRST(100), true, CMA_AS_STOCK_PRESSURE },
		{ { 500, 400, 500, 5000, 600, 399 }, CMA_FIRST(100), true, CMA_LEND_FIRST },
		/* Mode keep never lends. */
		{ { 1000, 400, 500, 5000, 600 }, KEEP(100), true, CMA_AS_STOCK_MODE },
		{ { 1000, 0, 10, 5000, 500 }, KEEP(0), false, CMA_AS_STOCK_MODE },
		/* Without the wrapper nothing is lent, however short memory is. */
		{ { 1000, 400, 10, 5000, 500, .unguarded = true }, CMA_FIRST(100),
		  true, CMA_AS_STOCK_LIVEPATCH },
		{ { 500, 500, 500, 5000, 600, .unguarded = true }, RATIO(100),
		  true, CMA_AS_STOCK_LIVEPATCH },
		{ { 1000, 400, 10, 5000, 500, .unguarded = true }, KEEP(100),
		  true, CMA_AS_STOCK_MODE },
		/* Half may be in use. */
		{ { 900, 501, 10, 5000, 1000 }, CMA_FIRST(50), true, CMA_LEND_FIRST },
		{ { 900, 500, 10, 5000, 1000 }, CMA_FIRST(50), true, CMA_REGULAR_CAP },
		{ { 1900, 1000, 10, 5000, 1000 }, CMA_FIRST(0), true, CMA_REGULAR_CAP },
		/* All may be in use. */
		{ { 900, 1, 10, 5000, 1000 }, CMA_FIRST(100), true, CMA_LEND_FIRST },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cma_ratio ratio = { .lending = cases[i].lending };

		KUNIT_EXPECT_EQ_MSG(test, cases[i].want,
				    cma_judge(&cases[i].view, &cases[i].settings, &ratio),
				    "case %u", i);
	}
}

static void shares(struct kunit *test)
{
	struct cma_view view = half;

	/* 100000 of 149000: pages below the watermark do not count. */
	KUNIT_EXPECT_EQ(test, 49000L, cma_room(&view));
	KUNIT_EXPECT_EQ(test, (unsigned int)(100000UL * CMA_SHARE_ONE / 149000), cma_share(&view));
	view.kept = 51000;
	KUNIT_EXPECT_EQ(test, (unsigned int)CMA_SHARE_ONE / 2, cma_share(&view));
	view.kept = 100001;
	KUNIT_EXPECT_EQ(test, 0U, cma_share(&view));
	view.kept = 0;
	view.high = 60000;
	KUNIT_EXPECT_EQ(test, (unsigned int)CMA_SHARE_ONE, cma_share(&view));
	/* Sizes near the limit of addressable memory. */
	view = (struct cma_view){ .free = 1L << 40, .free_cma = 1L << 39 };
	KUNIT_EXPECT_EQ(test, (unsigned int)CMA_SHARE_ONE / 2, cma_share(&view));
}

/* The lengths of the next two runs in pages, refilled @step pages at a time. */
static void runs(struct cma_ratio *ratio, unsigned int share, long step, long *regular, long *lent)
{
	*regular = 0;
	*lent = 0;
	while (!ratio->lending) {
		cma_charge(ratio, share, step, 0, BLOCK);
		*regular += step;
	}
	while (ratio->lending) {
		cma_charge(ratio, share, 0, step, BLOCK);
		*lent += step;
	}
}

/* While memory does not change, runs are as long as in the series. */
static void runs_as_in_the_series(struct kunit *test)
{
	static const struct {
		long room;
		long free_cma;
	} cases[] = {
		/* Equal parts; one side twice and ten times the other. */
		{ 50000, 50000 }, { 100000, 50000 }, { 50000, 100000 },
		{ 100000, 10000 }, { 10000, 100000 },
		/* 1 GiB with 512 MiB reserved, all free. */
		{ 119000, 131072 },
		{ 1, 100 }, { 100, 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cma_view view = {
			.free = cases[i].room + cases[i].free_cma,
			.free_cma = cases[i].free_cma,
		};
		/* nr_try_movable and nr_try_cma of the series: a block for the smaller side. */
		long want_regular = max(cases[i].room * BLOCK / cases[i].free_cma, BLOCK);
		long want_lent = max(cases[i].free_cma * BLOCK / cases[i].room, BLOCK);
		struct cma_ratio ratio = { };
		long regular, lent;

		runs(&ratio, cma_share(&view), 1, &regular, &lent);
		/* A share has 16 bits: the error in a run of a hundred blocks is 0.2 %. */
		KUNIT_EXPECT_LE_MSG(test, abs(regular - want_regular), 2 + want_regular / 400,
				    "case %u: regular %ld, not %ld", i, regular, want_regular);
		KUNIT_EXPECT_LE_MSG(test, abs(lent - want_lent), 2 + want_lent / 400,
				    "case %u: lent %ld, not %ld", i, lent, want_lent);
		KUNIT_EXPECT_GE(test, min(regular, lent), (long)BLOCK - 1);
	}
}

/*
 * Runs are overdrawn by refills of a page, a batch, a huge page; the next run makes up for it.
 */
static void overdrawn_is_made_up_for(struct kunit *test)
{
	static const long steps[] = { 1, 63, 504, 512, 2000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		long all_regular = 0, all_lent = 0;
		struct cma_ratio ratio = { };
		long regular, lent;
		int round;

		for (round = 0; round < 500; round++) {
			runs(&ratio, CMA_SHARE_ONE / 4, steps[i], &regular, &lent);
			all_regular += regular;
			all_lent += lent;
		}
		/* A quarter of all pages is lent. */
		KUNIT_EXPECT_LE_MSG(test, abs(all_lent * 4 - all_regular - all_lent) * 100,
				    all_regular + all_lent, "steps of %ld", steps[i]);
	}
}

/*
 * On random paths of memory, the lent pages are within 1 % of the sum of the shares at each
 * refill, no kind is starved, and the debt stays small.
 */
static void any_path_keeps_the_ratio(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int path;

	prandom_seed_state(&rnd, 20140512);
	for (path = 0; path < 40; path++) {
		struct cma_view view = { .high = 1000, .managed = 262144, .cma = 131072 };
		long regular = 100000, cma = 100000;
		s64 wanted = 0, pages = 0, lent = 0;
		struct cma_ratio ratio = { };
		long since[2] = { };
		int i;

		for (i = 0; i < 20000; i++) {
			u32 bits = prandom_u32_state(&rnd);
			long step = bits & 1 ? 63 : 1 + (bits >> 1) % 504;
			enum cma_verdict verdict;
			unsigned int share;

			/* Now and then much memory of one kind is freed. */
			if (!(bits >> 24)) {
				if (bits & 2)
					regular = 2000 + (bits >> 4) % 120000;
				else
					cma = 1000 + (bits >> 4) % 130000;
			}
			regular = max(regular, 2000L);
			cma = clamp(cma, 1000L, 131072L);
			view.free_cma = cma;
			view.free = cma + regular;
			share = cma_share(&view);
			verdict = cma_judge(&view, &by_ratio, &ratio);
			KUNIT_ASSERT_TRUE(test, cma_by_ratio(verdict));
			if (cma_lends(verdict)) {
				cma_charge(&ratio, share, 0, step, BLOCK);
				lent += step;
				cma -= path & 1 ? step : 0;
			} else {
				cma_charge(&ratio, share, step, 0, BLOCK);
				regular -= path & 2 ? step : 0;
			}
			since[cma_lends(verdict)] = 0;
			since[!cma_lends(verdict)] += step;
			pages += step;
			wanted += step * share;
			/* A block, and what the run before has overdrawn, at 1000 of 122000. */
			KUNIT_ASSERT_LT(test, since[0] + since[1], ((long)BLOCK + 504) * 122);
		}
		wanted /= CMA_SHARE_ONE;
		KUNIT_EXPECT_LE_MSG(test, abs(lent - wanted) * 100, pages,
				    "path %u: lent %lld of %lld, wanted %lld", path, lent,
				    pages, wanted);
	}
}

/* A debt beyond the limit is forgotten, so that no run is endless. */
static void debts_are_bounded(struct kunit *test)
{
	s64 most = (s64)CMA_OWED_BLOCKS * BLOCK * CMA_SHARE_ONE;
	struct cma_ratio ratio = { };
	int i;

	for (i = 0; i < 1000; i++)
		cma_charge(&ratio, CMA_SHARE_ONE, 10000, 0, BLOCK);
	KUNIT_EXPECT_TRUE(test, ratio.lending);
	KUNIT_EXPECT_EQ(test, most, (s64)atomic64_read(&ratio.owed));
	for (i = 0; i < 1000; i++)
		cma_charge(&ratio, 0, 0, 10000, BLOCK);
	KUNIT_EXPECT_FALSE(test, ratio.lending);
	KUNIT_EXPECT_EQ(test, -most, (s64)atomic64_read(&ratio.owed));
}

static void remember(struct cma_range *ranges, unsigned long start, unsigned long pages,
		     unsigned long free, unsigned long now, unsigned long max)
{
	struct cma_range range = {
		.start = start, .end = start + pages, .until = now + 100, .free = free,
	};

	cma_remember(ranges, &range, now, max);
}

static void remembers_and_forgets(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };
	unsigned long now = -50UL;

	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, now));
	remember(ranges, 1000, 200, 200, now, 10000);
	remember(ranges, 3000, 100, 40, now + 20, 10000);
	KUNIT_EXPECT_EQ(test, 240UL, cma_forget(ranges, now + 99));
	/* The first range is forgotten, across the wrap of jiffies; then the second. */
	KUNIT_EXPECT_EQ(test, 40UL, cma_forget(ranges, now + 100));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, now + 120));
}

/* An owner takes its released range again: the range is forgotten. */
static void taken_again(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };

	remember(ranges, 1000, 2048, 2048, 0, 10000);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(ranges, 1));
	cma_taken(ranges, 1000, 3048);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 2));
	KUNIT_EXPECT_EQ(test, 0UL, pages_remembered(ranges, 2));
	remember(ranges, 1000, 2048, 2048, 2, 10000);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(ranges, 3));
	/* The owner takes half of the range. */
	cma_taken(ranges, 500, 2024);
	KUNIT_EXPECT_EQ(test, 1024UL, cma_forget(ranges, 4));
	/* Taking an adjoining range changes nothing. */
	cma_taken(ranges, 3048, 9000);
	KUNIT_EXPECT_EQ(test, 1024UL, cma_forget(ranges, 4));
	/* From the middle of [2024, 3048): the longer part stays. */
	cma_taken(ranges, 2500, 2600);
	KUNIT_EXPECT_EQ(test, 476UL, pages_remembered(ranges, 4));
	KUNIT_EXPECT_EQ(test, 476UL, cma_forget(ranges, 4));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 2500, 3048, 4));
	cma_taken(ranges, 2100, 2200);
	KUNIT_EXPECT_EQ(test, 300UL, pages_remembered(ranges, 4));
	KUNIT_EXPECT_EQ(test, 300UL, cma_forget(ranges, 4));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 2024, 2200, 4));
}

/*
 * Two buffers are taken of a range one after the other, and nothing of the range stays.  When the
 * second comes back, the second is kept, and not the first, which its owner still has.
 */
static void taken_in_pieces(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };

	remember(ranges, 1000, 4096, 4096, 0, 10000);
	cma_taken(ranges, 1000, 3048);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(ranges, 1));
	KUNIT_EXPECT_EQ(test, 2048UL, pages_remembered(ranges, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 1000, 3048, 1));
	cma_taken(ranges, 3048, 5096);
	KUNIT_EXPECT_EQ(test, 0UL, pages_remembered(ranges, 1));
	remember(ranges, 3048, 2048, 2048, 1, 10000);
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 1000, 3048, 2));
	KUNIT_EXPECT_TRUE(test, cma_keeps(ranges, 3048, 3049, 2));
	/* From the end, and more than there is. */
	cma_taken(ranges, 5000, 9000);
	KUNIT_EXPECT_EQ(test, 1952UL, cma_forget(ranges, 2));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 5000, 5096, 2));
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

/* The kernel's search begins at the start of the area, and passes over runs that are too short. */
static void first_range(struct kunit *test)
{
	unsigned long bitmap[4] = { };
	struct cma_owners owners = { bitmap, 1000, 1000 + 4 * BITS_PER_LONG, 0 };
	struct cma_range range = { .until = 7, .free = 8 };
	unsigned long i;

	KUNIT_EXPECT_TRUE(test, cma_first_range(&owners, 100, &range));
	KUNIT_EXPECT_EQ(test, 1000UL, range.start);
	KUNIT_EXPECT_EQ(test, 1100UL, range.end);
	KUNIT_EXPECT_EQ(test, 7UL, range.until);
	KUNIT_EXPECT_EQ(test, 8UL, range.free);
	KUNIT_EXPECT_TRUE(test, cma_first_range(&owners, 4 * BITS_PER_LONG, &range));
	KUNIT_EXPECT_EQ(test, owners.end, range.end);
	KUNIT_EXPECT_FALSE(test, cma_first_range(&owners, 4 * BITS_PER_LONG + 1, &range));
	/* Pages 20 to 149 have owners, whole words among them. */
	for (i = 20; i < 150; i++)
		bitmap[i / BITS_PER_LONG] |= 1UL << i % BITS_PER_LONG;
	KUNIT_EXPECT_TRUE(test, cma_first_range(&owners, 20, &range));
	KUNIT_EXPECT_EQ(test, 1000UL, range.start);
	KUNIT_EXPECT_TRUE(test, cma_first_range(&owners, 21, &range));
	KUNIT_EXPECT_EQ(test, 1150UL, range.start);
	KUNIT_EXPECT_EQ(test, 1171UL, range.end);
	KUNIT_EXPECT_FALSE(test, cma_first_range(&owners, 107, &range));
	KUNIT_EXPECT_EQ(test, 1150UL, range.start);
	/* A bit for a block of 512 pages: whole blocks. */
	owners = (struct cma_owners){ bitmap, 1024, 1024 + 4 * BITS_PER_LONG * BLOCK, 9 };
	KUNIT_EXPECT_TRUE(test, cma_first_range(&owners, 20 * BLOCK + 1, &range));
	KUNIT_EXPECT_EQ(test, 1024UL + 150 * BLOCK, range.start);
	KUNIT_EXPECT_EQ(test, 1024UL + 171 * BLOCK, range.end);
}

/* A write of a knob that has nothing to do with what is kept changes nothing that is kept. */
static void knobs_that_do_not_matter(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };
	unsigned long now = -50UL;

	remember(ranges, 1000, 2048, 2048, now, 10000);
	remember(ranges, 9000, 300, 200, now + 10, 10000);
	cma_limit(ranges, now + 20, 100, 10000);
	KUNIT_EXPECT_EQ(test, 2248UL, cma_forget(ranges, now + 99));
	KUNIT_EXPECT_EQ(test, 200UL, cma_forget(ranges, now + 109));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, now + 110));
}

/* A shorter time ends sooner, counted from the write; a lower limit holds at once. */
static void knobs_that_keep_less(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };

	remember(ranges, 1000, 2048, 2048, 0, 10000);
	cma_limit(ranges, 10, 30, 10000);
	KUNIT_EXPECT_EQ(test, 2048UL, cma_forget(ranges, 39));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 40));
	/* Nothing is to be kept. */
	remember(ranges, 1000, 2048, 2048, 0, 10000);
	cma_limit(ranges, 10, 0, 10000);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 10));
	/* The older one goes. */
	remember(ranges, 1000, 600, 600, 0, 10000);
	remember(ranges, 5000, 700, 700, 1, 10000);
	cma_limit(ranges, 2, 100, 1000);
	KUNIT_EXPECT_EQ(test, 700UL, cma_forget(ranges, 2));
	/* Of one that is too large the first part stays. */
	cma_limit(ranges, 2, 100, 400);
	KUNIT_EXPECT_EQ(test, 400UL, cma_forget(ranges, 2));
	KUNIT_EXPECT_TRUE(test, cma_keeps(ranges, 5399, 5400, 2));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 5400, 5700, 2));
	cma_limit(ranges, 2, 100, 0);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 2));
}

/* Adjoining ranges join; the joined range is kept as long as the younger one. */
static void neighbours_join(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };
	int used = 0;
	int i;

	remember(ranges, 1000, 100, 100, 0, 10000);
	remember(ranges, 1200, 100, 100, 10, 10000);
	remember(ranges, 1100, 100, 50, 5, 10000);
	for (i = 0; i < CMA_RANGES; i++)
		used += ranges[i].start < ranges[i].end;
	KUNIT_EXPECT_EQ(test, 1, used);
	KUNIT_EXPECT_EQ(test, 250UL, cma_forget(ranges, 109));
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 110));
}

static void no_more_than_may_be(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };
	int i;

	/* A range larger than the limit: its first part is kept. */
	remember(ranges, 0, 2000, 2000, 0, 1000);
	KUNIT_EXPECT_EQ(test, 1000UL, cma_forget(ranges, 1));
	cma_taken(ranges, 0, 1000);
	/* The oldest range makes room. */
	remember(ranges, 0, 600, 600, 1, 1000);
	remember(ranges, 5000, 300, 300, 2, 1000);
	remember(ranges, 8000, 500, 500, 3, 1000);
	KUNIT_EXPECT_EQ(test, 800UL, cma_forget(ranges, 4));
	/* Two adjoining ranges exceed the limit: the newer one stays. */
	remember(ranges, 5300, 900, 900, 5, 1000);
	KUNIT_EXPECT_EQ(test, 900UL, cma_forget(ranges, 6));
	/* Two adjoining ranges within the limit: both stay. */
	cma_taken(ranges, 0, 100000);
	remember(ranges, 100, 600, 600, 6, 1000);
	remember(ranges, 700, 300, 300, 6, 900);
	KUNIT_EXPECT_EQ(test, 900UL, cma_forget(ranges, 6));
	cma_taken(ranges, 0, 100000);
	/* There are no more ranges than slots, however small they are. */
	for (i = 0; i < 3 * CMA_RANGES; i++)
		remember(ranges, 100000 + 10 * i, 5, 5, 7 + i, 1000);
	KUNIT_EXPECT_EQ(test, 5UL * CMA_RANGES, cma_forget(ranges, 7 + i));
	/* With a limit of 0 nothing is kept. */
	memset(ranges, 0, sizeof(ranges));
	remember(ranges, 0, 1, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, 0UL, cma_forget(ranges, 0));
}

/* Random events: ranges do not overlap; their pages stay within the limit. */
static void any_events_keep_ranges_sane(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };
	unsigned long now = -3000UL;
	struct rnd_state rnd;
	int i, a, b;

	prandom_seed_state(&rnd, 8);
	for (i = 0; i < 20000; i++) {
		u32 bits = prandom_u32_state(&rnd);
		unsigned long start = bits % 4096;
		unsigned long pages = 1 + (bits >> 12) % 700;
		unsigned long all = 0;

		now += bits >> 28;
		if (bits & BIT(26))
			cma_taken(ranges, start, start + pages);
		else
			remember(ranges, start, pages, bits & BIT(27) ? pages : 0, now, 1500);
		cma_forget(ranges, now);
		for (a = 0; a < CMA_RANGES; a++) {
			KUNIT_ASSERT_LE(test, ranges[a].free, ranges[a].end - ranges[a].start);
			all += ranges[a].end - ranges[a].start;
			for (b = 0; b < a; b++)
				KUNIT_ASSERT_EQ(test, 0UL, overlap(&ranges[a], &ranges[b]));
		}
		KUNIT_ASSERT_LE(test, all, 1500UL);
	}
}

/* Regular memory fills up what CMA memory lends too little of, above its high watermark. */
static void tops_up(struct kunit *test)
{
	struct cma_view low = { 1000, 500, 500, 5000, 600 };

	KUNIT_EXPECT_TRUE(test, cma_tops_up(&half, CMA_LEND_FIRST));
	KUNIT_EXPECT_TRUE(test, cma_tops_up(&half, CMA_LEND_RATIO));
	KUNIT_EXPECT_FALSE(test, cma_tops_up(&half, CMA_REGULAR_RATIO));
	KUNIT_EXPECT_FALSE(test, cma_tops_up(&half, CMA_AS_STOCK_EMPTY));
	KUNIT_EXPECT_FALSE(test, cma_tops_up(&low, CMA_LEND_PRESSURE));
}

/* A page of a kept range is kept until the range's time is over. */
static void keeps_each_page(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = { };

	remember(ranges, 1000, 100, 100, 0, 10000);
	KUNIT_EXPECT_TRUE(test, cma_keeps(ranges, 1000, 1001, 1));
	KUNIT_EXPECT_TRUE(test, cma_keeps(ranges, 1099, 1200, 1));
	KUNIT_EXPECT_TRUE(test, cma_keeps(ranges, 0, 5000, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 1100, 1200, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 900, 1000, 1));
	KUNIT_EXPECT_FALSE(test, cma_keeps(ranges, 1000, 1100, 100));
}

static struct kunit_case cma_core_cases[] = {
	KUNIT_CASE(each_verdict),
	KUNIT_CASE(shares),
	KUNIT_CASE(runs_as_in_the_series),
	KUNIT_CASE(overdrawn_is_made_up_for),
	KUNIT_CASE(any_path_keeps_the_ratio),
	KUNIT_CASE(debts_are_bounded),
	KUNIT_CASE(remembers_and_forgets),
	KUNIT_CASE(taken_again),
	KUNIT_CASE(taken_in_pieces),
	KUNIT_CASE(owned_until_released),
	KUNIT_CASE(first_range),
	KUNIT_CASE(knobs_that_do_not_matter),
	KUNIT_CASE(knobs_that_keep_less),
	KUNIT_CASE(neighbours_join),
	KUNIT_CASE(no_more_than_may_be),
	KUNIT_CASE(any_events_keep_ranges_sane),
	KUNIT_CASE(keeps_each_page),
	KUNIT_CASE(tops_up),
	{}
};

static struct kunit_suite cma_core_suite = {
	.name = "livemm-cma-core",
	.test_cases = cma_core_cases,
};
