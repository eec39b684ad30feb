// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_event_core_test.c - list sizing, mode `event`, on a model of one list
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>

#include "../module/policy/pcp/core_event.c"
#include "pcp_list_model.h"

/* A list of a large machine, where the batch and not the list limits a refill or drain. */
#define LARGE_DEF	16000
#define LARGE_MAX	400000

/* Pages for long runs of one kind: some hundred times the default. */
#define MANY_PAGES	100000

/* How far may a bound be raised? */

/* A trace, run @rounds times, and the range of the highest bound to expect. */
static const struct bound_case {
	const char *name;
	struct steer_step steps[STEER_STEPS];
	int rounds;
	int low;
	int top;
} bound_cases[] = {
	/* A larger list gains nothing. */
	{ "all allocation", { { MANY_PAGES, 1 } }, 20, MODEL_DEF, MODEL_DEF },
	{ "all freeing", { { -MANY_PAGES, 1 } }, 20, MODEL_DEF, MODEL_DEF },
	{ "sawtooth below the default", { { 100 }, { -100 } }, 1000, MODEL_DEF, MODEL_DEF },
	{ "shrinking with small rises", { { -2000 }, { 150 } }, 1000, MODEL_DEF, MODEL_DEF },
	{ "held beyond memory", { { 5000, PCP_USE_TICKS + 1 }, { -5000 } }, 10,
	  MODEL_DEF, MODEL_DEF },
	{ "one large exit", { { MANY_PAGES, PCP_USE_TICKS + 1 }, { -MANY_PAGES } }, 1,
	  MODEL_DEF, MODEL_DEF },
	/*
	 * A dip in a long rise is a mix of the dip's size.  The bound may be four times as large: a
	 * drain may double the bound, and a grown refill may have left half a list.
	 */
	{ "growth with small dips", { { 2000 }, { -150 } }, 1000, MODEL_DEF, 4 * 150 },
	{ "drift up", { { 1000 }, { -900 } }, 500, 900, 4 * 900 },
	{ "drift up, fast", { { 3000 }, { -1000 } }, 500, 1000, 4 * 1000 },
	{ "drift down", { { 900 }, { -1000 } }, 500, 900, 2 * 1000 },
	{ "drift down, fast", { { 1000 }, { -3000 } }, 500, 900, 2 * 1000 },
	{ "sawtooth above the default", { { 600 }, { -600 } }, 1000, 600, 1200 },
	{ "small teeth on large ones", { { 4000 }, { -500 }, { 500 }, { -4000 } }, 100,
	  4000, 4600 },
	/* Never above the maximum. */
	{ "mix above the maximum", { { MANY_PAGES }, { -MANY_PAGES } }, 10, MODEL_MAX, MODEL_MAX },
	/* Held for less than PCP_USE_TICKS, so that the pages still count as in use. */
	{ "held in memory", { { 5000, PCP_USE_TICKS - 1 }, { -5000 } }, 10, 4500, 5500 },
};

NAMED_CASES(bound, bound_cases);

static void bound_of_a_trace(struct kunit *test)
{
	const struct bound_case *c = test->param_value;
	struct list_model m;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	m.alloc_ns = 20000;
	m.free_ns = 6000;
	steer(&m, c->steps, c->rounds);
	KUNIT_EXPECT_GE(test, m.top, c->low);
	KUNIT_EXPECT_LE(test, m.top, c->top);
	model_is_right(test, &m);

	model_ticks(&m, RETURN_TICKS);
	KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
	KUNIT_EXPECT_LE(test, m.count, MODEL_DEF);
}

