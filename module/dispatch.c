// SPDX-License-Identifier: GPL-2.0-only
/*
 * dispatch.c - what hooks report becomes an event, delivered to the policies that subscribed
 *
 * A handler counts the hit of its hook, and delivers the event; deliver.h has how.  A hook that no
 * policy uses is not armed.
 *
 * Context of the allocator's hooks: preemption off, any context the allocator may be called from;
 * refill and drain under pcp->lock too.  No sleeping, no printk, no allocation, no lock.  Hooks of
 * NUMA balancing run in a process; see struct lmm_events.  Probes of tracepoints see to preemption
 * themselves, because kernels from 7.0 on call them with preemption on (a46023d5616e "tracing:
 * Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast").
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "deliver.h"
#include "dispatch.h"
#include "events.h"
#include "hook/entry.h"

/* Does an owner of memory in the zone take pages right now? */
static bool zone_is_taken(const struct zone *zone)
{
	return (LISTENS(zone_is_taken, 0) && static_call(lmm_zone_is_taken_0)(zone)) ||
	       (LISTENS(zone_is_taken, 1) && static_call(lmm_zone_is_taken_1)(zone));
}

/**
 * lmm_on_depot_get() - offer a refill to the depot, before the buddy is asked
 * @zone: of the list
 * @order: of the blocks
 * @blocks: number of blocks that are asked for
 * @list: this CPU's list
 * @migratetype: of the list
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: number of blocks put on @list; if not 0, the buddy is not asked.
 */
int lmm_on_depot_get(struct zone *zone, unsigned int order, unsigned long blocks,
		     struct list_head *list, int migratetype)
{
	int got = 0;

	if (LISTENS(depot_get, 0) && !zone_is_taken(zone)) {
		got = static_call(lmm_depot_get_0)(zone, order, blocks, list, migratetype);
		if (got) {
			lmm_hook_hit(LMM_HOOK_REFILL);
			TELL(list_filled, zone, order, migratetype, got << order);
		}
	}
	return got;
}
EXPORT_SYMBOL_LMM(lmm_on_depot_get);

/**
 * lmm_on_depot_put() - offer pages to the depot that are about to be drained
 * @zone: of the lists
 * @count: number of pages to drain
 * @pcp: the lists
 * @pindex: list to begin with
 * @caller: return address of the drain
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: number of pages taken off @pcp; the rest is drained.
 */
int lmm_on_depot_put(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
		     unsigned long caller)
{
	int put = 0, before, beyond = 0;

	/* A list that has room again has nothing to give. */
	if (count > 0 && LISTENS(depot_put, 0)) {
		before = pcp->count;
		put = static_call(lmm_depot_put_0)(zone, count, pcp, pindex, caller);
		beyond = before - pcp->count - min(put, count);
	}
	if (beyond)
		TELL(drain_beyond, zone, pcp, beyond);
	/* With nothing left to drain, on_drain() is not called. */
	if (put >= count)
		lmm_hook_hit(LMM_HOOK_DRAIN);
	return put;
}
EXPORT_SYMBOL_LMM(lmm_on_depot_put);

/**
 * lmm_on_give_back() - somebody wants pages in the buddy that are kept from the buddy
 * @part: the request; called until the answer is false
 *
 * Context: process, preemption off, no lock of the allocator held.
 * Return: true if there is more to give back.
 */
bool lmm_on_give_back(struct lmm_klp_return *part)
{
	static const enum lmm_hook_id hooks[LMM_KLP_NR] = {
		[LMM_KLP_DRAIN_ZONE] = LMM_HOOK_DRAIN_ZONE,
		[LMM_KLP_DRAIN_ALL] = LMM_HOOK_DRAIN_ALL,
		[LMM_KLP_COMPACT] = LMM_HOOK_COMPACT,
	};

	/* Called again for every batch. */
	if (!part->started)
		lmm_hook_hit(hooks[part->by]);
	return LISTENS(give_back, 0) && static_call(lmm_give_back_0)(part);
}
EXPORT_SYMBOL_LMM(lmm_on_give_back);

/**
 * lmm_on_refill_count() - choose how many blocks a refill asks for
 * @zone: of the list
 * @order: of the blocks
 * @blocks: number that the kernel asks for
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: the number, at least @blocks.
 */
unsigned long lmm_on_refill_count(struct zone *zone, unsigned int order,
				  unsigned long blocks)
{
	CHANGE(blocks, refill_count, zone, order, blocks);
	return blocks;
}
EXPORT_SYMBOL_LMM(lmm_on_refill_count);

/**
 * lmm_on_refill_split() - choose larger blocks for a refill with single pages
 * @zone: of the list
 * @pages: number of pages to ask for; gets the number in the larger blocks
 * @migratetype: of the list
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: order of the blocks to take and to split; 0 for single pages.
 */
unsigned int lmm_on_refill_split(struct zone *zone, unsigned long *pages, int migratetype)
{
	if (!LISTENS(refill_split, 0) || zone_is_taken(zone))
		return 0;
	return static_call(lmm_refill_split_0)(zone, pages, migratetype);
}
EXPORT_SYMBOL_LMM(lmm_on_refill_split);

