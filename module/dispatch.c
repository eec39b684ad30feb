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
 * Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast").  Probes name the arguments
 * that they want; later arguments, which some kernels have, are not looked at.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/static_call.h>

#include "compat/compat.h"
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

static int on_depot_get(struct zone *zone, unsigned int order, unsigned long blocks,
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

static int on_depot_put(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
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

static bool on_give_back(struct lmm_klp_return *part)
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

static unsigned long on_refill_count(struct zone *zone, unsigned int order,
				     unsigned long blocks)
{
	CHANGE(blocks, refill_count, zone, order, blocks);
	return blocks;
}

static unsigned int on_refill_split(struct zone *zone, unsigned long *pages, int migratetype)
{
	if (!LISTENS(refill_split, 0) || zone_is_taken(zone))
		return 0;
	return static_call(lmm_refill_split_0)(zone, pages, migratetype);
}

static int on_refill_type(struct zone *zone, unsigned int order, unsigned long blocks,
			  int migratetype, unsigned int *alloc_flags)
{
	CHANGE(migratetype, refill_type, zone, order, blocks, migratetype, alloc_flags);
	return migratetype;
}

static void on_refill(struct zone *zone, unsigned int order, int migratetype, int got)
{
	lmm_hook_hit(LMM_HOOK_REFILL);
	TELL(refill, zone, order, migratetype, got << order);
}

static int on_drain_count(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			  unsigned long caller)
{
	CHANGE(count, drain_count, zone, count, pcp, pindex, caller);
	return count;
}

static int on_drain_from(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
{
	CHANGE(pindex, drain_from, zone, count, pcp, pindex);
	return pindex;
}

static void on_drain(struct zone *zone, struct per_cpu_pages *pcp, int count, int moved)
{
	lmm_hook_hit(LMM_HOOK_DRAIN);
	TELL(drain, zone, pcp, count, moved);
}

static bool on_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part)
{
	lmm_hook_hit(LMM_HOOK_SCAN);
	if (LISTENS(scan, 0))
		return static_call(lmm_scan_0)(vma, end, part);
	part->start = part->end;
	part->end = end;
	return part->start < end;
}

static int on_fallback(struct free_area *area, unsigned int order, int migratetype,
		       bool claimable, int found, bool *whole)
{
	lmm_hook_hit(LMM_HOOK_FALLBACK);
	CHANGE(found, fallback, area, order, migratetype, claimable, found, whole);
	return found;
}

static const struct lmm_klp_handlers klp_handlers = {
	.depot_get = on_depot_get,
	.depot_put = on_depot_put,
	.give_back = on_give_back,
	.refill_count = on_refill_count,
	.refill_split = on_refill_split,
	.refill_type = on_refill_type,
	.refill = on_refill,
	.drain_count = on_drain_count,
	.drain_from = on_drain_from,
	.drain = on_drain,
	.scan = on_scan,
	.fallback = on_fallback,
};

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

/* A probe of a tracepoint: count the hit, and tell, with preemption off. */
#define PROBE(hook, tell)						\
do {									\
	preempt_disable_notrace();					\
	lmm_hook_hit(hook);						\
	tell;								\
	preempt_enable_notrace();					\
} while (0)

/* Does the kernel keep blocks of this order in per-CPU lists? */
static bool order_is_listed(unsigned int order)
{
	return order <= PAGE_ALLOC_COSTLY_ORDER ||
	       (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && order == pageblock_order);
}

static void tell_list_pages(const struct page *page, unsigned int order, long pages)
{
	if (order_is_listed(order))
		TELL(list_pages, page_to_nid(page), page_zonenum(page), pages);
}

static void on_page_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp,
			  int migratetype)
{
	/* The allocation may have failed. */
	PROBE(LMM_HOOK_PAGE_ALLOC, if (page) tell_list_pages(page, order, 1L << order));
}

static void on_page_free(void *data, struct page *page, unsigned int order)
{
	PROBE(LMM_HOOK_PAGE_FREE, tell_list_pages(page, order, -(1L << order)));
}

static void on_cma_start(void *data, const char *name, unsigned long count)
{
	PROBE(LMM_HOOK_CMA_START, TELL(cma_start, name, count));
}

static void on_cma_busy(void *data, const char *name, unsigned long pfn,
			const struct page *page, unsigned long count, unsigned int align)
{
	PROBE(LMM_HOOK_CMA_BUSY, TELL(cma_busy, name, pfn, count));
}

/* @page is NULL when nothing was got. */
static void on_cma_finish(void *data, const char *name, unsigned long pfn, const struct page *page,
			  unsigned long count)
{
	PROBE(LMM_HOOK_CMA_FINISH, TELL(cma_finish, name, pfn, page, count));
}

static void on_cma_release(void *data, const char *name, unsigned long pfn,
			   const struct page *page, unsigned long count)
{
	PROBE(LMM_HOOK_CMA_RELEASE, TELL(cma_release, name, pfn, page, count));
}

static void on_reclaim_end(void *data, unsigned long nr_reclaimed)
{
	PROBE(LMM_HOOK_RECLAIM_END, TELL(reclaim_end, nr_reclaimed));
}

static void on_compact_begin(void *data, int order, gfp_t gfp, int priority)
{
	PROBE(LMM_HOOK_COMPACT_BEGIN, TELL(compact_begin));
}

/* Called with interrupts off. */
static void on_mixed(void *data, struct page *page, int order, int got_order, int migratetype,
		     int got_migratetype)
{
	PROBE(LMM_HOOK_MIXED, TELL(mixed, page, got_order));
}

/* Kprobes; the kernel calls them with preemption off.  Returning 0 lets the function go on. */
static int on_pageset_default(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_PAGESET_DEFAULT);
	TELL(list_bounds);
	return 0;
}

