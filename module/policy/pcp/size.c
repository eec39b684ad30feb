// SPDX-License-Identifier: GPL-2.0-only
/*
 * size.c - passes over all lists: learn, judge the zones, decide, act
 *
 * A pass runs at the end of each tick (mode `event`: an eighth of decay_ms; mode `depth`: a
 * second), and in between when a hook has noticed pressure or the kernel has set bounds.
 *
 * The kernel's vmstat work would not do for a tick: that work stops on an idle CPU, whose lists
 * hold the pages to give back.
 *
 * Context: process, pcp.lock held, unless said otherwise.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmstat.h>

#include "depth.h"
#include "livemm.h"
#include "state.h"

/**
 * pcp_zone_after() - walk the zones that have memory and are not frozen
 * @zone: the zone before, or NULL to begin
 *
 * Context: process, pcp.lock held.
 * Return: the next zone, or NULL at the end.
 */
struct zone *pcp_zone_after(struct zone *zone)
{
	lockdep_assert_held(&pcp.lock);
	do {
		zone = lmm_zone_after(zone);
	} while (zone && test_bit(lmm_zone_slot(zone), pcp.frozen));
	return zone;
}

/* Includes the per-CPU counts that are not added up yet. */
static long free_in(struct zone *zone)
{
	return zone_page_state_snapshot(zone, NR_FREE_PAGES);
}

static bool oom_now(void)
{
	if (pcp.oom_at && !time_before(jiffies, pcp.oom_at + pcp.decay))
		pcp.oom_at = 0;
	return pcp.oom_at;
}

static void zone_judge(struct zone *zone, struct pcp_zone *pz)
{
	pz->reclaim = xchg(&pz->wanted, false);
	pz->near = lmm_zone_is_short(zone, free_in(zone));
}

/* Limits that are the same for all lists of a zone. */
static struct pcp_limits zone_limits(struct zone *zone, const struct pcp_zone *pz)
{
	return (struct pcp_limits){
		.def = lmm_pageset_default(zone),
		.sysctl = READ_ONCE(*pcp.high_fraction),
		.reclaim = pz->reclaim,
		.oom = oom_now(),
		.near = pz->near,
	};
}

static struct pcp_decision event_decide(struct zone *zone, int cpu, struct pcp_list *list,
					bool fresh, bool tick)
{
	unsigned long allocated = lmm_cpu_allocated(zone, cpu);
	struct pcp_sample sample;

	pcp_list_sample(zone, cpu, 0, &sample);
	if (fresh)
		pcp_event_begin(&list->event, &sample, allocated);
	else if (tick)
		return pcp_event_tick(&list->event, &sample, allocated, &list->limits);
	return pcp_event_hold(&list->limits);
}

/* Step 1: decide on each list as if it were alone. */
static void zone_decide(struct zone *zone, unsigned int slot, bool tick)
{
	const struct pcp_limits limits = zone_limits(zone, &pcp.zones[slot]);
	/* CPUs of every node free pages of the zone, and keep these. */
	unsigned int sharers = cpumask_weight(pcp.cpus);
	int batch = 0, max = 0;
	int cpu;

	for_each_cpu(cpu, pcp.cpus) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		struct pcp_list *list = pcp_list_of(slot, cpu);
		bool fresh = !list->limits.max || (tick && pcp.forget_ticks);
		unsigned long flags;

		if (READ_ONCE(pages->batch) != batch) {
			batch = READ_ONCE(pages->batch);
			max = pcp_max_high(zone_managed_pages(zone), pcp.max_tenths, sharers,
					   limits.def, batch);
			if (LMM_TUNES_LISTS)
				max = min(max, lmm_pageset_most(zone));
		}
		/* Keep this short: the list's CPU cannot use the list meanwhile. */
		spin_lock_irqsave(&pages->lock, flags);
		list->limits = limits;
		list->limits.max = max;
		list->limits.batch = batch;
		list->limits.now = pcp_list_raised(pages, list);
		list->limits.disabled = !lmm_pageset_read(pages);
		if (pcp.mode == PCP_MODE_DEPTH)
			pcp_depth_list(list, slot, cpu);
		else
			list->decision = event_decide(zone, cpu, list, fresh, tick);
		spin_unlock_irqrestore(&pages->lock, flags);
		cond_resched();
	}
}

