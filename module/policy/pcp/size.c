// SPDX-License-Identifier: GPL-2.0-only
/*
 * size.c - passes over all lists: learn, judge the zones, decide, act
 *
 * A pass runs at the end of each tick (mode `event`: an eighth of decay_ms) or period (mode
 * `depth`), and in between when a hook has noticed pressure or the kernel has set bounds.
 *
 * The kernel's vmstat work would not do for a tick: it stops on an idle CPU, whose lists hold the
 * pages to give back.
 *
 * Context: process, pcp.lock held, unless said otherwise.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmstat.h>

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

/* CPUs that share the lists' part of a zone, as in the kernel's zone_highsize(). */
static unsigned int zone_cpus(struct zone *zone)
{
	unsigned int cpus = cpumask_weight(cpumask_of_node(zone_to_nid(zone)));

	return cpus ?: num_online_cpus();
}

/* Includes the per-CPU counts that are not added up yet. */
static long free_in(struct zone *zone)
{
	return zone_page_state_snapshot(zone, NR_FREE_PAGES);
}

/*
 * Judge a zone by its own state.  Reclaim counts as active for decay_ms more: lists that refill at
 * once after they were emptied for reclaim would cause the next reclaim.
 */
static void zone_judge(struct zone *zone, struct pcp_zone *pz)
{
	unsigned long mark = lmm_zone_high_mark(zone);

	mark += mark * pcp.guard_pct / 100;
	WRITE_ONCE(pz->mark, mark);
	if (test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags))
		WRITE_ONCE(pz->reclaim_until, jiffies + pcp.decay);
	else if (!time_before(jiffies, READ_ONCE(pz->reclaim_until)))
		WRITE_ONCE(pz->reclaim_until, jiffies);
	pz->own_reclaim = time_before(jiffies, READ_ONCE(pz->reclaim_until));
	pz->own_near = free_in(zone) < (long)mark || lmm_zone_below_high(zone);
}

/* With scope=node the pressure of a zone counts for its node, as kswapd sees it. */
static void zone_publish(unsigned int slot)
{
	unsigned int first = pcp.node_scope ? rounddown(slot, MAX_NR_ZONES) : slot;
	unsigned int end = pcp.node_scope ? first + MAX_NR_ZONES : slot + 1;
	bool near = false, reclaim = false;

	for (; first < end; first++) {
		near |= pcp.zones[first].own_near;
		reclaim |= pcp.zones[first].own_reclaim;
	}
	WRITE_ONCE(pcp.zones[slot].near, near);
	WRITE_ONCE(pcp.zones[slot].reclaim, reclaim);
}

static bool oom_now(void)
{
	if (pcp.oom_until && !time_before(jiffies, pcp.oom_until))
		pcp.oom_until = 0;
	return pcp.oom_until;
}

/* Limits that are the same for all lists of a zone. */
static struct pcp_limits zone_limits(struct zone *zone, const struct pcp_zone *pz)
{
	return (struct pcp_limits){
		.def = lmm_pageset_default(zone).low,
		.sysctl = READ_ONCE(*pcp.high_fraction),
		.reclaim = pz->reclaim,
		.oom = oom_now(),
		.near = pz->near,
	};
}

static struct pcp_decision event_decide(struct zone *zone, int cpu, struct pcp_list *list,
					bool fresh, bool tick)
{
	unsigned long allocated = pcp_list_allocated(zone, cpu);
	struct pcp_sample sample;

	pcp_list_sample(zone, cpu, &sample);
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
	bool quiet = pcp_quiet(&pcp.zones[slot]);
	unsigned int sharers = zone_cpus(zone);
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
		}
		/* Keep this short: the list's CPU cannot use the list meanwhile. */
		spin_lock_irqsave(&pages->lock, flags);
		list->limits = limits;
		list->limits.max = max;
		list->limits.batch = batch;
		/* In a quiet zone the raises of the kernel's own tuning are left alone. */
		if (!quiet || list->written.high)
			list->limits.now = pcp_list_raised(pages, list);
		list->limits.disabled = !lmm_pageset_read(pages).high;
		if (pcp.mode == PCP_MODE_EVENT)
			list->decision = event_decide(zone, cpu, list, fresh, tick);
		else
			list->decision = pcp_depth_decide(&list->depth, &list->limits);
		spin_unlock_irqrestore(&pages->lock, flags);
		cond_resched();
	}
}

