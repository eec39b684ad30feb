// SPDX-License-Identifier: GPL-2.0-only
/*
 * dispatch.c - raw hook arguments become events, delivered to the policies
 *
 * The order of delivery is the order of enum lmm_policy_id, written out in each
 * handler: a policy that takes pages away (zonelock, cma) comes before the one
 * that sizes the rest (pcp).  A policy that is off costs one test of a bit.  A hook that no
 * policy uses is not armed.
 *
 * Context of the allocator's handlers: preemption off, any context the allocator may
 * be called from, refill and drain under pcp->lock too.  No sleeping, no printk, no
 * allocation, no lock.  Those of NUMA balancing run in a process, and say where.  Probes of
 * tracepoints see to preemption themselves: not every kernel does (LMM_PROBES_WAIT_FOR_RCU).
 * They take the arguments that they want; what a kernel has added behind is not looked at.
 */
#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "compat/compat.h"
#include "dispatch.h"
#include "hook/entry.h"
#include "hook/table.h"
#include "policy/cma/cma.h"
#include "policy/numa/numa.h"
#include "policy/pageblock/pageblock.h"
#include "policy/pcp/pcp.h"
#include "policy/zonelock/zonelock.h"

/* BIT() of each policy that events are delivered to. */
static unsigned long listening __read_mostly;

static bool listens(enum lmm_policy_id id)
{
	return READ_ONCE(listening) & BIT(id);
}

/**
 * lmm_events_start() - a policy's hooks are armed: deliver to it
 * @id: the policy
 *
 * Context: any.
 */
void lmm_events_start(enum lmm_policy_id id)
{
	set_bit(id, &listening);
}

/**
 * lmm_events_stop() - deliver nothing more to a policy
 * @id: the policy
 *
 * The stop takes effect at once and waits for nobody.  A handler that is running may still deliver
 * an event, so a caller waits for running handlers before freeing their data.
 *
 * Context: any.
 */
void lmm_events_stop(enum lmm_policy_id id)
{
	clear_bit(id, &listening);
	lmm_buffers_unmovable(id, false);
}

static int event_take(struct zone *zone, unsigned int order, unsigned long asked,
		      struct list_head *list, int migratetype)
{
	int got = 0;

	/* What an owner of CMA memory is about to take may be in the depot too. */
	if (listens(LMM_ZONELOCK) && !(listens(LMM_CMA) && lmm_cma_allocating(zone))) {
		got = lmm_zonelock_take(zone, order, asked, list, migratetype);
		if (got)
			lmm_hook_hit(LMM_HOOK_REFILL);
	}
	return got;
}

static int event_store(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
		       unsigned long caller)
{
	int stored = 0;

	if (listens(LMM_ZONELOCK)) {
		stored = lmm_zonelock_store(zone, count, pcp, pindex, caller);
		if (stored >= count)
			lmm_hook_hit(LMM_HOOK_DRAIN);
	}
	return stored;
}

static bool event_give_back(struct lmm_klp_return *part)
{
	static const enum lmm_hook_id hooks[LMM_KLP_NR] = {
		[LMM_KLP_DRAIN_ZONE] = LMM_HOOK_DRAIN_ZONE,
		[LMM_KLP_DRAIN_ALL] = LMM_HOOK_DRAIN_ALL,
		[LMM_KLP_COMPACT] = LMM_HOOK_COMPACT,
	};

	/* Called again for every batch. */
	if (!part->started)
		lmm_hook_hit(hooks[part->by]);
	return listens(LMM_ZONELOCK) && lmm_zonelock_return(part);
}

static unsigned long event_refill_count(struct zone *zone, unsigned int order,
					unsigned long asked)
{
	if (listens(LMM_PCP))
		asked = lmm_pcp_refill_count(zone, order, asked);
	return asked;
}

static void event_source(struct zone *zone, unsigned int order, int migratetype,
			 struct lmm_klp_source *source)
{
	if (listens(LMM_CMA))
		lmm_cma_source(zone, order, migratetype, source);
}

static void event_sourced(struct zone *zone, unsigned int order,
			  const struct lmm_klp_source *source)
{
	if (listens(LMM_CMA))
		lmm_cma_refilled(zone, order, source);
}

static void event_refill(struct zone *zone, unsigned int order, int got)
{
	lmm_hook_hit(LMM_HOOK_REFILL);
	if (listens(LMM_PCP))
		lmm_pcp_refill(zone, order, got << order);
}

