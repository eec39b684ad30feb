// SPDX-License-Identifier: GPL-2.0-only
/*
 * handlers.c - what the hooks report to the zonelock policy
 *
 * Storing and taking run under a list's pcp->lock, with preemption off, in any context that may
 * call the allocator.  They do not sleep, printk or allocate, and only try a shard's lock.
 *
 * The depot takes only blocks of orders that the kernel keeps in lists for every migratetype, and
 * only those that a free has made too many for their list (free_path.h).
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/vmstat.h>

#include "compat/pageset.h"
#include "flow/drain.h"
#include "flow/refill.h"
#include "hook/entry.h"
#include "policy/common/drain.h"
#include "policy/common/free_path.h"
#include "hand.h"
#include "state.h"

static_assert(DEPOT_KINDS == NR_LOWORDER_PCP_LISTS);
static_assert(DEPOT_TRIAL_PAGES == 2 * DEPOT_BATCH_MAX);
static_assert(DRAIN_PAGES == 63 * LMM_DRAIN_BATCHES);

/* How long a depot stays closed. */
#define HOLD_OFF	HZ

/**
 * zonelock_view() - read the state of a zone
 * @zone: the zone
 * @zz: the policy's state of the zone
 * @view: receives the state, but for @disabled, which belongs to a list and is left false
 *
 * Context: any.
 */
void zonelock_view(struct zone *zone, const struct zonelock_zone *zz, struct depot_view *view)
{
	*view = (struct depot_view){
		.free = zone_page_state(zone, NR_FREE_PAGES),
		.mark = lmm_zone_mark(zone),
		.held = atomic_long_read(&zz->depot.pages),
		.isolated = lmm_zone_isolates(zone),
		.closed = READ_ONCE(zz->broken) ||
			  time_before(jiffies, READ_ONCE(zz->closed_at) + HOLD_OFF),
	};
	view->reclaim = lmm_zone_is_short(zone, view->free);
	view->max = depot_bound(view, zone_managed_pages(zone) *
				      READ_ONCE(zonelock.max_tenths) / 1000,
				zonelock_took(zz));
}

/* Queue a pass.  Under pcp->lock no work can be queued, see policy/pcp/handlers.c. */
static void kick(struct zonelock_zone *zz)
{
	unsigned long now = jiffies;

	if (READ_ONCE(zz->kicked) == now)
		return;
	WRITE_ONCE(zz->kicked, now);
	lmm_worker_kick(&zonelock.worker);
}

/* Cut up to @blocks blocks off the tail of a list; returns how many were cut. */
static unsigned int cut_tail(struct list_head *list, unsigned int blocks, struct list_head *to)
{
	struct list_head *first = list;
	unsigned int cut = 0;
	LIST_HEAD(front);

	while (cut < blocks && first->prev != list) {
		first = first->prev;
		cut++;
	}
	list_cut_before(&front, list, first);
	list_splice_init(list, to);
	list_splice(&front, list);
	return cut;
}

/* Refills of a list of this CPU one after the other, without a drain, and of which zone's list. */
struct refills {
	const struct zone *zone;
	unsigned int nr;
};

static DEFINE_PER_CPU(struct refills, refills);

/* Number of blocks on a list, up to @most. */
static unsigned int length_to(const struct list_head *list, unsigned int most)
{
	const struct list_head *pos;
	unsigned int length = 0;

	list_for_each(pos, list)
		if (++length >= most)
			break;
	return length;
}

static enum depot_verdict verdict_of(struct zone *zone, const struct zonelock_zone *zz,
				     struct per_cpu_pages *pages, unsigned int count,
				     struct depot_view *view)
{
	zonelock_view(zone, zz, view);
	view->disabled = !lmm_pageset_read(pages);
	return depot_judge(view, min_t(unsigned int, count, DEPOT_BATCH_MAX));
}

/* The same for a drain: counts a refusal. */
static enum depot_verdict judge(struct zone *zone, struct zonelock_zone *zz,
				struct per_cpu_pages *pages, unsigned int count)
{
	struct depot_view view;
	enum depot_verdict verdict = verdict_of(zone, zz, pages, count, &view);

	if (verdict == DEPOT_STORE)
		return verdict;
	if (verdict == DEPOT_WATERMARK)
		lmm_count(&lmm_zonelock_policy, COUNT_REFUSED_WATERMARK, 1);
	else if (verdict == DEPOT_FULL)
		lmm_count(&lmm_zonelock_policy, COUNT_REFUSED_FULL, 1);
	/* These verdicts also make a pass give back. */
	if (view.held && verdict != DEPOT_FULL && verdict != DEPOT_DISABLED)
		kick(zz);
	return verdict;
}

