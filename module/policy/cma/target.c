// SPDX-License-Identifier: GPL-2.0-only
/*
 * target.c - CMA memory that the worker of balance.c moves pages to
 *
 * Pages to move to are ordinary allocations.  While over half of the free memory of a zone is CMA
 * memory, the kernel gives CMA memory to movable requests of every order.  Blocks of an order that
 * per-CPU lists do not keep come straight from there.  So the worker asks for such blocks, and
 * splits them.  The kernel takes the smallest free block that suffices.  Where that is part of a
 * range that is kept for an owner, the worker asks for a larger one: of the largest blocks, those
 * of kept ranges are last (areas.c).
 *
 * The kernel zeroes what it gives (CONFIG_INIT_ON_ALLOC_DEFAULT_ON): 1,504 pages where blocks of
 * orders 5, 6, 7, 8 and 10 are refused one after the other.  So the worker first looks at what the
 * kernel would give.
 */
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "state.h"
#include "policy/common/move.h"

/* For the pages to move to: no reclaim, which may wait, and no use of reserves. */
#define TARGET_GFP \
	(__GFP_MOVABLE | __GFP_THISNODE | __GFP_NOMEMALLOC | __GFP_NOWARN | \
	 __GFP_NORETRY)

/*
 * Orders of blocks to ask for, one after the other: a batch of pages and above, no order of a
 * per-CPU list; then what is left.
 */
static const u8 target_orders[] = { 5, 6, 7, 8, LMM_MAX_ORDER, 4, 3, 2, 1, 0 };
static_assert(5 > PAGE_ALLOC_COSTLY_ORDER);

/* Larger folios to put aside at once, which were no CMA memory or are kept for an owner. */
#define MAX_ASIDE	4

/*
 * With `kernelcore=` or `movablecore=` an area may lie in ZONE_MOVABLE, which only a request with
 * both __GFP_MOVABLE and __GFP_HIGHMEM gets.
 */
static gfp_t target_gfp(const struct zone *zone)
{
	switch (zone_idx(zone)) {
	case ZONE_MOVABLE:
		return TARGET_GFP | __GFP_HIGHMEM;
#ifdef CONFIG_ZONE_DMA32
	case ZONE_DMA32:
		return TARGET_GFP | __GFP_DMA32;
#endif
#ifdef CONFIG_ZONE_DMA
	case ZONE_DMA:
		return TARGET_GFP | __GFP_DMA;
#endif
	default:
		return TARGET_GFP;
	}
}

/* Is a new block CMA memory of the zone that no owner is to get soon? */
static bool target_is_good(const struct zone *zone, struct page *page, unsigned int order)
{
	unsigned long pfn = page_to_pfn(page);

	return page_zone(page) == zone &&
	       lmm_block_type(KCALL(block_flags), page, pfn) == LMM_MIGRATE_CMA &&
	       !cma_range_is_kept(zone, pfn, 1UL << order);
}

/*
 * The blocks of @order, at most @most, that the kernel would give next out of free CMA memory in
 * blocks of order @from: a larger block is split, and its parts come one after the other.
 */
static unsigned int blocks_next(struct zone *zone, unsigned int from, unsigned int order,
				unsigned int most, unsigned long *pfns)
{
	unsigned int found = 0;
	unsigned long pfn, end;
	struct page *page;

	lockdep_assert_held(&zone->lock);
	list_for_each_entry(page, &zone->free_area[from].free_list[LMM_MIGRATE_CMA], buddy_list) {
		end = page_to_pfn(page) + (1UL << from);
		for (pfn = page_to_pfn(page); pfn < end && found < most; pfn += 1UL << order)
			pfns[found++] = pfn;
		if (found == most)
			break;
	}
	return found;
}

/* Do per-CPU lists keep blocks of this order?  Lists serve requests first. */
static bool order_is_listed(unsigned int order)
{
	return order <= PAGE_ALLOC_COSTLY_ORDER || order == pageblock_order;
}

/*
 * Would one of the next @most requests of this order be served from CMA memory that no owner is to
 * get soon?  For an order that lists keep, the answer is yes.  The answer may be old at once, so
 * target_is_good() has the last word.
 */
static bool order_is_worth(struct zone *zone, unsigned int order, unsigned int most)
{
	unsigned long pfns[MAX_ASIDE], flags;
	unsigned int found = 0, i;

	if (order_is_listed(order))
		return true;
	spin_lock_irqsave(&zone->lock, flags);
	for (i = order; i <= LMM_MAX_ORDER && found < most; i++)
		found += blocks_next(zone, i, order, most - found, &pfns[found]);
	spin_unlock_irqrestore(&zone->lock, flags);
	for (i = 0; i < found; i++)
		if (!cma_range_is_kept(zone, pfns[i], 1UL << order))
			return true;
	return false;
}

/**
 * cma_target_pages() - add pages of order 0 to move to
 * @move: the move
 * @zone: zone of the CMA memory
 *
 * Context: process; does not wait.
 * Return: false if there is none.
 */
bool cma_target_pages(struct lmm_move *move, struct zone *zone)
{
	struct page *page;
	unsigned int i, j, order;

	for (i = 0; i < ARRAY_SIZE(target_orders); i++) {
		order = target_orders[i];
		if (!order_is_worth(zone, order, 1))
			continue;
		page = alloc_pages_node(zone_to_nid(zone), target_gfp(zone), order);
		if (!page)
			continue;
		if (!target_is_good(zone, page, order)) {
			__free_pages(page, order);
			continue;
		}
		split_page(page, order);
		for (j = 0; j < 1U << order; j++)
			lmm_move_add(move, &page[j], 0);
		return true;
	}
	return false;
}

/* Add a larger folio to move to, out of at most MAX_ASIDE. */
static bool folio_try(struct lmm_move *move, struct zone *zone, unsigned int order)
{
	struct folio *aside[MAX_ASIDE], *folio = NULL;
	unsigned int i = 0;
	bool good = false;

	if (!order_is_worth(zone, order, MAX_ASIDE))
		return false;
	while (!good && i < MAX_ASIDE) {
		folio = __folio_alloc(target_gfp(zone), order, zone_to_nid(zone), NULL);
		if (!folio)
			break;
		good = target_is_good(zone, &folio->page, order);
		if (!good)
			aside[i++] = folio;
	}
	if (good)
		lmm_move_add(move, &folio->page, order);
	while (i--)
		folio_put(aside[i]);
	return good;
}

/**
 * cma_target_folio() - add a larger folio to move to
 * @move: the move
 * @zone: zone of the CMA memory
 * @order: order of the folio
 *
 * The lists of this CPU keep small folios and huge pages, and serve requests first: old folios of
 * what was moved, which are regular memory.
 *
 * Context: process; does not wait.
 * Return: false if there is none.
 */
bool cma_target_folio(struct lmm_move *move, struct zone *zone, unsigned int order)
{
	unsigned int drained;

	if (folio_try(move, zone, order))
		return true;
	if (!order_is_listed(order))
		return false;
	preempt_disable();
	drained = cma_drain_lists(zone, INT_MAX);
	preempt_enable();
	return drained && folio_try(move, zone, order);
}
