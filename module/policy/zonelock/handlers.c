// SPDX-License-Identifier: GPL-2.0-only
/*
 * handlers.c - what the hooks report to the zonelock policy
 *
 * Storing and taking run under a list's pcp->lock, with preemption off, in any context that may
 * call the allocator.  They do not sleep, printk or allocate, and only try a shard's lock.
 *
 * The depot takes only blocks of orders that the kernel keeps in lists for every migratetype, and
 * only those that a free has made too many for their list.  Other callers drain a list because they
 * want its pages in the buddy; the return address of the drain tells the callers apart.  (A tracer
 * that changes return addresses, as the function graph tracer does, makes every drain go to the
 * buddy.)
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/vmstat.h>

#include "compat/pageset.h"
#include "hook/entry.h"
#include "policy/common/drain.h"
#include "state.h"

static_assert(DEPOT_KINDS == NR_LOWORDER_PCP_LISTS);
static_assert(COUNT_REFUSED_FULL - COUNT_REFUSED_DISABLED == DEPOT_FULL - DEPOT_DISABLED);

/* Free pages below which the depot stores nothing. */
static unsigned long zone_mark(struct zone *zone)
{
	return lmm_zone_mark(zone, READ_ONCE(zonelock.guard_pct));
}

/**
 * zonelock_view() - read the state of a zone
 * @zone: the zone
 * @view: receives the state, but for @disabled, which belongs to a list and is left false
 *
 * Context: any.
 */
void zonelock_view(struct zone *zone, struct depot_view *view)
{
	struct zonelock_zone *zz = zonelock_of(zone);

	*view = (struct depot_view){
		.free = zone_page_state(zone, NR_FREE_PAGES),
		.mark = zone_mark(zone),
		.held = atomic_long_read(&zz->depot.pages),
		.isolated = lmm_zone_isolates(zone),
		.closed = READ_ONCE(zz->broken) || time_before(jiffies, READ_ONCE(zz->open_at)),
	};
	view->reclaim = view->free < lmm_zone_short_mark(zone, view->mark) &&
			view->free >= view->mark;
	view->max = depot_bound(view, zone_managed_pages(zone) *
				      READ_ONCE(zonelock.max_tenths) / 1000,
				READ_ONCE(zz->worth));
}

/* Queue a pass.  Under pcp->lock no work can be queued, see policy/pcp/handlers.c. */
static void kick(struct zonelock_zone *zz)
{
	unsigned long now = jiffies;

	if (READ_ONCE(zz->kicked) == now)
		return;
	WRITE_ONCE(zz->kicked, now);
	lmm_count(&lmm_zonelock_policy, COUNT_KICKS, 1);
	lmm_worker_kick(&zonelock.worker);
}

/* Pages on all lists but @kind, or -1 if counting them takes more than @limit steps. */
static int pages_elsewhere(struct per_cpu_pages *pages, unsigned int kind, unsigned int limit)
{
	struct list_head *pos;
	unsigned int steps = 0;
	int count = 0;
	int i;

	for (i = 0; i < NR_PCP_LISTS && steps <= limit; i++) {
		unsigned int order = lmm_pindex_order(i);

		if (i == kind)
			continue;
		list_for_each(pos, &pages->lists[i]) {
			if (++steps > limit)
				break;
			count += 1 << order;
		}
	}
	lmm_count(&lmm_zonelock_policy, COUNT_COUNTED, steps);
	return steps <= limit ? count : -1;
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
	lmm_count(&lmm_zonelock_policy, COUNT_COUNTED, cut);
	list_cut_before(&front, list, first);
	list_splice_init(list, to);
	list_splice(&front, list);
	return cut;
}

/* Did a free cause this drain? */
static bool frees(unsigned long caller)
{
	unsigned int i;

	for (i = 0; i < ZONELOCK_NR_FREE_PATHS; i++)
		if (caller - zonelock.free_path[i].start < zonelock.free_path[i].size)
			return true;
	return false;
}

/* Take about @count pages off a list, to be stored; returns how many. */
static unsigned int cut_batch(struct per_cpu_pages *pages, unsigned int kind,
			      unsigned int count, struct list_head *to)
{
	struct list_head *list = &pages->lists[kind];
	unsigned int order = lmm_pindex_order(kind);
	unsigned int on_list = 0;
	unsigned int cut;
	int elsewhere = -1;

	/*
	 * Counting the other lists is worth while if it is shorter than counting off @count pages,
	 * and if the rest may fit into a batch.  Larger blocks are few: count them off.
	 */
	if (!order && pages->count - (int)count / 2 <= DEPOT_BATCH_MAX)
		elsewhere = pages_elsewhere(pages, kind, count / 2);
	if (elsewhere >= 0 && elsewhere < pages->count)
		on_list = pages->count - elsewhere;
	cut = depot_cut(count, on_list);
	if (cut != on_list)
		return cut_tail(list, cut >> order, to) << order;
	list_splice_init(list, to);
	return cut;
}