/* Store pages that were cut off a list, or put them back; returns how many were stored. */
static unsigned int cut_store(struct zonelock_zone *zz, unsigned int kind, struct list_head *batch,
			      unsigned int cut, struct per_cpu_pages *pages)
{
	if (!cut)
		return 0;
	if (!depot_put(&zz->depot, smp_processor_id(), kind, batch, cut, jiffies)) {
		list_splice_tail(batch, &pages->lists[kind]);
		return 0;
	}
	pages->count -= cut;
	lmm_count(&lmm_zonelock_policy, COUNT_STORED_PAGES, cut);
	if (zonelock.topup && !READ_ONCE(lmm_request_wants.call))
		WRITE_ONCE(lmm_request_wants.call, 1);
	if (!atomic_read(&zonelock.ticking) && !lmm_worker_deaf() &&
	    !atomic_xchg(&zonelock.ticking, 1))
		lmm_worker_kick(&zonelock.worker);
	return cut;
}

/* Store a batch of a list; returns its pages. */
static unsigned int list_store(struct zonelock_zone *zz, unsigned int kind, unsigned int count,
			       struct per_cpu_pages *pages)
{
	unsigned int order = lmm_pindex_order(kind);
	LIST_HEAD(batch);
	unsigned int cut;

	/* Before anything is cut off the list. */
	if (!depot_has_room(&zz->depot, smp_processor_id()))
		return 0;
	count = min_t(unsigned int, count, DEPOT_BATCH_MAX);
	cut = cut_tail(&pages->lists[kind], count >> order, &batch) << order;
	return cut_store(zz, kind, &batch, cut, pages);
}

/* Blocks that so many pages make which are in a hand, or wait for hand_rest(). */
static unsigned int hand_blocks(const struct zonelock_hand *hand, unsigned int pages)
{
	unsigned int single = pages - hand->pages.count -
			      (hand->nr_joined << PAGE_ALLOC_COSTLY_ORDER);

	return hand->blocks + hand->nr_joined + single;
}

/*
 * Drain a list of single pages to the buddy, neighbours as larger blocks.  Pages that a process
 * frees when it ends, or unmaps, lie in the list in the order of their addresses.  No more holds of
 * zone->lock than the kernel needs for @count pages, and none of more blocks than the kernel's; as
 * long as the pages make few blocks, as many again go under the same hold: down to @keep pages in
 * the lists, or if @keep is 0 never more than the lists keep.  Returns how many went.
 */
static unsigned int list_drain(struct zone *zone, unsigned int migratetype, unsigned int count,
			       unsigned int keep, struct per_cpu_pages *pages)
{
	struct drain_view view = {
		.asked = count,
		.batch = READ_ONCE(pages->batch),
		.keep = keep,
		.is_part = lmm_pageset_drains_in_parts(pages, count),
	};
	struct zonelock_hand hand;
	unsigned int cut;
	LIST_HEAD(some);

	hand_init(&hand, zone, JOIN_BLOCKS, count);
	do {
		view.have = pages->count;
		cut = cut_tail(&pages->lists[migratetype], drain_cut(&view), &some);
		pages->count -= cut;
		view.have -= cut;
		view.gone += cut;
		hand_join(&hand, &some);
		view.blocks = hand_blocks(&hand, view.gone);
	} while (cut == count && drain_goes_on(&view));
	hand_rest(&hand, migratetype, &some);
	hand_free(&hand);
	lmm_count(&lmm_zonelock_policy, COUNT_JOINED, 1);
	lmm_count(&lmm_zonelock_policy, COUNT_JOINED_PAGES, view.gone);
	return view.gone;
}

/*
 * Store what other CPUs are about to take of @most single pages that a list gives back; returns the
 * pages stored.  A request that lacked pages gets them from the buddy.
 */
static unsigned int list_pass_on(struct zone *zone, struct zonelock_zone *zz,
				 unsigned int migratetype, unsigned int most,
				 struct per_cpu_pages *pages)
{
	unsigned int batch = READ_ONCE(pages->batch);
	unsigned int cut, last, stored = 0;
	struct depot_view view;
	LIST_HEAD(some);

