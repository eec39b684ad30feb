// SPDX-License-Identifier: GPL-2.0-only
/*
 * handlers.c - what the hooks report to the pcp policy
 *
 * All handlers run with preemption off, in any context that may call the allocator; refills and
 * drains under the list's pcp->lock.  No handler sleeps, prints or allocates, and under pcp->lock
 * none takes a lock.
 *
 * A refill is always of this CPU's list.  So is a drain that a free causes.  Hotplug, compaction,
 * direct reclaim and our own pass drain the lists of any CPU, and must get what they ask for.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/smp.h>
#include <linux/vmstat.h>

#include "flow/drain.h"
#include "flow/refill.h"
#include "livemm.h"
#include "policy/common/drain.h"
#include "policy/common/free_path.h"
#include "state.h"

/* The kernel stores its new bounds within so many ms of telling of them. */
#define BOUNDS_MS	20

static bool zone_near(struct zone *zone)
{
	return lmm_zone_below_high(zone) ||
	       lmm_zone_is_short(zone, zone_page_state(zone, NR_FREE_PAGES));
}

/* Queue no work under pcp->lock: waking a worker takes a run-queue lock that callers may hold. */
static void kick(struct zone *zone, struct pcp_zone *pz)
{
	unsigned long now = jiffies;

	/* Only for pressure that makes a pass give back. */
	if (zone_page_state(zone, NR_FREE_PAGES) >= lmm_zone_mark(zone) && !READ_ONCE(pz->wanted))
		return;
	/* After the last refused hook of the gap comes a pass: see zone_asks_again() in size.c. */
	if (atomic_long_read(&pz->raised) <= 0 || pcp_zone_kicked(pz, now))
		return;
	WRITE_ONCE(pz->kicked, now);
	lmm_count(&lmm_pcp_policy, COUNT_KICKS, 1);
	lmm_worker_kick(&pcp.worker);
}

/* The limits of the last pass, updated by what may have changed since. */
static struct pcp_limits limits_now(struct zone *zone, struct pcp_zone *pz,
				    const struct pcp_list *list, struct per_cpu_pages *pages)
{
	struct pcp_limits limits = list->limits;

	limits.now = pcp_list_raised(pages, list);
	limits.disabled = !lmm_pageset_read(pages);
	limits.sysctl = READ_ONCE(*pcp.high_fraction);
	/* The last pass may have seen batch 1, which the kernel sets while lists are disabled. */
	limits.batch = READ_ONCE(pages->batch);
	limits.reclaim = READ_ONCE(pz->wanted);
	limits.near = zone_near(zone);
	limits.sees_refills = pcp.sees_refills;
	return limits;
}

/**
 * pcp_on_refilled() - event: pages moved to an empty list
 * @refill: the refill
 *
 * A list that another policy fills is as short of pages as one that the buddy fills.
 *
 * Context: see the top of the file.
 */
void pcp_on_refilled(struct lmm_refill *refill)
{
	struct pcp_list *list = pcp_list_of(refill->slot, refill->cpu);
	struct pcp_sample sample;

	kick(refill->zone, &pcp.zones[refill->slot]);
	if (!refill->stocked)
		lmm_count(&lmm_pcp_policy, COUNT_REFILLS, 1);
	if (pcp.mode != PCP_MODE_EVENT || refill->order || !list->limits.max ||
	    refill->migratetype >= MIGRATE_PCPTYPES)
		return;
	pcp_list_sample(refill->zone, refill->cpu, refill->migratetype, &sample);
	pcp_event_refill(&list->event, &sample, refill->got);
}

/* A free has filled a list: raise its bound, also in @limits, or record why not. */
static void list_grow(struct zone *zone, struct pcp_zone *pz, struct pcp_list *list, int cpu,
		      const struct pcp_sample *sample, struct pcp_limits *limits)
{
	int now = limits->now ?: limits->def;
	struct pcp_decision decision;

	decision = pcp_event_drain(&list->event, sample, limits);
	WRITE_ONCE(list->reason, decision.reason);
	if (decision.reason == PCP_BY_WATERMARK) {
		lmm_count(&lmm_pcp_policy, COUNT_LIMITED_WATERMARK, 1);
		kick(zone, pz);
	}
	if (decision.high <= now || !pcp_list_grow(zone, cpu, list, decision.high))
		return;
	lmm_count(&lmm_pcp_policy, COUNT_GROWN, 1);
	atomic_long_add(decision.high - now, &pz->raised);
	limits->now = decision.high;
}

/*
 * Before ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit", 6.7), freeing one block of
 * order 1 to 3 in a burst of order-0 frees, as in every exit of a large process, empties the whole
 * list.  Draining one batch, with these blocks first, also keeps few of them.  The kernel wants
 * disabled lists empty; and in a zone that is short, the next such block drains as much again.
 */
static int exit_drain_count(const struct lmm_drain *drain)
{
	if (!LMM_DRAINS_LIST_AT_EXIT || drain->pindex < MIGRATE_PCPTYPES ||
	    READ_ONCE(*pcp.high_fraction) || !lmm_pageset_read(drain->pcp) ||
	    zone_near(drain->zone))
		return drain->count;
	return lmm_drain_limit(drain->count, drain->pcp->count, READ_ONCE(drain->pcp->batch));
}

/*
 * What a kernel that does not tune drains under one hold of zone->lock grows with the list, so a
 * list that was raised goes in parts.  Only a free may leave pages behind, and only in a list that
 * the kernel has not disabled.
 */
static int hold_count(const struct lmm_drain *drain, const struct pcp_list *list, bool frees)
{
	if (LMM_TUNES_LISTS || !frees || READ_ONCE(*pcp.high_fraction) ||
	    !lmm_pageset_read(drain->pcp))
		return drain->count;
	return lmm_drain_hold(drain->count, drain->pcp->count, list->limits.def,
			      READ_ONCE(drain->pcp->batch));
}

