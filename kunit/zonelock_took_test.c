// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock_took_test.c - how much CPUs take of a depot
 */
#include <kunit/test.h>

/* After zonelock_core_test.c, which includes the core. */

/* What is taken in max_age is known after a few max_age, and forgotten as soon. */
static void took_follows_the_rate(struct kunit *test)
{
	unsigned long took = 0, before;
	unsigned int i;

	for (i = 0; i < DEPOT_TOOK_TIMES; i++)
		took = depot_took(took, 500, 1);
	KUNIT_EXPECT_GE(test, took, 1900UL);
	KUNIT_EXPECT_LE(test, took, 2000UL);
	/* Passes that come late count as those in which nothing was taken. */
	KUNIT_EXPECT_EQ(test, depot_took(took, 500, 3), depot_took(depot_took(took, 0, 2), 500, 1));
	/* Nothing is taken off what was taken just now. */
	KUNIT_EXPECT_EQ(test, depot_took(took, 7, 0), took + 7);
	KUNIT_EXPECT_LE(test, depot_took(took, 0, DEPOT_TOOK_TIMES / 2), took / 8);
	KUNIT_EXPECT_EQ(test, depot_took(took, 0, DEPOT_TOOK_TIMES), 0UL);
	KUNIT_EXPECT_EQ(test, depot_took(took, 9, ULONG_MAX), 9UL);
	for (i = 0; took; i++) {
		before = took;
		took = depot_took(took, 0, 1);
		KUNIT_ASSERT_LT(test, took, before);
	}
	KUNIT_EXPECT_LE(test, i, 2 * DEPOT_TOOK_TIMES);
}

/* A depot gets of a list what CPUs take before the pages are old, and not twice. */
static void lists_pass_on_what_is_taken(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, depot_wants(0, 0), 0UL);
	KUNIT_EXPECT_EQ(test, depot_wants(2000, 0), 1000UL);
	KUNIT_EXPECT_EQ(test, depot_wants(2000, 504), 496UL);
	KUNIT_EXPECT_EQ(test, depot_wants(2000, 1000), 0UL);
	KUNIT_EXPECT_EQ(test, depot_wants(2000, ULONG_MAX), 0UL);
}

static struct kunit_case zonelock_took_cases[] = {
	KUNIT_CASE(took_follows_the_rate),
	KUNIT_CASE(lists_pass_on_what_is_taken),
	{}
};

static struct kunit_suite zonelock_took_suite = {
	.name = "zonelock_took",
	.test_cases = zonelock_took_cases,
};
