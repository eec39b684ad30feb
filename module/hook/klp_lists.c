// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_lists.ko - livepatch wrappers around refill and drain of the per-CPU lists
 */
#include <linux/instruction_pointer.h>
#include <linux/mmzone.h>

#include "compat/compat.h"
#include "compat/pageset.h"

#define KLP_IN_lists(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

/* With CMA memory another migratetype may be asked for; fewer blocks than asked for suffice. */
static int refill_from(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	unsigned int flags = alloc_flags;
	int type = migratetype, got;

	if (IS_ENABLED(CONFIG_CMA))
		type = lmm_on_refill_type(zone, order, count, migratetype, &flags);
	got = static_call(lmm_orig_refill)(zone, order, count, list, type, flags);
	if (!got && (type != migratetype || flags != alloc_flags))
		got = static_call(lmm_orig_refill)(zone, order, count, list, migratetype,
						   alloc_flags);
	return got;
}

/*
 * Take blocks of @order, and put their pages on the list.  Only the blocks are taken under
 * zone->lock.  The kernel has checked every page of a block; a free page needs nothing else.
 */
static int refill_split(struct zone *zone, unsigned int order, unsigned long pages,
			struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	struct page *block, *next;
	LIST_HEAD(blocks);
	unsigned int i;
	int got;

	got = static_call(lmm_orig_refill)(zone, order, pages >> order, &blocks, migratetype,
					   alloc_flags & ~LMM_ALLOC_CMA);
	list_for_each_entry_safe(block, next, &blocks, lru) {
		for (i = 0; i < 1U << order; i++) {
			lmm_page_type_copy(block + i, block);
			list_add_tail(&block[i].lru, list);
		}
	}
	return got << order;
}

/* Replaces rmqueue_bulk(): pages move from the buddy to a list. */
static int wrap_refill(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	unsigned int larger = 0;
	unsigned long pages;
	int got;

	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_REFILL])) {
		got = lmm_on_depot_get(zone, order, count, list, migratetype);
		if (got)
			return got;
		count = lmm_on_refill_count(zone, order, count);
		pages = count;
		if (!order)
			larger = lmm_on_refill_split(zone, &pages, migratetype);
		if (larger)
			got = refill_split(zone, larger, pages, list, migratetype, alloc_flags);
		if (!got)
			got = refill_from(zone, order, count, list, migratetype, alloc_flags);
		lmm_on_refill(zone, order, migratetype, got);
		return got;
	}
	return static_call(lmm_orig_refill)(zone, order, count, list, migratetype, alloc_flags);
}

/* Replaces free_pcppages_bulk(): pages move from a list to the buddy. */
static void wrap_drain(struct zone *zone, int count, struct per_cpu_pages *pcp,
		       int pindex)
{
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_DRAIN])) {
		int before;

		/* A list that grows keeps its pages; only the rest is for other CPUs. */
		count = lmm_on_drain_count(zone, count, pcp, pindex, _RET_IP_);
		count -= lmm_on_depot_put(zone, count, pcp, pindex, _RET_IP_);
		if (count <= 0)
			return;
		pindex = lmm_on_drain_from(zone, count, pcp, pindex);
		before = pcp->count;
		static_call(lmm_orig_drain)(zone, count, pcp, pindex);
		lmm_on_drain(zone, pcp, count, before - pcp->count);
		return;
	}
	static_call(lmm_orig_drain)(zone, count, pcp, pindex);
}

KLP_MODULE("refill and drain of per-CPU lists");