/* Bursts of @pages, held for @held ticks and @free ticks apart.  The best bound is @pages. */
static const struct mix_case {
	const char *name;
	long pages;
	int held;
	int free;
	bool sees_refills;
} mix_cases[] = {
	{ "4 MiB", 1024, 0, 0, true },
	{ "16 MiB", 4096, 0, 0, true },
	{ "64 MiB", 16384, 0, 0, true },
	{ "near the maximum", 30000, 0, 0, true },
	{ "short pauses", 16384, 1, 1, true },
	{ "long pauses", 16384, 3, 3, true },
	{ "held for long", 16384, PCP_USE_TICKS - 3, 0, true },
	{ "rare", 16384, 0, PCP_USE_TICKS - 3, true },
	{ "refills not seen", 16384, 1, 1, false },
};

NAMED_CASES(mix, mix_cases);

/* Bursts in which a mix must settle, and bursts that are checked afterwards. */
#define SETTLE_ROUNDS	3
#define STEADY_ROUNDS	20

static void a_mix_settles_at_its_size(struct kunit *test)
{
	const struct mix_case *c = test->param_value;
	const struct steer_step burst[STEER_STEPS] = {
		{ c->pages, c->held }, { -c->pages, c->free },
	};
	unsigned long before;
	struct list_model m;
	int i;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	m.limits.sees_refills = c->sees_refills;
	m.alloc_ns = 20000;
	m.free_ns = 6000;
	steer(&m, burst, SETTLE_ROUNDS);
	/*
	 * A drain doubles the bound until the outstanding pages are known, and answers the error in
	 * one step.  So allow the logarithm of the growth, and a few more.
	 */
	KUNIT_EXPECT_LE(test, m.raises, ilog2(c->pages / MODEL_DEF) + 4U);
	KUNIT_EXPECT_LE(test, m.top, (int)(c->pages + c->pages / 3));

	before = model_crossed(&m);
	for (i = 0; i < STEADY_ROUNDS; i++) {
		steer(&m, burst, 1);
		KUNIT_EXPECT_GE(test, model_high(&m), (int)(c->pages - c->pages / 10));
		KUNIT_EXPECT_LE(test, model_high(&m), (int)(c->pages + c->pages / 3));
	}
	/* Refills and drains are rare by now: fewer than four batches a round cross, on average. */
	KUNIT_EXPECT_LE(test, model_crossed(&m) - before,
			(unsigned long)STEADY_ROUNDS * 4 * MODEL_BATCH);
	model_is_right(test, &m);
}

#define ABOVE	(20 * MODEL_BATCH)

/*
 * The most that a round moves either way, and the most drains, where @by_run says whose batches
 * the kernel has.  6.12's own refills double, and bring more than is missing; but 6.12 asks at once
 * for as many pages as the CPU has freed in a row, where 6.1's drains double.
 */
static const struct above_case {
	const char *name;
	bool by_run;
	long pages;
	unsigned int drains;
} above_cases[] = {
	{ "6.1", false, ABOVE + 2 * MODEL_BATCH, 5 },
	{ "6.12", true, 32 * MODEL_BATCH, 1 },
};

NAMED_CASES(above, above_cases);

/* A mix above the maximum: little more crosses than the pages that do not fit into the list. */
static void a_mix_above_the_maximum_crosses_by_the_rest(struct kunit *test)
{
	const struct above_case *c = test->param_value;
	const long pages = MODEL_MAX + ABOVE;
	const struct steer_step burst[STEER_STEPS] = { { pages }, { -pages } };
	unsigned long before;
	struct list_model m;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	m.by_run = c->by_run;
	m.limits.sees_refills = !c->by_run;
	steer(&m, burst, SETTLE_ROUNDS);
	before = model_crossed(&m);
	m.biggest_drain = 0;
	m.drains = 0;
	steer(&m, burst, STEADY_ROUNDS);
	/* In a mix, drained pages are fetched again: only the rest goes. */
	KUNIT_EXPECT_LE(test, m.biggest_drain, (int)c->pages);
	KUNIT_EXPECT_LE(test, m.drains, STEADY_ROUNDS * c->drains);
	KUNIT_EXPECT_LE(test, model_crossed(&m) - before,
			(unsigned long)STEADY_ROUNDS * 2 * c->pages);
	model_is_right(test, &m);
}