static bool may_keep(struct zone *zone, struct per_cpu_pages *pages, unsigned int kind,
		     unsigned int count)
{
	enum depot_verdict verdict;
	struct depot_view view;

	zonelock_view(zone, &view);
	view.disabled = !lmm_pageset_read(pages).high;
	count = min_t(unsigned int, count, DEPOT_BATCH_MAX);
	verdict = depot_judge(&view, count);
	if (verdict == DEPOT_FULL && depot_gives_way(&view, count) &&
	    zonelock_make_room(zone, kind)) {
		view.held = atomic_long_read(&zonelock_of(zone)->depot.pages);
		verdict = depot_judge(&view, count);
	}
	if (verdict == DEPOT_STORE)
		return true;
	lmm_count(&lmm_zonelock_policy, COUNT_REFUSED_DISABLED + verdict - DEPOT_DISABLED, 1);
	/* These verdicts also make a pass give back. */
	if (view.held && verdict != DEPOT_FULL && verdict != DEPOT_DISABLED)
		kick(zonelock_of(zone));
	return false;
}

/* Store a batch of a list; returns its pages. */
static unsigned int list_store(struct zone *zone, unsigned int kind, unsigned int count,
			       struct per_cpu_pages *pages)
{
	struct depot *depot = &zonelock_of(zone)->depot;
	unsigned int cpu = smp_processor_id();
	LIST_HEAD(batch);
	unsigned int cut;

	/* Before anything is cut off the list. */
	if (!depot_has_room(depot, cpu)) {
		lmm_count(&lmm_zonelock_policy, COUNT_BUSY, 1);
		return 0;
	}
	cut = cut_batch(pages, kind, count, &batch);
	if (!cut)
		return 0;
	if (!depot_put(depot, cpu, kind, &batch, cut, jiffies)) {
		list_splice_tail(&batch, &pages->lists[kind]);
		lmm_count(&lmm_zonelock_policy, COUNT_BUSY, 1);
		return 0;
	}
	pages->count -= cut;
	lmm_count(&lmm_zonelock_policy, COUNT_STORED, 1);
	lmm_count(&lmm_zonelock_policy, COUNT_STORED_PAGES, cut);
	if (zonelock.topup && !READ_ONCE(lmm_request_wanted))
		WRITE_ONCE(lmm_request_wanted, 1);
	if (!atomic_read(&zonelock.ticking) && !atomic_xchg(&zonelock.ticking, 1))
		lmm_worker_kick(&zonelock.worker);
	return cut;
}

/**
 * zonelock_on_depot_put() - event: a list is about to be drained
 * @zone: zone of the list
 * @count: pages that the kernel wants to drain
 * @pages: the per-CPU lists
 * @pindex: index of the list that has the block just freed
 * @caller: return address of the drain
 *
 * In a burst of frees the kernel drains for every block of order 1 to 3, to keep few of them; the
 * depot stores these blocks.  Before ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit",
 * 6.7) such a drain, which happens at the end of every process, empties all lists; here the single
 * pages stay.
 *
 * Context: see the top of the file.
 * Return: pages that need not be drained any more.  At least @count if the list has room again,
 * even if the kernel wanted to drain more of it.
 */
int zonelock_on_depot_put(struct zone *zone, int count, struct per_cpu_pages *pages, int pindex,
			  unsigned long caller)
{
	int stored, drained;

	/* A drain of one page belongs to a list that the kernel keeps empty. */
	if (count <= 1 || pindex >= DEPOT_KINDS || !zonelock_of(zone)->depot.nr_shards ||
	    !frees(caller) || !may_keep(zone, pages, pindex, count))
		return 0;
	stored = list_store(zone, pindex, count, pages);
	if (!lmm_pindex_order(pindex))
		return stored == DEPOT_BATCH_MAX ? max(stored, count) : stored;
	if (stored)
		return max(stored, count);
	if (!LMM_DRAINS_LIST_AT_EXIT)
		return 0;
	drained = lmm_drain_limit(count, pages->count, READ_ONCE(pages->batch));
	lmm_count(&lmm_zonelock_policy, COUNT_KEPT_PAGES, count - drained);
	return count - drained;
}

/* Fill an empty list.  The caller holds its pcp->lock. */
static unsigned int list_fill(struct zone *zone, struct list_head *list, unsigned int kind)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int count = 0;

	if (depot_stocked(&zz->depot) && !lmm_zone_isolates(zone) && !READ_ONCE(zz->broken)) {
		/* CPUs that only allocate bring the zone near its mark faster than passes come. */
		if (zone_page_state(zone, NR_FREE_PAGES) < zone_mark(zone))
			kick(zz);
		count = depot_get(&zz->depot, smp_processor_id(), kind, list);
	}
	if (!count) {
		lmm_count(&lmm_zonelock_policy, COUNT_MISSED, 1);
		return 0;
	}
	lmm_count(&lmm_zonelock_policy, COUNT_TAKEN, 1);
	lmm_count(&lmm_zonelock_policy, COUNT_TAKEN_PAGES, count);
	return count;
}

/**
 * zonelock_on_depot_get() - event: a list is empty and about to be refilled
 * @zone: zone of the list
 * @order: order of the blocks
 * @asked: blocks that the kernel wants
 * @list: the empty list
 * @migratetype: migratetype of the list
 *
 * Context: see the top of the file.
 * Return: blocks put on the list, which the caller counts; with 0 the caller asks the buddy.
 */
