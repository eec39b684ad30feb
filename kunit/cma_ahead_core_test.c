// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma_ahead_core_test.c - when a kept range is emptied for its owner, and which
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/cma/core_ahead.c"

/* The default, pages a second. */
#define RATE_USUAL	65536

/* An owner has memory for @hold ms and pauses for @pause ms, so many times; the time after that. */
static u64 film(struct cma_rhythm *rhythm, u64 now, u64 hold, u64 pause, unsigned int times)
{
	while (times--) {
		cma_rhythm_asks(rhythm, now, 16384);
		cma_rhythm_releases(rhythm, now + hold);
		now += hold + pause;
	}
	return now;
}

static void learns_the_gap(struct kunit *test)
{
	struct cma_rhythm rhythm = { };
	u64 now;

	/* Nothing is known before the second request. */
	now = film(&rhythm, 1000, 500, 500, 1);
	KUNIT_EXPECT_EQ(test, 0ULL, rhythm.gap);
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, now - 20, 0, RATE_USUAL));
	/* So the first range is held for a second from its release on, 500 ms ago. */
	KUNIT_EXPECT_EQ(test, now + 500, cma_ahead_first_end(&rhythm, now));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_first_end(&rhythm, now + 500));
	now = film(&rhythm, now, 500, 500, 1);
	KUNIT_EXPECT_EQ(test, 500ULL, rhythm.gap);
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_first_end(&rhythm, now));
	/* Sooner than expected: at once.  Later: little by little. */
	now = film(&rhythm, now, 500, 300, 2);
	KUNIT_EXPECT_EQ(test, 300ULL, rhythm.gap);
	now = film(&rhythm, now, 500, 350, 2);
	KUNIT_EXPECT_EQ(test, 312ULL, rhythm.gap);
	now = film(&rhythm, now, 500, 300, 2);
	/* One late request hardly moves what is expected; many do. */
	now = film(&rhythm, now, 500, 1300, 2);
	KUNIT_EXPECT_EQ(test, 320ULL, rhythm.gap);
	now = film(&rhythm, now, 500, 700, 20);
	KUNIT_EXPECT_GE(test, rhythm.gap, 670ULL);
	KUNIT_EXPECT_LE(test, rhythm.gap, 700ULL);
}

/* Several pieces at a time: the last release counts, and the first request. */
static void pieces(struct kunit *test)
{
	struct cma_rhythm rhythm = { };

	cma_rhythm_asks(&rhythm, 1000, 100);
	cma_rhythm_asks(&rhythm, 1001, 100);
	KUNIT_EXPECT_TRUE(test, cma_rhythm_releases(&rhythm, 1500));
	KUNIT_EXPECT_FALSE(test, cma_rhythm_releases(&rhythm, 1600));
	cma_rhythm_asks(&rhythm, 2000, 100);
	cma_rhythm_asks(&rhythm, 2003, 100);
	KUNIT_EXPECT_EQ(test, 400ULL, rhythm.gap);
	/* The worker is told of the first. */
	KUNIT_EXPECT_TRUE(test, cma_rhythm_releases(&rhythm, 2500));
	KUNIT_EXPECT_FALSE(test, cma_rhythm_releases(&rhythm, 2600));
	KUNIT_EXPECT_EQ(test, 2600ULL + 400 - CMA_AHEAD_REST_MS, cma_ahead_end(&rhythm));
	/* One that asks again at once is not worth it. */
	cma_rhythm_asks(&rhythm, 2601, 100);
	KUNIT_EXPECT_FALSE(test, cma_rhythm_releases(&rhythm, 2602));
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, 2602, 100, RATE_USUAL));
}

/* As late as possible, with twice the time that the budget takes; never at the last moment. */
static void just_in_time(struct kunit *test)
{
	struct cma_rhythm rhythm = { .released = 10000, .gap = 500, .wanted = 16384 };

	/* Half of 64 MiB is lent: 8192 pages take 125 ms by the budget. */
	KUNIT_EXPECT_EQ(test, 500ULL - 8 - 20 - 250,
			cma_ahead_due(&rhythm, 10000, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, 1ULL, cma_ahead_due(&rhythm, 10221, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_due(&rhythm, 10222, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_due(&rhythm, 10491, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, 10492, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, 20000, 8192, RATE_USUAL));
	/* Nothing is lent: one look. */
	KUNIT_EXPECT_EQ(test, 472ULL, cma_ahead_due(&rhythm, 10000, 0, RATE_USUAL));
	/* All is lent, more than there is time for: at once. */
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_due(&rhythm, 10000, 16384, RATE_USUAL));
	/* No page may be moved. */
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, 10400, 8192, 0));
	/* The owner has asked. */
	cma_rhythm_asks(&rhythm, 10450, 16384);
	KUNIT_EXPECT_EQ(test, CMA_AHEAD_NEVER, cma_ahead_due(&rhythm, 10451, 8192, RATE_USUAL));
	KUNIT_EXPECT_EQ(test, 0ULL, cma_ahead_end(&rhythm));
}