/* Step 2: cut the raised lists to the room above the mark; returns the room that is left. */
static long zone_share_room(struct zone *zone, unsigned int slot, long *raised)
{
	long room = free_in(zone) - (long)pcp.zones[slot].mark;
	long sum = 0;
	int cpu;

	*raised = 0;
	for_each_cpu(cpu, pcp.cpus) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		struct pcp_list *list = pcp_list_of(slot, cpu);

		if (list->decision.hands_off)
			continue;
		/* Pages that a list already holds are not among the free pages. */
		room += max(READ_ONCE(pages->count) - list->limits.def, 0);
		sum += list->decision.high - list->limits.def;
	}
	for_each_cpu(cpu, pcp.cpus) {
		struct pcp_list *list = pcp_list_of(slot, cpu);
		int share;

		if (list->decision.hands_off)
			continue;
		share = pcp_room_share(list->decision.high, list->limits.def, sum, room);
		if (share < list->decision.high) {
			list->decision.high = share;
			list->decision.reason = PCP_BY_ROOM;
		}
		*raised += list->decision.high - list->limits.def;
	}
	return max(room - *raised, 0L);
}

/* 0, the counter of refills, stands for none. */
static const u8 reason_counter[PCP_NR_REASONS] = {
	[PCP_BY_MAX] = COUNT_LIMITED_MAX,
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
	if (decision->high > list->limits.def)
		return pcp_list_set(zone, cpu, list, decision->high);
	if (list->limits.now && decision->reason != PCP_BY_RECLAIM)
		given = pcp_list_set(zone, cpu, list, list->limits.def);
	return given + pcp_list_restore(zone, cpu, list, list->limits.def);
}

/* Step 3: act; returns the pages given back. */
static long zone_act(struct zone *zone, unsigned int slot)
{
	long given = 0;
	int cpu;

	for_each_cpu(cpu, pcp.cpus) {
		struct pcp_list *list = pcp_list_of(slot, cpu);
		unsigned int counter = reason_counter[list->decision.reason];

		WRITE_ONCE(list->reason, list->decision.reason);
		if (counter)
			lmm_count(&lmm_pcp_policy, counter, 1);
		given += list_act(zone, cpu, list);
	}
	return given;
}

/**
 * pcp_pass() - decide on every list, and set its bound
 * @tick: a tick or period has ended
 *
 * No hook raises a list during the pass over its zone, so that all raised lists together stay
 * within the room that was found.
 *
 * Context: process, pcp.lock held.
 */
void pcp_pass(bool tick)
{
	struct zone *zone = NULL;

	while ((zone = pcp_zone_after(zone)))
		zone_judge(zone, &pcp.zones[lmm_zone_slot(zone)]);
	while ((zone = pcp_zone_after(zone))) {
		unsigned int slot = lmm_zone_slot(zone);
		struct pcp_zone *pz = &pcp.zones[slot];
		long room, raised;

		atomic_long_set(&pz->room, 0);
		zone_publish(slot);
		zone_decide(zone, slot, tick);
		room = zone_share_room(zone, slot, &raised);
		pz->given = zone_act(zone, slot);
		atomic_long_set(&pz->raised, raised);
		atomic_long_set(&pz->room, room);
		/* Nothing to do: no hook need ask again before the next tick. */
		if (!tick && !pz->given)
			WRITE_ONCE(pz->kicked, jiffies + pcp.tick);
	}
	if (tick && pcp.forget_ticks)
		pcp.forget_ticks--;
}

/* Mode `depth`: learn from the period that ends now. */
static void period_collect(void)
{
	u32 ended = pcp.clock.epoch;
	unsigned int slot;
	int cpu;

	WRITE_ONCE(pcp.clock.epoch, ended + 1);
	for_each_possible_cpu(cpu) {
		const struct pcp_track *tracks = per_cpu(pcp_tracks, cpu);

		for (slot = 0; slot < lmm_zone_slots(); slot++) {
			long alloc_depth, free_depth;
			bool active;

			active = pcp_track_collect(&tracks[slot], ended, &alloc_depth, &free_depth);
			if (pcp_depth_period(&pcp_list_of(slot, cpu)->depth, active,
					     alloc_depth, free_depth))
				lmm_count(&lmm_pcp_policy, COUNT_IDLE_RESETS, 1);
		}
		cond_resched();
	}
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
		period_collect();
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
 * pages of zones whose free pages are near the high watermark therefore count, CMA pages among the
 * free pages, and whatever order is asked for.
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
	pcp.oom_until = (jiffies + pcp.decay) ?: 1;
	pcp_pass(false);
	while ((zone = pcp_zone_after(zone))) {
		const struct pcp_zone *pz = &pcp.zones[lmm_zone_slot(zone)];

		given += pz->given;
		if (pz->own_near)
			*freed += pz->given;
	}
	mutex_unlock(&pcp.lock);
	lmm_count(&lmm_pcp_policy, COUNT_OOM_CALLS, 1);
	lmm_count(&lmm_pcp_policy, COUNT_OOM_PAGES, given);
	return NOTIFY_OK;
}