static int event_drain_count(struct zone *zone, int count, struct per_cpu_pages *pcp,
			     int pindex)
{
	if (listens(LMM_PCP))
		count = lmm_pcp_drain_count(zone, count, pcp, pindex);
	return count;
}

static void event_drain(struct zone *zone, struct per_cpu_pages *pcp, int pages)
{
	lmm_hook_hit(LMM_HOOK_DRAIN);
	if (listens(LMM_PCP))
		lmm_pcp_drain(pages);
}

static bool event_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part)
{
	lmm_hook_hit(LMM_HOOK_SCAN);
	if (listens(LMM_NUMA))
		return lmm_numa_scan(vma, end, part);
	part->start = part->end;
	part->end = end;
	return part->start < end;
}

static unsigned long event_scan_charge(struct vm_area_struct *vma, unsigned long total)
{
	return listens(LMM_NUMA) ? lmm_numa_scan_charge(vma, total) : total;
}

/* Set while a refill of this CPU must find nothing rather than pages of another type. */
static DEFINE_PER_CPU(bool, regular_only);

static int event_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole)
{
	lmm_hook_hit(LMM_HOOK_FALLBACK);
	/* An interrupt that wants movable pages just then may find none either. */
	if (IS_ENABLED(CONFIG_CMA) && migratetype == MIGRATE_MOVABLE && !stealable_only &&
	    this_cpu_read(regular_only))
		return -1;
	if (listens(LMM_PAGEBLOCK))
		found = lmm_pageblock_fallback(area, order, migratetype, stealable_only, found,
					       whole);
	return found;
}

const struct lmm_klp_handlers lmm_event_klp_handlers = {
	.take = event_take,
	.store = event_store,
	.give_back = event_give_back,
	.refill_count = event_refill_count,
	.source = event_source,
	.sourced = event_sourced,
	.refill = event_refill,
	.drain_count = event_drain_count,
	.drain = event_drain,
	.scan = event_scan,
	.scan_charge = event_scan_charge,
	.fallback = event_fallback,
	.regular_only = &regular_only,
};

/* Does the kernel keep blocks of this order in per-CPU lists? */
static bool order_is_listed(unsigned int order)
{
	return order <= PAGE_ALLOC_COSTLY_ORDER ||
	       (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && order == pageblock_order);
}

/**
 * lmm_event_page_alloc() - probe of tracepoint mm_page_alloc
 * @data: unused
 * @page: what was allocated, or NULL
 * @order: of the block
 * @gfp: unused
 * @migratetype: unused
 *
 * Context: any the allocator may be called from; see the top of the file.
 */
void lmm_event_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_PAGE_ALLOC);
	if (listens(LMM_PCP) && page && order_is_listed(order))
		lmm_pcp_page(page_to_nid(page), page_zonenum(page), 1L << order);
	preempt_enable_notrace();
}

/**
 * lmm_event_page_free() - probe of tracepoint mm_page_free
 * @data: unused
 * @page: what is being freed
 * @order: of the block
 *
 * Context: any the allocator may be called from; see the top of the file.
 */
void lmm_event_page_free(void *data, struct page *page, unsigned int order)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_PAGE_FREE);
	if (listens(LMM_PCP) && order_is_listed(order))
		lmm_pcp_page(page_to_nid(page), page_zonenum(page), -(1L << order));
	preempt_enable_notrace();
}

/**
 * lmm_event_pageset_default() - kprobe on zone_set_pageset_high_and_batch()
 * @kp: unused
 * @regs: unused; every zone is looked at anew
 *
 * Context: preemption off; the kernel holds its pcp_batch_high_lock.
 * Return: 0, the function goes on.
 */
int lmm_event_pageset_default(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_PAGESET_DEFAULT);
	if (listens(LMM_PCP))
		lmm_pcp_pageset_default();
	return 0;
}

/**
 * lmm_event_wake_kswapd() - kprobe on wakeup_kswapd()
 * @kp: unused
 * @regs: its arguments; the zone is the first
 *
 * Context: preemption off; any context the allocator may be called from, under no
 * lock of the allocator's.
 * Return: 0, the function goes on.
 */
