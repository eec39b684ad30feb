// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_promote_core_test.c - when slow memory is armed, and how much at a time
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "../module/policy/numa/core_promote.c"

/* Pages that faulted and pages that were promoted between two passes, and the next period. */
static void passes_that_pay_come_soon(struct kunit *test)
{
	static const struct {
		u64 faults, promoted;
		u32 period_ms;
	} passes[] = {
		/* The first pass has nothing to go by. */
		{ 0, 0, 1000 },
		{ 4096, 4096, 1000 },
		/* One in eight is enough, one page less is not. */
		{ 4096, 512, 1000 }, { 4096, 511, 2000 },
		/* Less than a MiB is nothing, whatever its share. */
		{ 255, 255, 4000 }, { 0, 0, 8000 }, { 100000, 0, 16000 }, { 0, 0, 16000 },
		/* Hot memory again. */
		{ 256, 256, 1000 }, { 0, 0, 2000 },
	};
	struct numa_promote promote = { };
	u64 faults = 0, promoted = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(passes); i++) {
		faults += passes[i].faults;
		promoted += passes[i].promoted;
		KUNIT_EXPECT_EQ_MSG(test, numa_promote_next(&promote, faults, promoted, 1 << 20,
							    promote.period_ms),
				    passes[i].period_ms, "pass %d", i);
	}
	KUNIT_EXPECT_EQ(test, promote.passes, (u64)ARRAY_SIZE(passes));
}

static void calls_are_charged(struct kunit *test)
{
	/* What was armed, or an eighth of the range. */
	KUNIT_EXPECT_EQ(test, numa_promote_charge(65536, 16384, 16384), 49152U);
	KUNIT_EXPECT_EQ(test, numa_promote_charge(65536, 16384, 0), 63488U);
	KUNIT_EXPECT_EQ(test, numa_promote_charge(65536, 16384, 2048), 63488U);
	KUNIT_EXPECT_EQ(test, numa_promote_charge(65536, 16384, 2049), 63487U);
	/* A huge page that is armed as a whole may be more than was left. */
	KUNIT_EXPECT_EQ(test, numa_promote_charge(512, 1023, 1023), 0U);
	KUNIT_EXPECT_EQ(test, numa_promote_charge(0, U64_MAX, U64_MAX), 0U);
}

/*
 * A process with 4 GiB on the slow tier, 1 GiB of it hot, at 256 MiB a second.  Pages that are
 * armed stay armed until they are used.  Seconds until the hot part is promoted, and passes in a
 * minute afterwards.
 */
static void hot_memory_is_armed_in_time(struct kunit *test)
{
	const u32 all = 1 << 20, hot = 1 << 18, rate = 1 << 16;
	u32 at = 0, cold = 0, second, done = 0, due = 0, began = 0;
	struct numa_promote promote = { };
	u64 promoted = 0, passes = 0;

	for (second = 0; second < 120; second++) {
		u32 left = rate;

		if (!at && second < due)
			continue;
		if (!at) {
			due = second + numa_promote_next(&promote, promoted, promoted, all,
							 1000 * (second - began)) / 1000;
			began = second;
		}
		while (at < all && left >= NUMA_PROMOTE_LEAST) {
			u32 pages = min3(left, NUMA_PROMOTE_CALL, all - at), armed = 0;

			/* Every fourth page is hot; the others are armed once. */
			if (promoted < hot)
				armed += pages / 4;
			if (cold < all - hot)
				armed += pages * 3 / 4;
			promoted += promoted < hot ? pages / 4 : 0;
			cold += cold < all - hot ? pages * 3 / 4 : 0;
			left = numa_promote_charge(left, pages, armed);
			at += pages;
		}
		if (at == all)
			at = 0;
		if (!done && promoted >= hot)
			done = second;
		if (done && second == done + 60)
			passes = promote.passes;
	}
	KUNIT_EXPECT_LE(test, done, 17U);
	KUNIT_EXPECT_LE(test, passes, 8ULL);
}

/*
 * A process of 1 GiB that uses all of it, on a fast tier of half of that: each pass promotes what
 * was demoted since.  MiB a second that are promoted, in the first five minutes and afterwards.
 */
static void circles_come_to_rest(struct kunit *test)
{
	const u64 resident = 1 << 18, pass = 1 << 17;
	u64 promoted = 0, early = 0, ms = 0;
	struct numa_promote promote = { };

	while (ms < 3600000) {
		ms += numa_promote_next(&promote, promoted, promoted, resident, promote.period_ms);
		promoted += pass;
		if (ms <= 300000)
			early = promoted;
	}
	KUNIT_EXPECT_LE(test, (early >> 8) / 300, 20ULL);
	KUNIT_EXPECT_LE(test, ((promoted - early) >> 8) / 3300, 4ULL);
}

/* A pass may take longer than its period: what was promoted is forgotten with time all the same. */
static void promoted_pages_are_forgotten_with_time(struct kunit *test)
{
	static const struct {
		u64 since_ms, recent;
	} passes[] = {
		{ 1000, 4096 }, { 256000, 2048 }, { 0, 2048 }, { 512000, 0 }, { U64_MAX, 0 },
	};
	struct numa_promote promote = { };
	int i;

	for (i = 0; i < ARRAY_SIZE(passes); i++) {
		numa_promote_next(&promote, 4096, 4096, 1 << 20, passes[i].since_ms);
		KUNIT_EXPECT_EQ_MSG(test, promote.recent, passes[i].recent, "pass %d", i);
	}
}

static struct kunit_case numa_promote_core_cases[] = {
	KUNIT_CASE(passes_that_pay_come_soon),
	KUNIT_CASE(calls_are_charged),
	KUNIT_CASE(hot_memory_is_armed_in_time),
	KUNIT_CASE(circles_come_to_rest),
	KUNIT_CASE(promoted_pages_are_forgotten_with_time),
	{ }
};

static struct kunit_suite numa_promote_core_suite = {
	.name = "livemm_numa_promote_core",
	.test_cases = numa_promote_core_cases,
};
