// SPDX-License-Identifier: GPL-2.0-only
/*
 * vacate.c - make blocks wholly free by moving pages out
 *
 * Compaction moves pages from one end of a zone to the other, whatever blocks that frees; where
 * it has failed it is deferred, and blocks are mixed meanwhile.  The worker instead chooses the
 * cheapest of some blocks and empties them as a driver does that needs a range: isolate the
 * block, so that no page comes in; drop clean pages of files; move out the rest; give the block
 * back.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "inspect.h"
#include "state.h"

/* Blocks to look at in one run. */
#define WINDOW		128UL

/* Upper limit of the blocks to empty in one run. */
#define CLEAR_MAX	8

/**
 * struct candidate - a block that could be emptied
 * @pfn: first page frame number
 * @cost: pages to move
 */
struct candidate {
	unsigned long pfn;
	u64 cost;
};

/* Keep the cheapest, cheapest first; return the number of candidates. */
static unsigned int candidate_add(struct candidate *best, unsigned int nr, unsigned long pfn,
				  u64 cost)
{
	unsigned int at;

	if (nr == CLEAR_MAX && cost >= best[nr - 1].cost)
		return nr;
	if (nr < CLEAR_MAX)
		nr++;
	for (at = nr - 1; at && best[at - 1].cost > cost; at--)
		best[at] = best[at - 1];
	best[at] = (struct candidate){ pfn, cost };
	return nr;
}

/* Look at the next blocks of the zone. */
static unsigned int candidates_find(struct zone *zone, struct pageblock_zone *pz,
				    struct candidate *best)
{
	unsigned long start = ALIGN(zone->zone_start_pfn, pageblock_nr_pages);
	unsigned long end = ALIGN_DOWN(zone_end_pfn(zone), pageblock_nr_pages);
	unsigned long left = end > start ? (end - start) >> pageblock_order : 0;
	unsigned long pfn = pz->cursor;
	unsigned int nr = 0;

	for (left = min(left, WINDOW); left; left--, pfn += pageblock_nr_pages) {
		struct pageblock_run run = { };
		struct census_block block = { };
		u64 cost = 0;

		if (pfn < start || pfn >= end)
			pfn = start;
		if (pageblock_inspect(zone, pfn, pfn + pageblock_nr_pages, &run, &block))
			cost = pageblock_vacate_cost(&block, pageblock_nr_pages);
		if (cost)
			nr = candidate_add(best, nr, pfn, cost);
		cond_resched();
	}
	pz->cursor = pfn;
	return nr;
}

/*
 * Free the pages of a block as two pages of half a block each, which the buddy joins.  A page of
 * the order of a block would go to a per-CPU list.
 */
static void block_free(unsigned long pfn)
{
	unsigned long half = pageblock_nr_pages / 2, i;
	struct page *page = pfn_to_page(pfn);

	/* With allocation profiling each page has a tag of its own, which must be dropped. */
	for (i = 0; i < pageblock_nr_pages && !IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING); i++)
		if (i % half && !page_ref_freeze(page + i, 1))
			break;
	if (i == pageblock_nr_pages) {
		__free_pages(page, pageblock_order - 1);
		__free_pages(page + half, pageblock_order - 1);
		return;
	}
	/* Somebody else has a reference to a page: free the pages one by one. */
	while (i--)
		if (i % half)
			page_ref_unfreeze(page + i, 1);
	for (i = 0; i < pageblock_nr_pages; i++)
		__free_page(page + i);
}

/*
 * Is there room for so many pages?  Reclaims if need be.  alloc_contig_range() would complain to
 * the log if it found no room.
 */
static bool have_room(int nid, u64 nr)
{
	struct page *page, *next;
	LIST_HEAD(pages);

	for (; nr; nr--) {
		page = alloc_pages_node(nid, PAGEBLOCK_TARGET_GFP, 0);
		if (!page)
			break;
		list_add(&page->lru, &pages);
	}
	list_for_each_entry_safe(page, next, &pages, lru)
		__free_page(page);
	return !nr;
}

/* Make a block free and movable; false if a page in the block cannot be moved now. */
static bool block_clear(unsigned long pfn, u64 cost)
{
	if (!have_room(page_to_nid(pfn_to_page(pfn)), cost))
		return false;
	if (alloc_contig_range(pfn, pfn + pageblock_nr_pages, LMM_CONTIG_MOVABLE,
			       GFP_KERNEL | __GFP_NOWARN))
		return false;
	block_free(pfn);
	return true;
}

/**
 * pageblock_vacate() - make blocks of a zone wholly free
 * @zone: the zone
 * @pz: the zone's state
 * @nr: number of blocks wanted
 *
 * Context: process, may sleep, memory does not go offline; may reclaim.
 * Return: number of blocks made free.
 */
unsigned int pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, unsigned int nr)
{
	struct candidate best[CLEAR_MAX];
	unsigned int i, made = 0, found = candidates_find(zone, pz, best);

	/* The cheapest may be cheap because its last pages do not move. */
	for (i = 0; i < found && made < nr; i++) {
		if (!block_clear(best[i].pfn, best[i].cost))
			continue;
		made++;
		lmm_count(&lmm_pageblock_policy, COUNT_MOVED, best[i].cost);
		cond_resched();
	}
	return made;
}
