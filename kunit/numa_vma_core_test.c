// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_vma_core_test.c - what of a VMA is scanned, with the settings of numa_core_test.c
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core_vma.c"

/* Of regions of 512 pages each. */
#define MODEL_REGIONS	8

/* A scan of all that is wanted; arms entries where @used says so.  What was scanned. */
static u64 scan(struct numa_vma *vma, u32 pass, unsigned int slot, u64 used,
		const struct numa_settings *settings)
{
	struct numa_range run, left = { .end = vma->pages };
	u64 scanned = 0;

	numa_vma_visit(vma, pass, settings);
	while (left.start < left.end && numa_vma_next(vma, slot, &left, &run, settings)) {
		u64 regions = regions_in(vma, &run);

		numa_vma_scanned(vma, &run, hweight64(regions & used));
		scanned |= regions;
		left.start = run.end;
	}
	return scanned;
}

/*
 * Passes in which some regions were used, by the scan that sees it, and those scanned.  Thread 3
 * faults in every pass, thread 4 never.
 */
static const struct use_trace {
	const char *name;
	struct {
		unsigned int slot;
		u8 used;
		u8 scanned;
	} passes[11];
} use_traces[] = {
	/* The first look arms all; two more have to find nothing. */
	{ "one region", { { 3, 0xff, 0xff }, { 3, 0x04, 0xff }, { 3, 0x04, 0xff },
			  { 3, 0x04, 0x04 }, { 3, 0x04, 0x04 }, { 3, 0x04, 0x04 },
			  { 3, 0x04, 0x04 }, { 3, 0x04, 0x04 }, { 3, 0x04, 0xff },
			  { 3, 0x04, 0x04 }, { 3, 0x04, 0x04 } } },
	/* Empty at first: not given up at once, nor when used every other pass. */
	{ "every other pass", { { 3, 0x00, 0xff }, { 3, 0x02, 0xff }, { 3, 0x00, 0x02 },
				{ 3, 0x02, 0x02 }, { 3, 0x00, 0x02 }, { 3, 0x02, 0x02 },
				{ 3, 0x00, 0x02 }, { 3, 0x00, 0x02 }, { 3, 0x00, 0xff } } },
	/* It is found to be used when all is scanned, and kept. */
	{ "used later", { { 3, 0x00, 0xff }, { 3, 0x00, 0xff }, { 3, 0x00, 0x00 },
			  { 3, 0x80, 0x00 }, { 3, 0x80, 0x00 }, { 3, 0x80, 0x00 },
			  { 3, 0x80, 0x00 }, { 3, 0x80, 0x00 }, { 3, 0x80, 0xff },
			  { 3, 0x00, 0x80 }, { 3, 0x00, 0x80 } } },
	/* What a thread leaves out that does not fault here is no less used. */
	{ "another's scan", { { 3, 0xff, 0xff }, { 3, 0x04, 0xff }, { 3, 0x04, 0xff },
			      { 4, 0x04, 0x00 }, { 4, 0x04, 0x00 }, { 4, 0x04, 0x00 },
			      { 3, 0x04, 0x04 }, { 4, 0x04, 0x00 }, { 4, 0x04, 0xff },
			      { 3, 0x04, 0x04 }, { 4, 0x04, 0x00 } } },
};

NAMED_CASES(use, use_traces);

static void used_regions_are_scanned(struct kunit *test)
{
	const struct use_trace *c = test->param_value;
	struct numa_vma vma;
	int pass;

	numa_vma_begin(&vma, MODEL_REGIONS << NUMA_REGION_SHIFT, 0);
	for (pass = 0; pass < ARRAY_SIZE(c->passes); pass++) {
		if (!c->passes[pass].slot)
			break;
		numa_vma_fault(&vma, 3);
		KUNIT_EXPECT_EQ_MSG(test, scan(&vma, pass, c->passes[pass].slot,
					       c->passes[pass].used, &reviewed),
				    (u64)c->passes[pass].scanned, "pass %d", pass);
	}
}

