// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - raw hook arguments become events, delivered to the policies
 *
 * The order of delivery is the order of enum lmm_policy_id, written out in each
 * handler: a policy that takes pages away (zonelock, cma) comes before the one
 * that sizes what is left (pcp).  A policy that is off costs one static branch.
 *
 * Context of every handler: preemption off, any context the allocator may be
 * called from, refill and drain under pcp->lock too.  No sleeping, no printk, no
 * allocation, no lock.
 */
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>

#include "event.h"
#include "hook/table.h"
#include "policy/pcp.h"

static DEFINE_STATIC_KEY_ARRAY_FALSE(policy_listens, LMM_NR_POLICIES);

#define listens(id)	static_branch_unlikely(&policy_listens[id])

/**
 * lmm_events_start() - a policy's hooks are armed: deliver to it
 * @id: the policy
 *
 * Context: process, control mutex held.
 */
void lmm_events_start(enum lmm_policy_id id)
{
	static_branch_enable(&policy_listens[id]);
}

/**
 * lmm_events_stop() - deliver nothing more to a policy
 * @id: the policy
 *
 * A handler that is running may still deliver; the caller waits for it.
 *
 * Context: process, control mutex held.
 */
void lmm_events_stop(enum lmm_policy_id id)
{
	static_branch_disable(&policy_listens[id]);
}

static unsigned long event_refill_count(struct zone *zone, unsigned int order,
					unsigned long asked)
{
	if (listens(LMM_PCP))
		asked = lmm_pcp_refill_count(zone, order, asked);
	return asked;
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

const struct lmm_klp_handlers lmm_event_klp_handlers = {
	.refill_count = event_refill_count,
	.refill = event_refill,
	.drain_count = event_drain_count,
	.drain = event_drain,
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
 * Context: preemption off; see the top of the file.
 */
void lmm_event_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype)
{
	lmm_hook_hit(LMM_HOOK_PAGE_ALLOC);
	if (listens(LMM_PCP) && page && order_is_listed(order))
		lmm_pcp_page(page_to_nid(page), page_zonenum(page), 1L << order);
}

/**
 * lmm_event_page_free() - probe of tracepoint mm_page_free
 * @data: unused
 * @page: what is being freed
 * @order: of the block
 *
 * Context: preemption off; see the top of the file.
 */
void lmm_event_page_free(void *data, struct page *page, unsigned int order)
{
	lmm_hook_hit(LMM_HOOK_PAGE_FREE);
	if (listens(LMM_PCP) && order_is_listed(order))
		lmm_pcp_page(page_to_nid(page), page_zonenum(page), -(1L << order));
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
	lmm_hook_hit(LMM_HOOK_WAKE_KSWAPD);
	if (listens(LMM_PCP))
		lmm_pcp_wake_kswapd((struct zone *)regs_get_kernel_argument(regs, 0));
	return 0;
}