/*
 * Pages that the lists of a zone are to give back: what brings the zone above its mark again, and
 * some more, or the next request would ask for the next pass.
 */
static long zone_wants_back(struct zone *zone, long held)
{
	return (long)lmm_zone_mark(zone) - free_in(zone) + max((long)lmm_zone_gap(zone), held / 8);
}

/*
 * Step 2: below the mark no list keeps more room than it has pages, and lists give back what the
 * zone lacks.  Above the mark bounds stay: pages that are freed to a list take none from the zone.
 */
static void zone_give(struct zone *zone, unsigned int slot)
{
	long held = 0, lacks;
	int cpu;

	if (!pcp.zones[slot].near)
		return;
	for_each_cpu(cpu, pcp.cpus)
		held += pcp_list_excess(zone, cpu, pcp_list_of(slot, cpu));
	lacks = zone_wants_back(zone, held);
	for_each_cpu(cpu, pcp.cpus) {
		struct pcp_list *list = pcp_list_of(slot, cpu);
		int def = list->limits.def;
		int keep = pcp_keep(def + pcp_list_excess(zone, cpu, list), def, held, lacks);

		if (list->decision.hands_off || keep >= list->decision.high)
			continue;
		list->decision.high = keep;
		list->decision.reason = PCP_BY_ROOM;
	}
}

/* 0, the counter of refills, stands for none. */
static const u8 reason_counter[PCP_NR_REASONS] = {
	[PCP_BY_ROOM] = COUNT_LIMITED_ROOM,
	[PCP_BY_WATERMARK] = COUNT_LIMITED_WATERMARK,
	[PCP_BY_RECLAIM] = COUNT_LIMITED_RECLAIM,
	[PCP_BY_SYSCTL] = COUNT_HANDS_OFF,
	[PCP_BY_KERNEL] = COUNT_HANDS_OFF,
};

/*
 * A list that is to have its default gets the kernel's own bound back.  Where the kernel tunes
 * within that bound, reclaim included, its tuning goes on as without the policy.  What the tuning
 * has raised by then is given back, but not under reclaim.
 */
static long list_act(struct zone *zone, int cpu, struct pcp_list *list)
{
	const struct pcp_decision *decision = &list->decision;
	long given = 0;

	if (decision->hands_off)
		return pcp_list_restore(zone, cpu, list, list->tuned);
	if (decision->high > list->limits.def) {
		/* A hook may have raised the list; or lowered it, and asked for another pass. */
		if (decision->high == list->limits.now ||
		    READ_ONCE(pcp.zones[lmm_zone_slot(zone)].wanted))
			return 0;
		return pcp_list_set(zone, cpu, list, decision->high);
	}
	if (list->limits.now && decision->reason != PCP_BY_RECLAIM)
		given = pcp_list_set(zone, cpu, list, list->limits.def);
	return given + pcp_list_restore(zone, cpu, list, list->limits.def);
}

/* Step 3: act; returns the pages given back.  @before: pcp_zone.raised before step 1. */
static long zone_act(struct zone *zone, unsigned int slot, long before)
{
	long given = 0, raised = 0;
	int cpu;

	for_each_cpu(cpu, pcp.cpus) {
		struct pcp_list *list = pcp_list_of(slot, cpu);
		unsigned int counter = reason_counter[list->decision.reason];

		WRITE_ONCE(list->reason, list->decision.reason);
		if (counter)
			lmm_count(&lmm_pcp_policy, counter, 1);
		given += list_act(zone, cpu, list);
		if (!list->decision.hands_off)
			raised += list->decision.high - list->limits.def;
	}
	/* What hooks have added since stays: with none raised by the sum, no hook would ask. */
	atomic_long_add(raised - before, &pcp.zones[slot].raised);
	return given;
}

