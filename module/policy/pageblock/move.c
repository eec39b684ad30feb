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
 * the filter answers each mix that it refuses, does not stop moves of single pages.  Since 6.3 the
 * same flag opens half of the min watermark as well: at most two batches of such pages of each
 * order are out at a time.
 */
#define TARGET_GFP \
	((GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM) | __GFP_THISNODE | __GFP_NOMEMALLOC | \
	 __GFP_NOWARN | LMM_GFP_PAST_BOOST)

/**
 * struct block_move - pages on their way out of a block
 * @move: the move
 * @gfp: for the pages to move to
 * @price: what the pages cost that were looked at
 */
struct block_move {
	struct lmm_move move;
	gfp_t gfp;
	u64 price;
};

static_assert(1U << PAGEBLOCK_FOLIO_ORDER == LMM_MOVE_BATCH);

/* A free page, or a free folio.  kswapd does not reclaim and compact for the sake of a folio. */
static struct page *target_alloc(const struct block_move *block, unsigned int order)
{
	int node = page_to_nid(pfn_to_page(block->move.from));

	if (!order)
		return alloc_pages_node(node, block->gfp, 0);
	return (struct page *)__folio_alloc(block->gfp & ~__GFP_KSWAPD_RECLAIM, order, node, NULL);
}

/*
 * Have a page or a larger folio to move to.  Lists of free pages may still hold pages of the block
 * itself.  A folio goes as a whole or not at all, and not beyond the budget.
 */
static bool target_add(struct lmm_move *move, unsigned int order)
{
	struct block_move *block = container_of(move, struct block_move, move);
	struct page *page;

	if (order && move->taken + (1UL << order) > lmm_budget_left(&pageblock.pages))
		return false;
	while (!lmm_move_spares(move, order)) {
		page = target_alloc(block, order);
		if (!page)
			return false;
		if (page_to_pfn(page) - move->from < move->end - move->from)
			list_add(&page->lru, &move->aside);
		else
			lmm_move_add(move, page, order);
	}
	return true;
}

/* May a page with these facts be moved?  Counts why not. */
static bool page_goes(struct lmm_move *move, const struct lmm_page_facts *facts)
{
	enum lmm_skip why = lmm_page_skip(facts);

	if (why == LMM_SKIP_NONE) {
		container_of(move, struct block_move, move)->price += pageblock_page_price(facts);
		return true;
	}
	lmm_count(&lmm_pageblock_policy, COUNT_SKIPPED, 1);
	move->stays |= lmm_skip_passes(why);
	return false;
}

static const struct lmm_mover block_mover = {
	.order = PAGEBLOCK_FOLIO_ORDER, .goes = page_goes, .target_add = target_add,
};

/* Take a batch of pages, not more than the budget has left, and move them; return how many. */
static unsigned int batch_move(struct lmm_move *move)
{
	unsigned int moved;

	lmm_move_take(move, min_t(u64, lmm_budget_left(&pageblock.pages), LMM_MOVE_BATCH));
	/* A page that the kernel does not move in the end has cost as much. */
	lmm_budget_take(&pageblock.pages, move->taken);
	moved = lmm_move_taken(move);
	if (moved < move->taken)
		lmm_count(&lmm_pageblock_policy, COUNT_NOT_MOVED, move->taken - moved);
	lmm_count(&lmm_pageblock_policy, COUNT_MOVED, moved);
	return moved;
}

static void move_begin(struct block_move *block, struct zone *zone, unsigned long pfn,
		       bool stranger)
{
	lmm_move_begin(&block->move, &block_mover, pfn, pfn + pageblock_nr_pages, stranger);
	block->price = 0;
	block->gfp = TARGET_GFP;
	/* A page that may not be in ZONE_MOVABLE does not get there. */
	if (!stranger && zone_idx(zone) != ZONE_MOVABLE)
		block->gfp &= ~__GFP_HIGHMEM;
}

/**
 * pageblock_price() - what would it cost to move every page of a block?
 * @zone: zone of the block
 * @pfn: first page frame number of the block; the block is movable
 *
 * Looks only, so that a block with a page that stays is not moved in vain.  Passes over pages in
 * per-CPU lists.
 *
 * Context: process, memory does not go offline; does not wait.
 * Return: the price at the moment of the look, the sum of pageblock_page_price(); 0 if a page
 * cannot be moved now, or if there is none.
 */
u64 pageblock_price(struct zone *zone, unsigned long pfn)
{
	struct block_move block;
	struct lmm_move *move = &block.move;
	struct page *page;
	unsigned long end;

	move_begin(&block, zone, pfn, false);
	while (move->at < move->end) {
		page = pfn_to_page(move->at);
		end = lmm_free_end(page, move->at);
		if (end == move->at && page_ref_count(page) && !lmm_move_visit(move, page, false))
			return 0;
		move->at = max(end, move->at + 1);
	}
	return block.price;
}

/**
 * pageblock_move_out() - move the movable pages out of a block
 * @zone: zone of the block
 * @pfn: first page frame number of the block
 * @stranger: the block is of another type than movable
 * @all: set to false if a page has stayed that may go later
 *
 * With @stranger false the block must be isolated.  Stops when the time of the slice is over, when
 * the budget is used up, when there is no page to move to and, with @stranger false, at the first
 * batch that leaves a page.
 *
 * Context: process, may sleep, memory does not go offline; waits for no I/O and no page.
 * Return: number of pages that were moved.
 */
unsigned int pageblock_move_out(struct zone *zone, unsigned long pfn, bool stranger, bool *all)
{
	struct block_move block;
	struct lmm_move *move = &block.move;
	unsigned int moved = 0;

	move_begin(&block, zone, pfn, stranger);
	while (move->at < move->end && !move->full && (stranger || !move->stays)) {
		if (pageblock_slice_over() || !lmm_budget_left(&pageblock.pages)) {
			move->stays = true;
			break;
		}
		moved += batch_move(move);
		cond_resched();
	}
	if (move->full)
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
	lmm_move_end(move);
	*all = !move->stays;
	return moved;
}