static int on_wake_kswapd(struct kprobe *kp, struct pt_regs *regs)
{
	struct zone *zone = (struct zone *)regs_get_kernel_argument(regs, 0);
	unsigned int order = regs_get_kernel_argument(regs, 2);

	lmm_hook_hit(LMM_HOOK_WAKE_KSWAPD);
	TELL(kswapd_woken, zone, order);
	return 0;
}

static int on_page_breaks(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_PAGE_BREAKS);
	TELL(page_breaks, regs_get_kernel_argument(regs, 0));
	return 0;
}

static int on_huge_wanted(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_HUGE_WANTED);
	TELL(huge_wanted);
	return 0;
}

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

static int on_bulk_request(struct kprobe *kp, struct pt_regs *regs)
{
	gfp_t gfp = (__force gfp_t)regs_get_kernel_argument(regs, 0);
	int pages = regs_get_kernel_argument(regs, 3);
	struct zone *zone = bulk_zone(regs_get_kernel_argument(regs, 1), gfp);

	lmm_hook_hit(LMM_HOOK_BULK_REQUEST);
	if (pages > 0 && zone && !zone_is_taken(zone))
		TELL(bulk_request, zone, pages, gfp_type(gfp));
	return 0;
}

static int on_scan_begin(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_SCAN_BEGIN);
	TELL(scan_begin);
	return 0;
}

static int on_mm_exit(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_MM_EXIT);
	TELL(mm_exit, (struct mm_struct *)regs_get_kernel_argument(regs, 0));
	return 0;
}

/* What main.c gives to the hook layer. */
const struct lmm_hook_handlers lmm_dispatch_handlers = {
	.klp = &klp_handlers,
	.entry = &entry_handlers,
	.probes = {
		[LMM_HOOK_PAGE_ALLOC] = on_page_alloc,
		[LMM_HOOK_PAGE_FREE] = on_page_free,
		[LMM_HOOK_PAGESET_DEFAULT] = on_pageset_default,
		[LMM_HOOK_WAKE_KSWAPD] = on_wake_kswapd,
		[LMM_HOOK_PAGE_BREAKS] = on_page_breaks,
		[LMM_HOOK_HUGE_WANTED] = on_huge_wanted,
		[LMM_HOOK_BULK_REQUEST] = on_bulk_request,
		[LMM_HOOK_SCAN_BEGIN] = on_scan_begin,
		[LMM_HOOK_MM_EXIT] = on_mm_exit,
		[LMM_HOOK_RECLAIM_END] = on_reclaim_end,
		[LMM_HOOK_COMPACT_BEGIN] = on_compact_begin,
		[LMM_HOOK_MIXED] = on_mixed,
		[LMM_HOOK_CMA_START] = on_cma_start,
		[LMM_HOOK_CMA_BUSY] = on_cma_busy,
		[LMM_HOOK_CMA_FINISH] = on_cma_finish,
		[LMM_HOOK_CMA_RELEASE] = on_cma_release,
	},
};
