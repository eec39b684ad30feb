// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_sample_core_test.c - what a sampling scan takes, and when
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../module/policy/numa/core_sample.c"

#define PART_REGION	BIT_ULL(NUMA_REGION_SHIFT)

/* Regions of 2 MiB: 's' mapped by a page table, 'H' by a huge page, '.' not; from page 0 on. */
static enum numa_backing backing_of(void *map, u64 region)
{
	const char *regions = map;

	/* A map of one kind stands for any size. */
	switch (regions[1] ? regions[region] : regions[0]) {
	case 's':
		return NUMA_SMALL;
	case 'H':
		return NUMA_HUGE;
	default:
		return NUMA_UNMAPPED;
	}
}

/* The slice of a range that a sampling scan takes; an empty run: none. */
static const struct slice_case {
	const char *name;
	char *map;
	u32 stride, turn;
	struct numa_range range, run;
} slice_cases[] = {
	{ "first", "s", 16, 0, { 0, 4096 }, { 0, 256 } },
	{ "next scan", "s", 16, 1, { 0, 4096 }, { 256, 512 } },
	{ "last", "s", 16, 15, { 0, 4096 }, { 3840, 4096 } },
	{ "around", "s", 16, 16, { 0, 4096 }, { 0, 256 } },
	{ "many scans", "s", 16, 16003, { 0, 4096 }, { 768, 1024 } },
	/* As the kernel scans it: 256 MiB make 16 MiB. */
	{ "256 MiB", "s", 16, 3, { 0, 65536 }, { 12288, 16384 } },
	{ "all of it", "s", 1, 5, { 100, 700 }, { 100, 700 } },
	/* Ranges that begin elsewhere have their turns at other times. */
	{ "elsewhere", "s", 16, 0, { 512, 4608 }, { 768, 1024 } },
	{ "elsewhere, next", "s", 16, 1, { 512, 4608 }, { 1024, 1280 } },
	/* Small ranges have a turn in some scans only. */
	{ "20 pages", "s", 16, 0, { 0, 20 }, { 0, 20 } },
	{ "20 pages, next", "s", 16, 1, { 0, 20 }, { } },
	{ "100 pages", "s", 16, 2, { 0, 100 }, { 66, 100 } },
	{ "100 pages, next", "s", 16, 3, { 0, 100 }, { } },
	{ "a page in 512", "s", 512, 511, { 0, 512 }, { } },
	/* Slices are shares of what is mapped. */
	{ "sparse", "..s.....", 16, 1, { 0, 4096 }, { 1056, 1088 } },
	{ "over a hole", "s......s", 2, 0, { 0, 4096 }, { 0, 512 } },
	{ "over a hole, next", "s......s", 2, 1, { 0, 4096 }, { 3584, 4096 } },
	{ "with a hole", "s..s..ss", 1, 0, { 0, 4096 }, { 0, 4096 } },
	{ "two halves", "s.......s", 4, 1, { 256, 4352 }, { 384, 512 } },
	{ "unmapped", ".", 16, 0, { 0, 4096 }, { } },
	/* Huge pages are taken whole, by the slice that has their first page. */
	{ "huge", "H", 16, 0, { 0, 4096 }, { 0, 512 } },
	{ "huge, its second half", "H", 16, 1, { 0, 4096 }, { } },
	{ "huge, next", "H", 16, 2, { 0, 4096 }, { 512, 1024 } },
	{ "huge, many", "H", 4, 1, { 0, 4096 }, { 1024, 2048 } },
	{ "from a huge page", "sHss", 4, 1, { 0, 2048 }, { 512, 1024 } },
	{ "into a huge page", "ssHs", 3, 1, { 0, 2048 }, { 682, 1536 } },
	{ "out of a huge page", "ssHs", 3, 2, { 0, 2048 }, { 1536, 2048 } },
	{ "late", "s", 16, U32_MAX, { 0, 4096 }, { 3840, 4096 } },
};

NAMED_CASES(slice, slice_cases);

static void slice_of_a_range(struct kunit *test)
{
	const struct slice_case *c = test->param_value;
	const struct numa_sampling sampling = { .stride = c->stride, .turn = c->turn };
	struct numa_range run = { };
	bool some = numa_sampling_slice(&sampling, &c->range, backing_of, c->map, &run);

	KUNIT_EXPECT_EQ(test, some, c->run.start < c->run.end);
	if (!some)
		return;
	KUNIT_EXPECT_EQ(test, run.start, c->run.start);
	KUNIT_EXPECT_EQ(test, run.end, c->run.end);
}

/* Regions of the maps that chance makes. */
#define MAP_REGIONS	12

/*
 * `stride` sampling scans in a row take every mapped page once, and a huge page whole; each scan
 * takes one run of the range, and the runs together have as many pages as are mapped.
 */