static void filters_can_be_off(struct kunit *test)
{
	const struct numa_range all = { 0, 5000 }, most = { 600, 1100 };
	struct numa_settings settings = series;
	struct numa_range run;
	struct numa_vma vma;
	int pass;

	numa_vma_begin(&vma, all.end, 0);
	settings.full_pass_interval = 100;
	for (pass = 0; pass < 3; pass++)
		KUNIT_EXPECT_EQ(test, scan(&vma, pass, 0, 0, &settings), 0x3ffULL);
	/* Then it is one run, and nothing is to be told apart. */
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 0, &all, &run, &settings));
	KUNIT_EXPECT_EQ(test, run.end, all.end);
	settings.skip_by_region = true;
	KUNIT_EXPECT_FALSE(test, numa_vma_next(&vma, 0, &all, &run, &settings));
	vma.due = 1ULL << 1;
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 0, &most, &run, &settings));
	KUNIT_EXPECT_EQ(test, run.start, 600ULL);
	KUNIT_EXPECT_EQ(test, run.end, 1024ULL);
	settings = series;
	settings.skip_by_thread = true;
	KUNIT_EXPECT_EQ(test, scan(&vma, pass, 5, 0, &settings), 0x3ffULL);
	settings.full_pass_interval = 100;
	KUNIT_EXPECT_EQ(test, scan(&vma, ++pass, 5, 0, &settings), 0ULL);
	numa_vma_fault(&vma, 5);
	KUNIT_EXPECT_EQ(test, scan(&vma, pass, 5, 0, &settings), 0x3ffULL);
}

static void a_scan_may_end_anywhere(struct kunit *test)
{
	const u64 pages = 64 * 1024 - 100;
	struct numa_vma vma;

	/* In two parts, the border within a region: nothing is due. */
	numa_vma_begin(&vma, pages, 0);
	numa_vma_scanned(&vma, &(struct numa_range){ 0, 1500 }, 0);
	KUNIT_EXPECT_EQ(test, vma.due, ~1ULL);
	numa_vma_scanned(&vma, &(struct numa_range){ 1500, pages }, 1);
	KUNIT_EXPECT_EQ(test, vma.due, 0ULL);
	KUNIT_EXPECT_EQ(test, vma.found, ~1ULL);
	/* What is due is so until it is scanned, and not with a gap of a pass. */
	numa_vma_scanned(&vma, &(struct numa_range){ 0, 5200 }, 0);
	numa_vma_visit(&vma, 1, &reviewed);
	vma.due = 1ULL << 5;
	numa_vma_scanned(&vma, &(struct numa_range){ 5200, 6200 }, 0);
	KUNIT_EXPECT_EQ(test, vma.due, 1ULL << 5);
	KUNIT_EXPECT_EQ(test, vma.looked, 0ULL);
	/* Half a look concludes nothing, but what it found is kept. */
	numa_vma_scanned(&vma, &(struct numa_range){ 5120, 5150 }, 1);
	numa_vma_visit(&vma, 2, &reviewed);
	KUNIT_EXPECT_EQ(test, vma.found, 1ULL << 5);
	numa_vma_scanned(&vma, &(struct numa_range){ 5120, 6144 }, 0);
	numa_vma_visit(&vma, 3, &reviewed);
	KUNIT_EXPECT_EQ(test, vma.regions.now, ~1ULL);
	KUNIT_EXPECT_EQ(test, vma.found, 0ULL);
}

