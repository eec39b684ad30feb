/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pcp_list_model.h - model of one CPU's page list, for tests of mode `event`
 *
 * Models what __rmqueue_pcplist(), free_unref_page_commit() and nr_pcp_free() of 6.1 do to one list
 * of order 0, or nr_pcp_alloc() and nr_pcp_free() of 6.12 to a list with a fixed bound, and calls
 * the core where the hooks call it.  Pages move in runs, because nothing happens between a refill
 * and the next drain; minutes of a load cost some thousand steps.
 */
#ifndef LIVEMM_KUNIT_PCP_LIST_MODEL_H
#define LIVEMM_KUNIT_PCP_LIST_MODEL_H

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "../module/policy/pcp/core_event.h"

/* The kernel's values: the list's batch, and how often freeing may double the batch. */
#define MODEL_BATCH	63
#define MODEL_SCALE	5

/* A list of the bench's guest, with 2 GiB and two CPUs. */
#define MODEL_DEF	252
#define MODEL_MAX	31216

/* A tick of the default decay_ms. */
#define MODEL_TICK_NS	(3000 * 1000 * 1000L / PCP_USE_TICKS)

/* Ticks in 5 s: raised pages must be back so soon after a load ends. */
#define RETURN_TICKS	(5 * PCP_USE_TICKS / 3)

/* A list and its CPU. */
struct list_model {
	struct pcp_event event;		/* the core's state of the list */
	struct pcp_limits limits;	/* @now is the bound that the core has set */
	int count;			/* pages in the list */
	bool by_run;			/* the kernel's batches are those of 6.12 */
	bool in_parts;			/* the kernel drains a batch at a time, as 7.2 does */
	int free_factor;		/* the kernel's doubling of the pages that a drain frees */
	int free_count;			/* 6.12: pages freed in a row */
	int alloc_factor;		/* 6.12: the kernel's doubling of refills */
	unsigned long allocated;	/* pages that the CPU has allocated */
	unsigned long freed;		/* pages that the CPU has freed */
	long alloc_ns;			/* time to allocate a page */
	long free_ns;			/* time to free a page */
	long left_ns;			/* time until the next tick */
	unsigned long refilled;		/* pages that came from the buddy */
	unsigned long drained;		/* pages that went there because the list was full */
	unsigned long excess;		/* pages that went there because the bound came down */
	unsigned int raises;		/* drains that raised the bound */
	unsigned int drains;		/* drains in which pages went */
	int top;			/* highest bound seen */
	int biggest_drain;		/* pages of the largest drain */
	const char *wrong;		/* the first rule that the core has broken, or NULL */
};

static int model_high(const struct list_model *m)
{
	return m->limits.now ?: m->limits.def;
}

static struct pcp_sample model_sample(const struct list_model *m)
{
	return (struct pcp_sample){
		.count = m->count,
		.net = m->allocated - m->freed,
		.allocated = m->allocated,
	};
}

/* Record the first broken rule. */
static void model_must(struct list_model *m, bool right, const char *wrong)
{
	if (!right && !m->wrong)
		m->wrong = wrong;
}

/* An empty list with default bound @def and maximum @max. */
static void model_init(struct list_model *m, int def, int max)
{
	struct pcp_sample sample;

	*m = (struct list_model){
		.limits = {
			.def = def, .max = max, .batch = MODEL_BATCH, .sees_refills = true,
		},
		.alloc_ns = 1,
		.free_ns = 1,
		.left_ns = MODEL_TICK_NS,
		.top = def,
	};
	sample = model_sample(m);
	pcp_event_begin(&m->event, &sample, m->allocated);
}

/* Act on a pass as the policy does: set the bound, give back what is above. */
static void model_set(struct list_model *m, const struct pcp_decision *got)
{
	int was = model_high(m);

	model_must(m, got->high >= m->limits.def, "a pass went below the default");
	model_must(m, got->high <= max(was, m->limits.def), "a pass raised");
	model_must(m, got->high <= max(m->limits.max, m->limits.def), "a pass left too much");
	model_must(m, !pcp_blocked(&m->limits) || got->high == m->limits.def,
		   "a blocked list kept its bound");
	model_must(m, got->hands_off == (pcp_blocked(&m->limits) >= PCP_BY_SYSCTL),
		   "hands off, or not, for no reason");
	m->limits.now = got->hands_off ? 0 : got->high;
	while (got->high < was && m->count > got->high) {
		int pages = min(m->count, m->limits.batch);

		m->count -= pages;
		m->excess += pages;
	}
}

static void model_tick(struct list_model *m)
{
	const struct pcp_sample sample = model_sample(m);
	struct pcp_decision got;

	got = pcp_event_tick(&m->event, &sample, m->allocated, &m->limits);
	model_set(m, &got);
	m->left_ns = MODEL_TICK_NS;
}

/* The limits have changed, and a hook has asked for a pass between two ticks. */
static void model_hold(struct list_model *m)
{
	struct pcp_decision got = pcp_event_hold(&m->limits);

	model_set(m, &got);
}

static void model_pass(struct list_model *m, long ns)
{
	while (ns >= m->left_ns) {
		ns -= m->left_ns;
		model_tick(m);
	}
	m->left_ns -= ns;
}