static void every_page_has_its_turn(struct kunit *test)
{
	static u8 turns[MAP_REGIONS << NUMA_REGION_SHIFT];
	char map[MAP_REGIONS + 1] = "";
	struct rnd_state rnd;
	int i, at;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 400; i++) {
		struct numa_sampling sampling = {
			.stride = 1 + prandom_u32_state(&rnd) % 512,
			/* Clear of the end of 32 bits, where a turn is left out. */
			.turn = prandom_u32_state(&rnd) >> 1 >> prandom_u32_state(&rnd) % 31,
		};
		struct numa_range range;
		u32 scans, runs = 0;

		for (at = 0; at < MAP_REGIONS; at++)
			map[at] = "sssH.."[prandom_u32_state(&rnd) % 6];
		/* A range begins and ends anywhere, but not within a huge page. */
		range.start = prandom_u32_state(&rnd) % (4 * PART_REGION);
		range.end = range.start + 1 + prandom_u32_state(&rnd) % (8 * PART_REGION - 1);
		map[range.start / PART_REGION] = 's';
		map[(range.end - 1) / PART_REGION] = 's';
		memset(turns, 0, sizeof(turns));
		for (scans = 0; scans < sampling.stride; scans++, sampling.turn++) {
			struct numa_range run;
			u64 page;

			if (!numa_sampling_slice(&sampling, &range, backing_of, map, &run))
				continue;
			runs++;
			KUNIT_ASSERT_GE(test, run.start, range.start);
			KUNIT_ASSERT_LT(test, run.start, run.end);
			KUNIT_ASSERT_LE(test, run.end, range.end);
			for (page = run.start; page < run.end; page++)
				turns[page]++;
		}
		KUNIT_ASSERT_GT(test, runs, 0U);
		KUNIT_ASSERT_LE(test, runs, sampling.stride);
		for (at = range.start; at < range.end; at++)
			if (map[at / PART_REGION] != '.')
				KUNIT_ASSERT_EQ_MSG(test, turns[at], 1, "page %d of %s, one in %u",
						    at, map, sampling.stride);
	}
}

/*
 * The flushes of a sampling scan: stock makes one for each range, and so many at most has a scan
 * of ours, for memory of 4 GiB in ranges of 256 MiB as for 1000 VMAs of 64 pages.
 */
static void a_scan_flushes_no_more_than_the_kernel(struct kunit *test)
{
	static const struct {
		u64 pages;
		u32 ranges, most;
	} layouts[] = { { 65536, 16, 16 }, { 64, 1000, 130 }, { 512, 100, 100 }, { 1, 5000, 512 } };
	struct numa_sampling sampling = { .stride = 16 };
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		for (sampling.turn = 0; sampling.turn < 32; sampling.turn++) {
			u32 range, runs = 0;
			u64 pages = 0;

			for (range = 0; range < layouts[i].ranges; range++) {
				/* A page between two VMAs; the others follow each other. */
				u64 start = range * (layouts[i].pages + layouts[i].pages % 512);
				struct numa_range own = { start, start + layouts[i].pages }, run;

				if (!numa_sampling_slice(&sampling, &own, backing_of, "s", &run))
					continue;
				runs++;
				pages += run.end - run.start;
			}
			KUNIT_EXPECT_LE(test, runs, layouts[i].most);
			KUNIT_EXPECT_LE(test, pages, layouts[i].pages * layouts[i].ranges / 7);
		}
	}
}

/*
 * A scan that arms no page has no fault that could bring the next scan forward.  No scan is such
 * where a range has a slice for each turn; a smaller range has too few pages to be judged by, in
 * any turn.
 */
static void a_range_that_is_judged_alone_has_pages_in_every_turn(struct kunit *test)
{
	static const u32 strides[] = { 2, 3, 16, 100, 512 };
	struct numa_sampling sampling;
	int i;

	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		u64 pages, enough = (u64)strides[i] * NUMA_SLICE_PAGES;

		sampling.stride = strides[i];
		for (pages = 1; pages <= 2 * enough; pages += 1 + pages / 8) {
			const struct numa_range range = { 0, pages };

			for (sampling.turn = 0; sampling.turn < strides[i]; sampling.turn++) {
				struct numa_range run = { };
				bool some = numa_sampling_slice(&sampling, &range, backing_of, "s",
								&run);

				if (pages >= enough)
					KUNIT_ASSERT_TRUE(test, some);
				else
					KUNIT_ASSERT_LT(test, run.end - run.start,
							(u64)NUMA_RESAMPLE_FAULTS_MIN);
			}
		}
	}
}

static void faults_of_a_sampling_scan(struct kunit *test)
{
	/* Pages of a scan, the stride, and faults to judge by. */
	static const struct {
		u64 pages;
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
		KUNIT_EXPECT_EQ_MSG(test, numa_sampling_faults(c->pages, c->stride), c->faults,
				    "%llu pages, one in %u", c->pages, c->stride);
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

static struct kunit_case numa_sample_core_cases[] = {
	KUNIT_CASE_PARAM(slice_of_a_range, slice_gen_params),
	KUNIT_CASE(every_page_has_its_turn),
	KUNIT_CASE(a_scan_flushes_no_more_than_the_kernel),
	KUNIT_CASE(a_range_that_is_judged_alone_has_pages_in_every_turn),
	KUNIT_CASE(faults_of_a_sampling_scan),
	KUNIT_CASE(gaps_grow),
	KUNIT_CASE(sampling_scans_are_no_later_than_the_kernel),
	{ }
};

static struct kunit_suite numa_sample_core_suite = {
	.name = "livemm_numa_sample_core",
	.test_cases = numa_sample_core_cases,
};
