// SPDX-License-Identifier: GPL-2.0-only
/*
 * unmix.c - clean blocks that were mixed
 *
 * A bit for each block notes that the block was mixed.  Movable pages in an unmovable block are
 * moved out; see move.c.  If the block is wholly free then, the next claim sets its type.  An
 * unmovable page in a movable block stays until its owner frees it.
 */
#include <linux/bitmap.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "inspect.h"
#include "state.h"
#include "policy/common/move.h"
#include "flow/zones.h"

/* Has the block pages that should be elsewhere? */
static bool block_is_mixed(struct zone *zone, unsigned long pfn)
{
	struct census_block block = { };
	struct pageblock_run run = { };

	return pageblock_inspect(zone, pfn, pfn + pageblock_nr_pages, &run, &block) &&
	       pageblock_out_of_place(&block, pageblock_nr_pages);
}

/* Looks at a block that is cleaned: before, and after. */
#define CLEAN_LOOKS	2U

/*
 * Clean a block, the first look is paid for; set *@done if nothing is left to do.  Return the
 * number of pages moved.
 */
static unsigned int block_clean(struct zone *zone, unsigned long pfn, bool *done)
{
	unsigned int moved;

	*done = true;
	if (!block_is_mixed(zone, pfn))
		return 0;
	moved = pageblock_move_out(zone, pfn, true, done);
	if (!moved || !*done)
		return moved;
	/* Pages that cannot go at all stay, and the block is forgotten mixed. */
	pageblock_look_again();
	if (!block_is_mixed(zone, pfn))
		lmm_count(&lmm_pageblock_policy, COUNT_CLEANED, 1);
	return moved;
}

/**
 * pageblock_is_mixed() - is a mixed block remembered?
 * @pz: the zone's state
 *
 * Context: process, the worker.
 * Return: true if so.
 */
bool pageblock_is_mixed(const struct pageblock_zone *pz)
{
	return pz->mixed && find_first_bit(pz->mixed, pz->blocks) < pz->blocks;
}

/**
 * pageblock_unmix() - clean a remembered block of a zone
 * @zone: the zone
 * @pz: the zone's state
 * @moved: grows by the pages that were moved
 *
 * Context: process, the worker, memory does not go offline; waits for no I/O and no page.
 * Return: what the step came to; PAGEBLOCK_STEP_OVER if no block is remembered from the cursor on.
 * The cursor is then at the begin.
 */
enum pageblock_step pageblock_unmix(struct zone *zone, struct pageblock_zone *pz,
				    unsigned long *moved)
{
	unsigned long at = find_next_bit(pz->mixed, pz->blocks, pz->next);
	bool done;

	if (at >= pz->blocks) {
		pz->next = 0;
		return PAGEBLOCK_STEP_OVER;
	}
	if (!lmm_budget_left(&pageblock.pages) || !pageblock_may_look(CLEAN_LOOKS))
		return PAGEBLOCK_STEP_PAUSE;
	pz->next = at + 1;
	/* Cleared before the look, so that a new mix is not forgotten. */
	clear_bit(at, pz->mixed);
	*moved += block_clean(zone, (pz->first + at) << pageblock_order, &done);
	if (!done)
		set_bit(at, pz->mixed);
	return PAGEBLOCK_STEP_MORE;
}

/**
 * pageblock_remember() - remember a mixed block
 * @page: a page of the block
 *
 * Context: under zone->lock, interrupts off.
 */
void pageblock_remember(const struct page *page)
{
	struct pageblock_zone *pz = &pageblock.zones[lmm_zone_slot(page_zone(page))];
	unsigned long at = (page_to_pfn(page) >> pageblock_order) - pz->first;

	/* Memory that came online later has no bit. */
	if (!pz->mixed || at >= pz->blocks)
		return;
	set_bit(at, pz->mixed);
	pageblock_worker_ask();
}

/**
 * pageblock_unmix_possible() - make sure that blocks can be cleaned
 *
 * Context: process.
 * Return: false if a hook is missing.
 */
bool pageblock_unmix_possible(void)
{
	return pageblock.hotplug && lmm_move_possible();
}

/**
 * pageblock_unmix_start() - allocate the bits of a zone's blocks
 * @zone: the zone
 * @pz: the zone's state
 *
 * Context: process.
 * Return: false if there is no memory.
 */
bool pageblock_unmix_start(struct zone *zone, struct pageblock_zone *pz)
{
	/* Memory may come or go meanwhile: the end must not be before the start. */
	unsigned long start = READ_ONCE(zone->zone_start_pfn);
	unsigned long end = start + READ_ONCE(zone->spanned_pages);

	pz->first = start >> pageblock_order;
	pz->blocks = DIV_ROUND_UP(end, pageblock_nr_pages) - pz->first;
	pz->mixed = kvcalloc(BITS_TO_LONGS(pz->blocks), sizeof(long), GFP_KERNEL);
	pz->kept = kvcalloc(BITS_TO_LONGS(pz->blocks), sizeof(long), GFP_KERNEL);
	return pz->mixed && pz->kept;
}
