/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - what a policy is told and asked: every event, and how a policy subscribes
 *
 * The functions are in deliver.c.
 */
#ifndef LIVEMM_EVENTS_H
#define LIVEMM_EVENTS_H

#include <linux/types.h>

#include "hook/klp_link.h"
#include "livemm.h"

struct page;

/**
 * struct lmm_events - what a policy wants to be told, and asked
 *
 * A policy sets the members that it handles.  Events reach a policy from lmm_events_start() to
 * lmm_events_stop(), in the order in which policies were registered.  An event is reported while
 * a policy subscribes to the hook that is named with the event.
 *
 * Context of every member, unless the member says otherwise: preemption off, any context that the
 * allocator may be called from.  No sleeping, no printk, no allocation, no lock that the
 * allocator can take.
 */
struct lmm_events {
	/**
	 * @depot_get: a refill of @blocks blocks of @order to this CPU's list of @zone is about
	 * to begin.  Puts pages on that list, @list, and returns how many blocks; if not 0, the
	 * buddy is not asked.  One policy only.  Not asked while an owner takes the zone.  Under
	 * pcp->lock.  Hook: refill.
	 */
	int (*depot_get)(struct zone *zone, unsigned int order, unsigned long blocks,
			 struct list_head *list, int migratetype);

	/**
	 * @depot_put: a drain of @count pages that @caller asked for is about to begin, of the
	 * list @pindex of @pcp first.  Takes pages off @pcp and returns how many; the rest is
	 * drained.  Comes after @drain_count: what the list itself has room for is not offered.
	 * One policy only.  Under pcp->lock.  Hook: drain.
	 */
	int (*depot_put)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			 unsigned long caller);

	/**
	 * @request: the allocator looks for a block of @order, in @zone first, while
	 * lmm_request_wants.call is set.  Not reported while an owner takes the zone.  Hook:
	 * request.
	 */
	void (*request)(struct zone *zone, unsigned int order, int migratetype);

	/**
	 * @bulk_request: the allocator is about to take up to @pages single pages of @zone from
	 * this CPU's list of @migratetype.  Not reported while an owner takes the zone.  Hook:
	 * bulk_request.
	 */
	void (*bulk_request)(struct zone *zone, unsigned int pages, int migratetype);

	/**
	 * @give_back: pages kept from the buddy are wanted there.  Gives back a batch, and
	 * returns true if there is more.  One policy only.  Process, no lock of the
	 * allocator's held.  Hooks: drain_zone, drain_all, compact.
	 */
	bool (*give_back)(struct lmm_klp_return *part);

	/**
	 * @list_filled: @depot_get has put @pages pages on this CPU's list of @migratetype, which
	 * does not count them yet.  Under pcp->lock.  Hook: refill.
	 */
	void (*list_filled)(struct zone *zone, unsigned int order, int migratetype, int pages);

	/**
	 * @pages_wanted: free pages of @zone are wanted in the buddy soon.  Reported by
	 * lmm_pages_wanted().
	 */
	void (*pages_wanted)(struct zone *zone);

	/**
	 * @list_shrink: another policy gives pages of @pcp back to the buddy, down to @keep.
	 * Takes pages off @pcp, and returns how many; 0 if somebody else has to.  One policy only.
	 * Under pcp->lock.  Reported by lmm_list_shrink().
	 */
	int (*list_shrink)(struct zone *zone, struct per_cpu_pages *pcp, int keep);

	/**
	 * @zone_is_taken: does an owner of memory in @zone take pages right now?  Free pages
	 * of the zone are then for the owner.  Any policy that answers true is enough.
	 */
	bool (*zone_is_taken)(const struct zone *zone);

	/**
	 * @refill_count: a refill of @blocks blocks of @order is about to begin.  Returns how
	 * many to ask the buddy for, at least @blocks.  Under pcp->lock.  Hook: refill.
	 */
	unsigned long (*refill_count)(struct zone *zone, unsigned int order,
				      unsigned long blocks);

	/**
	 * @refill_split: a refill of *@pages single pages of @migratetype is about to begin.
	 * Returns the order of the blocks to take instead, and to split, and sets *@pages to their
	 * pages; 0 for single pages.  One policy only.  Under pcp->lock.  Hook: refill.
	 */
	unsigned int (*refill_split)(struct zone *zone, unsigned long *pages, int migratetype);

	/**
	 * @refill_type: a refill of @zone's list of @migratetype with @blocks blocks of @order is
	 * about to begin, on a kernel with CMA.  Returns the migratetype to ask the kernel for, and
	 * may change *@alloc_flags.  One policy only.  Under pcp->lock.  Hook: refill.
	 */
	int (*refill_type)(struct zone *zone, unsigned int order, unsigned long blocks,
			   int migratetype, unsigned int *alloc_flags);

	/**
	 * @refill: @pages pages were moved from the buddy to the list of @migratetype, which does
	 * not count them yet.  Under pcp->lock.  Hook: refill.
	 */
	void (*refill)(struct zone *zone, unsigned int order, int migratetype, int pages);

	/**
	 * @drain_count: a drain of @count pages that @caller asked for is about to begin, of the
	 * list @pindex of @pcp first.  Returns how many to drain, from 0 to @count.  Under
	 * pcp->lock.  Hook: drain.
	 */
	int (*drain_count)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			   unsigned long caller);

	/**
	 * @drain_beyond: @depot_put took @beyond more pages off @pcp than @drain_count had allowed;
	 * fewer, if @beyond is negative: pages of this part went with one before, or stay.  One
	 * policy only.  Under pcp->lock.  Hook: drain.
	 */
	void (*drain_beyond)(struct zone *zone, struct per_cpu_pages *pcp, int beyond);

	/**
	 * @drain_from: @count pages of @pcp are about to go to the buddy, from the list @pindex
	 * first.  Returns the list to begin with.  One policy only.  Under pcp->lock.  Hook:
	 * drain.
	 */
	int (*drain_from)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex);

	/**
	 * @drain: @moved pages went from @pcp to the buddy, where @count were to go: blocks go
	 * whole.  One policy only.  Under pcp->lock.  Hook: drain.
	 */
	void (*drain)(struct zone *zone, struct per_cpu_pages *pcp, int count, int moved);

	/**
	 * @list_pages: @pages pages of a zone, in a block of an order that per-CPU lists keep,
	 * were allocated; freed, if @pages is negative.  Hooks: page_alloc, page_free.
	 */
	void (*list_pages)(int nid, int zone_idx, long pages);

	/**
	 * @list_bounds: the kernel works out the bounds of lists anew.  The kernel holds its
	 * pcp_batch_high_lock.  Hook: pageset_default.
	 */
	void (*list_bounds)(void);

	/**
	 * @kswapd_woken: a request for a block of @order asks kswapd for pages.  @zone is the first
	 * zone of a node that the request may use.  The request asks each such node, and each
	 * kswapd itself decides whether there is anything to do.  No lock of the allocator's held.
	 * Hook: wake_kswapd.
	 */
	void (*kswapd_woken)(struct zone *zone, unsigned int order);

	/**
	 * @huge_wanted: this thread is about to allocate a huge page.  Process, no lock of the
	 * allocator's held.  Hook: huge_wanted.
	 */
	void (*huge_wanted)(void);

	/**
	 * @page_breaks: the kernel is about to mark page @pfn as broken.  The page may be free,
	 * used, or of no zone.  Process, no lock of the allocator's held.  Hook: page_breaks.
	 */
	void (*page_breaks)(unsigned long pfn);

	/**
	 * @fallback: free pages of @migratetype are wanted; @found is the other type of which the
	 * kernel has found a free block of @order, or -1.  Returns @found, or -1 to refuse, and
	 * clears @whole where no more than was asked for may be taken of a block.  Under
	 * zone->lock, interrupts off; where @claimable is set, under no lock.  Hook: fallback.
	 */
	int (*fallback)(struct free_area *area, unsigned int order, int migratetype,
			bool claimable, int found, bool *whole);

	/**
	 * @mixed: a request got pages of another type, of a free block of @got_order.  Under
	 * zone->lock, interrupts off.  Hook: mixed.
	 */
	void (*mixed)(const struct page *page, int got_order);

	/**
	 * @reclaim_end: this thread has reclaimed @pages pages for its request.  Process, no
	 * lock held.  Hook: reclaim_end.
	 */
	void (*reclaim_end)(unsigned long pages);

	/**
	 * @compact_begin: this thread will compact for its request.  Process, no lock held.
	 * Hook: compact_begin.
	 */
	void (*compact_begin)(void);

	/**
	 * @cma_start: an owner wants @count pages of area @name in one piece.  Process.  Hook:
	 * cma_start.
	 */
	void (*cma_start)(const char *name, unsigned long count);

	/**
	 * @cma_busy: @count pages from @pfn on could not be emptied for an owner.  Process.
	 * Hook: cma_busy.
	 */
	void (*cma_busy)(const char *name, unsigned long pfn, unsigned long count);

	/**
	 * @cma_finish: an owner has got @count pages from @pfn on, or has @got none.  Process.
	 * Hook: cma_finish.
	 */
	void (*cma_finish)(const char *name, unsigned long pfn, bool got, unsigned long count);

	/**
	 * @cma_release: an owner releases @count pages from @pfn on; @page is the first.  Any
	 * context that pages may be freed in.  Hook: cma_release.
	 */
	void (*cma_release)(const char *name, unsigned long pfn, const struct page *page,
			    unsigned long count);

	/**
	 * @hint_fault: this thread has had a NUMA hint fault on @pages pages; one fault in
	 * LMM_ENTRY_EVERY is reported, and stands for all.  Process.  Hook: hint_fault.
	 */
	void (*hint_fault)(int last_cpupid, int pages, int flags);

	/**
	 * @scan_begin: this thread may be about to scan its mm.  Process, on its way to user
	 * space, no lock held.  Hook: scan_begin.
	 */
	void (*scan_begin)(void);

	/** @mm_exit: nobody uses @mm any more.  Process, no lock held.  Hook: mm_exit. */
	void (*mm_exit)(struct mm_struct *mm);
};

int lmm_events_register(enum lmm_policy_id id, const struct lmm_events *events);
void lmm_events_unregister(enum lmm_policy_id id);
void lmm_events_start(enum lmm_policy_id id);
void lmm_events_stop(enum lmm_policy_id id);

void lmm_pages_wanted(struct zone *zone);
int lmm_list_shrink(struct zone *zone, struct per_cpu_pages *pcp, int keep);

#endif /* LIVEMM_EVENTS_H */