static void the_first_that_fits(struct kunit *test)
{
	struct cma_range ranges[CMA_RANGES] = {
		{ 9000, 10000, 100, 1000 }, { 5000, 5600, 100, 200 }, { 2000, 2500, 100, 100 },
		{ 1000, 1900, 5, 0 }, { 7000, 7000, 100, 0 },
	};
	struct cma_range range;

	/* The range at 1000 is not kept any more. */
	KUNIT_EXPECT_EQ(test, 400UL, cma_ahead_range(ranges, 10, 400, &range));
	KUNIT_EXPECT_EQ(test, 2000UL, range.start);
	KUNIT_EXPECT_EQ(test, 2400UL, range.end);
	KUNIT_EXPECT_EQ(test, 400UL, cma_ahead_range(ranges, 10, 600, &range));
	KUNIT_EXPECT_EQ(test, 5000UL, range.start);
	KUNIT_EXPECT_EQ(test, 5600UL, range.end);
	/* All of this one is free. */
	KUNIT_EXPECT_EQ(test, 0UL, cma_ahead_range(ranges, 10, 1000, &range));
	KUNIT_EXPECT_EQ(test, 9000UL, range.start);
	/* None is large enough: the largest. */
	ranges[0].free = 300;
	KUNIT_EXPECT_EQ(test, 700UL, cma_ahead_range(ranges, 10, 5000, &range));
	KUNIT_EXPECT_EQ(test, 10000UL, range.end);
	/* Nothing is kept. */
	KUNIT_EXPECT_EQ(test, 0UL, cma_ahead_range(ranges, 100, 400, &range));
	KUNIT_EXPECT_EQ(test, range.start, range.end);
}

static void held(struct kunit *test, const struct cma_owners *owners, unsigned long start,
		 unsigned long end, unsigned long from, unsigned long until)
{
	struct cma_range range = { .start = start, .end = end };

	cma_hold_blocks(owners, 1024, &range);
	KUNIT_EXPECT_EQ(test, from, range.start);
	KUNIT_EXPECT_EQ(test, until, range.end);
}

/* Whole blocks, so that no free block crosses an end; never beyond the area; not too many. */
static void whole_blocks(struct kunit *test)
{
	/* Begins and ends with half of a largest block. */
	struct cma_owners owners = { .start = 4608, .end = 135680 };

	held(test, &owners, 5120, 6144, 5120, 6144);
	held(test, &owners, 5121, 6145, 5120, 7168);
	held(test, &owners, 7000, 7001, 6144, 7168);
	held(test, &owners, 4608, 4609, 4608, 5120);
	held(test, &owners, 135000, 135680, 134144, 135680);
	held(test, &owners, 5120, 5120 + CMA_HOLD_PAGES, 5120, 5120 + CMA_HOLD_PAGES);
	held(test, &owners, 5121, 5121 + CMA_HOLD_PAGES, 5120, 5120 + CMA_HOLD_PAGES);
	/* What is left out ends where a largest block does, also where the area begins in one. */
	held(test, &owners, 4608, 135680, 4608, 4096 + CMA_HOLD_PAGES);
}

static struct cma_owners area(unsigned long start, unsigned long end)
{
	return (struct cma_owners){ .start = start, .end = end };
}

static void apart(struct kunit *test, struct cma_owners owners, struct cma_owners next,
		  unsigned long from, unsigned long until)
{
	cma_hold_apart(&owners, &next, 1024);
	KUNIT_EXPECT_EQ(test, from, owners.start);
	KUNIT_EXPECT_EQ(test, until, owners.end);
}

/* Where areas meet inside a largest block, neither holds its part of that block. */
static void areas_that_meet(struct kunit *test)
{
	apart(test, area(4096, 6656), area(6656, 9216), 4096, 6144);
	apart(test, area(6656, 9216), area(4096, 6656), 7168, 9216);
	/* At the border of a block, or apart, nothing is left out. */
	apart(test, area(4096, 6144), area(6144, 9216), 4096, 6144);
	apart(test, area(4608, 6656), area(7168, 9216), 4608, 6656);
}

/* An area that is only a part of such a block holds nothing. */
static void nothing_to_hold(struct kunit *test)
{
	struct cma_owners owners = area(4608, 5120), next = area(4096, 4608);

	cma_hold_apart(&owners, &next, 1024);
	held(test, &owners, 4608, 5120, 5120, 5120);
}

static struct kunit_case cma_ahead_core_cases[] = {
	KUNIT_CASE(learns_the_gap),
	KUNIT_CASE(pieces),
	KUNIT_CASE(just_in_time),
	KUNIT_CASE(the_first_that_fits),
	KUNIT_CASE(whole_blocks),
	KUNIT_CASE(areas_that_meet),
	KUNIT_CASE(nothing_to_hold),
	{}
};

static struct kunit_suite cma_ahead_core_suite = {
	.name = "livemm-cma-ahead-core",
	.test_cases = cma_ahead_core_cases,
};
