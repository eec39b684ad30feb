// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_time_test.c - how long requests are in the slow path
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/pageblock/core_time.c"

static void requests_have_a_class(struct kunit *test)
{
	static const struct {
		bool waits, movable, costly;
		enum pageblock_class class;
	} cases[] = {
		{ false, false, false, PAGEBLOCK_CLASS_ATOMIC },
		{ false, true, false, PAGEBLOCK_CLASS_ATOMIC },
		{ false, true, true, PAGEBLOCK_CLASS_ATOMIC },
		{ true, false, false, PAGEBLOCK_CLASS_UNMOVABLE },
		{ true, true, false, PAGEBLOCK_CLASS_MOVABLE },
		{ true, false, true, PAGEBLOCK_CLASS_COSTLY },
		{ true, true, true, PAGEBLOCK_CLASS_COSTLY },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, pageblock_time_class(cases[i].waits, cases[i].movable,
							       cases[i].costly),
				    cases[i].class, "%u", i);
}

/* Each time is in one bucket, below its limit and not below the limit of the bucket before. */
static void times_have_a_bucket(struct kunit *test)
{
	const unsigned int last = PAGEBLOCK_BUCKETS_OF_TIME - 1;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pageblock_time_bucket(0), 0U);
	for (i = 1; i < last; i++) {
		KUNIT_EXPECT_EQ(test, pageblock_time_bucket(1ULL << (i - 1)), i);
		KUNIT_EXPECT_EQ(test, pageblock_time_bucket((1ULL << i) - 1), i);
	}
	KUNIT_EXPECT_EQ(test, pageblock_time_bucket(1ULL << (last - 1)), last);
	KUNIT_EXPECT_EQ(test, pageblock_time_bucket(~0ULL), last);
}

static void note(struct pageblock_times *times, u64 ns)
{
	times->bucket[pageblock_time_bucket(ns)]++;
	times->total += ns;
	times->longest = max(times->longest, ns);
}

static void shares_end_in_a_bucket(struct kunit *test)
{
	struct pageblock_times times = { };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pageblock_times_count(&times), 0ULL);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 50), 0ULL);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 99), 0ULL);
	/* Alone, a time is its own share: no limit above the longest. */
	note(&times, 1000);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 50), 1000ULL);
	/* 98 short, 2 long: half is short, 98 of 100 are, 99 are not. */
	for (i = 0; i < 97; i++)
		note(&times, 600);
	note(&times, 5000000);
	note(&times, 7000000);
	KUNIT_EXPECT_EQ(test, pageblock_times_count(&times), 100ULL);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 50), 1023ULL);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 98), 1023ULL);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 99), 7000000ULL);
	/* What is longer than all limits is known by the longest alone. */
	for (i = 0; i < 100; i++)
		note(&times, 1ULL << 45);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 99), 1ULL << 45);
	KUNIT_EXPECT_EQ(test, pageblock_times_within(&times, 50), (1ULL << 23) - 1);
}

static void cpus_add_up(struct kunit *test)
{
	struct pageblock_times one = { }, two = { }, sum = { };

	note(&one, 100);
	note(&one, 3000);
	note(&two, 120);
	note(&two, 9000);
	pageblock_times_sum(&sum, &one);
	pageblock_times_sum(&sum, &two);
	KUNIT_EXPECT_EQ(test, pageblock_times_count(&sum), 4ULL);
	KUNIT_EXPECT_EQ(test, sum.total, 12220ULL);
	KUNIT_EXPECT_EQ(test, sum.longest, 9000ULL);
	KUNIT_EXPECT_EQ(test, sum.bucket[7], 2ULL);
}

static struct kunit_case pageblock_time_cases[] = {
	KUNIT_CASE(requests_have_a_class),
	KUNIT_CASE(times_have_a_bucket),
	KUNIT_CASE(shares_end_in_a_bucket),
	KUNIT_CASE(cpus_add_up),
	{ }
};

static struct kunit_suite pageblock_time_suite = {
	.name = "livemm_pageblock_time",
	.test_cases = pageblock_time_cases,
};