static void model_ticks(struct list_model *m, int ticks)
{
	while (ticks-- > 0)
		model_pass(m, MODEL_TICK_NS);
}

/* nr_pcp_alloc() of 6.12. */
static int model_fetches(struct list_model *m)
{
	int batch = m->limits.batch << m->alloc_factor;
	int most = max(model_high(m) - m->count - m->limits.batch, m->limits.batch);

	if (batch <= most && m->alloc_factor < MODEL_SCALE)
		m->alloc_factor++;
	return min(batch, most);
}

static void model_refill(struct list_model *m)
{
	const struct pcp_sample sample = model_sample(m);
	int asked = m->by_run ? model_fetches(m) : m->limits.batch;

	if (m->limits.sees_refills)
		pcp_event_refill(&m->event, &sample, asked);
	m->count += asked;
	m->refilled += asked;
}

/* The kernel's nr_pcp_free(). */
static int model_asks(struct list_model *m)
{
	int most = model_high(m) - m->limits.batch;
	int pages = m->limits.batch << m->free_factor;

	if (m->by_run)
		return clamp(m->free_count, m->limits.batch, most);
	if (pages < most && m->free_factor < MODEL_SCALE)
		m->free_factor++;
	return min(max(pages, m->limits.batch), most);
}

/* The kernel drains @asked pages, or a part of them; returns how many went. */
static int model_drain_part(struct list_model *m, int asked)
{
	const struct pcp_sample sample = model_sample(m);
	int pages = pcp_event_drain_count(&m->event, &sample, asked, &m->limits);

	pcp_event_drained(&m->event, pages);
	model_must(m, pages >= 0 && pages <= asked, "a drain took more than was asked");
	model_must(m, pages == asked || !(pcp_blocked(&m->limits) || m->limits.near),
		   "a drain kept pages under pressure");
	m->count -= pages;
	return pages;
}

static void model_drain(struct list_model *m)
{
	const struct pcp_sample sample = model_sample(m);
	int high = model_high(m);
	int asked = model_asks(m);
	struct pcp_decision got;
	int pages = 0;

	got = pcp_event_drain(&m->event, &sample, &m->limits);
	model_must(m, got.high >= high, "a drain lowered");
	model_must(m, got.high <= max(m->limits.max, high), "a drain raised above the maximum");
	model_must(m, got.high <= m->count + high, "a drain more than doubled");
	model_must(m, got.high == high || (!pcp_blocked(&m->limits) && !m->limits.near),
		   "a list was raised under pressure");
	if (got.high > high) {
		m->limits.now = got.high;
		m->top = max(m->top, got.high);
		m->raises++;
	}
	do {
		int most = m->in_parts ? min(asked, m->limits.batch) : asked;

		pages += model_drain_part(m, most);
		asked -= most;
	} while (asked && m->count);
	m->drains += pages > 0;
	m->drained += pages;
	m->biggest_drain = max(m->biggest_drain, pages);
}

/* Pages that can move before the next tick, rounded up. */
static long model_run(const struct list_model *m, long pages, long ns)
{
	return min(pages, (m->left_ns + ns - 1) / ns);
}

static void model_alloc(struct list_model *m, long pages)
{
	while (pages > 0) {
		long run = model_run(m, pages, m->alloc_ns);

		if (!m->count)
			model_refill(m);
		run = min_t(long, run, m->count);
		m->count -= run;
		m->allocated += run;
		m->free_factor >>= min(run, 8L);
		m->free_count >>= min(run, 16L);
		pages -= run;
		model_pass(m, run * m->alloc_ns);
	}
}

static void model_free(struct list_model *m, long pages)
{
	while (pages > 0) {
		long run = model_run(m, pages, m->free_ns);

		run = min_t(long, run, max(model_high(m) - m->count, 1));
		m->count += run;
		m->freed += run;
		m->free_count = min_t(long, m->free_count + run,
				      m->limits.batch << MODEL_SCALE);
		m->alloc_factor >>= min(run, 8L);
		pages -= run;
		if (m->count >= model_high(m))
			model_drain(m);
		model_pass(m, run * m->free_ns);
	}
}

/* Pages that crossed zone->lock. */
static unsigned long model_crossed(const struct list_model *m)
{
	return m->refilled + m->drained + m->excess;
}

struct steer_step {
	long pages;	/* to allocate; negative to free */
	int ticks;	/* idle ticks afterwards */
};

/* Steps of a trace; the last may be empty. */
#define STEER_STEPS	4

static void steer(struct list_model *m, const struct steer_step steps[STEER_STEPS], int rounds)
{
	unsigned int i;

	while (rounds-- > 0) {
		for (i = 0; i < STEER_STEPS; i++) {
			if (steps[i].pages > 0)
				model_alloc(m, steps[i].pages);
			else
				model_free(m, -steps[i].pages);
			model_ticks(m, steps[i].ticks);
		}
	}
}

static void model_is_right(struct kunit *test, const struct list_model *m)
{
	KUNIT_EXPECT_TRUE_MSG(test, !m->wrong, "%s", m->wrong);
}

#endif /* LIVEMM_KUNIT_PCP_LIST_MODEL_H */