/* A bound raised for a large load does not stay for a load that fits the default. */
static void the_bound_follows_a_smaller_load(struct kunit *test)
{
	const struct steer_step large[STEER_STEPS] = { { 16384 }, { -16384 } };
	const struct steer_step small[STEER_STEPS] = { { 100, 1 }, { -100 } };
	struct list_model m;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	steer(&m, large, 10);
	KUNIT_EXPECT_GE(test, model_high(&m), 16384);
	steer(&m, small, RETURN_TICKS);
	/* Pages that the small load uses may stay. */
	KUNIT_EXPECT_LE(test, m.count, MODEL_DEF + 100 * PCP_USE_TICKS);
	KUNIT_EXPECT_LE(test, model_high(&m), MODEL_DEF + 200 * PCP_USE_TICKS);
	model_is_right(test, &m);
}

/* One CPU allocates and another frees: no list size helps either. */
static void a_load_that_moves_enlarges_neither(struct kunit *test)
{
	struct list_model *cpu;
	int round, i;

	cpu = kunit_kcalloc(test, 2, sizeof(*cpu), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cpu);
	model_init(&cpu[0], MODEL_DEF, MODEL_MAX);
	model_init(&cpu[1], MODEL_DEF, MODEL_MAX);
	for (round = 0; round < 100; round++) {
		model_alloc(&cpu[0], 20000);
		model_ticks(&cpu[0], 1);
		model_ticks(&cpu[1], 1);
		model_free(&cpu[1], 20000);
	}
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, cpu[i].top, MODEL_DEF);
		model_is_right(test, &cpu[i]);
	}
	/* The CPUs change sides for good now and then: bounds soon return to the default. */
	for (round = 0; round < 10; round++) {
		model_alloc(&cpu[round % 2], 20000);
		model_ticks(&cpu[0], PCP_USE_TICKS + 1);
		model_ticks(&cpu[1], PCP_USE_TICKS + 1);
		model_free(&cpu[(round + 1) % 2], 20000);
	}
	for (i = 0; i < 2; i++) {
		model_ticks(&cpu[i], RETURN_TICKS);
		KUNIT_EXPECT_EQ(test, model_high(&cpu[i]), MODEL_DEF);
		KUNIT_EXPECT_LE(test, cpu[i].count, MODEL_DEF);
		model_is_right(test, &cpu[i]);
	}
}

/* Pressure */

#define PRESSED_HIGH	4000
#define PRESSED(...)	{ .def = MODEL_DEF, .max = MODEL_MAX, .now = PRESSED_HIGH,	\
			  .batch = MODEL_BATCH, .sees_refills = true, __VA_ARGS__ }

/*
 * A flag in @limits and its effect on a list raised to PRESSED_HIGH: bound and reason of a tick,
 * reason of a drain, and hands-off.
 */
static const struct pressure_case {
	const char *name;
	struct pcp_limits limits;
	int high;
	enum pcp_reason reason;
	enum pcp_reason drain;
	bool hands_off;
} pressure_cases[] = {
	{ "none", PRESSED(), PRESSED_HIGH, PCP_BY_USE, PCP_BY_USE },
	{ "near", PRESSED(.near = true), PRESSED_HIGH, PCP_BY_USE, PCP_BY_WATERMARK },
	{ "reclaim", PRESSED(.reclaim = true), MODEL_DEF, PCP_BY_RECLAIM, PCP_BY_RECLAIM },
	{ "oom", PRESSED(.oom = true), MODEL_DEF, PCP_BY_OOM, PCP_BY_OOM },
	{ "sysctl", PRESSED(.sysctl = true), MODEL_DEF, PCP_BY_SYSCTL, PCP_BY_SYSCTL, true },
	{ "disabled", PRESSED(.disabled = true), MODEL_DEF, PCP_BY_KERNEL, PCP_BY_KERNEL, true },
	{ "reclaim above near", PRESSED(.reclaim = true, .near = true), MODEL_DEF, PCP_BY_RECLAIM,
	  PCP_BY_RECLAIM },
};

