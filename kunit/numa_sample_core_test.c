// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_sample_core_test.c - what a sampling scan takes, and when a change is noticed
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../module/policy/numa/core_sample.c"

/* At the end of all addresses: 64 bits of them, in regions of 2 MiB. */
#define REGION_LAST	(BIT_ULL(43) - 1)

/* The part of a region that a sampling scan takes, in pages from the start of the region. */
static const struct part_case {
	const char *name;
	u32 stride, turn;
	u64 region;
	struct numa_range part;
	bool huge;
} part_cases[] = {
	{ "first", 16, 0, 0, { 0, 32 }, true },
	{ "next scan", 16, 1, 0, { 32, 64 }, false },
	{ "next region", 16, 0, 1, { 32, 64 }, false },
	{ "both", 16, 7, 8, { 480, 512 }, false },
	{ "around", 16, 8, 8, { 0, 32 }, true },
	{ "many scans", 16, 16000, 3, { 96, 128 }, false },
	{ "all of it", 1, 5, 7, { 0, 512 }, true },
	{ "a page", 512, 511, 0, { 511, 512 }, false },
	/* The last part has what is left over. */
	{ "of three", 3, 1, 0, { 170, 340 }, false },
	{ "last of three", 3, 2, 0, { 340, 512 }, false },
	{ "of 300", 300, 298, 0, { 298, 299 }, false },
	{ "last of 300", 300, 299, 0, { 299, 512 }, false },
	{ "far away", 16, 0, REGION_LAST, { 480, 512 }, false },
	{ "far away, around", 16, 1, REGION_LAST, { 0, 32 }, true },
	{ "far away, of three", 3, 0, REGION_LAST, { 170, 340 }, false },
	{ "late, far away", 16, U32_MAX, REGION_LAST, { 448, 480 }, false },
	{ "late", 3, U32_MAX, 0, { 0, 170 }, true },
};

NAMED_CASES(part, part_cases);

static void part_of_a_region(struct kunit *test)
{
	const struct part_case *c = test->param_value;
	const struct numa_sampling sampling = { .stride = c->stride, .turn = c->turn };
	u64 first = c->region << NUMA_REGION_SHIFT;
	struct numa_range run = { };

	KUNIT_EXPECT_TRUE(test, numa_sampling_region(&sampling, c->region, false, &run));
	KUNIT_EXPECT_EQ(test, run.start - first, c->part.start);
	KUNIT_EXPECT_EQ(test, run.end - first, c->part.end);
	/* A huge page is taken with the first part, and then all of it. */
	KUNIT_EXPECT_EQ(test, numa_sampling_region(&sampling, c->region, true, &run), c->huge);
	if (!c->huge)
		return;
	KUNIT_EXPECT_EQ(test, run.start, first);
	KUNIT_EXPECT_EQ(test, run.end, first + REGION_PAGES);
}

static const u64 some_regions[] = { 0, 1, 511, 4096 * 3 + 7, BIT_ULL(32) - 1, REGION_LAST };

/* `stride` sampling scans in a row take every page once, and a huge page once and whole. */
static void every_page_has_its_turn(struct kunit *test)
{
	struct numa_sampling sampling;
	u32 scans, huge_turns;
	u8 turns[REGION_PAGES];
	struct numa_range run;
	u64 page;
	int i;

	for (sampling.stride = 1; sampling.stride <= REGION_PAGES; sampling.stride++) {
		for (i = 0; i < ARRAY_SIZE(some_regions); i++) {
			u64 first = some_regions[i] << NUMA_REGION_SHIFT;

			memset(turns, 0, sizeof(turns));
			huge_turns = 0;
			/* The first turn may be any. */
			sampling.turn = sampling.stride * 7 + i * 100;
			for (scans = 0; scans < sampling.stride; scans++, sampling.turn++) {
				bool taken = numa_sampling_region(&sampling, some_regions[i],
								  false, &run);

				KUNIT_ASSERT_TRUE(test, taken);
				KUNIT_ASSERT_GE(test, run.start, first);
				KUNIT_ASSERT_LT(test, run.start, run.end);
				KUNIT_ASSERT_LE(test, run.end, first + REGION_PAGES);
				for (page = run.start; page < run.end; page++)
					turns[page - first]++;
				if (!numa_sampling_region(&sampling, some_regions[i], true, &run))
					continue;
				huge_turns++;
				KUNIT_ASSERT_EQ(test, run.start, first);
				KUNIT_ASSERT_EQ(test, run.end, first + REGION_PAGES);
			}
			for (page = 0; page < REGION_PAGES; page++)
				KUNIT_ASSERT_EQ_MSG(test, turns[page], 1, "page %llu, one in %u",
						    page, sampling.stride);
			KUNIT_ASSERT_EQ_MSG(test, huge_turns, 1U, "one in %u", sampling.stride);
		}
	}
}