	if (time_before(jiffies, READ_ONCE(zz->asked_at) + READ_ONCE(zonelock.max_age)))
		return 0;
	do {
		cut = min3(depot_wants(zonelock_took(zz), atomic_long_read(&zz->depot.pages)),
			   (unsigned long)most - stored, (unsigned long)DEPOT_BATCH_MAX);
		if (cut < batch || verdict_of(zone, zz, pages, cut, &view) != DEPOT_STORE ||
		    !depot_has_room(&zz->depot, smp_processor_id()))
			break;
		cut = cut_tail(&pages->lists[migratetype], cut, &some);
		last = cut_store(zz, migratetype, &some, cut, pages);
		stored += last;
	} while (last);
	lmm_count(&lmm_zonelock_policy, COUNT_PASSED_PAGES, stored);
	return stored;
}

/*
 * Give back what a list holds above @keep; returns the pages that were stored, or went to the buddy
 * as larger blocks; 0 if few are to go.
 *
 * The CPU of the list frees more pages than it allocates, so the list stays full.  Where other CPUs
 * take pages from the depot, the list would fill up again before the depot gets any, and these CPUs
 * would take pages from the buddy meanwhile.  So the depot gets what they take.
 *
 * The other pages go to the buddy.  The kernel would give back a batch under each hold of
 * zone->lock.  Pages of one migratetype go, since preemption is off: the caller may call again.
 */
static int list_shrink(struct zone *zone, struct per_cpu_pages *pages, int keep)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int batch = READ_ONCE(pages->batch);
	unsigned int type, gone = 0;

	if (lmm_zone_isolates(zone) || !zz->depot.nr_shards)
		return 0;
	for (type = 0; type < MIGRATE_PCPTYPES && !gone; type++) {
		int over = min_t(int, pages->count - keep, DRAIN_PAGES);

		if (over <= (int)batch || length_to(&pages->lists[type], batch) < batch)
			continue;
		gone += list_pass_on(zone, zz, type, over, pages);
		over = min_t(int, pages->count - keep,
			     lmm_give_pages(lmm_pageset_default(zone), batch,
					    LMM_TUNES_LISTS));
		if (over > (int)batch && length_to(&pages->lists[type], batch) == batch)
			gone += list_drain(zone, type, over, keep, pages);
	}
	return gone;
}

/*
 * Newer kernels give back what a list holds in parts of a batch, each under a hold of zone->lock of
 * its own.  The policy lets all parts go at once, as larger blocks, and the kernel then asks for
 * pages that have gone.
 *
 * What a CPU has noted outlives its drain, the policy and the CPU, and is freed by nobody: the
 * pointer to the list is compared, never followed.  A note that is taken for that of another drain
 * leaves pages on the list, which the next free that finds the list full has drained.
 */

/**
 * struct ahead - pages of a list of this CPU that went before the kernel asked for them
 * @list: the list
 * @caller: return address of the drain, whose later parts are meant
 * @until: a value that stays the same until the last part
 * @pages: number of pages; 0 or less: none
 */
struct ahead {
	const struct per_cpu_pages *list;
	unsigned long caller;
	unsigned long until;
	int pages;
};

static DEFINE_PER_CPU(struct ahead, ahead);

/* Pages of a drain that have gone before, if @until says that it is a later part of the same. */
static int ahead_take(const struct lmm_drain *drain, unsigned long until)
{
	struct ahead *before = this_cpu_ptr(&ahead);
	int gone;

	if (before->list != drain->pcp || before->caller != drain->caller || before->until != until)
		return 0;
	gone = clamp(before->pages, 0, drain->count);
	before->pages -= gone;
	return gone;
}

/* @more pages of a list have gone than the kernel asked for; may be 0 or less. */
static void ahead_note(const struct lmm_drain *drain, unsigned long until, int more)
{
	*this_cpu_ptr(&ahead) = (struct ahead){ drain->pcp, drain->caller, until, more };
}

/*
 * From 6.7 on the kernel lowers the bound that it has tuned, and gives back what this CPU's list
 * holds above, a batch under each hold of zone->lock (decay_pcp_high()).  All of that goes with the
 * first batch, as larger blocks; the other batches have gone by then.  Returns the pages of the
 * drain that need not be drained any more.
 */
static int ahead_decay(const struct lmm_drain *drain)
{
	unsigned long now = jiffies;
	int gone;

	if (!LMM_TUNES_LISTS || drain->count > READ_ONCE(drain->pcp->batch) || !drain->is_here)
		return 0;
	gone = ahead_take(drain, now);
	if (gone)
		return gone;
	gone = list_shrink(drain->zone, drain->pcp, lmm_pageset_read(drain->pcp));
	ahead_note(drain, now, gone - drain->count);
	return min(gone, drain->count);
}

