// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - empty a kept range just before its owner asks for it
 *
 * The worker of balance.c calls cma_ahead_pass() and gives time and budget.  When is decided in
 * core_ahead.h.  Pages of the range move to any memory of the node that is not kept.
 *
 * From the first move until the owner asks, the range is held: its blocks are isolated, by the
 * function with which the kernel isolates blocks for an owner.  Nobody gets a free page of a held
 * range: neither the worker, as a page to move to, nor a fault, whose page the owner finds busy.
 * The hold ends when the owner's allocation starts, before the kernel isolates the blocks itself.
 * If no owner asks, the hold ends soon after the expected time.  The first range that an owner
 * releases is held for a second, for nobody knows yet when the owner asks again.  When the policy
 * goes off, a hold ends as soon as no event is delivered any more, for the start of an allocation
 * is not heard of then.
 *
 * Nothing here waits for I/O, reclaims or wakes kswapd: for a large block kswapd would swap much
 * memory out.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "core_ahead.h"
#include "state.h"
#include "policy/common/move.h"

/* Pauses that a policy which goes off makes for owners, of 1 to 2 ms, all holds together. */
#define LEAVE_PAUSES	50

/* Orders of blocks to ask for, one after the other. */
static const u8 block_orders[] = { LMM_MAX_ORDER, 8, 7, 6, 5, 3, 2, 1, 0 };

/**
 * struct ahead - pages on their way out of a kept range
 * @move: the move
 * @zone: zone of the range
 * @budget: pages that may be moved
 * @next: index of the order to ask for next
 */
struct ahead {
	struct lmm_move move;
	struct zone *zone;
	struct lmm_budget *budget;
	unsigned int next;
};

/* Area whose range is being emptied. */
static const struct cma_area *emptied;

/* Index of the area that the next pass begins with, so that none takes the time of all others. */
static unsigned int first_area;

/* Nothing is held before this time in ms, since others needed what was held. */
static u64 hold_after;

static u64 now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/* Are owners heard of?  Only then may anything be held. */
static bool owners_heard(void)
{
	return READ_ONCE(lmm_cma_policy.state) == LMM_POLICY_ON;
}

/* Take note that the blocks of a range will be held, unless some are, or an owner is allocating. */
static bool hold_begin(struct cma_area *area, const struct cma_range *blocks, u64 until)
{
	struct cma_hold *hold = &area->hold;
	bool begins;

	spin_lock(&hold->lock);
	begins = !hold->end && !cma_zone_is_taken(area->zone) && owners_heard();
	if (begins) {
		hold->start = blocks->start;
		hold->end = blocks->end;
		hold->until = until;
		hold->begins = true;
		hold->unwanted = false;
	}
	spin_unlock(&hold->lock);
	return begins;
}

/*
 * Release blocks, the last first.  Before 6.10 a free block of two pageblocks moves to its list
 * with the first of both, and is counted.  If the second were isolated still and the block were
 * split, the second half would be counted once more with the second pageblock.
 */
static void blocks_release(unsigned long start, unsigned long end)
{
	unsigned long pfn = end;

	while (pfn > start) {
		pfn -= pageblock_nr_pages;
		lmm_block_release(KCALL(block_release), pfn, pfn + pageblock_nr_pages,
				  LMM_MIGRATE_CMA);
	}
}

/*
 * Isolate blocks, one of the largest free blocks after the other: the kernel isolates the first and
 * the last pageblock of a range before the others, and a free block must not be isolated in part
 * (see above).
 */
static bool blocks_isolate(const struct cma_hold *hold, unsigned long start, unsigned long end)
{
	unsigned long pfn, next;

	for (pfn = start; pfn < end; pfn = next) {
		next = min(ALIGN(pfn + 1, 1UL << LMM_MAX_ORDER), end);
		if (READ_ONCE(hold->unwanted) ||
		    lmm_cma_isolate(KCALL(block_isolate), pfn, next)) {
			blocks_release(start, pfn);
			return false;
		}
	}
	return true;
}

/* The hold's lock is held, and so are the blocks. */
static void hold_release(struct cma_hold *hold)
{
	blocks_release(hold->start, hold->end);
	hold->start = 0;
	hold->end = 0;
}

/* The blocks are isolated, or could not be; return true if they are held from now on. */
static bool hold_begun(struct cma_hold *hold, bool isolated)
{
	bool held;

	spin_lock(&hold->lock);
	held = isolated && !hold->unwanted;
	hold->begins = false;
	if (isolated && !held) {
		hold_release(hold);
	} else if (!isolated) {
		hold->start = 0;
		hold->end = 0;
	}
	spin_unlock(&hold->lock);
	return held;
}

/*
 * Hold the blocks of a range until a time in ms, unless that is done or an owner is allocating.
 * Return true if the hold begins.
 *
 * 6.1 may move a large page while blocks are isolated, and sleep, so no spinlock is held meanwhile.
 * Where owner and worker isolate the same block, the kernel gives both ranges up, and the owner
 * tries the next one, if there is one.  So the worker takes the lock under which the kernel
 * isolates blocks of the area, and an owner that starts meanwhile waits until the blocks are
 * released.  The worker does not wait for that lock: an owner that has the lock may wait for the
 * OOM killer, which waits for the worker.
 */