NAMED_CASES(pressure, pressure_cases);

static void pressure(struct kunit *test)
{
	const struct pressure_case *c = test->param_value;
	struct pcp_decision hold = pcp_event_hold(&c->limits);
	struct pcp_decision tick, drain;
	struct pcp_sample sample;
	struct list_model m;
	bool free;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	model_alloc(&m, PRESSED_HIGH);
	m.limits = c->limits;
	/* The list is full, and PRESSED_HIGH pages are out. */
	sample = model_sample(&m);
	sample.count = PRESSED_HIGH;
	tick = pcp_event_tick(&m.event, &sample, m.allocated, &m.limits);
	KUNIT_EXPECT_EQ(test, hold.high, c->high);
	KUNIT_EXPECT_EQ(test, hold.hands_off, c->hands_off);
	KUNIT_EXPECT_EQ(test, hold.reason, c->reason);
	KUNIT_EXPECT_EQ(test, tick.high, c->high);
	KUNIT_EXPECT_EQ(test, tick.hands_off, c->hands_off);
	KUNIT_EXPECT_EQ(test, tick.reason, c->reason);

	drain = pcp_event_drain(&m.event, &sample, &m.limits);
	KUNIT_EXPECT_EQ(test, drain.reason, c->drain);
	free = c->drain == PCP_BY_USE;
	KUNIT_EXPECT_GE(test, drain.high, free ? PRESSED_HIGH + PRESSED_HIGH / 2 : PRESSED_HIGH);
	KUNIT_EXPECT_LE(test, drain.high, free ? 2 * PRESSED_HIGH : PRESSED_HIGH);
	/* Under pressure the kernel gets what it asks for. */
	KUNIT_EXPECT_EQ(test, pcp_event_drain_count(&m.event, &sample, 2000, &m.limits),
			free ? PRESSED_HIGH >> PCP_DRAIN_SHIFT : 2000);
}

/* As many bursts as a mix gets to settle. */
#define PRESSED_BURST	8000

static void pressed_bursts(struct list_model *m)
{
	const struct steer_step burst[STEER_STEPS] = {
		{ PRESSED_BURST, 1 }, { -PRESSED_BURST, 1 },
	};

	steer(m, burst, SETTLE_ROUNDS);
}

static void pressure_comes_and_goes(struct kunit *test)
{
	const int settled = PRESSED_BURST - PRESSED_BURST / 10;
	struct list_model m;
	int high;

	model_init(&m, MODEL_DEF, MODEL_MAX);
	m.limits.near = true;
	pressed_bursts(&m);
	KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
	m.limits.near = false;
	pressed_bursts(&m);
	KUNIT_EXPECT_GE(test, model_high(&m), settled);

	/* Near: the list keeps its bound. */
	m.limits.near = true;
	high = model_high(&m);
	pressed_bursts(&m);
	KUNIT_EXPECT_LE(test, model_high(&m), high);
	KUNIT_EXPECT_GE(test, model_high(&m), settled);
	m.limits.near = false;

	/* Reclaim: all raised pages go back between two ticks, and none come again. */
	m.limits.reclaim = true;
	model_hold(&m);
	KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
	KUNIT_EXPECT_LE(test, m.count, MODEL_DEF);
	pressed_bursts(&m);
	KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
	KUNIT_EXPECT_LE(test, m.count, MODEL_DEF);
	m.limits.reclaim = false;
	pressed_bursts(&m);
	KUNIT_EXPECT_GE(test, model_high(&m), settled);

	/* A smaller maximum holds at once. */
	m.limits.max = 1000;
	model_hold(&m);
	KUNIT_EXPECT_EQ(test, model_high(&m), 1000);
	KUNIT_EXPECT_LE(test, m.count, 1000);
	model_is_right(test, &m);
}

