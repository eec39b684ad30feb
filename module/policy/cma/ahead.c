// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - empty a kept range just before its owner asks for it
 *
 * The worker of balance.c calls cma_ahead_pass() and gives time and budget.  When is decided in
 * core_ahead.h.  Pages of the range move to any memory of the node that is not kept.
 *
 * The kernel gives CMA memory to a movable request while over half of free memory is CMA memory,
 * and then most of that is the kept range itself.  So blocks of kept ranges that the kernel gives
 * are put aside until the end of the stretch.  The kernel takes the smallest free block that
 * suffices, so the worker asks for the largest blocks first, and has few to put aside.
 *
 * Nothing here waits for I/O, reclaims or wakes kswapd: for a large block kswapd would swap much
 * memory out.
 */
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "dispatch.h"
#include "core_ahead.h"
#include "state.h"
#include "policy/common/move.h"

/* Orders of blocks to ask for, one after the other. */
static const u8 block_orders[] = { LMM_MAX_ORDER, 8, 7, 6, 5, 3, 2, 1, 0 };

/* Blocks to put aside at most: nobody else has them meanwhile. */
#define MOST_ASIDE	256

/**
 * struct ahead - pages on their way out of a kept range
 * @move: the move
 * @zone: zone of the range
 * @budget: pages that may be moved
 * @aside: blocks of kept ranges that nobody else shall get meanwhile; private: the order
 * @nr_aside: number of these
 * @next: index of the order to ask for next
 */
struct ahead {
	struct lmm_move move;
	struct zone *zone;
	struct lmm_budget *budget;
	struct list_head aside;
	unsigned int nr_aside;
	unsigned int next;
};

/* Area whose range is being emptied. */
static const struct cma_area *emptied;

/* Pages that were put aside and freed so far; the worker alone writes. */
static unsigned long given;

static u64 now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/* A block that is not kept; @folio: as a folio. */
static struct page *block_get(struct ahead *ahead, unsigned int order, bool folio)
{
	gfp_t gfp = cma_target_gfp(ahead->zone);
	int node = zone_to_nid(ahead->zone);
	struct page *page;

	while (ahead->nr_aside < MOST_ASIDE) {
		page = folio ? (struct page *)__folio_alloc(gfp, order, node, NULL) :
			       alloc_pages_node(node, gfp, order);
		if (!page || !cma_range_is_kept(page_zone(page), page_to_pfn(page), 1UL << order))
			return page;
		set_page_private(page, order);
		list_add(&page->lru, &ahead->aside);
		ahead->nr_aside++;
	}
	return NULL;
}

static void aside_free(struct ahead *ahead)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &ahead->aside, lru) {
		unsigned int order = page_private(page);

		set_page_private(page, 0);
		__free_pages(page, order);
		WRITE_ONCE(given, given + (1UL << order));
	}
	INIT_LIST_HEAD(&ahead->aside);
}

static bool target_add(struct lmm_move *move, unsigned int order)
{
	struct ahead *ahead = container_of(move, struct ahead, move);
	struct page *page;
	unsigned int i;

	if (lmm_move_spares(move, order))
		return true;
	if (order) {
		if (move->taken + (1UL << order) > lmm_budget_left(ahead->budget))
			return false;
		page = block_get(ahead, order, true);
		if (page)
			lmm_move_add(move, page, order);
		return page;
	}
	for (; ahead->next < ARRAY_SIZE(block_orders); ahead->next++) {
		order = block_orders[ahead->next];
		page = block_get(ahead, order, false);
		if (!page)
			continue;
		split_page(page, order);
		for (i = 0; i < 1U << order; i++)
			lmm_move_add(move, &page[i], 0);
		return true;
	}
	return false;
}

static bool page_goes(struct lmm_move *move, const struct lmm_page_facts *facts)
{
	return lmm_page_skip(facts) == LMM_SKIP_NONE;
}

static const struct lmm_mover mover = {
	.large = true, .goes = page_goes, .target_add = target_add,
};

