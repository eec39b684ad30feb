// SPDX-License-Identifier: GPL-2.0-only
/*
 * vacate.c - make blocks wholly free by moving pages out
 *
 * Compaction moves pages from one end of a zone to the other, whatever blocks that frees.  The
 * kernel defers compaction of a zone where compaction has failed, and mixes blocks meanwhile.
 *
 * The worker instead chooses the cheapest of some blocks and empties them one by one: isolate the
 * block, so that nobody gets its free pages; move the pages out; give the block back.  The buddy
 * joins the pages.
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

/* Pages of a block after which a look may end; every pageblock is a multiple of that. */
#define LOOK_PAGES	64U

/* Blocks with a large free part to look at first, and the least order of such a part. */
#define HINTS		16U
#define HINT_ORDER	5U
/* Free parts to look at under zone->lock. */
#define HINT_PARTS	64U

static bool reserve_is_low(struct zone *zone)
{
	return pageblock_reserve_is_low(pageblock_reserve_blocks(zone),
					pageblock_guarded_blocks(zone));
}

/*
 * The content of a block, and the pages to move to empty it; 0 if the block is no candidate.  The
 * look may end early then, with a part of the content.
 */
static u64 block_cost(struct zone *zone, unsigned long pfn, struct census_block *block)
{
	unsigned long end = pfn + pageblock_nr_pages, at;
	struct pageblock_run run = { };

	*block = (struct census_block){ };
	for (at = pfn; at < end; at += LOOK_PAGES) {
		if (!pageblock_inspect(zone, at, at + LOOK_PAGES, &run, block))
			return 0;
		/* The inspection of a part does not see that one page fills the block. */
		block->huge |= at == pfn && run.end >= end;
		if (pageblock_vacate_hopeless(block))
			return 0;
	}
	return pageblock_vacate_cost(block, pageblock_nr_pages);
}

/* Look at a block; a block with a page that stays is no candidate. */
static void block_look(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn)
{
	u64 price = pageblock_glance(zone, pfn, pageblock_choice_limit(&pz->choice));

	pz->choice.seen++;
	if (price)
		pageblock_choice_add(&pz->choice, pfn, price);
}

static void hint_add(unsigned long *pfns, unsigned int *found, unsigned long pfn)
{
	unsigned int at;

	for (at = 0; at < *found; at++)
		if (pfns[at] == pfn)
			return;
	pfns[(*found)++] = pfn;
}

/*
 * Blocks with large free parts, which are cheap to empty; return their number.  The lists of free
 * pages know them, so that they need not be searched for.  Compaction looks there for the same
 * reason, 70b44595eafe ("mm, compaction: use free lists to quickly locate a migration source",
 * 5.1).
 */
static unsigned int hints_take(struct zone *zone, unsigned long *pfns)
{
	unsigned int order, found = 0, parts = 0;
	unsigned long flags;
	struct page *page;

	spin_lock_irqsave(&zone->lock, flags);
	for (order = pageblock_order - 1; order >= HINT_ORDER; order--) {
		list_for_each_entry(page, &zone->free_area[order].free_list[MIGRATE_MOVABLE], lru) {
			if (found == HINTS || parts++ == HINT_PARTS)
				goto out;
			hint_add(pfns, &found, pageblock_start_pfn(page_to_pfn(page)));
		}
	}
out:
	spin_unlock_irqrestore(&zone->lock, flags);
	return found;
}

static void hints_look(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long pfns[HINTS];
	unsigned int at, found = hints_take(zone, pfns);

	for (at = 0; at < found && pageblock_may_look(1); at++)
		block_look(zone, pz, pfns[at]);
}

