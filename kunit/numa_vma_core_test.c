// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_vma_core_test.c - what a scan leaves out, with the settings of numa_core_test.c
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core_vma.c"

#define REGION	BIT_ULL(NUMA_REGION_SHIFT)

/* Memory of 2 MiB regions from page 0 on, of which some were used since the last scan. */
struct model {
	u64 used;
	unsigned int looks;
	u64 looked;	/* pages, all looks together */
};

static bool model_look(void *arg, const struct numa_range *range)
{
	struct model *model = arg;

	model->looks++;
	model->looked += range->end - range->start;
	return model->used & GENMASK_ULL((range->end - 1) / REGION, range->start / REGION);
}

/* Used regions, a range of pages, and the run that remains of the range; 0: nothing. */
static const struct trim_case {
	const char *name;
	u64 used;
	struct numa_range range, run;
	unsigned int looks;
} trim_cases[] = {
	{ "all used", ~0ULL, { 0, 32768 }, { 0, 32768 }, 2 },
	{ "none used", 0, { 0, 8 * REGION }, { }, 8 },
	{ "one used", BIT_ULL(5), { 0, 8 * REGION }, { 5 * REGION, 6 * REGION }, 8 },
	/* One run: what lies between used regions is in it. */
	{ "two used", BIT_ULL(2) | BIT_ULL(5), { 0, 8 * REGION }, { 2 * REGION, 6 * REGION }, 6 },
	{ "every other", 0xaaaaaaaaaaaaaaaaULL, { 0, 64 * REGION - 1 },
	  { REGION, 64 * REGION - 1 }, 3 },
	{ "ends of the range", BIT_ULL(0) | BIT_ULL(7), { 100, 8 * REGION - 100 },
	  { 100, 8 * REGION - 100 }, 2 },
	{ "part of a region", BIT_ULL(3), { 3 * REGION + 5, 3 * REGION + 6 },
	  { 3 * REGION + 5, 3 * REGION + 6 }, 1 },
	{ "part of an unused region", 0, { 3 * REGION + 5, 3 * REGION + 6 }, { }, 1 },
	{ "across a border", BIT_ULL(4), { 4 * REGION - 1, 4 * REGION + 1 },
	  { 4 * REGION, 4 * REGION + 1 }, 2 },
	{ "empty", ~0ULL, { 7, 7 }, { }, 0 },
	/* 64 regions and more: a look is for two of them. */
	{ "large", BIT_ULL(7), { 0, 64 * REGION }, { 6 * REGION, 8 * REGION }, 32 },
};

NAMED_CASES(trim, trim_cases);

static void unused_ends_are_left_out(struct kunit *test)
{
	const struct trim_case *c = test->param_value;
	struct model model = { .used = c->used };
	struct numa_range range = c->range;
	bool some = numa_range_trim(&range, model_look, &model);

	KUNIT_EXPECT_EQ(test, some, c->run.end > 0);
	KUNIT_EXPECT_EQ(test, some, range.start < range.end);
	if (some) {
		KUNIT_EXPECT_EQ(test, range.start, c->run.start);
		KUNIT_EXPECT_EQ(test, range.end, c->run.end);
	}
	KUNIT_EXPECT_EQ(test, model.looks, c->looks);
}

static bool look_counts(void *arg, const struct numa_range *range)
{
	(*(unsigned int *)arg)++;
	return false;
}

/* However large a range, the looks are few. */
static void looks_are_bounded(struct kunit *test)
{
	u64 pages;

	for (pages = 1; pages < BIT_ULL(36); pages += pages / 3 + 1) {
		struct numa_range range = { 12345, 12345 + pages };
		unsigned int looks = 0;

		KUNIT_ASSERT_FALSE(test, numa_range_trim(&range, look_counts, &looks));
		KUNIT_ASSERT_LE(test, looks, NUMA_REGIONS + 1U);
	}
}

/* A scan takes one run of a range, and with it all that was used. */
static void one_run_has_all_that_was_used(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 7);
	for (i = 0; i < 20000; i++) {
		u64 start = prandom_u32_state(&rnd) % (32 * REGION);
		struct numa_range range = { start, start + 1 + prandom_u32_state(&rnd) %
							   (31 * REGION) }, all = range;
		struct model model = { .used = (u64)prandom_u32_state(&rnd) << 32 |
					       prandom_u32_state(&rnd) };
		u64 region, mine;

		/* Few of them. */
		model.used &= model.used >> 3 & model.used >> 7 & model.used >> 11;
		mine = model.used & GENMASK_ULL((all.end - 1) / REGION, all.start / REGION);
		KUNIT_ASSERT_EQ(test, numa_range_trim(&range, model_look, &model), mine != 0);
		if (!mine)
			continue;
		KUNIT_ASSERT_GE(test, range.start, all.start);
		KUNIT_ASSERT_LE(test, range.end, all.end);
		for (region = 0; region < 64; region++) {
			if (!(mine >> region & 1))
				continue;
			KUNIT_ASSERT_LE(test, range.start, max(all.start, region * REGION));
			KUNIT_ASSERT_GE(test, range.end, min(all.end, (region + 1) * REGION));
		}
	}
}

static void vmas_are_left_to_their_threads(struct kunit *test)
{
	struct numa_vma vma = { .pass = 7 };

	/* New, or mapped anew: nobody's. */
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 3));
	numa_vma_fault(&vma, 3);
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 3));
	KUNIT_EXPECT_TRUE(test, numa_vma_left_to_others(&vma, 4));
	/* More scans of the same pass change nothing. */
	numa_vma_visit(&vma, 7);
	numa_vma_fault(&vma, 63);
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 63));
	/* The pass before counts. */
	numa_vma_visit(&vma, 8);
	numa_vma_fault(&vma, 3);
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 3));
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 63));
	KUNIT_EXPECT_TRUE(test, numa_vma_left_to_others(&vma, 0));
	numa_vma_visit(&vma, 20);
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 3));
	KUNIT_EXPECT_TRUE(test, numa_vma_left_to_others(&vma, 63));
	/* In two passes nobody faulted: nobody's again. */
	numa_vma_visit(&vma, 21);
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 63));
	KUNIT_EXPECT_FALSE(test, numa_vma_left_to_others(&vma, 4));
}

static void some_passes_leave_out_nothing(struct kunit *test)
{
	u32 pass, left_out = 0;

	for (pass = 0; pass < 80; pass++)
		left_out += numa_pass_leaves_out(pass, &reviewed);
	KUNIT_EXPECT_EQ(test, left_out, 70U);
	KUNIT_EXPECT_FALSE(test, numa_pass_leaves_out(0, &reviewed));
	for (pass = 0; pass < 80; pass++)
		KUNIT_EXPECT_FALSE(test, numa_pass_leaves_out(pass, &series));
}

static struct kunit_case numa_vma_core_cases[] = {
	KUNIT_CASE_PARAM(unused_ends_are_left_out, trim_gen_params),
	KUNIT_CASE(looks_are_bounded),
	KUNIT_CASE(one_run_has_all_that_was_used),
	KUNIT_CASE(vmas_are_left_to_their_threads),
	KUNIT_CASE(some_passes_leave_out_nothing),
	{ }
};

static struct kunit_suite numa_vma_core_suite = {
	.name = "livemm_numa_vma_core",
	.test_cases = numa_vma_core_cases,
};
