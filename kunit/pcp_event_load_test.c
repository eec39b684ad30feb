// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_event_load_test.c - list sizing, mode `event`, under random loads and the bench's, at the end
 * of a process, and where refills are not seen
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/prandom.h>

/* After pcp_event_core_test.c, which includes the core. */
#include "pcp_list_model.h"

static void random_flags(struct list_model *m, struct rnd_state *rnd)
{
	u32 bits = prandom_u32_state(rnd);

	m->limits.near = bits % 4 == 0;
	m->limits.reclaim = bits >> 4 & 15 ? false : true;
	m->limits.oom = bits >> 8 & 31 ? false : true;
	m->limits.sysctl = bits >> 13 & 31 ? false : true;
	m->limits.max = m->limits.def + (bits >> 18) % 30000;
	if (bits & BIT(31))
		model_hold(m);
}

static void random_step(struct list_model *m, struct rnd_state *rnd)
{
	long pages = prandom_u32_state(rnd) % (2U << prandom_u32_state(rnd) % 15);

	switch (prandom_u32_state(rnd) % 8) {
	case 0:
		model_ticks(m, prandom_u32_state(rnd) % (PCP_USE_TICKS + 2));
		break;
	case 1:
		model_pass(m, prandom_u32_state(rnd) % MODEL_TICK_NS);
		break;
	case 2:
		random_flags(m, rnd);
		break;
	case 3:
	case 4:
	case 5:
		model_alloc(m, pages);
		break;
	default:
		model_free(m, pages);
		break;
	}
}

/* The rules of the model hold, and idling always ends at the default. */
static void random_traces_keep_the_rules(struct kunit *test)
{
	struct rnd_state rnd;
	struct list_model m;
	int round, i;

	prandom_seed_state(&rnd, 20230714);
	for (round = 0; round < 300; round++) {
		int def = 4 * MODEL_BATCH + prandom_u32_state(&rnd) % 7000;

		model_init(&m, def, def + prandom_u32_state(&rnd) % 30000);
		m.limits.sees_refills = prandom_u32_state(&rnd) % 2;
		m.in_parts = prandom_u32_state(&rnd) % 2;
		m.alloc_ns = 1 + prandom_u32_state(&rnd) % 50000;
		m.free_ns = 1 + prandom_u32_state(&rnd) % 50000;
		for (i = 0; i < 100; i++) {
			random_step(&m, &rnd);
			KUNIT_ASSERT_GE(test, m.count, 0);
			/* A list may always hold what one refill brings. */
			KUNIT_ASSERT_LE(test, m.count, max(model_high(&m), 2 * MODEL_BATCH));
		}
		KUNIT_ASSERT_TRUE_MSG(test, !m.wrong, "round %d: %s", round, m.wrong);

		/* Raised pages go back in time, whatever happened before. */
		m.limits = (struct pcp_limits){
			.def = def, .max = def + 30000, .batch = MODEL_BATCH,
			.now = m.limits.now, .sees_refills = m.limits.sees_refills,
		};
		model_ticks(&m, RETURN_TICKS);
		KUNIT_ASSERT_LE(test, m.count, def);
		/* A bound without pages behind it halves each tick, and may take longer. */
		model_ticks(&m, ilog2(30000));
		KUNIT_ASSERT_EQ(test, model_high(&m), def);
	}
}

/*
 * A load of bench/pcp.py, on one CPU.  A round touches @pages, holds them for @pause_ms, frees them
 * and pauses again.  @per_1000 pages may cross per 1000 touched; -1 allows any number.
 */
struct bench_row {
	const char *name;
	long pages;
	int rounds;
	int pause_ms;
	long per_1000;
};

/* The warm-up, then the loads in the order in which they run. */
static const struct bench_row bench_rows[] = {
	{ "warm-up", 32768, 4, 0, -1 },
	{ "A", 32768, 8, 0, 150 },
	{ "B", 16384, 16, 0, 25 },
	{ "C", 4096, 64, 0, 16 },
	{ "D", 16384, 10, 1500, 380 },
	{ "E", 16384, 10, 300, 140 },
};

/*
 * A machine that runs the loads.  @touch_ms is the time to touch 64 MiB; freeing takes a third of
 * @touch_ms.  The load starts @late_ms after a tick.
 */
static const struct bench_case {
	const char *name;
	int def;
	long touch_ms;
	long late_ms;
} bench_cases[] = {
	{ "fast", 237, 300, 0 },
	{ "middle", 237, 400, 120 },
	{ "slow", 237, 500, 240 },
	{ "fast, larger default", 378, 300, 240 },
	{ "middle, larger default", 378, 400, 0 },
	{ "slow, larger default", 378, 500, 120 },
};

