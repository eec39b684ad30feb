// SPDX-License-Identifier: GPL-2.0-only
/*
 * vacate.c - make blocks wholly free by moving pages out
 *
 * Compaction moves pages from one end of a zone to the other, whatever blocks that frees; where
 * it has failed it is deferred, and blocks are mixed meanwhile.  The worker instead chooses the
 * cheapest of some blocks and empties them one by one: isolate the block, so that nobody gets its
 * free pages; move the pages out; give the block back.  The buddy joins the pages.
 *
 * The kernel's own function for that, alloc_contig_range(), waits for locks of pages and for
 * writeback, and with that for ever if a device or a server does not answer.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "inspect.h"
#include "state.h"

/* Blocks to look at for candidates. */
#define WINDOW		128UL

/* Is a block cheaper than one of the cheapest so far? */
static bool candidate_is_cheap(const struct pageblock_zone *pz, u64 cost)
{
	return pz->found < PAGEBLOCK_CANDIDATES || cost < pz->best[pz->found - 1].cost;
}

/* Keep the cheapest, cheapest first. */
static void candidate_add(struct pageblock_zone *pz, unsigned long pfn, u64 cost)
{
	struct pageblock_candidate *best = pz->best;
	unsigned int at;

	if (pz->found < PAGEBLOCK_CANDIDATES)
		pz->found++;
	for (at = pz->found - 1; at && best[at - 1].cost > cost; at--)
		best[at] = best[at - 1];
	best[at] = (struct pageblock_candidate){ pfn, cost };
}

/* The content of a block, and the pages to move to empty it; 0 if the block is no candidate. */
static u64 block_cost(struct zone *zone, unsigned long pfn, struct census_block *block)
{
	struct pageblock_run run = { };

	*block = (struct census_block){ };
	if (!pageblock_inspect(zone, pfn, pfn + pageblock_nr_pages, &run, block))
		return 0;
	return pageblock_vacate_cost(block, pageblock_nr_pages);
}

/* Look at the next blocks of the zone; those with a page that stays are no candidates. */
static void candidates_find(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long start = ALIGN(zone->zone_start_pfn, pageblock_nr_pages);
	unsigned long end = ALIGN_DOWN(zone_end_pfn(zone), pageblock_nr_pages);
	unsigned long left = end > start ? (end - start) >> pageblock_order : 0;
	unsigned long pfn = pz->cursor;

	pz->found = 0;
	pz->next_best = 0;
	pz->emptied = false;
	if (lmm_hook_available(LMM_HOOK_LRU_DRAIN))
		KCALL(lru_drain)();
	for (left = min(left, WINDOW); left; left--, pfn += pageblock_nr_pages) {
		struct census_block block;
		u64 cost;

		if (pfn < start || pfn >= end)
			pfn = start;
		cost = block_cost(zone, pfn, &block);
		/* A page in a list may be in use again by the time of the move. */
		cost += cost ? block.pages[CENSUS_LOOSE] : 0;
		if (cost && candidate_is_cheap(pz, cost) && pageblock_can_go(zone, pfn))
			candidate_add(pz, pfn, cost);
		cond_resched();
	}
	pz->cursor = pfn;
}

/*
 * Pages in per-CPU lists cannot join a free block.  The lists of the zone are emptied at most once
 * a window, since every CPU has to fill its lists again.
 */
static bool lists_empty(struct zone *zone, struct pageblock_zone *pz)
{
	if (pz->emptied || !lmm_hook_available(LMM_HOOK_EMPTY_LISTS))
		return false;
	pz->emptied = true;
	KCALL(empty_lists)(zone);
	return true;
}

/* Are there enough free pages to move so many, and to leave the reserves alone? */
static bool have_room(struct zone *zone, u64 nr)
{
	return zone_page_state(zone, NR_FREE_PAGES) >= zone->_watermark[WMARK_MIN] + nr;
}

/* Take the pages out of an isolated block; true if the block is wholly free then. */
static bool block_empty(struct zone *zone, unsigned long pfn, bool *begun)
{
	struct census_block block;
	bool all;

	*begun = pageblock_move_out(zone, pfn, false, &all);
	if (!all)
		return false;
	block_cost(zone, pfn, &block);
	return block.pages[CENSUS_FREE] == pageblock_nr_pages;
}

/* Make a block free; false if the block cannot be made free now.  @begun: pages were moved. */
static bool block_vacate(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn,
			 bool *begun)
{
	unsigned long end = pfn + pageblock_nr_pages;
	struct census_block block;
	u64 cost = block_cost(zone, pfn, &block);
	bool made;

	*begun = false;
	if (cost && block.pages[CENSUS_LOOSE] && lists_empty(zone, pz))
		cost = block_cost(zone, pfn, &block);
	if (!cost || block.pages[CENSUS_LOOSE])
		return false;
	if (!have_room(zone, cost)) {
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
		return false;
	}
	if (!pageblock_can_go(zone, pfn))
		return false;
	if (lmm_block_isolate(KCALL(block_isolate), pfn, end)) {
		lmm_count(&lmm_pageblock_policy, COUNT_BUSY, 1);
		return false;
	}
	made = block_empty(zone, pfn, begun);
	lmm_block_release(KCALL(block_release), pfn, end);
	return made;
}

/**
 * pageblock_vacate_begin() - forget the blocks that were chosen earlier
 * @pz: the zone's state
 *
 * Context: process, the worker.
 */
void pageblock_vacate_begin(struct pageblock_zone *pz)
{
	pz->found = 0;
	pz->next_best = 0;
	pz->progress = true;
}

/**
 * pageblock_vacate() - do a step towards wholly free blocks in a zone
 * @zone: the zone
 * @pz: the zone's state
 * @made: set to true if a block was made free
 *
 * A step chooses blocks, or empties one.  A block that the slice was too short for is the next
 * step's.
 *
 * Context: process, the worker, memory does not go offline; waits for no I/O and no page.  The
 * block that is emptied is isolated within the step only.
 * Return: false if the attempt has come to its end, because no block of a whole window could be
 * made free.
 */
bool pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, bool *made)
{
	bool begun;

	*made = false;
	if (pz->next_best == pz->found) {
		if (!pz->progress)
			return false;
		pz->progress = false;
		candidates_find(zone, pz);
		return pz->found;
	}
	*made = block_vacate(zone, pz, pz->best[pz->next_best].pfn, &begun);
	pz->progress |= *made;
	if (*made || !begun || !pageblock_slice_over())
		pz->next_best++;
	return true;
}

/**
 * pageblock_vacate_possible() - make sure that blocks can be emptied
 *
 * Context: process.
 * Return: false if a hook is missing.
 */
bool pageblock_vacate_possible(void)
{
	return pageblock_unmix_possible() && lmm_hook_available(LMM_HOOK_BLOCK_ISOLATE) &&
	       lmm_hook_available(LMM_HOOK_BLOCK_RELEASE);
}