int lmm_event_wake_kswapd(struct kprobe *kp, struct pt_regs *regs)
{
	struct zone *zone = (struct zone *)regs_get_kernel_argument(regs, 0);

	lmm_hook_hit(LMM_HOOK_WAKE_KSWAPD);
	if (listens(LMM_ZONELOCK))
		lmm_zonelock_wanted(zone);
	if (listens(LMM_PCP))
		lmm_pcp_wake_kswapd(zone);
	return 0;
}

/* Calls of hooks that run at the entry of a function; see hook/entry.h. */
DEFINE_PER_CPU(unsigned int, lmm_calls_hint_fault);
DEFINE_PER_CPU(unsigned int, lmm_calls_hint_vma);

/**
 * lmm_event_topup() - at the entry of get_page_from_freelist(), while there is a depot with
 *	pages where refills cannot be hooked
 * @gfp: of the request
 * @order: of the request
 * @flags: of the request
 * @request: the rest of the request
 *
 * Context: any that the allocator may be called from.
 */
void notrace lmm_event_topup(gfp_t gfp, unsigned int order, int flags,
			     const struct alloc_context *request)
{
	struct zone *zone;

	preempt_disable_notrace();
	zone = request->preferred_zoneref->zone;
	lmm_hook_hit(LMM_HOOK_REQUEST);
	/* As in event_take(). */
	if (listens(LMM_ZONELOCK) && zone && !(listens(LMM_CMA) && lmm_cma_allocating(zone)))
		lmm_zonelock_topup(zone, order, request->migratetype);
	preempt_enable_notrace();
}

/* What hook/entry.S notes of a request. */
DEFINE_PER_CPU(unsigned int, lmm_request_gfp);
DEFINE_PER_CPU(unsigned int, lmm_request_order);
DEFINE_PER_CPU(unsigned int, lmm_request_flags);
DEFINE_PER_CPU(unsigned long, lmm_request_stack);

unsigned int lmm_buffer_gfp_mask = ~0U;

/**
 * lmm_buffers_unmovable() - are buffers of block devices to be allocated as unmovable?
 * @id: the policy that says so
 * @wanted: they are; it is enough that one policy wants that
 *
 * File systems keep references to buffers: what holds one cannot be migrated.
 *
 * Context: any.
 */
void lmm_buffers_unmovable(enum lmm_policy_id id, bool wanted)
{
	static DEFINE_RAW_SPINLOCK(lock);
	static unsigned long policies;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	__assign_bit(id, &policies, wanted);
	WRITE_ONCE(lmm_buffer_gfp_mask, policies ? ~(__force unsigned int)__GFP_MOVABLE : ~0U);
	raw_spin_unlock_irqrestore(&lock, flags);
}

/**
 * lmm_event_cma_start() - probe of tracepoint cma_alloc_start
 * @data: unused
 * @name: of the area
 * @count: pages wanted in one piece
 *
 * Context: process.
 */
void lmm_event_cma_start(void *data, const char *name, unsigned long count)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_CMA_START);
	if (listens(LMM_CMA))
		lmm_cma_alloc_start(name, count);
	preempt_enable_notrace();
}

/**
 * lmm_event_cma_busy() - probe of tracepoint cma_alloc_busy_retry
 * @data: unused
 * @name: of the area
 * @pfn: first page frame of what could not be emptied
 * @page: unused
 * @count: pages in it
 *
 * Context: process.
 */
void lmm_event_cma_busy(void *data, const char *name, unsigned long pfn,
			const struct page *page, unsigned long count)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_CMA_BUSY);
	if (listens(LMM_CMA))
		lmm_cma_alloc_busy(name, pfn, count);
	preempt_enable_notrace();
}

/**
 * lmm_event_cma_finish() - probe of tracepoint cma_alloc_finish
 * @data: unused
 * @name: of the area
 * @pfn: first page frame, of what was tried last
 * @page: its page if it was got, else NULL
 * @count: pages
 *
 * Context: process.
 */
void lmm_event_cma_finish(void *data, const char *name, unsigned long pfn,
			  const struct page *page, unsigned long count)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_CMA_FINISH);
	if (listens(LMM_CMA))
		lmm_cma_alloc_finish(name, pfn, page, count);
	preempt_enable_notrace();
}

/**
 * lmm_event_cma_release() - probe of tracepoint cma_release
 * @data: unused
 * @name: of the area
 * @pfn: first page frame
 * @page: its page
 * @count: pages
 *
 * Context: any that pages may be freed in.
 */