static bool range_hold(struct cma_area *area, const struct cma_range *range, u64 until)
{
	struct cma_range blocks = *range;
	bool alone, held;

	if (!lmm_hook_available(LMM_HOOK_BLOCK_ISOLATE) ||
	    !lmm_hook_available(LMM_HOOK_BLOCK_RELEASE) || now_ms() < READ_ONCE(hold_after))
		return false;
	cma_hold_blocks(&area->holds, 1UL << LMM_MAX_ORDER, &blocks);
	if (blocks.start == blocks.end || !hold_begin(area, &blocks, until))
		return false;
	alone = lmm_cma_trylock(area->cma);
	held = hold_begun(&area->hold,
			  alone && blocks_isolate(&area->hold, blocks.start, blocks.end));
	if (alone)
		lmm_cma_unlock(area->cma);
	if (!held)
		return false;
	lmm_count(&lmm_cma_policy, COUNT_AHEAD_HELD, 1);
	/* None of the range is free any more for others. */
	cma_areas_look();
	return true;
}

/*
 * Free pages of a held range may lie in lists of CPUs, from which others get them, and which the
 * kernel empties while the owner waits.  Have them go to the range.  Each CPU has to fill its lists
 * again, so this is done when a hold begins, and once more just before the owner asks; where nobody
 * knows when that is, a few times while the range is held.
 */
static void lists_empty(struct cma_area *area)
{
	if (lmm_hook_available(LMM_HOOK_LRU_DRAIN))
		KCALL(lru_drain)();
	if (lmm_hook_available(LMM_HOOK_EMPTY_LISTS))
		KCALL(empty_lists)(area->zone);
}

/* The same while nobody knows when the owner asks; passes of the worker may follow at once. */
static void lists_empty_now_and_then(struct cma_area *area)
{
	u64 now = now_ms();

	if (now < area->hold.listed + CMA_AHEAD_FIRST_LOOK_MS)
		return;
	area->hold.listed = now;
	lists_empty(area);
}

/*
 * End a hold where an owner's start cannot be heard.  The owner may have found the blocks isolated,
 * whereupon the kernel releases the blocks, and then have isolated the blocks itself, under this
 * lock.  Return false if a range stays held, because somebody has the lock.
 */
static bool hold_end_unheard(struct cma_area *area)
{
	struct cma_hold *hold = &area->hold;
	bool stays;

	if (lmm_cma_trylock(area->cma)) {
		cma_hold_end(area);
		lmm_cma_unlock(area->cma);
		return true;
	}
	spin_lock(&hold->lock);
	hold->unwanted = true;
	stays = hold->end;
	spin_unlock(&hold->lock);
	return !stays;
}

/* ms until a hold ends; CMA_AHEAD_NEVER if there is none. */
static u64 hold_left(struct cma_area *area)
{
	struct cma_hold *hold = &area->hold;
	u64 now = now_ms(), left;

	spin_lock(&hold->lock);
	left = !hold->end ? CMA_AHEAD_NEVER : hold->until - min(now, hold->until);
	spin_unlock(&hold->lock);
	if (left == CMA_AHEAD_NEVER)
		return left;
	if (!owners_heard()) {
		hold_end_unheard(area);
		return CMA_AHEAD_LOOK_MS;
	}
	/* The policy may be cut, and then nobody tells the worker. */
	if (left)
		return min(left, CMA_AHEAD_FIRST_LOOK_MS);
	if (cma_hold_end(area)) {
		lmm_count(&lmm_cma_policy, COUNT_AHEAD_UNASKED, 1);
		cma_areas_look();
	}
	return CMA_AHEAD_NEVER;
}

/*
 * May a block be moved to?  Not if the block is kept, nor if the block is regular memory of a zone
 * that has few free pages of that kind: our request wakes no kswapd, and whoever comes next would
 * have to reclaim.
 */
static bool block_is_good(struct page *page, unsigned int order)
{
	struct zone *zone = page_zone(page);
	unsigned long pfn = page_to_pfn(page);
	long regular;

	/* Of a held range, which is kept too, the type says that the block is isolated. */
	if (cma_range_is_kept(zone, pfn, 1UL << order))
		return false;
	if (lmm_block_type(KCALL(block_flags), page, pfn) == LMM_MIGRATE_CMA)
		return true;
	regular = zone_page_state(zone, NR_FREE_PAGES) - zone_page_state(zone, NR_FREE_CMA_PAGES);
	return regular >= (long)lmm_zone_low_mark(zone);
}

/* A block that may be moved to; @folio: as a folio. */
static struct page *block_get(struct ahead *ahead, unsigned int order, bool folio)
{
	gfp_t gfp = cma_target_gfp(ahead->zone);
	int node = zone_to_nid(ahead->zone);
	struct page *page = folio ? (struct page *)__folio_alloc(gfp, order, node, NULL) :
				    alloc_pages_node(node, gfp, order);

