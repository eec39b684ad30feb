// SPDX-License-Identifier: GPL-2.0-only
/*
 * giveback.c - actuator of the zonelock policy: gives pages back to the buddy
 *
 * The kernel's own drain does the work: a batch is added to the tail of one of this CPU's lists,
 * and as many pages are drained from there, both under the list's pcp->lock.  The buddy therefore
 * merges the pages and respects isolated pageblocks and changed migratetypes as usual.  This file
 * touches none of the buddy's structures.
 *
 * The drain is called behind its ftrace site, so that no wrapper keeps a page of it.
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/static_call.h>

#include "hook/klp_port.h"
#include "trace.h"
#include "hook/entry.h"
#include "state.h"

DEFINE_STATIC_CALL_NULL(drain_bulk, void (struct zone *, int, struct per_cpu_pages *, int));

static_assert(COUNT_RETURNED_OFF - COUNT_RETURNED_AGE == DEPOT_BY_OFF);

static const char *const reason_words[DEPOT_NR_REASONS] = {
	[DEPOT_BY_AGE] = "age",
	[DEPOT_BY_SIZE] = "size",
	[DEPOT_BY_RECLAIM] = "reclaim",
	[DEPOT_BY_WATERMARK] = "watermark",
	[DEPOT_BY_ORDER] = "order",
	[DEPOT_BY_COMPACTION] = "compaction",
	[DEPOT_BY_DRAIN] = "drain",
	[DEPOT_BY_OOM] = "oom",
	[DEPOT_BY_OFF] = "off",
};

/**
 * zonelock_actuator_init() - set the function that drains
 * @body: verified address of free_pcppages_bulk(), behind its ftrace site
 *
 * Context: process.
 */
void zonelock_actuator_init(unsigned long body)
{
	static_call_update(drain_bulk, (void *)body);
}

/* Give a batch back by a list of this CPU.  The caller holds the list's lock. */
static void list_drain(struct zone *zone, struct per_cpu_pages *pages, unsigned int kind,
		       struct list_head *batch, unsigned int count)
{
	list_splice_tail(batch, &pages->lists[kind]);
	pages->count += count;
	static_call(drain_bulk)(zone, count, pages, kind);
}

/* Give back one batch that was stored at @before or earlier; returns its pages, or 0. */
static unsigned int return_batch(struct zone *zone, unsigned long before)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	struct per_cpu_pages *pages;
	unsigned int count, kind;
	unsigned long flags;
	LIST_HEAD(batch);

	/* return_part() waits for this section when it finds the depot empty. */
	preempt_disable();
	atomic_inc(&zz->returning);
	/* return_part() looks for a batch first and at the count next, so count first here. */
	smp_mb__after_atomic();
	count = depot_return(&zz->depot, before, &kind, &batch);
	if (count) {
		/* Any CPU's list will do; this CPU's lock is the least contended. */
		pages = this_cpu_ptr(zone->per_cpu_pageset);
		spin_lock_irqsave(&pages->lock, flags);
		list_drain(zone, pages, kind, &batch, count);
		spin_unlock_irqrestore(&pages->lock, flags);
	}
	/* The pages are in the buddy before the count drops. */
	smp_mb__before_atomic();
	atomic_dec(&zz->returning);
	preempt_enable();
	return count;
}

/*
 * Give back the batch that was stored first, unless a lock is held: the caller may have
 * interrupted the holder.
 */
static unsigned int try_return_batch(struct zone *zone)
{
	struct per_cpu_pages *pcp = this_cpu_ptr(zone->per_cpu_pageset);
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int count = 0, kind;
	unsigned long flags;
	LIST_HEAD(batch);

	atomic_inc(&zz->returning);
	/* As return_batch(): count first, for return_part(). */
	smp_mb__after_atomic();
	if (spin_trylock_irqsave(&pcp->lock, flags)) {
		count = depot_try_return(&zz->depot, &kind, &batch);
		if (count)
			list_drain(zone, pcp, kind, &batch, count);
		spin_unlock_irqrestore(&pcp->lock, flags);
	}
	/* As return_batch(): the pages are in the buddy. */
	smp_mb__before_atomic();
	atomic_dec(&zz->returning);
	return count;
}

static void returned(struct zone *zone, enum depot_reason reason, long pages)
{
	if (!pages)
		return;
	lmm_count(&lmm_zonelock_policy, COUNT_RETURNED_AGE + reason, pages);
	trace_zonelock_return(zone_to_nid(zone), zone_idx(zone), pages,
			      atomic_long_read(&zonelock_of(zone)->depot.pages),
			      reason_words[reason]);
}

/**
 * zonelock_return_zone() - give back what a depot holds
 * @zone: zone of the depot
 * @reason: DEPOT_BY_AGE gives old batches back, DEPOT_BY_SIZE down to the bound, any other reason
 *	everything
 *
 * Batches that are stored meanwhile are not given back.
 *
 * Context: process; takes and drops pcp->lock.
 * Return: pages given back.
 */
long zonelock_return_zone(struct zone *zone, enum depot_reason reason)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned long before = jiffies;
	struct depot_view view;
	unsigned int count;
	long sum = 0;

	if (reason == DEPOT_BY_AGE)
		before -= READ_ONCE(zonelock.max_age) / 2;
	zonelock_view(zone, &view);
	while (depot_stocked(&zz->depot)) {
		if (reason == DEPOT_BY_SIZE && atomic_long_read(&zz->depot.pages) <= view.max)
			break;
		count = return_batch(zone, before);
		if (!count)
			break;
		sum += count;
		cond_resched();
	}
	returned(zone, reason, sum);
	return sum;
}

