// SPDX-License-Identifier: GPL-2.0-only
/*
 * lists.c - actuator of the pcp policy: the only code that writes bounds of per-CPU lists
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "compat/pageset.h"
#include "flow/drain.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "livemm.h"
#include "trace.h"
#include "lists.h"
#include "policy/common/drain.h"
#include "policy/common/zones.h"

const char *const pcp_reason_words[PCP_NR_REASONS] = {
	[PCP_BY_DEFAULT] = "default",
	[PCP_BY_DEPTH] = "depth",
	[PCP_BY_MAX] = "max",
	[PCP_BY_DECAY] = "decay",
	[PCP_BY_ROOM] = "room",
	[PCP_BY_IDLE] = "idle",
	[PCP_BY_USE] = "use",
	[PCP_BY_WATERMARK] = "watermark",
	[PCP_BY_RECLAIM] = "reclaim",
	[PCP_BY_OOM] = "oom",
	[PCP_BY_SYSCTL] = "sysctl",
	[PCP_BY_KERNEL] = "disabled",
};

/**
 * pcp_list_sample() - sample a list
 * @zone: zone of the list
 * @cpu: CPU of the list
 * @type: migratetype of the page that was freed, or of the list that is refilled; 0 where neither
 * @sample: receives the state of the list
 *
 * The kernel counts the pages that a CPU allocates by kind of zone, and the pages that a CPU frees
 * in one sum.  @net is therefore the CPU's: if the CPU works in several zones at once, its
 * outstanding pages count for each zone.
 *
 * Context: any; exact on @cpu itself.
 */
void pcp_list_sample(struct zone *zone, int cpu, unsigned int type, struct pcp_sample *sample)
{
	static_assert(PCP_TYPES == MIGRATE_PCPTYPES);
	sample->type = type;
	sample->count = READ_ONCE(per_cpu_ptr(zone->per_cpu_pageset, cpu)->count);
	sample->allocated = lmm_cpu_allocated(zone, cpu);
	sample->net = lmm_cpu_net(cpu);
}

/**
 * pcp_list_raised() - size that a list was raised to
 * @pages: the per-CPU list
 * @list: the policy's state of the list
 *
 * A raise by the kernel's own tuning counts too, unless it is small, see pcp_event_tuned(): the
 * policy lowers or raises the list from there.
 *
 * Context: any.
 * Return: pages; 0 if the list was not raised.
 */
int pcp_list_raised(struct per_cpu_pages *pages, const struct pcp_list *list)
{
	int high = lmm_pageset_read(pages);

	if (LMM_TUNES_LISTS)
		return pcp_event_tuned(high, list->limits.def, READ_ONCE(pages->batch));
	/* The kernel may have written another bound since. */
	return high == list->written ? high : 0;
}

/**
 * pcp_list_excess() - pages that a list holds above the kernel's own bound
 * @zone: zone of the list
 * @cpu: CPU of the list
 * @list: the policy's state of the list
 *
 * Context: any.
 * Return: pages, at least 0; 0 before the first pass.
 */
int pcp_list_excess(struct zone *zone, int cpu, const struct pcp_list *list)
{
	const struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);

	return list->limits.max ? max(READ_ONCE(pages->count) - list->limits.def, 0) : 0;
}

/**
 * pcp_list_reason() - why a list has its size, for `state`
 * @list: the policy's state of the list
 *
 * A decision to raise a list, or to keep it raised, may set no bound: the need or the room may be
 * gone, or the kernel may have written first.  The kernel's own tuning may raise the list anyway.
 *
 * Context: any.
 * Return: the reason; none that says raised while the kernel's own bound stands.
 */
enum pcp_reason pcp_list_reason(const struct pcp_list *list)
{
	enum pcp_reason reason = READ_ONCE(list->reason);

	if (READ_ONCE(list->written))
		return reason;
	switch (reason) {
	case PCP_BY_DEPTH:
	case PCP_BY_DECAY:
	case PCP_BY_USE:
		return PCP_BY_DEFAULT;
	default:
		return reason;
	}
}

/*
 * Give back a part of what a list holds above @high, as larger blocks if another policy joins the
 * pages.  The kernel's own function gives back a batch under each hold of zone->lock.
 */
static void list_drain(struct zone *zone, struct per_cpu_pages *pages, struct pcp_list *list,
		       int high)
{
	int before, count;

	if (!lmm_hook_available(LMM_HOOK_DRAIN)) {
		KCALL(drain_list)(zone, pages);
		return;
	}
	/* Interrupts stay on, but in the kernel's drain. */
	spin_lock(&pages->lock);
	before = pages->count;
	count = min(before - high, lmm_give_pages(lmm_pageset_default(zone),
						  READ_ONCE(pages->batch), LMM_TUNES_LISTS));
	if (count > 0 && !lmm_drain_down(zone, pages, high))
		lmm_drain_by_kernel(zone, count, pages);
	count = before - pages->count;
	spin_unlock(&pages->lock);
	if (count)
		lmm_count(&lmm_pcp_policy, COUNT_DRAINS, 1);
}

/* Give back what a list holds above @high; pages that its CPU allocates meanwhile count too. */
static int list_drain_excess(struct zone *zone, struct per_cpu_pages *pages,
			     struct pcp_list *list, int high)
{
	int count = READ_ONCE(pages->count);
	int drained = 0;