static void a_vma_may_grow(struct kunit *test)
{
	struct numa_range run, all = { 0, U64_MAX };
	struct numa_vma vma;
	int pass;

	numa_vma_begin(&vma, 64 * 512 - 100, 0);
	for (pass = 0; pass < 3; pass++) {
		numa_vma_fault(&vma, 3);
		scan(&vma, pass, 3, 1ULL << 5, &reviewed);
	}
	numa_vma_visit(&vma, pass, &reviewed);
	KUNIT_EXPECT_EQ(test, vma.regions.now | vma.regions.before, 1ULL << 5);
	/* What is new is due, and not taken for idle; regions grow with the VMA. */
	numa_vma_fit(&vma, 64 * 512 + 1);
	KUNIT_EXPECT_EQ(test, vma.due, ~0ULL << 31);
	KUNIT_EXPECT_EQ(test, vma.regions.now, 1ULL << 2 | ~0ULL << 31);
	/* One is looked at when both its halves were. */
	vma.looked = 0x7;
	numa_vma_fit(&vma, 64 * 1024 + 1);
	KUNIT_EXPECT_EQ(test, vma.looked, 1ULL);
	KUNIT_EXPECT_EQ(test, vma.due, ~0ULL << 15);
	/* A smaller one has nothing new, the largest has as many regions. */
	numa_vma_fit(&vma, 100);
	KUNIT_EXPECT_EQ(test, vma.due, ~0ULL << 15);
	numa_vma_fit(&vma, U64_MAX);
	KUNIT_EXPECT_EQ(test, vma.due, ~0ULL);
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 4, &all, &run, &reviewed));
	KUNIT_EXPECT_EQ(test, run.end, 1ULL << 58);
	all.start = U64_MAX - 1;
	KUNIT_EXPECT_TRUE(test, numa_vma_next(&vma, 4, &all, &run, &reviewed));
	KUNIT_EXPECT_EQ(test, run.end, U64_MAX);
}

/* However scans are cut, and whoever uses what: in so many passes each page has its turn. */
static void nothing_is_starved(struct kunit *test)
{
	/* Passes that came by and left out 128 pages. */
	static u8 unseen[2048];
	u32 pass, i, left_out = 0;
	struct rnd_state rnd;
	struct numa_vma vma;

	prandom_seed_state(&rnd, 7);
	memset(unseen, 0, sizeof(unseen));
	numa_vma_begin(&vma, 128 * sizeof(unseen), 0);
	for (pass = 1; pass < 300; pass += 1 + prandom_u32_state(&rnd) % 2) {
		struct numa_range run, left = { };

		for (i = 0; i < sizeof(unseen); i++)
			KUNIT_ASSERT_LE(test, ++unseen[i], reviewed.full_pass_interval + 4);
		numa_vma_visit(&vma, pass, &reviewed);
		if (pass % 3)
			numa_vma_fault(&vma, 1);
		for (; left.end < vma.pages; left.start = left.end) {
			left.end += 128 * (1 + prandom_u32_state(&rnd) % 300);
			left.end = min(left.end, vma.pages);
			while (left.start < left.end &&
			       numa_vma_next(&vma, pass % 2, &left, &run, &reviewed)) {
				left_out += run.start > left.start;
				left.start = run.end;
				/* The kernel may not get round to it. */
				if (!(prandom_u32_state(&rnd) % 64))
					continue;
				numa_vma_scanned(&vma, &run, !(prandom_u32_state(&rnd) % 16));
				memset(unseen + run.start / 128, 0, (run.end - run.start) / 128);
			}
			left_out += left.start < left.end;
		}
	}
	/* Nor is all of it scanned each time. */
	KUNIT_EXPECT_GT(test, left_out, 1000U);
}

static struct kunit_case numa_vma_core_cases[] = {
	KUNIT_CASE_PARAM(used_regions_are_scanned, use_gen_params),
	KUNIT_CASE(filters_can_be_off),
	KUNIT_CASE(a_scan_may_end_anywhere),
	KUNIT_CASE(a_vma_may_grow),
	KUNIT_CASE(nothing_is_starved),
	{ }
};

static struct kunit_suite numa_vma_core_suite = {
	.name = "livemm_numa_vma_core",
	.test_cases = numa_vma_core_cases,
};