/* Outstanding pages are the CPU's: a list from which nothing is taken is not raised for them. */
static void a_list_that_nobody_takes_from_stays(struct kunit *test)
{
	static const bool sees_refills[] = { true, false };
	const struct pcp_sample full = { .count = PRESSED_HIGH };
	const struct pcp_sample out = { .count = PRESSED_HIGH, .net = 2 * PRESSED_HIGH };
	const struct pcp_sample empty = { .net = PRESSED_HIGH };
	struct list_model m;
	unsigned int i;
	int tick;

	for (i = 0; i < ARRAY_SIZE(sees_refills); i++) {
		model_init(&m, MODEL_DEF, MODEL_MAX);
		m.limits.sees_refills = sees_refills[i];
		m.limits.now = PRESSED_HIGH;
		pcp_event_begin(&m.event, &full, 0);
		/* The first tick counts as used. */
		for (tick = 0; tick <= PCP_USE_TICKS; tick++)
			pcp_event_tick(&m.event, &full, 0, &m.limits);
		/* Pages of another migratetype were missing for a moment; the list was full. */
		pcp_event_refill(&m.event, &full, 10 * MODEL_BATCH);
		KUNIT_EXPECT_EQ(test, pcp_event_drain(&m.event, &out, &m.limits).high,
				PRESSED_HIGH);
		/* Now the CPU takes all pages of the list, and more. */
		pcp_event_refill(&m.event, &empty, PRESSED_HIGH);
		KUNIT_EXPECT_GT(test, pcp_event_drain(&m.event, &out, &m.limits).high,
				PRESSED_HIGH);
	}
}

/* Batches */

static void all_freeing_doubles_the_batch(struct kunit *test)
{
	struct list_model m;

	model_init(&m, LARGE_DEF, LARGE_MAX);
	model_free(&m, MANY_PAGES);
	KUNIT_EXPECT_EQ(test, m.biggest_drain, MODEL_BATCH << PCP_BATCH_SCALE);
	KUNIT_EXPECT_EQ(test, m.raises, 0U);
	model_is_right(test, &m);
}

/* Edge cases */

/* Counters run since boot: only their differences matter. */
static void only_differences_count(struct kunit *test)
{
	static const struct {
		unsigned long allocated;
		unsigned long freed;
	} starts[] = {
		{ 0, 0 }, { ULONG_MAX - 5000, 0 }, { 0, ULONG_MAX - 5000 },
		{ ULONG_MAX - 5000, ULONG_MAX - 5000 }, { LONG_MAX - 100000, 0 },
		{ 0, LONG_MAX - 100000 }, { 1UL << 32, 0 }, { 0, 1UL << 32 },
	};
	static const struct steer_step burst[STEER_STEPS] = { { 9000, 1 }, { -9000, 1 } };
	unsigned long crossed = 0;
	struct pcp_sample sample;
	int high = 0, count = 0;
	struct list_model m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		model_init(&m, MODEL_DEF, MODEL_MAX);
		m.allocated = starts[i].allocated;
		m.freed = starts[i].freed;
		sample = model_sample(&m);
		pcp_event_begin(&m.event, &sample, m.allocated);
		steer(&m, burst, 4);
		if (!i) {
			high = model_high(&m);
			count = m.count;
			crossed = model_crossed(&m);
		}
		KUNIT_EXPECT_GE(test, model_high(&m), 8100);
		KUNIT_EXPECT_EQ(test, model_high(&m), high);
		KUNIT_EXPECT_EQ(test, m.count, count);
		KUNIT_EXPECT_EQ(test, model_crossed(&m), crossed);
		model_ticks(&m, RETURN_TICKS);
		KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
		model_is_right(test, &m);
	}
}

