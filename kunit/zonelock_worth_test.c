// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock_worth_test.c - how much of what a depot holds CPUs take
 */
#include <kunit/test.h>
#include <linux/kernel.h>

/* After zonelock_core_test.c, which includes the core. */

/* A depot that is taken from is worth its limit after a few passes, later nothing again. */
static void worth_follows_what_is_taken(struct kunit *test)
{
	unsigned int worth = 0, passes;

	for (passes = 0; worth < 90; passes++)
		worth = depot_worth(worth, 504, 0);
	KUNIT_EXPECT_LE(test, passes, 4U);
	/* Passes in which nothing was stored say nothing. */
	KUNIT_EXPECT_EQ(test, depot_worth(worth, 0, 0), worth);
	KUNIT_EXPECT_EQ(test, depot_worth(100, 1000000, 0), 100U);
	for (passes = 0; worth > 10; passes++)
		worth = depot_worth(worth, 0, 504);
	KUNIT_EXPECT_LE(test, passes, 5U);
	/* Half of the pages taken is half of the worth. */
	for (passes = 0; passes < 10; passes++)
		worth = depot_worth(worth, 504, 504);
	KUNIT_EXPECT_LE(test, worth, 51U);
	KUNIT_EXPECT_GE(test, worth, 49U);
}

/* Half of the pages of a depot age, at once, and CPUs take the other half, a batch now and then. */
static unsigned int worth_after(unsigned int seconds, unsigned int kick_ms)
{
	unsigned long now, reckoned = 0, taken = 0, aged = 0;
	unsigned int worth = DEPOT_FIRST_WORTH;

	for (now = 1; now <= 1000UL * seconds; now++) {
		if (now % 50 == 25)
			taken += 504;
		if (now % 250 == 124)
			aged += 5 * 504;
		/* Passes by the clock, and those that hooks ask for. */
		if (now % 250 && (!kick_ms || now % kick_ms))
			continue;
		if (!depot_worth_due(now, reckoned, 1000))
			continue;
		worth = depot_worth(worth, taken, aged);
		reckoned = now;
		taken = 0;
		aged = 0;
	}
	return worth;
}

/* Passes that another zone asks for do not change what a zone's depot is worth. */
static void kicks_change_no_worth(struct kunit *test)
{
	static const unsigned int kicks_ms[] = { 0, 1, 4, 10, 100, 249 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kicks_ms); i++) {
		unsigned int worth = worth_after(10, kicks_ms[i]);

		KUNIT_EXPECT_TRUE_MSG(test, worth >= 45 && worth <= 55,
				      "with a kick each %u ms worth %u", kicks_ms[i], worth);
	}
}

/* Neither a clock that wraps nor a short max_age keeps the worth from being reckoned. */
static void worth_is_due_in_time(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, depot_worth_due(1249, 1000, 1000));
	KUNIT_EXPECT_TRUE(test, depot_worth_due(1250, 1000, 1000));
	KUNIT_EXPECT_FALSE(test, depot_worth_due(148, -100UL, 1000));
	KUNIT_EXPECT_TRUE(test, depot_worth_due(150, -100UL, 1000));
	KUNIT_EXPECT_TRUE(test, depot_worth_due(5, 4, 4));
}

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

static struct kunit_case zonelock_worth_cases[] = {
	KUNIT_CASE(worth_follows_what_is_taken),
	KUNIT_CASE(kicks_change_no_worth),
	KUNIT_CASE(worth_is_due_in_time),
	KUNIT_CASE(took_follows_the_rate),
	KUNIT_CASE(lists_pass_on_what_is_taken),
	{}
};

static struct kunit_suite zonelock_worth_suite = {
	.name = "zonelock_worth",
	.test_cases = zonelock_worth_cases,
};
