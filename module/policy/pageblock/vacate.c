// SPDX-License-Identifier: GPL-2.0-only
/*
 * vacate.c - make blocks wholly free by moving pages out
 *
 * Compaction moves pages from one end of a zone to the other, whatever blocks that frees.  The
 * kernel defers compaction of a zone where compaction has failed, and mixes blocks meanwhile.
 *
 * The worker instead chooses the cheapest of some blocks and empties it: isolate the block, so that
 * nobody gets its free pages; move the pages out; give the block back.  The buddy joins the pages.
 *
 * The kernel's own function for that, alloc_contig_range(), waits for locks of pages and for
 * writeback, and with that for ever if a device or a server does not answer.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "inspect.h"
#include "state.h"
#include "policy/common/move.h"

/*
 * Blocks to look at before the cheapest is chosen.  A look ends where the block costs more than the
 * cheapest so far, so most looks are short.
 */
#define WINDOW		128U
/* Free parts to count under zone->lock. */
#define ROOM_PARTS	512U

/*
 * Are there free pages to move a block's pages to?  Isolation takes the free pages of the block
 * from others, so a whole block must be free above the min watermark.  And a move mixes no block:
 * so many free movable pages are needed, those of the block among them.  Free pages of other types
 * keep the zone above its watermarks, so that kswapd sleeps, and a move would end halfway, for
 * nothing.
 */
static bool have_room(struct zone *zone)
{
	unsigned long flags, pages = 0;
	unsigned int parts = 0;
	struct page *page;
	int order;

	if (zone_page_state(zone, NR_FREE_PAGES) <
	    zone->_watermark[WMARK_MIN] + pageblock_nr_pages)
		return false;
	spin_lock_irqsave(&zone->lock, flags);
	for (order = LMM_MAX_ORDER; order >= 0; order--) {
		list_for_each_entry(page, &zone->free_area[order].free_list[MIGRATE_MOVABLE], lru) {
			pages += 1UL << order;
			if (pages >= pageblock_nr_pages || ++parts == ROOM_PARTS)
				goto out;
		}
	}
out:
	spin_unlock_irqrestore(&zone->lock, flags);
	return pages >= pageblock_nr_pages || parts == ROOM_PARTS;
}

/*
 * The cheapest of the next blocks, its first page frame number; 0: none.  A block that costs more
 * than the worker may move now waits, as long as no cheaper one is found.
 */
static unsigned long block_choose(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long start = ALIGN(zone->zone_start_pfn, pageblock_nr_pages);
	unsigned long end = ALIGN_DOWN(zone_end_pfn(zone), pageblock_nr_pages);
	unsigned long most = lmm_budget_left(&pageblock.pages) + 1, pages, best = 0;
	unsigned int seen;

	for (seen = 0; seen < WINDOW && start < end; seen++) {
		if (pz->cursor < start || pz->cursor >= end)
			pz->cursor = start;
		pages = pageblock_glance(zone, pz->cursor, most);
		if (pages) {
			best = pz->cursor;
			most = pages;
		}
		pz->cursor += pageblock_nr_pages;
		cond_resched();
	}
	lmm_count(&lmm_pageblock_policy, COUNT_LOOKED, seen);
	return best;
}

/* Empty the lists of the zone on all CPUs, seldom; see pageblock_lists_gap(). */
static bool lists_empty(struct zone *zone)
{
	unsigned long gap = msecs_to_jiffies(pageblock_lists_gap(num_online_cpus()));

	if (!lmm_hook_available(LMM_HOOK_EMPTY_LISTS) ||
	    time_before(jiffies, pageblock.emptied + gap))
		return false;
	pageblock.emptied = jiffies;
	KCALL(empty_lists)(zone);
	return true;
}

/* Can all pages of a block leave now?  A look at each, so that nothing is moved in vain. */
static bool block_may_go(struct zone *zone, unsigned long pfn)
{
	bool loose;

	if (!pageblock_may_go(pfn, &loose))
		return false;
	return !loose || (lists_empty(zone) && pageblock_may_go(pfn, &loose) && !loose);
}

static bool block_vacate(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long pfn, end;
	bool made;

	if (!have_room(zone)) {
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
		return false;
	}
	if (lmm_hook_available(LMM_HOOK_LRU_DRAIN))
		KCALL(lru_drain)();
	pfn = block_choose(zone, pz);
	end = pfn + pageblock_nr_pages;
	if (!pfn || !block_may_go(zone, pfn) ||
	    lmm_block_isolate(KCALL(block_isolate), pfn, end))
		return false;
	/* Nobody takes the free pages of an isolated block. */
	made = pageblock_move_out(pfn) && lmm_free_end(pfn_to_page(pfn), pfn) >= end;
	lmm_block_release(KCALL(block_release), pfn, end, MIGRATE_MOVABLE);
	return made;
}

/**
 * pageblock_vacate() - try to make a wholly free block
 * @zone: the zone
 * @pz: the zone's part of the worker
 *
 * Memory cannot go offline meanwhile.  Somebody who takes memory offline now has his way first.
 *
 * Context: process, the worker; waits for no I/O, no page and no free memory.
 * Return: true if a block is free now.
 */
bool pageblock_vacate(struct zone *zone, struct pageblock_zone *pz)
{
	bool made;

	if (!percpu_down_read_trylock(pageblock.hotplug))
		return false;
	made = block_vacate(zone, pz);
	percpu_up_read(pageblock.hotplug);
	return made;
}

/**
 * pageblock_vacate_possible() - make sure that blocks can be emptied
 *
 * Context: process.
 * Return: false if a hook is missing.
 */
bool pageblock_vacate_possible(void)
{
	return pageblock.hotplug && lmm_move_possible() &&
	       lmm_hook_available(LMM_HOOK_BLOCK_ISOLATE) &&
	       lmm_hook_available(LMM_HOOK_BLOCK_RELEASE);
}