/**
 * lmm_on_refill_type() - choose where a refill comes from, on a kernel with CMA
 * @zone: of the list
 * @order: of the blocks
 * @blocks: number of blocks
 * @migratetype: of the list
 * @alloc_flags: of the request; may be changed
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: the migratetype to ask for; if that yields nothing, the kernel is asked as without
 * livemm.
 */
int lmm_on_refill_type(struct zone *zone, unsigned int order, unsigned long blocks,
		       int migratetype, unsigned int *alloc_flags)
{
	CHANGE(migratetype, refill_type, zone, order, blocks, migratetype, alloc_flags);
	return migratetype;
}
EXPORT_SYMBOL_LMM(lmm_on_refill_type);

/**
 * lmm_on_refill() - a list was refilled from the buddy
 * @zone: of the list
 * @order: of the blocks
 * @migratetype: of the list
 * @got: number of blocks, not counted in the list yet
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 */
void lmm_on_refill(struct zone *zone, unsigned int order, int migratetype, int got)
{
	lmm_hook_hit(LMM_HOOK_REFILL);
	TELL(refill, zone, order, migratetype, got << order);
}
EXPORT_SYMBOL_LMM(lmm_on_refill);

/**
 * lmm_on_drain_count() - choose how many pages a drain moves to the buddy
 * @zone: of the lists
 * @count: number that the kernel asks for
 * @pcp: the lists
 * @pindex: list to begin with
 * @caller: return address of the drain
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: the number, at most @count.
 */
int lmm_on_drain_count(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
		       unsigned long caller)
{
	CHANGE(count, drain_count, zone, count, pcp, pindex, caller);
	return count;
}
EXPORT_SYMBOL_LMM(lmm_on_drain_count);

/**
 * lmm_on_drain_from() - choose the list that a drain begins with, after lmm_on_depot_put()
 * @zone: of the lists
 * @count: number of pages
 * @pcp: the lists
 * @pindex: list that the kernel begins with
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: the list.
 */