NAMED_CASES(bench, bench_cases);

#define NS_PER_MS	1000000L

static void bench_rows_stay_within_their_targets(struct kunit *test)
{
	const struct bench_case *c = test->param_value;
	struct list_model m;
	unsigned int i;

	model_init(&m, c->def, MODEL_MAX);
	m.alloc_ns = c->touch_ms * NS_PER_MS / 16384;
	m.free_ns = m.alloc_ns / 3;
	m.left_ns -= c->late_ms * NS_PER_MS;
	for (i = 0; i < ARRAY_SIZE(bench_rows); i++) {
		const struct bench_row *row = &bench_rows[i];
		long before = model_crossed(&m);
		long crossed;
		int round;

		for (round = 0; round < row->rounds; round++) {
			model_alloc(&m, row->pages);
			model_pass(&m, row->pause_ms * NS_PER_MS);
			model_free(&m, row->pages);
			model_pass(&m, row->pause_ms * NS_PER_MS);
		}
		crossed = model_crossed(&m) - before;
		if (row->per_1000 >= 0)
			KUNIT_EXPECT_LE_MSG(test, crossed * 1000,
					    row->per_1000 * row->pages * row->rounds,
					    "row %s: %ld of %ld pages crossed", row->name,
					    crossed, row->pages * row->rounds);
	}
	model_ticks(&m, RETURN_TICKS);
	KUNIT_EXPECT_LE(test, m.count, c->def);
	KUNIT_EXPECT_EQ(test, model_high(&m), c->def);
	model_is_right(test, &m);
}

/*
 * A process that allocates more than a list may hold, and ends: the list fills, and the rest goes
 * in drains that double, about as many as the kernel needs at its largest batch.
 */
static void a_process_ends(struct kunit *test)
{
	const long pages = 24576, bound = 15204, rest = pages - bound;
	struct list_model m;

	model_init(&m, 6929, bound);
	m.limits.now = bound;
	m.alloc_ns = 1000;
	model_alloc(&m, pages);
	m.drains = 0;
	m.drained = 0;
	model_free(&m, pages);
	KUNIT_EXPECT_LE(test, m.drains, 5 + DIV_ROUND_UP(rest, MODEL_BATCH << MODEL_SCALE));
	KUNIT_EXPECT_GE(test, m.drained, rest);
	/* The list was not empty, and the last drain need not have been as large. */
	KUNIT_EXPECT_LE(test, m.drained, rest + 2 * (MODEL_BATCH << MODEL_SCALE));
	model_is_right(test, &m);

	/* A CPU that takes pages in between: a batch each time. */
	m.drains = 0;
	m.drained = 0;
	model_alloc(&m, 4096);
	model_free(&m, 4096);
	model_alloc(&m, 4096);
	model_free(&m, 4096 + 1);
	KUNIT_EXPECT_LE(test, m.drained, 2 * MODEL_BATCH * m.drains);
	model_is_right(test, &m);
}

/* Pages that cross zone->lock in eight rounds of a process of 128 MiB on 7.2. */
static unsigned long crossed_of_rounds(struct kunit *test, bool in_parts)
{
	static const struct steer_step round[STEER_STEPS] = { { 32838 }, { -32838 } };
	unsigned long warm;
	struct list_model m;

	model_init(&m, 948, MODEL_MAX);
	m.limits.sees_refills = false;
	m.by_run = true;
	m.in_parts = in_parts;
	m.alloc_ns = 10000;
	m.free_ns = 3000;
	steer(&m, round, 4);
	warm = model_crossed(&m);
	steer(&m, round, 8);
	KUNIT_EXPECT_GE(test, model_high(&m), MODEL_MAX);
	model_is_right(test, &m);
	return model_crossed(&m) - warm;
}

/*
 * The process needs 1622 pages more than the list may hold; in eight rounds these go and come
 * back.  A drain in parts takes no more than a single drain: after a part the list has room.
 */
static void parts_of_a_drain_take_no_more(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, crossed_of_rounds(test, false), 8 * 2 * 1953UL);
	KUNIT_EXPECT_LE(test, crossed_of_rounds(test, true), 8 * 2 * 1953UL);
}