	if (!page || block_is_good(page, order))
		return page;
	__free_pages(page, order);
	return NULL;
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
	.order = LMM_MAX_ORDER, .goes = page_goes, .target_add = target_add,
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

/*
 * Empty a range until a time in ms; return false if the worker's time is over before that.  Memory
 * cannot go offline with pages that are put aside to move to, so hotplug is kept out.
 */
static bool range_empty(struct cma_area *area, const struct cma_range *range, u64 end,
			struct lmm_budget *budget, bool (*over)(void))
{
	struct ahead ahead = { .zone = area->zone, .budget = budget };
	struct lmm_move *move = &ahead.move;
	bool done = true;

	if (!cma_hotplug_trylock())
		return true;
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
	WRITE_ONCE(emptied, NULL);
	cma_hotplug_unlock();
	return done;
}

/* Empty what an area's owner will ask for, if that is due; return ms until the next look. */
static u64 area_ahead(struct cma_area *area, struct lmm_budget *budget, u32 rate,
		      bool (*over)(void))
{
	u64 due, end, first, held = hold_left(area);
	struct cma_range range;
	unsigned long lent;

	raw_spin_lock_irq(&area->lock);
	lent = cma_ahead_range(area->ranges, jiffies, area->rhythm.wanted, &range);
	due = cma_ahead_due(&area->rhythm, now_ms(), lent, rate);
	end = cma_ahead_end(&area->rhythm);
	first = cma_ahead_first_end(&area->rhythm, now_ms());
	raw_spin_unlock_irq(&area->lock);
	if (range.start == range.end)
		return held;
	if (first) {
		if (held != CMA_AHEAD_NEVER || range_hold(area, &range, first))
			lists_empty_now_and_then(area);
		return min(held, CMA_AHEAD_FIRST_LOOK_MS);
	}
	if (due)
		/* More may be lent by then. */
		return min(held, due > 2 * CMA_AHEAD_LOOK_MS && due != CMA_AHEAD_NEVER ? due / 2 :
										       due);
	if (range_hold(area, &range, end + CMA_AHEAD_REST_MS + CMA_AHEAD_LATE_MS) ||
	    now_ms() + CMA_AHEAD_LOOK_MS >= end)
		lists_empty(area);
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

/* Free pages of what is held.  The walk is long, so the owner does not wait for the walk's end. */
static unsigned long hold_free(struct cma_hold *hold)
{
	unsigned long pfn, end, next, free = 0;

	spin_lock(&hold->lock);
	pfn = hold->start;
	end = hold->end;
	spin_unlock(&hold->lock);
	while (pfn < end) {
		next = lmm_free_end(pfn_to_page(pfn), pfn);
		free += next - pfn;
		pfn = max(next, pfn + 1);
	}
	return free;
}

/**
 * cma_hold_end() - let everybody have the pages of a range that is held for an owner
 * @area: the area
 *
 * Context: process, also with preemption off; takes and drops zone->lock.
 * Return: true if a range was held.
 */
bool cma_hold_end(struct cma_area *area)
{
	struct cma_hold *hold = &area->hold;
	bool held;

	spin_lock(&hold->lock);
	held = hold->end && !hold->begins;
	if (held)
		hold_release(hold);
	else
		hold->unwanted = true;
	spin_unlock(&hold->lock);
	return held;
}

/**
 * cma_ahead_leave() - let everybody have what is held for owners
 *
 * Owners are not heard of any more, so nothing will be held.  Where an owner allocates meanwhile,
 * a hold of the owner's area may stay until cma_ahead_stop(): an owner may wait for a disk.
 *
 * Context: process, may sleep; no pass of the worker runs.
 */
void cma_ahead_leave(void)
{
	unsigned int i, pauses = 0;

	for (i = 0; i < cma.nr_areas; i++) {
		while (!hold_end_unheard(&cma.areas[i]) && pauses++ < LEAVE_PAUSES)
			usleep_range(1000, 2000);
	}
}

/**
 * cma_ahead_stop() - let everybody have what is held for owners, and hold nothing for a second
 * @last: the policy is going off, so nobody could end a hold later
 *
 * A hold stays, unless @last, where an owner that is not heard of is at work: see
 * hold_end_unheard().
 *
 * Context: process.
 * Return: free pages of that.
 */
unsigned long cma_ahead_stop(bool last)
{
	unsigned long free = 0;
	unsigned int i;

	WRITE_ONCE(hold_after, now_ms() + CMA_AHEAD_FIRST_MS);
	for (i = 0; i < cma.nr_areas; i++) {
		unsigned long held = hold_free(&cma.areas[i].hold);

		if (!last && !owners_heard())
			hold_end_unheard(&cma.areas[i]);
		else if (cma_hold_end(&cma.areas[i]))
			free += held;
	}
	return free;
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

	for (i = 0; i < cma.nr_areas; i++) {
		struct cma_area *area = &cma.areas[(first_area + i) % cma.nr_areas];
		/* Whatever time there is, a hold ends in time. */
		u64 one = over() ? hold_left(area) : area_ahead(area, budget, rate, over);

		next = min(next, one);
	}
	first_area++;
	return next;
}