int lmm_on_drain_from(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
{
	CHANGE(pindex, drain_from, zone, count, pcp, pindex);
	return pindex;
}
EXPORT_SYMBOL_LMM(lmm_on_drain_from);

/**
 * lmm_on_drain() - pages went to the buddy
 * @zone: of the lists
 * @pcp: the lists
 * @count: number of pages that were to go
 * @moved: number of pages that went, in whole blocks
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 */
void lmm_on_drain(struct zone *zone, struct per_cpu_pages *pcp, int count, int moved)
{
	lmm_hook_hit(LMM_HOOK_DRAIN);
	TELL(drain, zone, pcp, count, moved);
}
EXPORT_SYMBOL_LMM(lmm_on_drain);

/**
 * lmm_on_fallback() - a migratetype has no free pages, and the kernel has found another one
 * @area: free blocks of @order
 * @order: of the request
 * @migratetype: that has no free pages
 * @claimable: compaction asks
 * @found: migratetype that lends, or -1
 * @whole: cleared if the block must be split
 *
 * Context: under zone->lock, interrupts off; if @claimable is set, under no lock, preemption
 * off.
 * Return: @found, or -1 to refuse.
 */
int lmm_on_fallback(struct free_area *area, unsigned int order, int migratetype,
		    bool claimable, int found, bool *whole)
{
	lmm_hook_hit(LMM_HOOK_FALLBACK);
	CHANGE(found, fallback, area, order, migratetype, claimable, found, whole);
	return found;
}
EXPORT_SYMBOL_LMM(lmm_on_fallback);

/* Entries of functions: direct calls. */
static void notrace on_hint_fault(int last_cpupid, int nid, int pages, int flags)
{
	preempt_disable_notrace();
	this_cpu_add(lmm_hook_hits[LMM_HOOK_HINT_FAULT], LMM_ENTRY_EVERY);
	TELL(hint_fault, last_cpupid, pages, flags);
	preempt_enable_notrace();
}

static void notrace on_request(gfp_t gfp, unsigned int order, int flags,
			       const struct alloc_context *context)
{
	struct zone *zone;

	preempt_disable_notrace();
	zone = context->preferred_zoneref->zone;
	lmm_hook_hit(LMM_HOOK_REQUEST);
	if (zone && !zone_is_taken(zone))
		TELL(request, zone, order, context->migratetype);
	preempt_enable_notrace();
}

static const struct lmm_entry_handlers entry_handlers = {
	.hint_fault = on_hint_fault,
	.request = on_request,
};

/*
 * A probe of a tracepoint: count the hit, and tell, with preemption off.  Probes name the arguments
 * that they want; later arguments, which some kernels have, are not looked at.
 */
#define ON_TRACEPOINT(id, name, args, ...)				\
static void on_##name args						\
{									\
	preempt_disable_notrace();					\
	lmm_hook_hit(LMM_HOOK_##id);					\
	__VA_ARGS__;							\
	preempt_enable_notrace();					\
}

/* A kprobe: the kernel calls us with preemption off.  Returning 0 lets the function go on. */
#define ON_KPROBE(id, name, ...)					\
static int on_##name(struct kprobe *kp, struct pt_regs *regs)		\
{									\
	lmm_hook_hit(LMM_HOOK_##id);					\
	__VA_ARGS__;							\
	return 0;							\
}

/* Argument @n, from 0, of the function that is probed. */
#define PROBED(n)	regs_get_kernel_argument(regs, n)

/* Does the kernel keep blocks of this order in per-CPU lists? */
static bool order_is_listed(unsigned int order)
{
	return order <= PAGE_ALLOC_COSTLY_ORDER ||
	       (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && order == pageblock_order);
}

static void tell_list_pages(const struct page *page, unsigned int order, long pages)
{
	if (page && order_is_listed(order))
		TELL(list_pages, page_to_nid(page), page_zonenum(page), pages);
}

/* The allocation may have failed. */
ON_TRACEPOINT(PAGE_ALLOC, page_alloc, (void *data, struct page *page, unsigned int order,
				       gfp_t gfp, int migratetype),
	      tell_list_pages(page, order, 1L << order))
ON_TRACEPOINT(PAGE_FREE, page_free, (void *data, struct page *page, unsigned int order),
	      tell_list_pages(page, order, -(1L << order)))
ON_TRACEPOINT(CMA_START, cma_start, (void *data, const char *name, unsigned long count),
	      TELL(cma_start, name, count))
ON_TRACEPOINT(CMA_BUSY, cma_busy, (void *data, const char *name, unsigned long pfn,
				   const struct page *page, unsigned long count,
				   unsigned int align),
	      TELL(cma_busy, name, pfn, count))
/* @page is NULL when nothing was got. */
ON_TRACEPOINT(CMA_FINISH, cma_finish, (void *data, const char *name, unsigned long pfn,
				       const struct page *page, unsigned long count),
	      TELL(cma_finish, name, pfn, page, count))
ON_TRACEPOINT(CMA_RELEASE, cma_release, (void *data, const char *name, unsigned long pfn,
					 const struct page *page, unsigned long count),
	      TELL(cma_release, name, pfn, page, count))
ON_TRACEPOINT(RECLAIM_END, reclaim_end, (void *data, unsigned long nr_reclaimed),
	      TELL(reclaim_end, nr_reclaimed))
ON_TRACEPOINT(COMPACT_BEGIN, compact_begin, (void *data, int order, gfp_t gfp, int priority),
	      TELL(compact_begin))
/* Called with interrupts off. */
ON_TRACEPOINT(MIXED, mixed, (void *data, struct page *page, int order, int got_order,
			     int migratetype, int got_migratetype),
	      TELL(mixed, page, got_order))

/* The zone that a bulk request tries first: the highest of the node that @gfp allows. */
static struct zone *bulk_zone(int nid, gfp_t gfp)
{
	int i = gfp_zone(gfp);
	struct zone *zones;

	if (nid < 0 || !node_online(nid))
		return NULL;
	zones = NODE_DATA(nid)->node_zones;
	while (i && !managed_zone(&zones[i]))
		i--;
	return &zones[i];
}

/* As gfp_migratetype(), of a machine that groups pages by mobility. */
static int gfp_type(gfp_t gfp)
{
	if (gfp & __GFP_MOVABLE)
		return MIGRATE_MOVABLE;
	return gfp & __GFP_RECLAIMABLE ? MIGRATE_RECLAIMABLE : MIGRATE_UNMOVABLE;
}

static void tell_bulk_request(gfp_t gfp, int nid, int pages)
{
	struct zone *zone = bulk_zone(nid, gfp);

	if (pages > 0 && zone && !zone_is_taken(zone))
		TELL(bulk_request, zone, pages, gfp_type(gfp));
}

ON_KPROBE(BULK_REQUEST, bulk_request,
	  tell_bulk_request((__force gfp_t)PROBED(0), PROBED(1), PROBED(3)))
ON_KPROBE(PAGESET_DEFAULT, pageset_default, TELL(list_bounds))
ON_KPROBE(WAKE_KSWAPD, wake_kswapd, TELL(kswapd_woken, (struct zone *)PROBED(0), PROBED(2)))
ON_KPROBE(PAGE_BREAKS, page_breaks, TELL(page_breaks, PROBED(0)))
ON_KPROBE(HUGE_WANTED, huge_wanted, TELL(huge_wanted))
ON_KPROBE(SCAN_BEGIN, scan_begin, TELL(scan_begin))
ON_KPROBE(MM_EXIT, mm_exit, TELL(mm_exit, (struct mm_struct *)PROBED(0)))

/* What main.c gives to the hook layer. */
const struct lmm_hook_handlers lmm_dispatch_handlers = {
	.entry = &entry_handlers,
	.probes = {
#define KPROBE(id, name, ...)		[LMM_HOOK_##id] = on_##name,
#define TRACEPOINT(id, name, ...)	[LMM_HOOK_##id] = on_##name,
#include "hook/rows.h"
	},
};