/* Move a batch out of the range. */
static void batch_move(struct ahead *ahead)
{
	struct lmm_move *move = &ahead->move;
	unsigned int moved;

	lmm_move_take(move, min_t(u64, lmm_budget_left(ahead->budget), LMM_MOVE_BATCH));
	lmm_budget_take(ahead->budget, move->taken);
	moved = lmm_move_taken(move);
	lmm_count(&lmm_cma_policy, COUNT_AHEAD, moved);
	if (!moved)
		return;
	/* The old pages are on this CPU's lists, which are allocated from first. */
	preempt_disable();
	cma_drain_lists(ahead->zone, moved);
	preempt_enable();
}

/* Empty a range until a time in ms; return false if the worker's time is over before that. */
static bool range_empty(const struct cma_area *area, const struct cma_range *range, u64 end,
			struct lmm_budget *budget, bool (*over)(void))
{
	struct ahead ahead = { .zone = area->zone, .budget = budget };
	struct lmm_move *move = &ahead.move;
	bool done = true;

	INIT_LIST_HEAD(&ahead.aside);
	WRITE_ONCE(emptied, area);
	lmm_move_begin(move, &mover, range->start, range->end, false);
	while (move->at < move->end && !move->full && lmm_budget_left(budget) &&
	       now_ms() < end && !cma_zone_is_taken(area->zone)) {
		done = !over();
		if (!done)
			break;
		batch_move(&ahead);
		cond_resched();
	}
	if (move->full)
		lmm_count(&lmm_cma_policy, COUNT_AHEAD_NO_ROOM, 1);
	lmm_move_end(move);
	aside_free(&ahead);
	WRITE_ONCE(emptied, NULL);
	return done;
}

/* Empty what an area's owner will ask for, if that is due; return ms until the next look. */
static u64 area_ahead(struct cma_area *area, struct lmm_budget *budget, u32 rate,
		      bool (*over)(void))
{
	struct cma_range range;
	unsigned long lent;
	u64 due, end;

	raw_spin_lock_irq(&area->lock);
	lent = cma_ahead_range(area->ranges, jiffies, area->rhythm.wanted, &range);
	due = cma_ahead_due(&area->rhythm, now_ms(), lent, rate);
	end = cma_ahead_end(&area->rhythm);
	raw_spin_unlock_irq(&area->lock);
	if (range.start == range.end)
		return CMA_AHEAD_NEVER;
	if (due)
		/* More may be lent by then. */
		return due > 2 * CMA_AHEAD_LOOK_MS && due != CMA_AHEAD_NEVER ? due / 2 : due;
	if (!range_empty(area, &range, end, budget, over))
		return 0;
	cma_areas_look();
	return CMA_AHEAD_LOOK_MS;
}

/**
 * cma_ahead_is_early() - does an owner ask while its range is being emptied?
 * @area: the area
 *
 * Context: any.
 * Return: true if so.
 */
bool cma_ahead_is_early(const struct cma_area *area)
{
	return READ_ONCE(emptied) == area;
}

/**
 * cma_ahead_given() - pages that the worker has had aside for a while
 *
 * Context: any.
 * Return: pages freed so far.
 */
unsigned long cma_ahead_given(void)
{
	return READ_ONCE(given);
}

/**
 * cma_ahead_pass() - empty what owners will ask for soon
 * @budget: pages that may be moved
 * @rate: pages that @budget gets in a second
 * @over: is the worker's time over?
 *
 * Areas are boot memory, so their memory does not go offline.
 *
 * Context: process, the worker; may sleep, waits for no I/O and no page.
 * Return: ms until the next look; CMA_AHEAD_NEVER if none is due before an owner's next release.
 */
u64 cma_ahead_pass(struct lmm_budget *budget, u32 rate, bool (*over)(void))
{
	u64 next = CMA_AHEAD_NEVER;
	unsigned int i;

	for (i = 0; i < cma.nr_areas && !over(); i++)
		next = min(next, area_ahead(&cma.areas[i], budget, rate, over));
	return next;
}