/**
 * zonelock_return_now() - give back a few batches of a depot without waiting
 * @zone: zone of the depot
 * @most: batches to give back at most
 *
 * Context: any but NMI, preemption off, no lock of the allocator held by the caller.
 * Return: number of batches given back.
 */
unsigned int zonelock_return_now(struct zone *zone, unsigned int most)
{
	unsigned int count, batches = 0;
	long sum = 0;

	if (in_nmi() || !depot_stocked(&zonelock_of(zone)->depot))
		return 0;
	while (batches < most) {
		count = try_return_batch(zone);
		if (!count)
			break;
		sum += count;
		batches++;
	}
	returned(zone, DEPOT_BY_ORDER, sum);
	return batches;
}

/* Give back one batch of a zone.  With none left, wait for batches that others are giving back. */
static unsigned int return_part(struct zone *zone, const struct lmm_klp_return *part)
{
	unsigned int count = return_batch(zone, part->before);

	returned(zone, part->by == LMM_KLP_COMPACT ? DEPOT_BY_COMPACTION : DEPOT_BY_DRAIN, count);
	while (!count && atomic_read(&zonelock_of(zone)->returning))
		cpu_relax();
	return count;
}

/**
 * zonelock_on_give_back() - event: the buddy needs the pages that a depot holds
 * @part: who needs the pages, and the progress so far
 *
 * The kernel is about to compact, or has just drained lists to get their pages into the buddy.
 * Each call gives back one batch, so that preemption is off only briefly.  Batches that are stored
 * after the first call are left alone.
 *
 * Context: preemption off, no lock of the allocator held.
 * Return: true if there may be more to do.
 */
bool zonelock_on_give_back(struct lmm_klp_return *part)
{
	struct zone *zone = NULL;
	unsigned int count = 0;

	if (!part->started) {
		part->started = true;
		part->before = jiffies;
		if (part->by == LMM_KLP_COMPACT)
			zonelock_close(part->zone);
	}
	if (part->zone)
		return return_part(part->zone, part);
	/* As the kernel does for its lists: of tasks that want every zone drained, one works. */
	if (cmpxchg(&zonelock.drainer, NULL, current) && READ_ONCE(zonelock.drainer) != current)
		return false;
	while (!count && (zone = lmm_zone_after(zone)))
		count = return_part(zone, part);
	if (!count)
		WRITE_ONCE(zonelock.drainer, NULL);
	return count;
}

static bool any_stocked(void)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone)))
		if (depot_stocked(&zonelock_of(zone)->depot))
			return true;
	return false;
}

static void zone_pass(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	bool wanted = xchg(&zz->wanted, false);
	struct depot_view view;
	enum depot_reason reason;

	if (!depot_stocked(&zz->depot))
		return;
	zonelock_view(zone, &view);
	view.closed |= wanted;
	reason = depot_duty(&view);
	if (reason == DEPOT_BY_AGE && zonelock.mode == ZONELOCK_MODE_NOMERGE)
		return;
	zonelock_return_zone(zone, reason);
	if (reason == DEPOT_BY_SIZE)
		zonelock_return_zone(zone, DEPOT_BY_AGE);
}

/**
 * zonelock_pass() - check the depots, periodically while any holds pages
 * @work: the pass of the policy's worker
 *
 * Context: process.
 */
void zonelock_pass(struct work_struct *work)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone))) {
		zone_pass(zone);
		cond_resched();
	}
	if (!any_stocked()) {
		WRITE_ONCE(lmm_request_wanted, 0);
		atomic_set(&zonelock.ticking, 0);
		/* A CPU that stored before both were cleared has kicked no pass: look again. */
		smp_mb();
		if (!any_stocked())
			return;
		WRITE_ONCE(lmm_request_wanted, zonelock.topup);
		if (atomic_xchg(&zonelock.ticking, 1))
			return;
	}
	/* A batch is old at half of max_age: two passes fall into the other half. */
	queue_delayed_work(zonelock.worker.wq, &zonelock.worker.pass,
			   max(READ_ONCE(zonelock.max_age) / 4, 1UL));
}

/**
 * zonelock_oom() - give everything back before the kernel chooses a task to kill
 * @nb: OOM notifier of the policy's worker
 * @unused: event number, always 0
 * @parm: number of pages freed so far, to be added to
 *
 * The kernel kills nobody if anything was freed, even if that does not help the request.  Only
 * pages of zones that are short therefore count.
 *
 * Context: process, may sleep.
 * Return: NOTIFY_OK.
 */
int zonelock_oom(struct notifier_block *nb, unsigned long unused, void *parm)
{
	unsigned long *freed = parm;
	struct zone *zone = NULL;
	struct depot_view view;
	long pages;

	while ((zone = lmm_zone_after(zone))) {
		zonelock_close(zone);
		zonelock_view(zone, &view);
		pages = zonelock_return_zone(zone, DEPOT_BY_OOM);
		if (view.free < view.mark)
			*freed += pages;
	}
	return NOTIFY_OK;
}
