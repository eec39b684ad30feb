// SPDX-License-Identifier: GPL-2.0-only
/*
 * drain.c - a drain, from the livepatch's wrapper to the kernel's own code, and who is asked
 *
 * The order: a policy sizes the drain; one may store pages elsewhere; the kernel moves the rest;
 * all are told.
 */
#include <linux/mmzone.h>
#include <linux/smp.h>

#include "compat/export.h"
#include "deliver.h"
#include "drain.h"
#include "hook/kcall.h"
#include "hook/klp_link.h"
#include "hook/table.h"
#include "slot.h"

static struct lmm_drain drain_of(struct zone *zone, struct per_cpu_pages *pcp)
{
	return (struct lmm_drain){
		.zone = zone,
		.slot = lmm_zone_slot(zone),
		.cpu = smp_processor_id(),
		.pcp = pcp,
		.is_here = pcp == this_cpu_ptr(zone->per_cpu_pageset),
	};
}

/**
 * lmm_drain() - drain lists, as free_pcppages_bulk() does
 * @zone: zone of the lists
 * @count: number of pages to drain
 * @pcp: the lists
 * @pindex: list to begin with
 * @caller: return address of the drain
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 */
void lmm_drain(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
	       unsigned long caller)
{
	struct lmm_drain drain = drain_of(zone, pcp);
	int before = pcp->count;

	drain.count = count;
	drain.pindex = pindex;
	drain.caller = caller;
	lmm_hook_hit(LMM_HOOK_DRAIN);
	TELL(drain_size, &drain);
	static_call(lmm_record_drain)(&drain);
	if (drain.count > 0)
		TELL(drain_store, &drain);
	drain.left = drain.count - drain.stored;
	if (drain.left > 0)
		static_call(lmm_orig_drain)(zone, drain.left, pcp, drain.pindex);
	drain.gone = before - pcp->count;
	if (drain.gone)
		TELL(drained, &drain);
}
EXPORT_SYMBOL_LMM(lmm_drain);

/**
 * lmm_drain_by_kernel() - have the kernel drain lists for a policy
 * @zone: zone of the lists
 * @count: pages to take off
 * @pcp: the lists
 *
 * What a policy drains needs no wrapper.  A call past what somebody else has at the function would
 * undo a fix.  Our wrapper may still be there then, and keeps no page of such a call.
 *
 * Context: as lmm_drain().
 */
void lmm_drain_by_kernel(struct zone *zone, int count, struct per_cpu_pages *pcp)
{
	if (lmm_hook_only_ours(LMM_HOOK_DRAIN))
		static_call(lmm_orig_drain)(zone, count, pcp, 0);
	else
		KCALL(drain)(zone, count, pcp, 0);
}

/**
 * lmm_drain_down() - have another policy take what lists hold above a bound
 * @zone: zone of the lists
 * @pcp: the lists
 * @keep: pages that they may keep
 *
 * Context: under pcp->lock, preemption off.
 * Return: pages taken off; 0 if nobody takes any.
 */
int lmm_drain_down(struct zone *zone, struct per_cpu_pages *pcp, int keep)
{
	struct lmm_drain drain = drain_of(zone, pcp);

	drain.by_policy = true;
	drain.keep = keep;
	TELL(drain_store, &drain);
	return drain.stored;
}