/*
 * Did a free that reached the bound cause this drain?  Other drains find this CPU's list disabled,
 * or below its bound because each free leaves the list there, or ask for all pages.  Some kernels
 * ask in steps (6.1.192, and from 6.7 on), and the bound may have fallen: then a step is mistaken
 * for a free's drain, unless the caller is known.  Beside a return probe the caller is not known,
 * so the answer is used as well.
 */
static bool drain_of_full_list(const struct per_cpu_pages *pages, int count)
{
	return pages->count >= READ_ONCE(pages->high) && count < pages->count;
}

/*
 * Mode `event`: raise the bound of this CPU's full list, and limit the drain.  The kernel may drain
 * in parts, and release the list's lock in between (7.2): the list has room then, and no more goes.
 * A caller that is not known to free gets at least a batch: drain_pages_zone() asks again until the
 * list is empty (6.7), and would never end without a page.  The core gives no page where a sysctl
 * has just raised the kernel's default above what the list holds.
 */
static int free_drain_count(const struct lmm_drain *drain, struct pcp_zone *pz,
			    struct pcp_list *list, bool frees)
{
	bool full = drain_of_full_list(drain->pcp, drain->count);
	int count = drain->count, pindex = drain->pindex, most;
	struct pcp_limits limits;
	struct pcp_sample sample;

	if (!drain->is_here || (!full && !frees) || !list->limits.max ||
	    READ_ONCE(list->returning))
		return count;
	limits = limits_now(drain->zone, pz, list, drain->pcp);
	/* The list may be full by pcp_list_yield(), which says nothing about the list's needs. */
	if (full && limits.reclaim)
		return count;
	/* kswapd runs, and the kernel lets a list have four batches; or it wants large blocks. */
	if (!full && (pindex >= MIGRATE_PCPTYPES ||
		      test_bit(ZONE_RECLAIM_ACTIVE, &drain->zone->flags)))
		return count;
	pcp_list_sample(drain->zone, drain->cpu, pindex % MIGRATE_PCPTYPES, &sample);
	if (full && pindex < MIGRATE_PCPTYPES)
		list_grow(drain->zone, pz, list, drain->cpu, &sample, &limits);
	most = pcp_event_drain_count(&list->event, &sample, count, &limits);
	return frees ? most : max(most, min(count, limits.batch));
}

/**
 * pcp_on_drain_size() - event: a list is about to be drained
 * @drain: the drain
 *
 * Only frees of order 0 raise a list, because the buddy would miss larger blocks.
 *
 * Context: see the top of the file.
 */
void pcp_on_drain_size(struct lmm_drain *drain)
{
	struct pcp_list *list = pcp_list_of(drain->slot, drain->cpu);
	bool frees = lmm_frees(drain->caller);

	drain->count = exit_drain_count(drain);
	/* Only a free begins with the list of a larger block.  What is held back goes soon. */
	drain->count = hold_count(drain, list, frees || drain->pindex >= MIGRATE_PCPTYPES);
	if (pcp.mode == PCP_MODE_EVENT)
		drain->count = free_drain_count(drain, &pcp.zones[drain->slot], list, frees);
}

/**
 * pcp_on_drained() - event: pages moved from a list to the buddy, or where a policy stores them
 * @drain: the drain
 *
 * Context: see the top of the file.
 */
void pcp_on_drained(struct lmm_drain *drain)
{
	if (drain->left > 0)
		lmm_count(&lmm_pcp_policy, COUNT_DRAINS, 1);
	if (pcp.mode == PCP_MODE_EVENT && drain->is_here)
		pcp_event_drained(&pcp_list_of(drain->slot, drain->cpu)->event, drain->gone);
}

/**
 * pcp_on_list_bounds() - the kernel is about to recompute the bounds of a zone's lists
 *
 * A pass a little later finds the new bounds.
 *
 * Context: under the kernel's pcp_batch_high_lock, preemption off, not under an allocator's lock.
 */
void pcp_on_list_bounds(void)
{
	WRITE_ONCE(pcp.bounds_at, jiffies + msecs_to_jiffies(BOUNDS_MS));
	/* A pass that is due is not put off; it has another follow it until then. */
	queue_delayed_work(pcp.worker.wq, &pcp.worker.pass, msecs_to_jiffies(BOUNDS_MS));
}

/*
 * A block is wanted that the zone lacks: the next pass gives back all that its lists hold.  No pass
 * comes before an interrupt ends that asks for many blocks and frees some, and blocks of another
 * migratetype that are freed to a raised list would be missing.
 */
static void block_wanted(struct zone *zone, struct pcp_zone *pz)
{
	int cpu = smp_processor_id();

	lmm_set(pz->wanted, true);
	pcp_list_yield(zone, cpu, pcp_list_of(lmm_zone_slot(zone), cpu));
	kick(zone, pz);
}

/**
 * pcp_on_zone_lacks() - event: pages, or a block of an order, are wanted in a zone
 * @zone: the zone
 * @order: order of the block, or 0
 * @huge: the block is for a huge page
 *
 * A zone that has no block of the order gets back all that its lists hold.
 *
 * Context: any, preemption off.
 */
void pcp_on_zone_lacks(struct zone *zone, unsigned int order, bool huge)
{
	struct pcp_zone *pz = &pcp.zones[lmm_zone_slot(zone)];

	if (atomic_long_read(&pz->raised) <= 0)
		return;
	if (huge)
		lmm_count(&lmm_pcp_policy, COUNT_HUGE, 1);
	if (order)
		block_wanted(zone, pz);
	else
		kick(zone, pz);
}