/*
 * Store what the kernel drains.  Returns the pages that need not be drained any more: at least as
 * many as the kernel wants to drain if the list has room again.
 */
static int drain_store(const struct lmm_drain *drain)
{
	struct zonelock_zone *zz = &zonelock.zones[drain->slot];
	struct per_cpu_pages *pages = drain->pcp;
	int count = drain->count, pindex = drain->pindex;
	int stored = 0, drained;
	enum depot_verdict verdict;
	unsigned long freed = 0;

	/* A drain of one page belongs to a list that the kernel keeps empty. */
	if (count <= 1 || pindex >= DEPOT_KINDS || !zz->depot.nr_shards)
		return 0;
	if (!lmm_frees(drain->caller))
		return ahead_decay(drain);
	__this_cpu_write(refills.nr, 0);
	if (LMM_DRAINS_IN_PARTS) {
		/* Between the parts of a drain this CPU frees nothing, but for interrupts. */
		freed = lmm_cpu_freed(drain->cpu);
		drained = ahead_take(drain, freed);
		if (drained)
			return drained;
	}
	verdict = judge(drain->zone, zz, pages, count);
	if (verdict == DEPOT_DISABLED || verdict == DEPOT_ISOLATED)
		return 0;
	if (verdict == DEPOT_STORE)
		stored = list_store(zz, pindex, count, pages);
	if (!lmm_pindex_order(pindex)) {
		if (!stored) {
			stored = list_drain(drain->zone, pindex, count, 0, pages);
			if (LMM_DRAINS_IN_PARTS)
				ahead_note(drain, freed, stored - count);
		}
		/* What is missing is not worth a hold of its own: the list has room. */
		return stored >= min(count / 2, DEPOT_BATCH_MAX) ? max(stored, count) : stored;
	}
	if (stored)
		return max(stored, count);
	if ((verdict != DEPOT_STORE && verdict != DEPOT_FULL) || !LMM_DRAINS_LIST_AT_EXIT)
		return 0;
	return count - lmm_drain_limit(count, pages->count, READ_ONCE(pages->batch));
}

/**
 * zonelock_on_drain_store() - event: lists are about to be drained
 * @drain: the drain
 *
 * Single pages that the depot does not store go to the buddy as larger blocks, unless somebody
 * waits for exactly the kernel's drain.
 *
 * In a burst of frees the kernel drains for every block of order 1 to 3, to keep few of them; the
 * depot stores these blocks.  Before ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit",
 * 6.7) such a drain, which happens at the end of every process, empties all lists; here the single
 * pages stay.
 *
 * Context: see the top of the file.
 */
void zonelock_on_drain_store(struct lmm_drain *drain)
{
	drain->stored = drain->by_policy ?
			list_shrink(drain->zone, drain->pcp, drain->keep) :
			drain_store(drain);
}

/* Fill an empty list.  The caller holds its pcp->lock. */
static unsigned int list_fill(struct zone *zone, struct zonelock_zone *zz, struct list_head *list,
			      unsigned int kind)
{
	unsigned int count = 0;

	if (depot_stocked(&zz->depot) && !lmm_zone_isolates(zone) && !READ_ONCE(zz->broken)) {
		/* CPUs that only allocate bring the zone near its mark faster than passes come. */
		if (zone_page_state(zone, NR_FREE_PAGES) < lmm_zone_mark(zone))
			kick(zz);
		count = depot_get(&zz->depot, smp_processor_id(), kind, list);
	}
	if (count)
		lmm_count(&lmm_zonelock_policy, COUNT_TAKEN_PAGES, count);
	return count;
}

/**
 * zonelock_on_refill_stock() - event: a list is empty and about to be refilled
 * @refill: the refill
 *
 * Context: see the top of the file.
 */
void zonelock_on_refill_stock(struct lmm_refill *refill)
{
	unsigned int kind = lmm_pindex(refill->order, refill->migratetype);

	/* A refill of one page belongs to a list that the kernel keeps empty. */
	if (refill->blocks <= 1 || kind >= DEPOT_KINDS || refill->migratetype >= MIGRATE_PCPTYPES)
		return;
	refill->got = list_fill(refill->zone, &zonelock.zones[refill->slot], refill->list, kind) >>
		      refill->order;
}

/* Pages in free blocks from @order on, below @end, of any migratetype. */
static unsigned long free_in(const struct zone *zone, unsigned int order, unsigned int end)
{
	unsigned long pages = 0;

	for (; order < end; order++)
		pages += READ_ONCE(zone->free_area[order].nr_free) << order;
	return pages;
}