/*
 * A hook that finds the zone short just after another has asked is refused, and may have been the
 * last: a zone below its low watermark is passed over, and has no refill that could ask.
 */
static bool zone_asks_again(const struct pcp_zone *pz)
{
	return pcp_zone_kicked(pz, jiffies) && atomic_long_read(&pz->raised) > 0;
}

/**
 * pcp_pass() - decide on every list, and set its bound
 * @tick: a tick or period has ended
 *
 * Context: process, pcp.lock held.
 */
void pcp_pass(bool tick)
{
	/* The kernel may not have stored yet what this pass is to find. */
	bool again = time_before(jiffies, READ_ONCE(pcp.bounds_at));
	struct zone *zone = NULL;

	while ((zone = pcp_zone_after(zone))) {
		unsigned int slot = lmm_zone_slot(zone);
		struct pcp_zone *pz = &pcp.zones[slot];
		long raised = atomic_long_read(&pz->raised);

		zone_judge(zone, pz);
		zone_decide(zone, slot, tick);
		zone_give(zone, slot);
		pz->given = zone_act(zone, slot, raised);
		again |= zone_asks_again(pz);
	}
	if (again)
		queue_delayed_work(pcp.worker.wq, &pcp.worker.pass,
				   msecs_to_jiffies(PCP_KICK_GAP_MS));
	if (tick && pcp.forget_ticks)
		pcp.forget_ticks--;
}

/**
 * pcp_tick() - make the pass at the end of a tick or period
 * @work: the policy's tick_work
 *
 * Context: process; takes pcp.lock.
 */
void pcp_tick(struct work_struct *work)
{
	mutex_lock(&pcp.lock);
	if (pcp.mode == PCP_MODE_DEPTH)
		pcp_depth_tick();
	pcp_pass(true);
	lmm_count(&lmm_pcp_policy, COUNT_PERIODS, 1);
	queue_delayed_work(pcp.worker.wq, &pcp.tick_work, pcp.tick);
	mutex_unlock(&pcp.lock);
}

/**
 * pcp_recheck() - make a pass that a hook asked for
 * @work: the pass of the policy's worker
 *
 * Context: process; takes pcp.lock.
 */
void pcp_recheck(struct work_struct *work)
{
	mutex_lock(&pcp.lock);
	pcp_pass(false);
	mutex_unlock(&pcp.lock);
}

/**
 * pcp_oom() - give lists back before the kernel chooses a task to kill
 * @nb: OOM notifier of the policy's worker
 * @unused: event number, always 0
 * @parm: number of pages freed so far, to be added to
 *
 * The kernel has drained the lists.  A pass returns pages that raised lists have got since, and no
 * list is raised for decay_ms.  Waiting for pcp.lock is safe: a pass does not allocate and waits
 * for nothing that allocates.
 *
 * The kernel kills nobody if anything was freed, even if that does not help the request.  Only
 * pages of zones whose free pages are near the high watermark therefore count, whatever order is
 * asked for.
 *
 * Context: process, may sleep; takes pcp.lock.
 * Return: NOTIFY_OK.
 */
int pcp_oom(struct notifier_block *nb, unsigned long unused, void *parm)
{
	unsigned long *freed = parm;
	struct zone *zone = NULL;
	long given = 0;

	mutex_lock(&pcp.lock);
	pcp.oom_at = jiffies ?: 1;
	pcp_pass(false);
	while ((zone = pcp_zone_after(zone))) {
		const struct pcp_zone *pz = &pcp.zones[lmm_zone_slot(zone)];

		given += pz->given;
		if (pz->near)
			*freed += pz->given;
	}
	mutex_unlock(&pcp.lock);
	lmm_count(&lmm_pcp_policy, COUNT_OOM_CALLS, 1);
	lmm_count(&lmm_pcp_policy, COUNT_OOM_PAGES, given);
	return NOTIFY_OK;
}
