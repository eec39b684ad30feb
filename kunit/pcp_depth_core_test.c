// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_depth_core_test.c - list sizing, mode `depth`, on the numbers of its series
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

/* After pcp_core_test.c, which includes core.c. */
#include "../module/policy/pcp/core_depth.c"

/*
 * A trace of one period, of allocations and frees (negative) in blocks, and the depths to expect:
 * the largest rise and the largest fall.
 */
static const struct depth_case {
	const char *name;
	struct {
		long pages;
		unsigned int order;
	} steps[6];
	long alloc_depth;
	long free_depth;
} depth_cases[] = {
	{ "pure allocation", { { 30000 } }, 30000, 0 },
	{ "pure freeing", { { -30000 } }, 0, 30000 },
	/* kbuild in the series: about 30000 pages up and down in a second. */
	{ "kbuild", { { 30000 }, { -30000 }, { 30000 } }, 30000, 30000 },
	/* page_fault1 of will-it-scale: 128 MiB. */
	{ "page_fault1", { { 32768 }, { -32768 } }, 32768, 32768 },
	{ "fall first", { { -500 }, { 200 }, { -100 } }, 200, 500 },
	{ "rise over several dips", { { 100 }, { -40 }, { 100 }, { -40 }, { 100 } }, 220, 40 },
	{ "sawtooth", { { 64 }, { -64 }, { 64 }, { -64 } }, 64, 64 },
	{ "order 3", { { 800, 3 }, { -400, 3 } }, 800, 400 },
	{ "huge pages", { { 5120, 9 }, { -5120, 9 } }, 5120, 5120 },
};

NAMED_CASES(depth, depth_cases);

static void depth_of_a_trace(struct kunit *test)
{
	const struct depth_case *c = test->param_value;
	struct pcp_track track = { };
	unsigned int i;
	long done;

	for (i = 0; i < ARRAY_SIZE(c->steps); i++) {
		long block = 1L << c->steps[i].order;

		for (done = 0; done < abs(c->steps[i].pages); done += block)
			pcp_track_page(&track, 1, c->steps[i].pages < 0 ? -block : block);
	}
	KUNIT_EXPECT_EQ(test, track.alloc_depth, c->alloc_depth);
	KUNIT_EXPECT_EQ(test, track.free_depth, c->free_depth);
}

/* An average is half of the first depth. */
static void a_look_finds_the_periods_that_have_ended(struct kunit *test)
{
	struct pcp_track track = { .period = U32_MAX };

	pcp_track_page(&track, U32_MAX, 20);
	pcp_track_page(&track, U32_MAX, -8);
	/* The period goes on. */
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, U32_MAX).alloc, 0L);
	/* It has ended; the owner may have begun the next, and its pages do not count yet. */
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, 0).alloc, 10L);
	pcp_track_page(&track, 0, 1000);
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, 0).alloc, 10L);
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, 0).free, 4L);
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, 1).alloc, 505L);
}

/* The owner has read the number of the period before an interrupt's page began the next. */
static void a_page_that_comes_late_begins_no_period(struct kunit *test)
{
	struct pcp_track track = { .period = U32_MAX };

	pcp_track_page(&track, U32_MAX, 20);
	pcp_track_page(&track, 0, 2);
	pcp_track_page(&track, U32_MAX, 3);
	KUNIT_EXPECT_EQ(test, pcp_track_depth(&track, 0).alloc, 10L);
	KUNIT_EXPECT_EQ(test, track.alloc_depth, 5L);
}

static void counts_do_not_wrap_at_32_bits(struct kunit *test)
{
	const long pages = 3L << 31;
	struct pcp_track track = { };

	pcp_track_page(&track, 0, pages);
	pcp_track_page(&track, 0, -pages);
	pcp_track_page(&track, 0, -pages);
	KUNIT_EXPECT_EQ(test, track.alloc_depth, pages);
	KUNIT_EXPECT_EQ(test, track.free_depth, 2 * pages);
}

/*
 * Periods in turn, in each of which the list rises and falls by a number of pages; 0 if idle.  The
 * averages to expect when the period has ended, and the decision on a list of the guest.
 */