/* Has a migratetype a free block of a pageblock or more? */
static bool has_large(const struct zone *zone, int migratetype)
{
	unsigned int order;

	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++)
		if (!list_empty(&zone->free_area[order].free_list[migratetype]))
			return true;
	return false;
}

/**
 * zonelock_on_refill_split() - event: an empty list is about to be refilled by the buddy
 * @refill: the refill, with single pages
 *
 * Only movable pages: others would take large blocks from the movable ones.  And only while the
 * zone has pages for all: a depot closes when large blocks are wanted.
 *
 * Context: see the top of the file.
 */
void zonelock_on_refill_split(struct lmm_refill *refill)
{
	struct refills *before = this_cpu_ptr(&refills);
	struct zone *zone = refill->zone;
	struct depot_view state;
	struct refill_view view;
	unsigned long want;
	unsigned int order;

	/* A refill of one page belongs to a list that the kernel keeps empty. */
	if (refill->migratetype != MIGRATE_MOVABLE || refill->blocks <= 1)
		return;
	/* With CMA memory the kernel, or another policy, chooses where pages come from. */
	zonelock_view(zone, &zonelock.zones[refill->slot], &state);
	if (state.isolated || state.reclaim || state.closed ||
	    zone_page_state(zone, NR_FREE_CMA_PAGES))
		return;
	if (before->zone != zone)
		*before = (struct refills){ .zone = zone };
	view = (struct refill_view){
		.asked = refill->blocks,
		.successive = before->nr,
		.room = lmm_pageset_read(refill->pcp) / 2 - refill->pcp->count,
		.spare = state.free - state.mark,
	};
	if (before->nr < REFILL_DOUBLES)
		before->nr++;
	want = refill_pages(&view);
	order = refill_order(want);
	if (!order || !has_large(zone, refill->migratetype))
		return;
	view.large = free_in(zone, pageblock_order, LMM_MAX_ORDER + 1);
	if (!refill_splits(&view, want, free_in(zone, 0, order)))
		return;
	refill->split = order;
	refill->split_pages = want;
	lmm_count(&lmm_zonelock_policy, COUNT_SPLIT_PAGES, want >> order << order);
}

/**
 * zonelock_on_request() - event: an allocation begins
 * @zone: zone that the allocation will get its page from
 * @order: order of the block
 * @migratetype: migratetype of the block
 *
 * Used where refills cannot be hooked: fills an empty list of this CPU before the kernel finds the
 * list empty.
 *
 * Context: any that may call the allocator, preemption off; only tries pcp->lock, which an
 * interrupted allocation may hold.
 */
void zonelock_on_request(struct zone *zone, unsigned int order, int migratetype)
{
	struct per_cpu_pages *pages = this_cpu_ptr(zone->per_cpu_pageset);
	unsigned int kind = lmm_pindex(order, migratetype), got;
	struct zonelock_zone *zz;
	struct list_head *list;

	if (kind >= DEPOT_KINDS || migratetype >= MIGRATE_PCPTYPES)
		return;
	/* First what only this CPU writes: most requests find their list filled. */
	list = &pages->lists[kind];
	if (!list_empty(list))
		return;
	zz = zonelock_of(zone);
	if (!depot_stocked(&zz->depot) || !spin_trylock(&pages->lock))
		return;
	/* A list that the kernel has disabled stays empty. */
	if (list_empty(list) && lmm_pageset_read(pages)) {
		got = list_fill(zone, zz, list, kind);
		pages->count += got;
		if (got)
			lmm_pageset_filled(zone, pages, got);
	}
	spin_unlock(&pages->lock);
}

/**
 * zonelock_close() - store nothing of a zone for a while
 * @zone: the zone
 *
 * Context: any.
 */
void zonelock_close(struct zone *zone)
{
	unsigned long now = jiffies;

	lmm_set(zonelock_of(zone)->closed_at, now);
}

/**
 * zonelock_want() - have a pass give back what the depot of a zone holds
 * @zone: the zone
 *
 * Context: any, preemption off.
 */
void zonelock_want(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);

	if (!depot_stocked(&zz->depot))
		return;
	lmm_set(zz->wanted, true);
	kick(zz);
}

/**
 * zonelock_give_soon() - have the next pass give back what a zone's depot holds
 * @zone: the zone
 *
 * Context: any, preemption off.
 */
void zonelock_give_soon(struct zone *zone)
{
	zonelock_close(zone);
	/* The hold-off may be over before the pass runs, so tell the pass. */
	zonelock_want(zone);
}
