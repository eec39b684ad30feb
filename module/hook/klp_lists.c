// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_lists.ko - livepatch wrappers around refill and drain of the per-CPU lists
 */
#include <linux/instruction_pointer.h>
#include <linux/mmzone.h>

#define KLP_IN_lists(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

/* Replaces rmqueue_bulk(): pages move from the buddy to a list. */
static int wrap_refill(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_REFILL]))
		return lmm_refill(zone, order, count, list, migratetype, alloc_flags);
	return static_call(lmm_orig_refill)(zone, order, count, list, migratetype, alloc_flags);
}

/* Replaces free_pcppages_bulk(): pages move from a list to the buddy. */
static void wrap_drain(struct zone *zone, int count, struct per_cpu_pages *pcp,
		       int pindex)
{
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_DRAIN]))
		lmm_drain(zone, count, pcp, pindex, _RET_IP_);
	else
		static_call(lmm_orig_drain)(zone, count, pcp, pindex);
}

KLP_MODULE("refill and drain of per-CPU lists");