	WRITE_ONCE(list->returning, true);
	while (count > high) {
		int before = count;

		list_drain(zone, pages, list, high);
		cond_resched();
		count = READ_ONCE(pages->count);
		/* A CPU that frees as fast as this loop drains will drain the list itself. */
		if (count >= before)
			break;
		drained += before - count;
	}
	WRITE_ONCE(list->returning, false);
	if (drained)
		lmm_count(&lmm_pcp_policy, COUNT_EXCESS_PAGES, drained);
	return drained;
}

/* Replace the bound; returns false if the kernel stores its own at the same moment. */
static bool list_write(struct per_cpu_pages *pages, struct pcp_list *list, int high)
{
	int seen = lmm_pageset_read(pages);

	lockdep_assert_held(&pages->lock);
	if (!list->written)
		list->tuned = seen;
	if (!lmm_pageset_swap(pages, seen, high))
		return false;
	WRITE_ONCE(list->written, high);
	if (high > seen)
		lmm_count(&lmm_pcp_policy, COUNT_RAISED, 1);
	return true;
}

/**
 * pcp_list_grow() - raise the bound of a list that is being drained
 * @zone: zone of the list
 * @cpu: this CPU
 * @list: the policy's state of the list
 * @high: the new bound, in pages
 *
 * Context: any, under the list's pcp->lock.
 * Return: false if the kernel stored its own bound at the same moment, or has raised it as far.
 */
bool pcp_list_grow(struct zone *zone, int cpu, struct pcp_list *list, int high)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	int old = lmm_pageset_read(pages);

	/* The kernel may have raised the list in the meantime. */
	if (high <= old || !list_write(pages, list, high))
		return false;
	trace_pcp_decision(zone, cpu, list, old, high, PCP_BY_USE);
	return true;
}

/**
 * pcp_list_yield() - lower the bound of a list of this CPU, without a drain
 * @zone: zone of the list
 * @cpu: this CPU
 * @list: the policy's state of the list
 *
 * Each free then drains the block that was freed, and others, until the list is below its bound.  A
 * list whose lock is taken stays until the next pass.
 *
 * Context: any, preemption off.
 */
void pcp_list_yield(struct zone *zone, int cpu, struct pcp_list *list)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	unsigned long flags;
	int now, def;
	bool written;

	if (!READ_ONCE(list->written) || !spin_trylock_irqsave(&pages->lock, flags))
		return;
	def = list->limits.def;
	now = pcp_list_raised(pages, list);
	/* A raise by the kernel's own tuning stays. */
	written = list->written && now > def && list_write(pages, list, def);
	spin_unlock_irqrestore(&pages->lock, flags);
	if (!written)
		return;
	WRITE_ONCE(list->reason, PCP_BY_RECLAIM);
	trace_pcp_decision(zone, cpu, list, now, def, PCP_BY_RECLAIM);
}

/**
 * pcp_list_set() - set the bound of a list, and give back what the list holds above
 * @zone: zone of the list
 * @cpu: CPU of the list
 * @list: the policy's state of the list
 * @high: the new bound, in pages
 *
 * Does nothing where the kernel stores its own bound at the same moment.
 *
 * Context: process, may sleep; the caller serialises.  Takes and drops pcp->lock.
 * Return: pages given back.
 */
int pcp_list_set(struct zone *zone, int cpu, struct pcp_list *list, int high)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	unsigned long flags;
	bool written;
	int seen;

	spin_lock_irqsave(&pages->lock, flags);
	seen = lmm_pageset_read(pages);
	/* From here on a drain may be ours, which says nothing about the list's needs. */
	WRITE_ONCE(list->returning, high < pages->count);
	written = list_write(pages, list, high);
	spin_unlock_irqrestore(&pages->lock, flags);
	if (written && seen != high)
		trace_pcp_decision(zone, cpu, list, seen, high, list->decision.reason);
	/* The kernel may have lowered the bound before, without a drain. */
	return list_drain_excess(zone, pages, list, written ? high : INT_MAX);
}

/**
 * pcp_list_restore() - put the kernel's own bound back, if ours still stands
 * @zone: zone of the list
 * @cpu: CPU of the list
 * @list: the policy's state of the list
 * @tuned: size from which the kernel's own tuning goes on, where it tunes
 *
 * Context: process, may sleep; the caller serialises.  Takes and drops pcp->lock.
 * Return: pages given back.
 */
int pcp_list_restore(struct zone *zone, int cpu, struct pcp_list *list, int tuned)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	unsigned long flags;
	int high;

	/* A pass comes here for each list of each CPU, and the policy has raised few of them. */
	if (!READ_ONCE(list->written))
		return 0;
	spin_lock_irqsave(&pages->lock, flags);
	if (list->written && lmm_pageset_restore(zone, pages, list->written, tuned))
		lmm_count(&lmm_pcp_policy, COUNT_RESTORED, 1);
	WRITE_ONCE(list->written, 0);
	high = lmm_pageset_read(pages);
	spin_unlock_irqrestore(&pages->lock, flags);
	return high ? list_drain_excess(zone, pages, list, high) : 0;
}
