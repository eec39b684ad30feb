// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_core_test.c - list sizing, mode `depth`, on the numbers of its series
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/common/drain.h"
#include "../module/policy/pcp/core.c"

/* Default and maximum size of a DMA32 list in a 2 GiB guest with two CPUs. */
#define GUEST_DEF	6985
#define GUEST_MAX	31216

/* Each period stands alone, as in the series. */
static void page(struct pcp_track *track, u32 epoch, long pages)
{
	const struct pcp_clock clock = { .epoch = epoch, .window = 1 };

	pcp_track_page(track, &clock, pages);
}

/* Collect period @ended: was it active, and how deep were rise and fall? */
static void expect_depths(struct kunit *test, const struct pcp_track *track, u32 ended,
			  bool active, long alloc_depth, long free_depth)
{
	long alloc, free;

	KUNIT_EXPECT_EQ_MSG(test, pcp_track_collect(track, ended, &alloc, &free), active,
			    "period %u", ended);
	KUNIT_EXPECT_EQ_MSG(test, alloc, alloc_depth, "period %u", ended);
	KUNIT_EXPECT_EQ_MSG(test, free, free_depth, "period %u", ended);
}

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
			page(&track, 1, c->steps[i].pages < 0 ? -block : block);
	}
	expect_depths(test, &track, 1, true, c->alloc_depth, c->free_depth);
}

static void collect_finds_the_ended_period(struct kunit *test)
{
	struct pcp_track track = { };

	expect_depths(test, &track, 1, false, 0, 0);
	page(&track, 1, 10);
	expect_depths(test, &track, 1, true, 10, 0);

	/* The owner has begun period 2 before period 1 is collected. */
	page(&track, 2, -3);
	expect_depths(test, &track, 1, true, 10, 0);
	expect_depths(test, &track, 2, true, 0, 3);

	/* Nothing happened in period 3, and no depth is carried over. */
	expect_depths(test, &track, 3, false, 0, 0);
}

static void epoch_wraps_around(struct kunit *test)
{
	struct pcp_track track = { .epoch = U32_MAX - 1 };

	page(&track, U32_MAX, 7);
	page(&track, 0, 9);
	expect_depths(test, &track, U32_MAX, true, 7, 0);
	expect_depths(test, &track, 0, true, 9, 0);
}

static void counts_do_not_wrap_at_32_bits(struct kunit *test)
{
	const long pages = 3L << 31;
	struct pcp_track track = { };

	page(&track, 1, pages);
	page(&track, 1, -pages);
	page(&track, 1, -pages);
	expect_depths(test, &track, 1, true, pages, 2 * pages);
}

/* The last page of a run that ended periods ago is no activity. */
static void an_echo_of_a_run_is_no_activity(struct kunit *test)
{
	struct pcp_clock clock = { .epoch = 1, .window = PCP_WINDOW_MAX };
	struct pcp_track track = { };
	long alloc_depth, free_depth;

	pcp_track_page(&track, &clock, 8000);
	expect_depths(test, &track, 1, true, 8000, 0);
	clock.epoch = 2;
	pcp_track_page(&track, &clock, 1);
	expect_depths(test, &track, 2, false, 8001, 0);
	clock.epoch = 3;
	pcp_track_page(&track, &clock, -1);
	KUNIT_EXPECT_FALSE(test, pcp_track_collect(&track, 2, &alloc_depth, &free_depth));
	pcp_track_page(&track, &clock, -8000);
	KUNIT_EXPECT_TRUE(test, pcp_track_collect(&track, 3, &alloc_depth, &free_depth));
}

/*
 * A run of net @pages per period, zero if idle, and the depths to expect of the last period;
 * @window is the number of periods in which a run may have begun.
 */
static const struct window_case {
	const char *name;
	u32 window;
	long pages[6];
	long alloc_depth;
	long free_depth;
} window_cases[] = {
	{ "as posted: a run is cut", 1, { 0, 0, 0, -5000, 8000, 8000 }, 8000, 0 },
	{ "two periods", 2, { 0, 0, 0, -5000, 8000, 8000 }, 16000, 0 },
	{ "a rise goes on in the next", 3, { 0, 0, 9000, -9000, 8000, 1 }, 8001, 0 },
	{ "a fall from two periods ago", 3, { 0, 0, 9000, 1, 1, -9000 }, 0, 9000 },
	{ "four periods", 4, { 100, 0, -400, 300, 300, 300 }, 900, 0 },
	{ "older is forgotten", 4, { 7000, -100, 10, 10, 10, 10 }, 40, 0 },
	{ "idle periods pass", 4, { 0, 0, 500, 0, 0, 20 }, 520, 0 },
	{ "idle longer than the window", 4, { 500, 0, 0, 0, 0, 20 }, 20, 0 },
	{ "idle, and a smaller window", 2, { 0, 0, 500, 0, 0, 20 }, 20, 0 },
	{ "pure allocation has no fall", 4, { 900, 900, 900, 900, 900, 900 }, 3600, 0 },
	{ "pure freeing has no rise", 4, { -900, -900, -900, -900, -900, -900 }, 0, 3600 },
};

