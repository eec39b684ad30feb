// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma_ratio_core_test.c - where refills come from in mode ratio
 *
 * The expected runs come from the formula of the series: a pageblock for the smaller side, and
 * for the larger side as many times more pages as that side is larger.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/cma/core_ratio.c"

#define RATIO_BLOCK	512UL

static void each_source(struct kunit *test)
{
	static const struct {
		struct cma_view view;
		bool lending;
		enum cma_source want;
	} cases[] = {
		{ { 1001, 500, 500, 5000, 600 }, false, CMA_REGULAR },
		{ { 1001, 500, 500, 5000, 600 }, true, CMA_LENT },
		/* Regular memory at its high watermark, and below. */
		{ { 1000, 500, 500, 5000, 600 }, false, CMA_LENT },
		{ { 500, 500, 500, 5000, 600 }, false, CMA_LENT },
		/* No CMA memory is free; a negative count: a CPU's counts are pending. */
		{ { 1000, 0, 10, 5000, 500 }, true, CMA_REGULAR },
		{ { 1000, -3, 10, 5000, 500 }, true, CMA_REGULAR },
		{ { 10, 0, 10, 5000, 500 }, true, CMA_AS_STOCK },
		/* An owner comes first. */
		{ { 1001, 500, 500, 5000, 600, .allocating = true }, true, CMA_REGULAR },
		{ { 1000, 500, 500, 5000, 600, .allocating = true }, true, CMA_AS_STOCK },
		{ { 1000, 400, 500, 5000, 600, 400 }, true, CMA_REGULAR },
		{ { 1000, 400, 500, 5000, 600, 500 }, true, CMA_REGULAR },
		{ { 900, 400, 500, 5000, 600, 400 }, true, CMA_AS_STOCK },
		{ { 900, 400, 500, 5000, 600, 399 }, true, CMA_LENT },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cma_ratio ratio = { .lending = cases[i].lending };

		KUNIT_EXPECT_EQ_MSG(test, cases[i].want, cma_source(&cases[i].view, &ratio),
				    "case %u", i);
	}
}

static void shares(struct kunit *test)
{
	/* 1 GiB with half of it reserved, as in the series; some of each kind is in use. */
	struct cma_view view = {
		.free = 150000, .free_cma = 100000, .high = 1000, .managed = 250000, .cma = 131072,
	};

	/* 100000 of 149000: pages below the watermark do not count. */
	KUNIT_EXPECT_EQ(test, 49000L, cma_room(&view));
	KUNIT_EXPECT_EQ(test, (unsigned int)(100000UL * CMA_SHARE_ONE / 149000), cma_share(&view));
	view.kept = 51000;
	KUNIT_EXPECT_EQ(test, (unsigned int)CMA_SHARE_ONE / 2, cma_share(&view));
	view.kept = 100001;
	KUNIT_EXPECT_EQ(test, 0U, cma_share(&view));
	view.kept = 0;
	view.allocating = true;
	KUNIT_EXPECT_EQ(test, 0U, cma_share(&view));
	view.allocating = false;
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
		cma_charge(ratio, share, CMA_REGULAR, step, RATIO_BLOCK);
		*regular += step;
	}
	while (ratio->lending) {
		cma_charge(ratio, share, CMA_LENT, step, RATIO_BLOCK);
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
		long want_regular = max(cases[i].room * RATIO_BLOCK / cases[i].free_cma,
					RATIO_BLOCK);
		long want_lent = max(cases[i].free_cma * RATIO_BLOCK / cases[i].room, RATIO_BLOCK);
		struct cma_ratio ratio = { };
		long regular, lent;

		runs(&ratio, cma_share(&view), 1, &regular, &lent);
		/* A share has 16 bits: the error in a run of a hundred blocks is 0.2 %. */
		KUNIT_EXPECT_LE_MSG(test, abs(regular - want_regular), 2 + want_regular / 400,
				    "case %u: regular %ld, not %ld", i, regular, want_regular);
		KUNIT_EXPECT_LE_MSG(test, abs(lent - want_lent), 2 + want_lent / 400,
				    "case %u: lent %ld, not %ld", i, lent, want_lent);
		KUNIT_EXPECT_GE(test, min(regular, lent), (long)RATIO_BLOCK - 1);
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
			enum cma_source source;
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
			source = cma_source(&view, &ratio);
			KUNIT_ASSERT_NE(test, source, CMA_AS_STOCK);
			cma_charge(&ratio, share, source, step, RATIO_BLOCK);
			if (source == CMA_LENT) {
				lent += step;
				cma -= path & 1 ? step : 0;
			} else {
				regular -= path & 2 ? step : 0;
			}
			since[source == CMA_LENT] = 0;
			since[source != CMA_LENT] += step;
			pages += step;
			wanted += step * share;
			/* A block, and what the run before has overdrawn, at 1000 of 122000. */
			KUNIT_ASSERT_LT(test, since[0] + since[1], ((long)RATIO_BLOCK + 504) * 122);
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
	s64 most = (s64)CMA_OWED_BLOCKS * RATIO_BLOCK * CMA_SHARE_ONE;
	struct cma_ratio ratio = { };
	int i;

	for (i = 0; i < 1000; i++)
		cma_charge(&ratio, CMA_SHARE_ONE, CMA_REGULAR, 10000, RATIO_BLOCK);
	KUNIT_EXPECT_TRUE(test, ratio.lending);
	KUNIT_EXPECT_EQ(test, most, (s64)atomic64_read(&ratio.owed));
	for (i = 0; i < 1000; i++)
		cma_charge(&ratio, 0, CMA_LENT, 10000, RATIO_BLOCK);
	KUNIT_EXPECT_FALSE(test, ratio.lending);
	KUNIT_EXPECT_EQ(test, -most, (s64)atomic64_read(&ratio.owed));
}

static struct kunit_case cma_ratio_core_cases[] = {
	KUNIT_CASE(each_source),
	KUNIT_CASE(shares),
	KUNIT_CASE(runs_as_in_the_series),
	KUNIT_CASE(overdrawn_is_made_up_for),
	KUNIT_CASE(any_path_keeps_the_ratio),
	KUNIT_CASE(debts_are_bounded),
	{}
};

static struct kunit_suite cma_ratio_core_suite = {
	.name = "livemm-cma-ratio-core",
	.test_cases = cma_ratio_core_cases,
};