/* So one sampling scan takes about its share, whatever the layout of the pages. */
static void neighbours_differ(struct kunit *test)
{
	struct numa_sampling sampling;
	u64 pages, huge, region;
	struct numa_range run;

	for (sampling.stride = 1; sampling.stride <= REGION_PAGES; sampling.stride++) {
		u64 start = U64_MAX;

		sampling.turn = sampling.stride * 5 + 3;
		pages = 0;
		huge = 0;
		/* As many regions as there are parts have one of each. */
		for (region = 1000; region < 1000 + sampling.stride; region++) {
			numa_sampling_region(&sampling, region, false, &run);
			run.start -= region << NUMA_REGION_SHIFT;
			run.end -= region << NUMA_REGION_SHIFT;
			KUNIT_ASSERT_NE(test, run.start, start);
			start = run.start;
			pages += run.end - run.start;
			huge += numa_sampling_region(&sampling, region, true, &run);
		}
		KUNIT_ASSERT_EQ(test, pages, REGION_PAGES);
		KUNIT_ASSERT_EQ(test, huge, 1ULL);
	}
}

static void random_samples_keep_the_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 20000; i++) {
		struct numa_sampling sampling = {
			.stride = 1 + prandom_u32_state(&rnd) % REGION_PAGES,
			.turn = prandom_u32_state(&rnd) >> prandom_u32_state(&rnd) % 32,
		}, before = sampling;
		u64 region = (u64)prandom_u32_state(&rnd) << 11 >> prandom_u32_state(&rnd) % 43;
		bool huge = i & 1;
		struct numa_range run, again;
		bool found = numa_sampling_region(&sampling, region, huge, &run);

		KUNIT_ASSERT_TRUE(test, found || huge);
		if (!found)
			continue;
		KUNIT_ASSERT_LT(test, run.start, run.end);
		KUNIT_ASSERT_EQ(test, run.start >> NUMA_REGION_SHIFT, region);
		KUNIT_ASSERT_EQ(test, (run.end - 1) >> NUMA_REGION_SHIFT, region);
		/* It keeps nothing in mind: scans may come back to a region. */
		KUNIT_ASSERT_EQ(test, sampling.stride, before.stride);
		KUNIT_ASSERT_EQ(test, sampling.turn, before.turn);
		KUNIT_ASSERT_TRUE(test, numa_sampling_region(&sampling, region, huge, &again));
		KUNIT_ASSERT_EQ(test, again.start, run.start);
		KUNIT_ASSERT_EQ(test, again.end, run.end);
	}
}