/* Pages that went to the buddy or to a depot do not look as if the CPU had taken them. */
static void pages_that_went_are_not_missing(struct kunit *test)
{
	const struct pcp_limits limits = { .def = LARGE_DEF, .max = LARGE_MAX, .batch = 57 };
	struct pcp_sample sample = { .count = LARGE_DEF };
	struct pcp_event event;

	pcp_event_begin(&event, &sample, 0);
	pcp_event_drain(&event, &sample, &limits);
	pcp_event_drained(&event, 945);
	sample.count -= 945;
	pcp_event_tick(&event, &sample, 0, &limits);
	KUNIT_EXPECT_EQ(test, 0UL, event.missing);
	KUNIT_EXPECT_EQ(test, 945UL, event.drained);
}

/*
 * Load `pauses` of bench.whatif on 6.12, where no refill is seen: bursts of @pages.  A list begins
 * with what the kernel's own tuning has left.  At ticks, all of them in pauses, and at drains the
 * list is never seen empty.
 */
static const struct begin_case {
	const char *name;
	int count;
	int high;
	long pages;
	long idle_ms;
} begin_cases[] = {
	{ "small list", 402, 0, 16384, 2200 },
	{ "full list", 1700, 1800, 17900, 2050 },
	{ "larger list", 2400, 2500, 15250, 2050 },
	{ "largest list", 3100, 3200, 17650, 2300 },
};

NAMED_CASES(begin, begin_cases);

static void a_full_list_grows_for_bursts(struct kunit *test)
{
	const struct begin_case *c = test->param_value;
	struct pcp_sample sample;
	unsigned long warm = 0;
	struct list_model m;
	int round;

	model_init(&m, 378, MODEL_MAX);
	m.limits.sees_refills = false;
	m.by_run = true;
	m.count = c->count;
	m.limits.now = c->high;
	m.alloc_ns = 18000;
	m.free_ns = 6000;
	sample = model_sample(&m);
	pcp_event_begin(&m.event, &sample, m.allocated);
	model_pass(&m, c->idle_ms * NS_PER_MS);
	for (round = 0; round < 6; round++) {
		if (round == 2)
			warm = model_crossed(&m);
		model_alloc(&m, c->pages);
		model_pass(&m, 1500 * NS_PER_MS);
		model_free(&m, c->pages);
		model_pass(&m, 1500 * NS_PER_MS);
	}
	KUNIT_EXPECT_GE(test, model_high(&m), (int)(c->pages - c->pages / 10));
	/* Of four rounds, a tenth at most. */
	KUNIT_EXPECT_LE(test, model_crossed(&m) - warm, 4UL * c->pages / 10);
	model_is_right(test, &m);
}

/*
 * Refills are not seen.  The CPU takes pages of another node, and frees pages of the list's node
 * that other CPUs took: outstanding pages and allocations are the CPU's, the list only fills.  A
 * bound that comes down takes pages too, and is no use of the list.
 */
static void a_list_that_only_fills_stays(struct kunit *test)
{
	const int lower = LARGE_DEF - 10 * MODEL_BATCH;
	struct list_model m;
	int round, tick;

	model_init(&m, MODEL_DEF, LARGE_MAX);
	m.limits.sees_refills = false;
	m.by_run = true;
	m.limits.now = LARGE_DEF;
	m.top = LARGE_DEF;
	for (round = 0; round < 20; round++) {
		/* The list is full before its ticks count. */
		for (tick = 0; tick < (round ? 4 : PCP_USE_TICKS + 1); tick++) {
			m.count = max(m.count, model_high(&m) - 1);
			m.allocated += 2 * LARGE_DEF;
			if (round)
				model_free(&m, LARGE_DEF / 8);
			model_ticks(&m, 1);
		}
		m.limits.max = round % 2 ? lower : LARGE_MAX;
		model_hold(&m);
		m.limits.max = LARGE_MAX;
	}
	KUNIT_EXPECT_EQ(test, m.top, LARGE_DEF);
	KUNIT_EXPECT_GT(test, m.drains, 20U);
	model_is_right(test, &m);
}

/*
 * Refills are not seen.  A full list loses pages from one tick to the next, while the CPU takes far
 * more than the list has: the list was empty meanwhile.  If the list lost nothing, the CPU may have
 * taken all pages elsewhere.
 */
static const struct missing_case {
	const char *name;
	int later;
	int ticks;
	bool raised;
} missing_cases[] = {
	{ "pages missing", 1901, 1, true },
	{ "missing in the last ticks", 1901, PCP_USE_TICKS, true },
	{ "long ago", 1901, PCP_USE_TICKS + 1, false },
	{ "a batch missing", 2841 - MODEL_BATCH, 1, true },
	{ "a page missing", 2841 - 1, 1, false },
	{ "nothing missing", 2841, 1, false },
};

NAMED_CASES(missing, missing_cases);

