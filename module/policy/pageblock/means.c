// SPDX-License-Identifier: GPL-2.0-only
/*
 * means.c - what the worker has, and what its steps and the filter ask of the worker
 *
 * The blocks of a zone, the time of a slice, the budget of looks, and the way to wake the worker.
 * The worker itself, who takes the steps, is in reserve.c.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "state.h"
#include "flow/zones.h"

/**
 * pageblock_free_blocks() - wholly free blocks of a zone
 * @zone: the zone
 *
 * Context: any; a racy look.
 * Return: number of blocks; not those of CMA memory, which only some requests may use, nor those
 * that are isolated or kept for atomic requests.
 */
unsigned long pageblock_free_blocks(const struct zone *zone)
{
	unsigned long apart = zone_page_state((struct zone *)zone, NR_FREE_CMA_PAGES) +
			      READ_ONCE(zone->nr_reserved_highatomic);

	return pageblock_usable_blocks(lmm_zone_huge_blocks(zone), apart,
				       READ_ONCE(zone->nr_isolate_pageblock), pageblock_nr_pages);
}

/**
 * pageblock_wanted_blocks() - wholly free blocks that a zone should have
 * @zone: the zone
 *
 * Context: any.
 * Return: number of blocks.
 */
unsigned long pageblock_wanted_blocks(const struct zone *zone)
{
	unsigned long blocks = zone_managed_pages((struct zone *)zone) / pageblock_nr_pages;

	return pageblock_reserve_want(READ_ONCE(pageblock.reserve_blocks), blocks,
				      zone_idx(zone) == ZONE_MOVABLE);
}

/**
 * pageblock_guarded_blocks() - blocks of its reserve that a zone should guard
 * @zone: the zone
 *
 * Context: any.
 * Return: number of blocks.
 */
unsigned long pageblock_guarded_blocks(const struct zone *zone)
{
	return min(pageblock_wanted_blocks(zone), PAGEBLOCK_GUARDED + 0UL);
}

/**
 * pageblock_kept_blocks() - guarded blocks in the reserve of a zone
 * @zone: the zone
 *
 * These are the wholly free unmovable blocks, which small movable requests do not use up; see
 * pageblock_guards().  Where blocks cannot be guarded, all wholly free blocks count.
 *
 * Context: under zone->lock, interrupts off.
 * Return: number of blocks; if there are more than should be guarded, at least one more.
 */
unsigned long pageblock_kept_blocks(const struct zone *zone)
{
	unsigned long blocks = 0, want = pageblock_guarded_blocks(zone);
	unsigned int order;
	struct page *page;

	if (!pageblock.guards)
		return pageblock_free_blocks(zone);
	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++) {
		list_for_each_entry(page, &zone->free_area[order].free_list[MIGRATE_UNMOVABLE],
				    lru) {
			blocks += 1UL << (order - pageblock_order);
			if (blocks > want)
				return blocks;
		}
	}
	return blocks;
}

/**
 * pageblock_reserve_blocks() - blocks in the reserve of a zone, for those that do not hold the lock
 * @zone: the zone
 *
 * Context: process; takes zone->lock.
 * Return: as pageblock_kept_blocks().
 */
unsigned long pageblock_reserve_blocks(struct zone *zone)
{
	unsigned long flags, blocks;

	spin_lock_irqsave(&zone->lock, flags);
	blocks = pageblock_kept_blocks(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	return blocks;
}

/**
 * pageblock_may_make() - may the worker make blocks?
 *
 * Context: any.
 * Return: true if so.
 */
bool pageblock_may_make(void)
{
	return pageblock.vacates && READ_ONCE(pageblock.move_rate);
}

/**
 * pageblock_is_worker() - does the worker itself ask the allocator?
 *
 * Context: any.
 * Return: true if so.
 */
bool pageblock_is_worker(void)
{
	return in_task() && current == READ_ONCE(pageblock.cleaner);
}

/**
 * pageblock_is_short() - has a zone fewer blocks in its reserve than the worker should see to?
 * @zone: the zone
 * @kept: guarded blocks that the zone has; PAGEBLOCK_GUARDED if that is not known
 *
 * Context: any.
 * Return: true if so.
 */
bool pageblock_is_short(const struct zone *zone, unsigned long kept)
{
	return pageblock_may_make() &&
	       pageblock_reserve_lacks(kept, pageblock_free_blocks(zone),
				       pageblock_wanted_blocks(zone));
}

/**
 * pageblock_slice_over() - shall the worker stop for now?
 *
 * Context: the worker.
 * Return: true if the time of the slice is over, or if the policy goes off.
 */
bool pageblock_slice_over(void)
{
	return READ_ONCE(pageblock.leaving) || time_after_eq(jiffies, pageblock.slice_end);
}

/**
 * pageblock_look_again() - pay for a look at a block
 *
 * Context: the worker, after pageblock_may_look() for this look too.
 */
void pageblock_look_again(void)
{
	lmm_count(&lmm_pageblock_policy, COUNT_LOOKED, 1);
	lmm_budget_take(&pageblock.blocks, 1);
}

/**
 * pageblock_may_look() - may the worker look at a block?
 * @looks: how often at most, with looks after pages were moved
 *
 * Context: the worker.
 * Return: true if so; the first look is then paid for.
 */
bool pageblock_may_look(unsigned int looks)
{
	if (lmm_budget_left(&pageblock.blocks) < looks)
		return false;
	pageblock_look_again();
	return true;
}

/**
 * pageblock_worker_ask() - something has happened that the worker should see to
 *
 * Context: an event, so any context; also under zone->lock, interrupts off.
 */
void pageblock_worker_ask(void)
{
	/*
	 * Pairs with pass_begin(), and with the knob: either the rate is seen here, or the pass
	 * that the knob has queued sees what has happened.
	 */
	smp_mb();
	/*
	 * A worker that may move nothing is woken by the knob.  The worker's own requests do not
	 * keep it from resting: it knows what its zones lack.
	 */
	if (READ_ONCE(pageblock.asked) || !READ_ONCE(pageblock.move_rate) ||
	    pageblock_is_worker() || lmm_worker_deaf())
		return;
	WRITE_ONCE(pageblock.asked, true);
	lmm_worker_kick(&pageblock.worker);
}