NAMED_CASES(window, window_cases);

static void a_run_over_several_periods(struct kunit *test)
{
	const struct window_case *c = test->param_value;
	struct pcp_clock clock = { .epoch = U32_MAX - 2, .window = c->window };
	struct pcp_track track = { .epoch = U32_MAX - 20 };
	long alloc_depth, free_depth;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->pages); i++, clock.epoch++)
		if (c->pages[i])
			pcp_track_page(&track, &clock, c->pages[i]);
	pcp_track_collect(&track, clock.epoch - 1, &alloc_depth, &free_depth);
	KUNIT_EXPECT_EQ(test, alloc_depth, c->alloc_depth);
	KUNIT_EXPECT_EQ(test, free_depth, c->free_depth);
}

/*
 * Periods in turn with their depths, none if idle.  Was the list reset, and what are then its
 * average depth of allocation and the decision on a list of the guest?
 */
static const struct period_case {
	const char *name;
	struct {
		int times;
		long alloc_depth;
		long free_depth;
		bool reset;
		long alloc;
		int high;
		enum pcp_reason reason;
	} periods[7];
} period_cases[] = {
	{ "averages decay by half", {
		{ 1, 30000, 30000, false, 15000, 15000, PCP_BY_DEPTH },
		{ 1, 30000, 30000, false, 22500, 22500, PCP_BY_DEPTH },
		{ 1, 30000, 30000, false, 26250, 26250, PCP_BY_DEPTH },
		{ 1, 4000, 4000, false, 15125, 15125, PCP_BY_DEPTH },
	} },
	/* Halving with truncation: x = (x + d) / 2 stops at d - 1. */
	{ "a steady pattern settles one below", {
		{ 20, 16384, 16384, false, 16383, 16383, PCP_BY_DEPTH },
	} },
	{ "two idle periods reset", {
		{ 1, 40000, 40000, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 0, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 0, true, 0, GUEST_DEF, PCP_BY_IDLE },
		/* An active period resets the count of idle periods. */
		{ 1, 40000, 40000, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 0, 0, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 40000, 40000, false, 30000, 30000, PCP_BY_DEPTH },
		{ 1, 0, 0, false, 30000, 30000, PCP_BY_DEPTH },
	} },
	/* Small activity of a CPU after the load does not keep the load's pages. */
	{ "hardly any activity is none", {
		{ 1, 40000, 40000, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 20000 / PCP_IDLE_SHARE - 1, 9, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 9, 20000 / PCP_IDLE_SHARE - 1, true, 0, GUEST_DEF, PCP_BY_IDLE },
		{ 1, 0, 0, false, 0, GUEST_DEF, PCP_BY_IDLE },
		/* An eighth is a smaller load, which the average follows. */
		{ 1, 40000, 40000, false, 20000, 20000, PCP_BY_DEPTH },
		{ 1, 20000 / PCP_IDLE_SHARE, 0, false, 11250, 10000, PCP_BY_DEPTH },
	} },
};

NAMED_CASES(period, period_cases);