/* Look at the next blocks of the zone, up to a window; false if the budget did not suffice. */
static bool candidates_find(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long start = ALIGN(zone->zone_start_pfn, pageblock_nr_pages);
	unsigned long end = ALIGN_DOWN(zone_end_pfn(zone), pageblock_nr_pages);
	unsigned long window = pageblock_window(reserve_is_low(zone));
	unsigned long pfn = pz->cursor;

	window = end > start ? min(window, (end - start) >> pageblock_order) : 0;
	for (; pz->choice.seen < window; pfn += pageblock_nr_pages) {
		if (!pageblock_may_look(1))
			break;
		if (pfn < start || pfn >= end)
			pfn = start;
		block_look(zone, pz, pfn);
		cond_resched();
	}
	pz->cursor = pfn;
	return pz->choice.seen >= window;
}

/**
 * pageblock_lists_wait() - time until lists of CPUs may be emptied again
 *
 * Pages in per-CPU lists cannot join a free block.  Every CPU whose lists are emptied has to fill
 * them again, and while this runs, a request that is about to give up does not empty the lists of
 * its own zones.  So lists are emptied seldom, the more so the more CPUs there are.
 *
 * Context: the worker.
 * Return: the time, in ms; 0: now.
 */
unsigned int pageblock_lists_wait(void)
{
	unsigned int gap = pageblock_lists_gap(num_online_cpus());
	unsigned long due = pageblock.emptied + msecs_to_jiffies(gap), now = jiffies;

	return time_before(now, due) ? jiffies_to_msecs(due - now) : 0;
}

static void lists_empty(struct zone *zone)
{
	pageblock.emptied = jiffies;
	KCALL(empty_lists)(zone);
}

/* Are there enough free pages to move so many, and to leave the reserves alone? */
static bool have_room(struct zone *zone, u64 nr)
{
	return zone_page_state(zone, NR_FREE_PAGES) >= zone->_watermark[WMARK_MIN] + nr;
}

/* Free parts to count under zone->lock. */
#define ROOM_PARTS	512U

/*
 * Are there free movable pages for the pages of a block?  A move mixes no block, and the free pages
 * of the block itself are among these.  Free pages of other types keep the zone above its
 * watermarks, so that kswapd sleeps, and a move would end halfway, for nothing.
 */