int zonelock_on_depot_get(struct zone *zone, unsigned int order, unsigned long asked,
			  struct list_head *list, int migratetype)
{
	unsigned int kind = lmm_pindex(order, migratetype);

	/* A refill of one page belongs to a list that the kernel keeps empty. */
	if (asked <= 1 || kind >= DEPOT_KINDS || migratetype >= MIGRATE_PCPTYPES)
		return 0;
	return list_fill(zone, list, kind) >> order;
}

/**
 * zonelock_on_request() - event: an allocation begins
 * @zone: zone that the allocation prefers
 * @order: order of the block
 * @migratetype: migratetype of the block
 *
 * Used where refills cannot be hooked: fills an empty list of this CPU before the kernel finds it
 * empty.
 *
 * Context: any that may call the allocator, preemption off; only tries pcp->lock, which an
 * interrupted allocation may hold.
 */
void zonelock_on_request(struct zone *zone, unsigned int order, int migratetype)
{
	struct per_cpu_pages *pages = this_cpu_ptr(zone->per_cpu_pageset);
	unsigned int kind = lmm_pindex(order, migratetype);
	struct list_head *list;

	if (kind >= DEPOT_KINDS || migratetype >= MIGRATE_PCPTYPES)
		return;
	/* First what only this CPU writes: most requests find their list filled. */
	list = &pages->lists[kind];
	if (READ_ONCE(list->next) != list || !depot_stocked(&zonelock_of(zone)->depot) ||
	    !spin_trylock(&pages->lock))
		return;
	if (list_empty(list) && lmm_pageset_read(pages).high)
		pages->count += list_fill(zone, list, kind);
	spin_unlock(&pages->lock);
}

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

/**
 * zonelock_on_bulk_request() - event: a request for many single pages begins
 * @zone: zone that the request tries first
 * @pages: pages asked for, at least 1
 * @migratetype: migratetype of the pages
 *
 * Used where refills cannot be hooked: a bulk request takes pages from this CPU's list, and
 * refills it without asking for each page (event request).
 *
 * Context: as zonelock_on_request().
 */
void zonelock_on_bulk_request(struct zone *zone, unsigned int pages, int migratetype)
{
	struct per_cpu_pages *pcp = this_cpu_ptr(zone->per_cpu_pageset);
	unsigned int kind = lmm_pindex(0, migratetype);
	struct list_head *list = &pcp->lists[kind];
	unsigned int have, got = 1;

	if (!depot_stocked(&zonelock_of(zone)->depot) || !spin_trylock(&pcp->lock))
		return;
	pages = min_t(unsigned int, pages, DEPOT_BATCH_MAX);
	have = lmm_pageset_read(pcp).high ? length_to(list, pages) : pages;
	for (; got && have < pages; have += got) {
		got = list_fill(zone, list, kind);
		pcp->count += got;
	}
	spin_unlock(&pcp->lock);
}

/**
 * zonelock_close() - store nothing of a zone for a while
 * @zone: the zone
 *
 * Context: any.
 */
void zonelock_close(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned long until = jiffies + READ_ONCE(zonelock.hold_off);

	if (READ_ONCE(zz->open_at) != until)
		WRITE_ONCE(zz->open_at, until);
}

/* Have a pass give back what the depot of a zone holds; returns true if that is anything. */
static bool wanted(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);

	if (!depot_stocked(&zz->depot))
		return false;
	WRITE_ONCE(zz->wanted, true);
	return true;
}

/**
 * zonelock_on_pages_wanted() - event: another policy wants free pages of a zone
 * @zone: the zone
 *
 * Context: any, preemption off.
 */
void zonelock_on_pages_wanted(struct zone *zone)
{
	zonelock_close(zone);
	/* The hold-off may be over before the pass runs, so tell the pass. */
	if (wanted(zone))
		kick(zonelock_of(zone));
}

/**
 * zonelock_ask_back() - have zones of a node give back what a request lacks
 * @zone: the first zone of the node that the request may use
 * @order: order of the block
 *
 * Each zone of the node that has too few pages, or no block of the order, gets back what its depot
 * holds.  The request asks every node that it may use, also those that have all it needs.  No depot
 * closes: while pages are short, the watermark and reclaim keep depots from storing.
 *
 * Context: any, preemption off.
 * Return: whether a depot gives back.
 */
bool zonelock_ask_back(struct zone *zone, unsigned int order)
{
	unsigned int slot = rounddown(lmm_zone_slot(zone), MAX_NR_ZONES);
	unsigned int end = slot + MAX_NR_ZONES;
	bool any = false;

	for (; atomic_read(&zonelock.ticking) && slot < end; slot++) {
		struct zone *other = lmm_zone_at(slot);

		if (other && (zone_page_state(other, NR_FREE_PAGES) < zone_mark(other) ||
			      (order && lmm_zone_lacks_order(other, order))))
			any |= wanted(other);
	}
	if (any)
		kick(zonelock_of(zone));
	return any;
}