void lmm_event_cma_release(void *data, const char *name, unsigned long pfn,
			   const struct page *page, unsigned long count)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_CMA_RELEASE);
	/* Being freed, some of what is to be kept may have gone to the depot. */
	if (listens(LMM_CMA) && lmm_cma_release(name, pfn, count) && listens(LMM_ZONELOCK))
		lmm_zonelock_wanted(page_zone(page));
	preempt_enable_notrace();
}

/**
 * lmm_event_hint_fault() - at the entry of task_numa_fault()
 * @last_cpupid: who faulted on the page before
 * @nid: where the page is now
 * @pages: how many the fault was for
 * @flags: TNF_*
 *
 * Context: process, preemption on; under no lock but mmap_lock, or a VMA's.
 */
void notrace lmm_event_hint_fault(int last_cpupid, int nid, int pages, int flags)
{
	preempt_disable_notrace();
	this_cpu_add(lmm_hook_hits[LMM_HOOK_HINT_FAULT], LMM_ENTRY_EVERY);
	if (listens(LMM_NUMA))
		lmm_numa_hint_fault(last_cpupid, pages, flags);
	preempt_enable_notrace();
}

/**
 * lmm_event_hint_vma() - at the entry of LMM_HINT_SYMBOL
 * @page: unused
 * @where: the fault was
 *
 * Context: process, under the lock of a page table.
 */
void notrace lmm_event_hint_vma(const void *page, const void *where)
{
	preempt_disable_notrace();
	this_cpu_add(lmm_hook_hits[LMM_HOOK_HINT_VMA], LMM_ENTRY_EVERY);
	if (listens(LMM_NUMA))
		lmm_numa_hint_vma(lmm_hint_vma(where));
	preempt_enable_notrace();
}

/**
 * lmm_event_scan_begin() - kprobe on task_numa_work()
 * @kp: unused
 * @regs: unused; the thread is current
 *
 * Context: process, on its way to user space, preemption off, no lock held.
 * Return: 0, the function goes on.
 */
int lmm_event_scan_begin(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_SCAN_BEGIN);
	if (listens(LMM_NUMA))
		lmm_numa_scan_begin();
	return 0;
}

/**
 * lmm_event_space_exit() - kprobe on exit_mmap()
 * @kp: unused
 * @regs: its argument, the address space that nobody uses any more
 *
 * Context: process, preemption off, no lock held.
 * Return: 0, the function goes on.
 */
int lmm_event_space_exit(struct kprobe *kp, struct pt_regs *regs)
{
	lmm_hook_hit(LMM_HOOK_SPACE_EXIT);
	if (listens(LMM_NUMA))
		lmm_numa_space_exit((struct mm_struct *)regs_get_kernel_argument(regs, 0));
	return 0;
}

/**
 * lmm_event_reclaim_end() - probe of tracepoint mm_vmscan_direct_reclaim_end
 * @data: unused
 * @pages: reclaimed
 *
 * Context: process, no lock held.
 */
void lmm_event_reclaim_end(void *data, unsigned long pages)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_RECLAIM_END);
	if (listens(LMM_PAGEBLOCK))
		lmm_pageblock_reclaimed(pages);
	preempt_enable_notrace();
}

/**
 * lmm_event_compact_begin() - probe of tracepoint mm_compaction_try_to_compact_pages
 * @data: unused
 * @order: unused
 * @gfp: unused
 * @priority: unused
 *
 * Context: process, no lock held.
 */
void lmm_event_compact_begin(void *data, int order, gfp_t gfp, int priority)
{
	preempt_disable_notrace();
	lmm_hook_hit(LMM_HOOK_COMPACT_BEGIN);
	if (listens(LMM_PAGEBLOCK))
		lmm_pageblock_compacting();
	preempt_enable_notrace();
}

/**
 * lmm_event_mixed() - probe of tracepoint mm_page_alloc_extfrag
 * @data: unused
 * @page: the first of what was taken
 * @order: unused
 * @got_order: of the free block that they were a part of
 * @migratetype: unused
 * @got_migratetype: unused
 *
 * Context: under zone->lock, interrupts off.
 */
void lmm_event_mixed(void *data, struct page *page, int order, int got_order,
		     int migratetype, int got_migratetype)
{
	lmm_hook_hit(LMM_HOOK_MIXED);
	if (listens(LMM_PAGEBLOCK))
		lmm_pageblock_mixed(page, got_order);
}