static void averages_of_periods(struct kunit *test)
{
	const struct pcp_limits limits = { .def = GUEST_DEF, .max = GUEST_MAX };
	const struct period_case *c = test->param_value;
	struct pcp_depth depth = { };
	bool reset = false;
	int i, time;

	for (i = 0; i < ARRAY_SIZE(c->periods) && c->periods[i].times; i++) {
		long alloc = c->periods[i].alloc_depth, free = c->periods[i].free_depth;
		struct pcp_decision got;

		for (time = 0; time < c->periods[i].times; time++)
			reset = pcp_depth_period(&depth, alloc || free, alloc, free);
		got = pcp_depth_decide(&depth, &limits, true);
		KUNIT_EXPECT_EQ_MSG(test, reset, c->periods[i].reset, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, depth.alloc, c->periods[i].alloc, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.high, c->periods[i].high, "period %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.reason, c->periods[i].reason, "period %d", i);
	}
}

static void pure_patterns_do_not_enlarge(struct kunit *test)
{
	const struct pcp_limits limits = { .def = GUEST_DEF, .max = GUEST_MAX };
	struct pcp_depth alloc = { }, free = { };
	int i;

	for (i = 0; i < 10; i++) {
		pcp_depth_period(&alloc, true, 1000000, 0);
		pcp_depth_period(&free, true, 0, 1000000);
		KUNIT_EXPECT_EQ(test, pcp_depth_decide(&alloc, &limits, true).high, GUEST_DEF);
		KUNIT_EXPECT_EQ(test, pcp_depth_decide(&free, &limits, true).high, GUEST_DEF);
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
	unsigned int idle;
} decide_cases[] = {
	{ "below default", 100, 100, LIMITS(), GUEST_DEF, PCP_BY_DEFAULT },
	{ "at default", GUEST_DEF, GUEST_DEF, LIMITS(), GUEST_DEF, PCP_BY_DEFAULT },
	{ "one above", GUEST_DEF + 1, 99999, LIMITS(), GUEST_DEF + 1, PCP_BY_DEPTH },
	{ "smaller counts", 20000, 9000, LIMITS(), 9000, PCP_BY_DEPTH },
	{ "at max", GUEST_MAX, GUEST_MAX, LIMITS(), GUEST_MAX, PCP_BY_DEPTH },
	{ "above max", 1L << 40, 1L << 40, LIMITS(), GUEST_MAX, PCP_BY_MAX },
	{ "max below default", 50000, 50000, { .def = 100, .max = 50 }, 100, PCP_BY_DEFAULT },
	{ "lowered by a sixteenth", 10000, 10000, LIMITS(.now = 16000), 15000, PCP_BY_DECAY },
	{ "the last step", 15500, 15500, LIMITS(.now = 16000), 15500, PCP_BY_DEPTH },
	{ "lowered to a smaller max at once", 100, 100, LIMITS(.now = 2 * GUEST_MAX), GUEST_MAX,
	  PCP_BY_DECAY },
	{ "not held when it was never raised", 100, 100, LIMITS(.now = 0), GUEST_DEF,
	  PCP_BY_DEFAULT },
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
	{ "near: lowered as ever", 10000, 10000, LIMITS(.now = 16000, .near = true), 15000,
	  PCP_BY_DECAY },
	{ "near: below default", 100, 100, LIMITS(.near = true), GUEST_DEF, PCP_BY_DEFAULT },
	{ "reclaim above near", 20000, 20000, LIMITS(.now = 16000, .reclaim = true, .near = true),
	  GUEST_DEF, PCP_BY_RECLAIM },
	{ "oom above reclaim", 20000, 20000,
	  LIMITS(.now = 16000, .oom = true, .reclaim = true, .near = true), GUEST_DEF, PCP_BY_OOM },
	{ "sysctl above oom", 20000, 20000,
	  LIMITS(.now = 16000, .sysctl = true, .oom = true, .reclaim = true, .near = true),
	  GUEST_DEF, PCP_BY_SYSCTL, true },
	{ "idle: not lowered in steps", 0, 0, LIMITS(.now = GUEST_MAX), GUEST_DEF, PCP_BY_IDLE,
	  .idle = PCP_IDLE_PERIODS },
};

NAMED_CASES(decide, decide_cases);

static void decision(struct kunit *test)
{
	const struct decide_case *c = test->param_value;
	const struct pcp_depth depth = { .alloc = c->alloc, .free = c->free, .idle = c->idle };
	struct pcp_decision got = pcp_depth_decide(&depth, &c->limits, true);

	KUNIT_EXPECT_EQ(test, got.high, c->high);
	KUNIT_EXPECT_EQ(test, got.hands_off, c->hands_off);
	KUNIT_EXPECT_EQ(test, got.reason, c->reason);
}

/* Hooks of a zone that is short ask for a pass every 10 ms, and a pass sees to every zone. */
static void passes_between_periods_lower_nothing(struct kunit *test)
{
	const struct pcp_depth depth = { .alloc = 10000, .free = 10000 };
	struct pcp_limits limits = LIMITS(.now = 16000);
	struct pcp_decision got;
	int i;

	for (i = 0; i < 100; i++) {
		got = pcp_depth_decide(&depth, &limits, false);
		limits.now = got.high;
	}
	KUNIT_EXPECT_EQ(test, got.high, 16000);
	KUNIT_EXPECT_EQ(test, got.reason, PCP_BY_DECAY);
	/* What is no longer allowed goes at once. */
	limits.max = 12000;
	KUNIT_EXPECT_EQ(test, pcp_depth_decide(&depth, &limits, false).high, 12000);
	limits.reclaim = true;
	KUNIT_EXPECT_EQ(test, pcp_depth_decide(&depth, &limits, false).high, GUEST_DEF);
}

static void max_is_the_kernels_for_fraction_8(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pcp_max_high(499456, 125, 2, GUEST_DEF, 63), GUEST_MAX);
	/* Never below the default, nor below four batches. */
	KUNIT_EXPECT_EQ(test, pcp_max_high(1000, 10, 64, GUEST_DEF, 63), GUEST_DEF);
	KUNIT_EXPECT_EQ(test, pcp_max_high(1000, 10, 64, 10, 63), 252);
	/* 64 TiB on one CPU do not overflow. */
	KUNIT_EXPECT_EQ(test, pcp_max_high(1UL << 34, 500, 1, 10, 63), INT_MAX);
	KUNIT_EXPECT_EQ(test, pcp_max_high(1UL << 34, 500, 0, 10, 63), INT_MAX);
}

static void a_block_does_not_empty_a_list(struct kunit *test)
{
	/* A drain that would empty the list is limited to a batch. */
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(31000, 31000, 63), 63);
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(40, 40, 63), 40);
	/* A partial drain stays as it is. */
	KUNIT_EXPECT_EQ(test, lmm_drain_limit(2016, 31000, 63), 2016);
}