static const struct period_case {
	const char *name;
	struct {
		int times;
		long pages;
		long average;
		int high;
		enum pcp_reason reason;
	} periods[7];
} period_cases[] = {
	{ "averages decay by half", {
		{ 1, 30000, 15000, 15000, PCP_BY_DEPTH },
		{ 1, 30000, 22500, 22500, PCP_BY_DEPTH },
		{ 1, 30000, 26250, 26250, PCP_BY_DEPTH },
		{ 1, 4000, 15125, 15125, PCP_BY_DEPTH },
		{ 1, 2, 7563, 7563, PCP_BY_DEPTH },
		{ 1, 1, 3782, GUEST_DEF, PCP_BY_DEFAULT },
	} },
	/* Halving with truncation: x = (x + d) / 2 stops at d - 1. */
	{ "a steady pattern settles one below", {
		{ 20, 16384, 16383, 16383, PCP_BY_DEPTH },
	} },
	{ "two idle periods reset", {
		{ 1, 40000, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 0, GUEST_DEF, PCP_BY_DEFAULT },
		{ 1, 40000, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 40000, 30000, 30000, PCP_BY_DEPTH },
	} },
};

NAMED_CASES(period, period_cases);

static void averages_of_periods(struct kunit *test)
{
	const struct pcp_limits limits = { .def = GUEST_DEF, .max = GUEST_MAX };
	const struct period_case *c = test->param_value;
	u32 period = U32_MAX - 2;
	struct pcp_track track = { .period = period };
	int i, time;

	for (i = 0; i < ARRAY_SIZE(c->periods) && c->periods[i].times; i++) {
		struct pcp_decision got;
		struct pcp_depth depth;

		for (time = 0; time < c->periods[i].times; time++, period++) {
			if (!c->periods[i].pages)
				continue;
			pcp_track_page(&track, period, c->periods[i].pages);
			pcp_track_page(&track, period, -c->periods[i].pages);
		}
		depth = pcp_track_depth(&track, period);
		got = pcp_depth_decide(&depth, &limits);
		KUNIT_EXPECT_EQ_MSG(test, depth.alloc, c->periods[i].average, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, depth.free, c->periods[i].average, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.high, c->periods[i].high, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.reason, c->periods[i].reason, "period %d", i);
	}
}

static void pure_patterns_do_not_enlarge(struct kunit *test)
{
	const struct pcp_limits limits = { .def = GUEST_DEF, .max = GUEST_MAX };
	struct pcp_track alloc = { }, free = { };
	struct pcp_depth depth;
	u32 period;

	for (period = 0; period < 10; period++) {
		pcp_track_page(&alloc, period, 1000000);
		pcp_track_page(&free, period, -1000000);
		depth = pcp_track_depth(&alloc, period);
		KUNIT_EXPECT_EQ(test, pcp_depth_decide(&depth, &limits).high, GUEST_DEF);
		depth = pcp_track_depth(&free, period);
		KUNIT_EXPECT_EQ(test, pcp_depth_decide(&depth, &limits).high, GUEST_DEF);
	}
}

#define LIMITS(...)	{ .def = GUEST_DEF, .max = GUEST_MAX, __VA_ARGS__ }

/* Average depths and limits of a list, and the decision to expect. */
static const struct decide_case {
	const char *name;
	long alloc;
	long free;
	struct pcp_limits limits;
	int high;
	enum pcp_reason reason;
	bool hands_off;
} decide_cases[] = {
	{ "below default", 100, 100, LIMITS(), GUEST_DEF, PCP_BY_DEFAULT },
	{ "at default", GUEST_DEF, GUEST_DEF, LIMITS(), GUEST_DEF, PCP_BY_DEFAULT },
	{ "one above", GUEST_DEF + 1, 99999, LIMITS(), GUEST_DEF + 1, PCP_BY_DEPTH },
	{ "smaller counts", 20000, 9000, LIMITS(), 9000, PCP_BY_DEPTH },
	{ "at max", GUEST_MAX, GUEST_MAX, LIMITS(), GUEST_MAX, PCP_BY_DEPTH },
	{ "above max", 1L << 40, 1L << 40, LIMITS(), GUEST_MAX, PCP_BY_MAX },
	{ "max below default", 50000, 50000, { .def = 100, .max = 50 }, 100, PCP_BY_DEFAULT },
	{ "lowered at once", 10000, 10000, LIMITS(.now = 16000), 10000, PCP_BY_DEPTH },
	{ "lowered to the default", 100, 100, LIMITS(.now = 16000), GUEST_DEF, PCP_BY_DEFAULT },
	{ "not held under reclaim", 10000, 10000, LIMITS(.now = 16000, .reclaim = true), GUEST_DEF,
	  PCP_BY_RECLAIM },
	{ "reclaim", 20000, 20000, LIMITS(.reclaim = true), GUEST_DEF, PCP_BY_RECLAIM },
	{ "sysctl", 20000, 20000, LIMITS(.sysctl = true), GUEST_DEF, PCP_BY_SYSCTL, true },
	{ "disabled", 20000, 20000, LIMITS(.disabled = true), GUEST_DEF, PCP_BY_KERNEL, true },
	{ "disabled above all", 20000, 20000,
	  LIMITS(.disabled = true, .sysctl = true, .reclaim = true, .oom = true, .near = true),
	  GUEST_DEF, PCP_BY_KERNEL, true },
	{ "oom", 20000, 20000, LIMITS(.oom = true), GUEST_DEF, PCP_BY_OOM },
	{ "not held out of memory", 10000, 10000, LIMITS(.now = 16000, .oom = true), GUEST_DEF,
	  PCP_BY_OOM },
	{ "near: not raised at all", 20000, 20000, LIMITS(.near = true), GUEST_DEF,
	  PCP_BY_WATERMARK },
	{ "near: not raised further", 20000, 20000, LIMITS(.now = 16000, .near = true), 16000,
	  PCP_BY_WATERMARK },
	{ "near: nor to the maximum", 1L << 40, 1L << 40, LIMITS(.now = 16000, .near = true), 16000,
	  PCP_BY_WATERMARK },
	{ "near: lowered as ever", 10000, 10000, LIMITS(.now = 16000, .near = true), 10000,
	  PCP_BY_DEPTH },
	{ "near: below default", 100, 100, LIMITS(.near = true), GUEST_DEF, PCP_BY_DEFAULT },
	{ "reclaim above near", 20000, 20000, LIMITS(.now = 16000, .reclaim = true, .near = true),
	  GUEST_DEF, PCP_BY_RECLAIM },
	{ "oom above reclaim", 20000, 20000,
	  LIMITS(.now = 16000, .oom = true, .reclaim = true, .near = true), GUEST_DEF, PCP_BY_OOM },
	{ "sysctl above oom", 20000, 20000,
	  LIMITS(.now = 16000, .sysctl = true, .oom = true, .reclaim = true, .near = true),
	  GUEST_DEF, PCP_BY_SYSCTL, true },
};