static void pages_missing_from_a_full_list_are_use(struct kunit *test)
{
	const struct missing_case *c = test->param_value;
	struct pcp_limits limits = {
		.def = MODEL_DEF, .max = MODEL_MAX, .now = 2841, .batch = MODEL_BATCH,
	};
	struct pcp_sample sample = { .count = 2841 };
	struct pcp_event event;
	int tick;

	pcp_event_begin(&event, &sample, 0);
	for (tick = 0; tick <= PCP_USE_TICKS; tick++)
		pcp_event_tick(&event, &sample, 0, &limits);
	sample.count = c->later;
	sample.net += 16384;
	sample.allocated += 16384;
	for (tick = 0; tick < c->ticks; tick++)
		pcp_event_tick(&event, &sample, sample.allocated, &limits);
	sample.count = limits.now;
	sample.net -= 940;
	if (c->raised) {
		KUNIT_EXPECT_GT(test, pcp_event_drain(&event, &sample, &limits).high,
				limits.now + limits.now / 2);
		KUNIT_EXPECT_EQ(test, pcp_event_drain_count(&event, &sample, 2016, &limits),
				limits.now >> PCP_DRAIN_SHIFT);
	} else {
		KUNIT_EXPECT_EQ(test, pcp_event_drain(&event, &sample, &limits).high,
				limits.now);
		KUNIT_EXPECT_EQ(test, pcp_event_drain_count(&event, &sample, 2016, &limits),
				2016);
	}
}

/* The kernel raises a list for a CPU that only frees, by what goes in one drain.  That stays. */
static void tuning_for_a_drain_is_no_raise(struct kunit *test)
{
	const int batch = 63, drain = batch * PCP_FREED_BATCHES, few = batch * PCP_SPARE_BATCHES;

	KUNIT_EXPECT_EQ(test, pcp_event_tuned(0, 606, batch), 0);
	KUNIT_EXPECT_EQ(test, pcp_event_tuned(606, 606, batch), 0);
	KUNIT_EXPECT_EQ(test, pcp_event_tuned(drain + batch, 606, batch), 0);
	KUNIT_EXPECT_EQ(test, pcp_event_tuned(drain + batch + 1, 606, batch), drain + batch + 1);
	/* Of a list that is as large by default, a few batches. */
	KUNIT_EXPECT_EQ(test, pcp_event_tuned(4096 + few, 4096, batch), 0);
	KUNIT_EXPECT_EQ(test, pcp_event_tuned(4096 + few + 1, 4096, batch), 4096 + few + 1);
}

/*
 * A CPU takes pages of one migratetype, and frees pages of another that come from another CPU: the
 * list has no use of these, however many pages the CPU has out.
 */
static void a_list_is_raised_for_what_its_cpu_takes(struct kunit *test)
{
	const struct pcp_sample empty = { .type = 1 };
	const long out = 4000;
	struct pcp_sample full = { .count = MODEL_DEF, .net = out };
	struct list_model m;
	int tick;

	/* In the tick of the refill, and in the ticks in which the refill is remembered. */
	for (tick = 0; tick < PCP_USE_TICKS; tick += PCP_USE_TICKS / 2) {
		model_init(&m, MODEL_DEF, MODEL_MAX);
		pcp_event_refill(&m.event, &empty, out);
		model_ticks(&m, tick);
		for (full.type = 0; full.type < PCP_TYPES; full.type++)
			KUNIT_EXPECT_EQ(test, full.type == empty.type,
					pcp_event_drain(&m.event, &full, &m.limits).high >
					MODEL_DEF);
	}
}

static struct kunit_case pcp_event_load_cases[] = {
	KUNIT_CASE(a_list_is_raised_for_what_its_cpu_takes),
	KUNIT_CASE(random_traces_keep_the_rules),
	KUNIT_CASE_PARAM(bench_rows_stay_within_their_targets, bench_gen_params),
	KUNIT_CASE(a_process_ends),
	KUNIT_CASE(parts_of_a_drain_take_no_more),
	KUNIT_CASE(pages_that_went_are_not_missing),
	KUNIT_CASE_PARAM(a_full_list_grows_for_bursts, begin_gen_params),
	KUNIT_CASE(a_list_that_only_fills_stays),
	KUNIT_CASE_PARAM(pages_missing_from_a_full_list_are_use, missing_gen_params),
	KUNIT_CASE(tuning_for_a_drain_is_no_raise),
	{ }
};

static struct kunit_suite pcp_event_load_suite = {
	.name = "livemm_pcp_event_load",
	.test_cases = pcp_event_load_cases,
};