static void a_raised_list_does_not_go_under_one_hold(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(2016, 31000, 606, 63), 455);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(400, 31000, 606, 63), 400);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(2016, 31000, 300, 63), 252);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(31000, 31000, 8000, 63), 6000);
	/* A list with its own bound goes as without the policy. */
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(543, 606, 606, 63), 543);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(669, 669, 606, 63), 669);
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(670, 670, 606, 63), 455);
	/* Limits that no pass has seen. */
	KUNIT_EXPECT_EQ(test, lmm_drain_hold(31000, 31000, 0, 63), 31000);
}

/*
 * Thousands of instructions for which interrupts were off, with 2,016 pages and on stock: 6.1 and
 * 6.12; and of a hold on 7.2, whose longest on stock is a refill (bench/lists.md).
 */
static void a_list_gives_back_no_longer_than_the_kernel(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, false) * 764, 2016 * 235);
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, true) * 954, 2016 * 678);
	KUNIT_EXPECT_LE(test, lmm_give_pages(606, 63, true) * 790, 2016 * 581);
	/* The kernel drains a large bound from time to time. */
	KUNIT_EXPECT_EQ(test, lmm_give_pages(4300, 63, false), 2016);
	KUNIT_EXPECT_EQ(test, lmm_give_pages(0, 1, false), 4);
}

static void lists_give_in_proportion(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 0), 3000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 2000), 2000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 4000), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, 4005), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(3000, 1000, 4000, -5), 3000);
	KUNIT_EXPECT_EQ(test, pcp_keep(1000, 1000, 4000, 5), 1000);
	KUNIT_EXPECT_EQ(test, pcp_keep(900, 1000, 0, 5), 1000);
}

/* Watermarks of the DMA32 zone in a 1 GiB guest: low 1250, high 1500. */
static void a_zone_is_calm_above_its_mark(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pcp_calm_mark(1500, 250, false), 1750UL);
	/* No number of free pages is enough, with whatever boost. */
	KUNIT_EXPECT_EQ(test, pcp_calm_mark(1500, 250, true), PCP_NEVER_CALM);
	KUNIT_EXPECT_GT(test, PCP_NEVER_CALM + INT_MAX, PCP_NEVER_CALM);
	KUNIT_EXPECT_GT(test, PCP_NEVER_CALM, (unsigned long)LONG_MAX / PAGE_SIZE);
}