static bool movable_room(struct zone *zone)
{
	unsigned long flags, pages = 0;
	unsigned int parts = 0;
	int order;
	struct page *page;

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

/* Take the pages out of an isolated block; true if the block is wholly free then. */
static bool block_empty(struct zone *zone, unsigned long pfn, bool *begun)
{
	bool all;

	*begun = pageblock_move_out(zone, pfn, false, &all);
	return all && pageblock_block_is_free(zone, pfn);
}

/* What became of the attempt to empty a block. */
enum vacated {
	/* The block cannot be made free now. */
	VACATED_NOT,
	/* Some pages were moved. */
	VACATED_PART,
	/* Pages of the block are in lists of CPUs, which were emptied a moment ago. */
	VACATED_LATER,
	/* The block costs more than may be spent now. */
	VACATED_DEAR,
	/* The block is wholly free. */
	VACATED_WHOLE,
};

/* Looks at a block that is emptied: before, and once its pages in lists are free. */
#define VACATE_LOOKS	2U

/* What the next block may cost at most. */
static u64 price_limit(struct zone *zone, const struct pageblock_zone *pz)
{
	return pageblock_price_limit(lmm_budget_left(&pageblock.pages),
				     pz->begun || reserve_is_low(zone));
}

/* Make a block free; the first look is paid for.  @price: what the block costs, if it is dear. */
static enum vacated block_vacate(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn,
				 u64 *price)
{
	unsigned long end = pfn + pageblock_nr_pages;
	struct census_block block;
	u64 cost = block_cost(zone, pfn, &block);
	bool made, begun;

	if (!cost)
		return VACATED_NOT;
	if (block.pages[CENSUS_LOOSE]) {
		if (!lmm_hook_available(LMM_HOOK_EMPTY_LISTS))
			return VACATED_NOT;
		if (pageblock_lists_wait())
			return VACATED_LATER;
	}
	*price = pageblock_price(zone, pfn);
	if (!*price)
		return VACATED_NOT;
	if (*price > price_limit(zone, pz))
		return VACATED_DEAR;
	/* Last, for a block that is not too dear. */
	if (block.pages[CENSUS_LOOSE]) {
		lists_empty(zone);
		pageblock_look_again();
		cost = block_cost(zone, pfn, &block);
		if (!cost || block.pages[CENSUS_LOOSE])
			return VACATED_NOT;
	}
	if (!have_room(zone, cost)) {
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
		return VACATED_NOT;
	}
	if (lmm_block_isolate(KCALL(block_isolate), pfn, end))
		return VACATED_NOT;
	made = block_empty(zone, pfn, &begun);
	pageblock_release(zone, pz, pfn, made);
	if (made)
		return VACATED_WHOLE;
	return begun ? VACATED_PART : VACATED_NOT;
}

/* Forget the blocks that were chosen. */
static void choice_forget(struct pageblock_zone *pz)
{
	pz->choice = (struct pageblock_choice){ };
	pz->chosen = false;
	pz->begun = false;
	pz->later = false;
}

/* Too dear, all of them: keep the cheapest, and look for cheaper ones at the next attempt. */
static enum pageblock_step choice_is_dear(struct pageblock_zone *pz)
{
	lmm_count(&lmm_pageblock_policy, COUNT_TOO_DEAR, 1);
	pz->choice.seen = 0;
	pz->chosen = false;
	pz->begun = false;
	return PAGEBLOCK_STEP_DEAR;
}

/* Have enough blocks been looked at? */
static enum pageblock_step choose(struct zone *zone, struct pageblock_zone *pz)
{
	/* Not again for each window of an attempt whose blocks were too dear. */
	if (!pz->choice.seen && !pz->choice.found && lmm_hook_available(LMM_HOOK_LRU_DRAIN))
		KCALL(lru_drain)();
	if (!pz->choice.seen)
		hints_look(zone, pz);
	if (!candidates_find(zone, pz))
		return PAGEBLOCK_STEP_PAUSE;
	if (!pz->choice.found) {
		choice_forget(pz);
		return PAGEBLOCK_STEP_OVER;
	}
	pz->chosen = true;
	pz->progress = false;
	return PAGEBLOCK_STEP_MORE;
}

/**
 * pageblock_vacate_begin() - begin an attempt to make blocks
 * @pz: the zone's state
 *
 * Blocks that were looked at in the last attempt, which the budget has ended, are kept.
 *
 * Context: process, the worker.
 */
void pageblock_vacate_begin(struct pageblock_zone *pz)
{
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
 * Return: what the step came to; PAGEBLOCK_STEP_OVER if no block of a whole choice could be made
 * free.
 */
enum pageblock_step pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, bool *made)
{
	struct pageblock_candidate next;
	enum vacated vacated;

	*made = false;
	if (!pz->chosen)
		return choose(zone, pz);
	if (!pz->choice.found) {
		bool later = pz->later;

		choice_forget(pz);
		if (pz->progress)
			return PAGEBLOCK_STEP_MORE;
		return later ? PAGEBLOCK_STEP_LATER : PAGEBLOCK_STEP_OVER;
	}
	next = pz->choice.best[0];
	/* A block that was emptied in part costs less than it did. */
	if (!pz->begun && next.price > price_limit(zone, pz))
		return choice_is_dear(pz);
	if (!movable_room(zone)) {
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
		return PAGEBLOCK_STEP_OVER;
	}
	if (!pageblock_may_look(VACATE_LOOKS))
		return PAGEBLOCK_STEP_PAUSE;
	vacated = block_vacate(zone, pz, next.pfn, &next.price);
	if (vacated == VACATED_DEAR) {
		pageblock_choice_add(&pz->choice, next.pfn, next.price);
		return choice_is_dear(pz);
	}
	pz->later |= vacated == VACATED_LATER;
	*made = vacated == VACATED_WHOLE;
	pz->progress |= *made;
	pz->begun = vacated == VACATED_PART && pageblock_slice_over();
	if (!pz->begun)
		pageblock_choice_drop(&pz->choice);
	return PAGEBLOCK_STEP_MORE;
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