/* At most twice the list, however much is outstanding. */
static void far_counts_are_answered_in_bounds(struct kunit *test)
{
	static const long nets[] = { LONG_MIN, LONG_MIN + 1, -1, 0, LONG_MAX - 1, LONG_MAX };
	unsigned int from, to;

	for (from = 0; from < ARRAY_SIZE(nets); from++) {
		for (to = 0; to < ARRAY_SIZE(nets); to++) {
			const struct pcp_sample old = { .net = nets[from] };
			const struct pcp_sample now = { .count = MODEL_DEF, .net = nets[to] };
			struct pcp_decision got;
			struct list_model m;

			model_init(&m, MODEL_DEF, MODEL_MAX);
			pcp_event_begin(&m.event, &old, 0);
			pcp_event_refill(&m.event, &old, MODEL_BATCH);
			got = pcp_event_drain(&m.event, &now, &m.limits);
			KUNIT_EXPECT_GE(test, got.high, MODEL_DEF);
			KUNIT_EXPECT_LE(test, got.high, 2 * MODEL_DEF);
		}
	}
}

static void no_larger_than_the_default_is_allowed(struct kunit *test)
{
	const struct steer_step burst[STEER_STEPS] = { { 9000, 1 }, { -9000, 1 } };
	static const int max[] = { MODEL_DEF, MODEL_DEF - 1, 0 };
	struct list_model m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(max); i++) {
		model_init(&m, MODEL_DEF, max[i]);
		steer(&m, burst, 10);
		KUNIT_EXPECT_EQ(test, m.raises, 0U);
		model_is_right(test, &m);
		/* A list raised under a larger maximum goes back to its default. */
		m.limits.now = PRESSED_HIGH;
		model_hold(&m);
		KUNIT_EXPECT_EQ(test, model_high(&m), MODEL_DEF);
		model_is_right(test, &m);
	}
}

/* Batch and bound of a zone of few pages. */
static void a_batch_of_one(struct kunit *test)
{
	const struct steer_step burst[STEER_STEPS] = { { 300 }, { -300 } };
	struct list_model m;

	model_init(&m, 4, 400);
	m.limits.batch = 1;
	steer(&m, burst, 50);
	KUNIT_EXPECT_GE(test, model_high(&m), 270);
	KUNIT_EXPECT_LE(test, model_high(&m), 330);
	model_ticks(&m, RETURN_TICKS);
	KUNIT_EXPECT_EQ(test, model_high(&m), 4);
	model_is_right(test, &m);
}

/* Found by tests/fuzz/pcp_event.c: an eighth of a small bound is less than a page. */
static void an_empty_list_of_a_small_zone_gets_its_default(struct kunit *test)
{
	struct list_model m;
	int now;

	for (now = 5; now <= 32; now++) {
		model_init(&m, 4, 400);
		m.limits.batch = 1;
		m.limits.now = now;
		model_ticks(&m, RETURN_TICKS);
		KUNIT_EXPECT_EQ(test, model_high(&m), 4);
		model_is_right(test, &m);
	}
}

static struct kunit_case pcp_event_core_cases[] = {
	KUNIT_CASE_PARAM(bound_of_a_trace, bound_gen_params),
	KUNIT_CASE_PARAM(a_mix_settles_at_its_size, mix_gen_params),
	KUNIT_CASE_PARAM(a_mix_above_the_maximum_crosses_by_the_rest, above_gen_params),
	KUNIT_CASE(the_bound_follows_a_smaller_load),
	KUNIT_CASE(a_load_that_moves_enlarges_neither),
	KUNIT_CASE_PARAM(pressure, pressure_gen_params),
	KUNIT_CASE(pressure_comes_and_goes),
	KUNIT_CASE(a_list_that_nobody_takes_from_stays),
	KUNIT_CASE(all_freeing_doubles_the_batch),
	KUNIT_CASE(only_differences_count),
	KUNIT_CASE(far_counts_are_answered_in_bounds),
	KUNIT_CASE(no_larger_than_the_default_is_allowed),
	KUNIT_CASE(a_batch_of_one),
	KUNIT_CASE(an_empty_list_of_a_small_zone_gets_its_default),
	{ }
};

static struct kunit_suite pcp_event_core_suite = {
	.name = "livemm_pcp_event_core",
	.test_cases = pcp_event_core_cases,
};
