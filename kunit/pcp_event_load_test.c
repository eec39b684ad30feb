// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_event_load_test.c - list sizing, mode `event`, under random loads and the bench's, and at the
 * end of a process
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
		model_ticks(m, prandom_u32_state(rnd) % (PCP_NET_TICKS + 2));
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
		m.steer.gain_pct = 10 + prandom_u32_state(&rnd) % 191;
		m.steer.batch_max_scale = prandom_u32_state(&rnd) % 7;
		m.steer.sees_refills = prandom_u32_state(&rnd) % 2;
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
			.now = m.limits.now,
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
static unsigned long crossed_of_rounds(struct kunit *test, bool in_parts, bool alone)
{
	static const struct steer_step round[STEER_STEPS] = { { 32838 }, { -32838 } };
	unsigned long warm;
	struct list_model m;

	model_init(&m, 948, MODEL_MAX);
	m.steer.sees_refills = false;
	m.by_run = true;
	m.in_parts = in_parts;
	m.alone = alone;
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
 * back.  A drain in parts takes what a single drain takes.
 */
static void parts_of_a_drain_are_one(struct kunit *test)
{
	unsigned long whole = crossed_of_rounds(test, false, false);
	unsigned long parts = crossed_of_rounds(test, true, false);
	unsigned long alone = crossed_of_rounds(test, true, true);

	KUNIT_EXPECT_EQ(test, parts, whole);
	KUNIT_EXPECT_LE(test, parts, 8 * 2 * 1953UL);
	KUNIT_EXPECT_GE(test, alone, 2 * parts);
}

static struct kunit_case pcp_event_load_cases[] = {
	KUNIT_CASE(random_traces_keep_the_rules),
	KUNIT_CASE_PARAM(bench_rows_stay_within_their_targets, bench_gen_params),
	KUNIT_CASE(a_process_ends),
	KUNIT_CASE(parts_of_a_drain_are_one),
	{ }
};

static struct kunit_suite pcp_event_load_suite = {
	.name = "livemm_pcp_event_load",
	.test_cases = pcp_event_load_cases,
};
