// SPDX-License-Identifier: GPL-2.0-only
/*
 * move.c - move pages out of a block; see common/move.c
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "inspect.h"
#include "state.h"
#include "policy/common/move.h"

/*
 * For the pages to move others to.  Their allocation does not mix blocks (struct
 * pageblock_request, cleans) nor complain, and wakes kswapd rather than reclaim, because reclaim
 * may wait.  A move gives back as many pages as it takes, so a boost of the watermarks, with which
 * the filter answers mixes that it refuses, does not stop moves of single pages.  Since 6.3 the
 * same flag opens half of the min watermark as well: at most two batches of such pages of each
 * order are out at a time.
 */
#define TARGET_GFP \
	((GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM) | __GFP_THISNODE | __GFP_NOMEMALLOC | \
	 __GFP_NOWARN | LMM_GFP_PAST_BOOST)

static_assert(1U << PAGEBLOCK_FOLIO_ORDER == LMM_MOVE_BATCH);

/* A free page, or a free folio.  kswapd does not reclaim and compact for the sake of a folio. */
static struct page *target_alloc(const struct page *from, unsigned int order)
{
	gfp_t gfp = TARGET_GFP;

	/* A page that may not be in ZONE_MOVABLE does not get there. */
	if (page_zonenum(from) != ZONE_MOVABLE)
		gfp &= ~__GFP_HIGHMEM;
	if (!order)
		return alloc_pages_node(page_to_nid(from), gfp, 0);
	return (struct page *)__folio_alloc(gfp & ~__GFP_KSWAPD_RECLAIM, order, page_to_nid(from),
					    NULL);
}

/*
 * Have a page or a larger folio to move to.  Lists of free pages may still hold pages of the block
 * itself.  A folio goes as a whole or not at all, and not beyond the budget.
 */
static bool target_add(struct lmm_move *move, unsigned int order)
{
	struct page *page;

	if (order && move->taken + (1UL << order) > lmm_budget_left(&pageblock.pages))
		return false;
	while (!lmm_move_spares(move, order)) {
		page = target_alloc(pfn_to_page(move->from), order);
		if (!page)
			return false;
		if (page_to_pfn(page) - move->from < move->end - move->from)
			list_add(&page->lru, &move->aside);
		else
			lmm_move_add(move, page, order);
	}
	return true;
}

/* May a page with these facts be moved?  A page that stays keeps the block from becoming free. */
static bool page_goes(struct lmm_move *move, const struct lmm_page_facts *facts)
{
	bool goes = lmm_page_skip(facts) == LMM_SKIP_NONE;

	lmm_count(&lmm_pageblock_policy, COUNT_SKIPPED, !goes);
	move->stays |= !goes;
	return goes;
}

static const struct lmm_mover block_mover = {
	.order = PAGEBLOCK_FOLIO_ORDER, .goes = page_goes, .target_add = target_add,
};

/* Take a batch of pages, not more than the budget has left, and move them. */
static void batch_move(struct lmm_move *move)
{
	unsigned int moved;

	lmm_move_take(move, min_t(u64, lmm_budget_left(&pageblock.pages), LMM_MOVE_BATCH));
	/* A page that the kernel does not move in the end has cost as much. */
	lmm_budget_take(&pageblock.pages, move->taken);
	moved = lmm_move_taken(move);
	lmm_count(&lmm_pageblock_policy, COUNT_NOT_MOVED, move->taken - min(moved, move->taken));
	lmm_count(&lmm_pageblock_policy, COUNT_MOVED, moved);
}

/**
 * pageblock_may_go() - could every page of a block be moved?
 * @pfn: first page frame number of the block; the block is movable
 * @loose: set to whether there are pages in per-CPU lists
 *
 * Looks only, with a reference, so that a block with a page that stays is not moved in vain.
 *
 * Context: process, memory does not go offline; does not wait.
 * Return: true at the moment of the look.
 */
bool pageblock_may_go(unsigned long pfn, bool *loose)
{
	struct lmm_move move;
	struct page *page;
	unsigned long end;

	lmm_move_begin(&move, &block_mover, pfn, pfn + pageblock_nr_pages, false);
	for (*loose = false; move.at < move.end; move.at = max(end, move.at + 1)) {
		page = pfn_to_page(move.at);
		end = lmm_free_end(page, move.at);
		if (end != move.at)
			continue;
		if (pageblock_page_is_loose(page))
			*loose = true;
		else if (!lmm_move_visit(&move, page, false))
			return false;
	}
	return true;
}

/**
 * pageblock_move_out() - move all pages out of an isolated block
 * @pfn: first page frame number of the block
 *
 * Stops when the policy goes off, when the budget is used up, when there is no page to move to, and
 * at the first batch that leaves a page.
 *
 * Context: process, may sleep, memory does not go offline; waits for no I/O and no page.
 * Return: true if no page stays.
 */
bool pageblock_move_out(unsigned long pfn)
{
	struct lmm_move move;
	bool all = true;

	lmm_move_begin(&move, &block_mover, pfn, pfn + pageblock_nr_pages, false);
	while (move.at < move.end && all) {
		batch_move(&move);
		all = !move.stays && !READ_ONCE(pageblock.leaving) &&
		      (move.at >= move.end || lmm_budget_left(&pageblock.pages));
		cond_resched();
	}
	lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, move.full);
	lmm_move_end(&move);
	return all;
}