NAMED_CASES(decide, decide_cases);

static void decision(struct kunit *test)
{
	const struct decide_case *c = test->param_value;
	const struct pcp_depth depth = { .alloc = c->alloc, .free = c->free };
	struct pcp_decision got = pcp_depth_decide(&depth, &c->limits);

	KUNIT_EXPECT_EQ(test, got.high, c->high);
	KUNIT_EXPECT_EQ(test, got.hands_off, c->hands_off);
	KUNIT_EXPECT_EQ(test, got.reason, c->reason);
}

static void random_traces_keep_the_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	int round, ended, i;

	prandom_seed_state(&rnd, 20230710);
	for (round = 0; round < 200; round++) {
		const struct pcp_limits limits = {
			.def = prandom_u32_state(&rnd) % 10000,
			.max = prandom_u32_state(&rnd) % 40000,
			.now = prandom_u32_state(&rnd) % 50000,
			.near = prandom_u32_state(&rnd) % 2,
		};
		int top = max(limits.def, limits.max);
		u32 period = prandom_u32_state(&rnd);
		struct pcp_track track = { .period = period };
		struct pcp_decision got;
		struct pcp_depth depth;

		for (ended = 0; ended < 10; ended++) {
			for (i = prandom_u32_state(&rnd) % 40; i > 0; i--)
				pcp_track_page(&track, period,
					       (long)(prandom_u32_state(&rnd) % 20000) - 10000);
			depth = pcp_track_depth(&track, ++period);
			KUNIT_ASSERT_GE(test, depth.alloc, 0L);
			KUNIT_ASSERT_GE(test, depth.free, 0L);
			got = pcp_depth_decide(&depth, &limits);
			KUNIT_ASSERT_GE(test, got.high, limits.def);
			KUNIT_ASSERT_LE(test, got.high, top);
			if (limits.near)
				KUNIT_ASSERT_LE(test, got.high, max(limits.now, limits.def));
		}
		depth = pcp_track_depth(&track, period + PCP_IDLE_PERIODS);
		KUNIT_ASSERT_EQ(test, pcp_depth_decide(&depth, &limits).high, limits.def);
	}
}

static struct kunit_case pcp_depth_core_cases[] = {
	KUNIT_CASE_PARAM(depth_of_a_trace, depth_gen_params),
	KUNIT_CASE(a_look_finds_the_periods_that_have_ended),
	KUNIT_CASE(a_page_that_comes_late_begins_no_period),
	KUNIT_CASE(counts_do_not_wrap_at_32_bits),
	KUNIT_CASE_PARAM(averages_of_periods, period_gen_params),
	KUNIT_CASE(pure_patterns_do_not_enlarge),
	KUNIT_CASE_PARAM(decision, decide_gen_params),
	KUNIT_CASE(random_traces_keep_the_bounds),
	{ }
};

static struct kunit_suite pcp_depth_core_suite = {
	.name = "livemm_pcp_depth_core",
	.test_cases = pcp_depth_core_cases,
};