static void faults_of_a_sampling_scan(struct kunit *test)
{
	/* Pages, the stride, and faults to judge by. */
	static const struct {
		u64 resident;
		u32 stride, faults;
	} cases[] = {
		{ 0, 16, 64 }, { 1000, 16, 64 }, { 2079, 16, 64 }, { 2080, 16, 65 },
		{ 6400, 16, 200 }, { 12799, 16, 399 }, { 12800, 16, 400 }, { 12832, 16, 400 },
		{ 128, 1, 64 }, { 130, 1, 65 }, { 800, 1, 400 }, { 1000000, 1, 400 },
		{ 65536, 512, 64 }, { 204800, 512, 200 }, { 1 << 20, 512, 400 },
		{ U64_MAX, 1, 400 }, { U64_MAX, 512, 400 }, { BIT_ULL(32), 1, 400 },
		{ BIT_ULL(33) * 16, 16, 400 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		KUNIT_EXPECT_EQ_MSG(test, numa_sampling_faults(c->resident, c->stride), c->faults,
				    "%llu pages, one in %u", c->resident, c->stride);
}

static void gaps_grow(struct kunit *test)
{
	static const u32 gaps[][2] = {
		{ 0, 500 }, { 1, 500 }, { 500, 575 }, { 575, 661 }, { 13043, 14999 },
		{ 13044, 15000 }, { 15000, 15000 }, { 60000, 15000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(gaps); i++)
		KUNIT_EXPECT_EQ(test, numa_sampling_gap(gaps[i][0]), gaps[i][1]);
}

/* A sampling scan is never later than the next scan of the kernel, whose period grows. */
static void sampling_scans_are_no_later_than_the_kernel(struct kunit *test)
{
	u32 ms = 0, next = 0, gap = 0, period = 1000, samples = 0, scans = 0;

	while (ms < 3600000) {
		for (; next <= ms; next += gap, samples++)
			gap = numa_sampling_gap(gap);
		KUNIT_ASSERT_LE(test, gap, period);
		KUNIT_ASSERT_LE(test, next, ms + period);
		ms += period;
		scans++;
		/* A private share of all is worth three tenths. */
		period = min(period + 3 * DIV_ROUND_UP(period, 10), 60000U);
	}
	KUNIT_EXPECT_GE(test, samples, 2 * scans);
	KUNIT_EXPECT_LE(test, samples, 5 * scans);
}

static void a_change_is_noticed(struct kunit *test)
{
	/* Remote faults, all faults, percent that was to be expected. */
	static const struct {
		u32 remote, faults;
		unsigned int rate;
		bool differs;
	} cases[] = {
		{ 0, 100, 0, false }, { 20, 100, 0, false }, { 21, 100, 0, true },
		{ 21, 100, 1, false }, { 22, 100, 1, true }, { 100, 100, 1, true },
		{ 50, 100, 30, false }, { 51, 100, 30, true }, { 0, 100, 30, false },
		/* As few and as many as it is judged by. */
		{ 13, 64, 1, false }, { 14, 64, 1, true },
		{ 84, 400, 1, false }, { 85, 400, 1, true },
		/* Where most are remote, more of them are no change. */
		{ 100, 100, 79, true }, { 100, 100, 80, false }, { 100, 100, 100, false },
		/* Faults are counted some at a time, so there may be more than were asked for. */
		{ 72, 64, 80, true }, { 72, 64, 100, false },
		{ U32_MAX, U32_MAX, 100, false }, { U32_MAX, U32_MAX, 79, true },
		{ U32_MAX / 2, U32_MAX, 30, false }, { U32_MAX / 2 + 1, U32_MAX, 29, true },
		{ 0, U32_MAX, 0, false }, { 1, U32_MAX, 100, false },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		KUNIT_EXPECT_EQ_MSG(test, numa_sampling_differs(c->remote, c->faults, c->rate),
				    c->differs, "%u of %u, rate %u", c->remote, c->faults, c->rate);
}

static struct kunit_case numa_sample_core_cases[] = {
	KUNIT_CASE_PARAM(part_of_a_region, part_gen_params),
	KUNIT_CASE(every_page_has_its_turn),
	KUNIT_CASE(neighbours_differ),
	KUNIT_CASE(random_samples_keep_the_bounds),
	KUNIT_CASE(faults_of_a_sampling_scan),
	KUNIT_CASE(gaps_grow),
	KUNIT_CASE(sampling_scans_are_no_later_than_the_kernel),
	KUNIT_CASE(a_change_is_noticed),
	{ }
};

static struct kunit_suite numa_sample_core_suite = {
	.name = "livemm_numa_sample_core",
	.test_cases = numa_sample_core_cases,
};