static void random_traces_keep_the_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	int round, period, i;

	prandom_seed_state(&rnd, 20230710);
	for (round = 0; round < 200; round++) {
		const struct pcp_limits limits = {
			.def = prandom_u32_state(&rnd) % 10000,
			.max = prandom_u32_state(&rnd) % 40000,
			.now = prandom_u32_state(&rnd) % 50000,
			.near = prandom_u32_state(&rnd) % 2,
		};
		int top = max(limits.def, limits.max);
		struct pcp_track track = { };
		struct pcp_depth depth = { };
		struct pcp_decision got;
		struct pcp_clock clock = {
			.epoch = prandom_u32_state(&rnd),
			.window = 1 + prandom_u32_state(&rnd) % PCP_WINDOW_MAX,
		};

		track.epoch = clock.epoch - 1;
		for (period = 0; period < 10; period++, clock.epoch++) {
			long alloc_depth, free_depth;
			bool active;

			for (i = prandom_u32_state(&rnd) % 40; i > 0; i--)
				pcp_track_page(&track, &clock,
					       (long)(prandom_u32_state(&rnd) % 20000) - 10000);
			active = pcp_track_collect(&track, clock.epoch, &alloc_depth, &free_depth);
			KUNIT_ASSERT_GE(test, alloc_depth, 0L);
			KUNIT_ASSERT_GE(test, free_depth, 0L);
			pcp_depth_period(&depth, active, alloc_depth, free_depth);
			got = pcp_depth_decide(&depth, &limits, true);
			KUNIT_ASSERT_GE(test, got.high, limits.def);
			KUNIT_ASSERT_LE(test, got.high, top);
			if (limits.near)
				KUNIT_ASSERT_LE(test, got.high, max(limits.now, limits.def));
		}
		pcp_depth_period(&depth, false, 0, 0);
		pcp_depth_period(&depth, false, 0, 0);
		KUNIT_ASSERT_EQ(test, pcp_depth_decide(&depth, &limits, true).high, limits.def);
	}
}

/* What the lists keep leaves the zone what it lacks, or they keep no more than their defaults. */
static void random_lists_give_what_is_lacking(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i;

	prandom_seed_state(&rnd, 8);
	for (round = 0; round < 1000; round++) {
		long lacks = (long)(prandom_u32_state(&rnd) % 400000) - 50000;
		int def[16], count[16];
		long held = 0, kept = 0;

		for (i = 0; i < 16; i++) {
			def[i] = prandom_u32_state(&rnd) % 7000;
			count[i] = def[i] + prandom_u32_state(&rnd) % 30000;
			held += count[i] - def[i];
		}
		for (i = 0; i < 16; i++) {
			int got = pcp_keep(count[i], def[i], held, lacks);

			KUNIT_ASSERT_GE(test, got, def[i]);
			KUNIT_ASSERT_LE(test, got, count[i]);
			kept += got - def[i];
		}
		KUNIT_ASSERT_LE(test, kept, max(held - max(lacks, 0L), 0L));
		/* Rounding costs each list a page at most. */
		KUNIT_ASSERT_GE(test, kept, held - max(lacks, 0L) - 16);
	}
}

static struct kunit_case pcp_core_cases[] = {
	KUNIT_CASE_PARAM(depth_of_a_trace, depth_gen_params),
	KUNIT_CASE(collect_finds_the_ended_period),
	KUNIT_CASE_PARAM(a_run_over_several_periods, window_gen_params),
	KUNIT_CASE(epoch_wraps_around),
	KUNIT_CASE(counts_do_not_wrap_at_32_bits),
	KUNIT_CASE(an_echo_of_a_run_is_no_activity),
	KUNIT_CASE_PARAM(averages_of_periods, period_gen_params),
	KUNIT_CASE(pure_patterns_do_not_enlarge),
	KUNIT_CASE_PARAM(decision, decide_gen_params),
	KUNIT_CASE(passes_between_periods_lower_nothing),
	KUNIT_CASE(max_is_the_kernels_for_fraction_8),
	KUNIT_CASE(a_block_does_not_empty_a_list),
	KUNIT_CASE(a_raised_list_does_not_go_under_one_hold),
	KUNIT_CASE(a_list_gives_back_no_longer_than_the_kernel),
	KUNIT_CASE(lists_give_in_proportion),
	KUNIT_CASE(a_zone_is_calm_above_its_mark),
	KUNIT_CASE(random_traces_keep_the_bounds),
	KUNIT_CASE(random_lists_give_what_is_lacking),
	{ }
};

static struct kunit_suite pcp_core_suite = {
	.name = "livemm_pcp_core",
	.test_cases = pcp_core_cases,
};
