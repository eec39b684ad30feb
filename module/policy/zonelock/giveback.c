// SPDX-License-Identifier: GPL-2.0-only
/*
 * giveback.c - actuator of the zonelock policy: gives pages of depots back to the buddy
 *
 * The pages go by a hand (hand.h).  While they are in a hand they are in no list that the kernel
 * drains, so a drain waits for hands: see @returning of struct zonelock_zone.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/mmzone.h>

#include "hook/klp_link.h"
#include "compat/pageset.h"
#include "trace.h"
#include "hook/entry.h"
#include "hand.h"
#include "state.h"

static_assert(COUNT_RETURNED_OFF - COUNT_RETURNED_AGE == DEPOT_BY_OFF);

static const char *const reason_words[DEPOT_NR_REASONS] = {
	[DEPOT_BY_AGE] = "age",
	[DEPOT_BY_SIZE] = "size",
	[DEPOT_BY_WATERMARK] = "watermark",
	[DEPOT_BY_ORDER] = "order",
	[DEPOT_BY_COMPACTION] = "compaction",
	[DEPOT_BY_DRAIN] = "drain",
	[DEPOT_BY_OOM] = "oom",
	[DEPOT_BY_OFF] = "off",
};

/* Give back a batch, its neighbours as larger blocks. */
static void batch_free(struct zone *zone, unsigned int kind, struct list_head *batch)
{
	struct zonelock_hand hand;

	hand_init(&hand, zone, HAND_BLOCKS, 0);
	if (lmm_pindex_order(kind)) {
		hand_add(&hand, kind, batch);
	} else {
		hand_join(&hand, batch);
		hand_rest(&hand, kind, batch);
	}
	hand_free(&hand);
}

/* Give back a batch that was stored at @before or earlier; returns its pages, or 0. */
static unsigned int return_batch(struct zone *zone, unsigned long before)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int count, kind;
	LIST_HEAD(batch);

	/* The kernel drains the lists of each CPU in turn: most find nothing. */
	if (!depot_stocked(&zz->depot)) {
		/* The sum drops inside the section below: return_part() must see that section. */
		smp_rmb();
		return 0;
	}
	/* return_part() waits for this section when it finds the depot empty. */
	preempt_disable();
	atomic_inc(&zz->returning);
	/* return_part() looks for a batch first and at the count next, so count first here. */
	smp_mb__after_atomic();
	count = depot_return(&zz->depot, before, &kind, &batch);
	if (count)
		batch_free(zone, kind, &batch);
	/* The pages are in the buddy before the count drops. */
	smp_mb__before_atomic();
	atomic_dec(&zz->returning);
	preempt_enable();
	return count;
}

/* Give back the oldest batch of a ring, unless a shard's lock is held. */
static unsigned int try_return_batch(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int count, kind;
	LIST_HEAD(batch);

	atomic_inc(&zz->returning);
	/* As return_batch(): count first, for return_part(). */
	smp_mb__after_atomic();
	count = depot_try_return(&zz->depot, &kind, &batch);
	if (count)
		batch_free(zone, kind, &batch);
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
 * Context: process; takes and drops zone->lock.
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
	zonelock_view(zone, zz, &view);
	while (depot_stocked(&zz->depot)) {
		/* No more than must go. */
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
 */
void zonelock_return_now(struct zone *zone, unsigned int most)
{
	unsigned int count;
	long sum = 0;

	if (in_nmi() || !depot_stocked(&zonelock_of(zone)->depot))
		return;
	for (; most; most--) {
		count = try_return_batch(zone);
		if (!count)
			break;
		sum += count;
	}
	returned(zone, DEPOT_BY_ORDER, sum);
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
 * after the first call are left alone.  Where nobody waits, a pass gives back.
 *
 * Context: preemption off, no lock of the allocator held.
 * Return: true if there may be more to do.
 */
bool zonelock_on_give_back(struct lmm_klp_return *part)
{
	struct zone *zone = NULL;
	unsigned int count = 0;

	if (part->soon) {
		zonelock_give_soon(part->zone);
		return false;
	}
	if (!part->started) {
		part->started = true;
		part->before = jiffies;
		if (part->by == LMM_KLP_COMPACT)
			zonelock_close(part->zone);
		else if (part->brief)
			zonelock_give_soon(part->zone);
	}
	if (part->zone)
		return return_part(part->zone, part);
	/*
	 * Of tasks that want every zone drained, as direct reclaim does, the kernel has one work,
	 * and the others go on.
	 */
	while (!count && (zone = lmm_zone_after(zone)))
		if (!atomic_read(&zonelock_of(zone)->returning))
			count = return_part(zone, part);
	return count;
}

/* Is there a depot that holds pages, or of which CPUs took some of late? */
static bool any_used(void)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone)))
		if (depot_stocked(&zonelock_of(zone)->depot) || zonelock_of(zone)->took)
			return true;
	return false;
}

/* Jiffies in which what CPUs take is reckoned once. */
static unsigned long took_part(void)
{
	return max(READ_ONCE(zonelock.max_age) / DEPOT_TOOK_PARTS, 1UL);
}

static void took_reckon(struct zonelock_zone *zz)
{
	unsigned long now = jiffies, times = (now - zz->reckoned) / took_part();

	/* Passes come more often, as hooks of any zone ask for them. */
	if (!times)
		return;
	WRITE_ONCE(zz->took, depot_took(zz->took, atomic_long_xchg(&zz->depot.taken, 0), times));
	zz->reckoned = now;
}

static void zone_pass(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	bool wanted = xchg(&zz->wanted, false);
	struct depot_view view;
	enum depot_reason reason;

	took_reckon(zz);
	if (!depot_stocked(&zz->depot))
		return;
	zonelock_view(zone, zz, &view);
	view.closed |= wanted;
	reason = depot_duty(&view);
	zonelock_return_zone(zone, reason);
	if (reason == DEPOT_BY_SIZE)
		zonelock_return_zone(zone, DEPOT_BY_AGE);
}

/**
 * zonelock_pass() - check the depots, periodically while any is used
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
	if (!any_used()) {
		WRITE_ONCE(lmm_request_wants.call, 0);
		atomic_set(&zonelock.ticking, 0);
		/* A CPU that stored before both were cleared has kicked no pass: look again. */
		smp_mb();
		if (!any_used())
			return;
		WRITE_ONCE(lmm_request_wants.call, zonelock.topup);
		if (atomic_xchg(&zonelock.ticking, 1))
			return;
	}
	/* A batch is old at half of max_age: two passes fall into the other half. */
	queue_delayed_work(zonelock.worker.wq, &zonelock.worker.pass,
			   took_part());
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
		zonelock_view(zone, zonelock_of(zone), &view);
		pages = zonelock_return_zone(zone, DEPOT_BY_OOM);
		if (view.free < view.mark)
			*freed += pages;
	}
	return NOTIFY_OK;
}
