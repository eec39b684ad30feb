// SPDX-License-Identifier: GPL-2.0-only
/*
 * vacate.c - whole blocks are made free by moving out what can be moved
 *
 * The kernel's compaction moves pages from one end of a zone to the other and takes what
 * comes of it; where it has failed it is put off, and blocks are mixed meanwhile.  Here a
 * block is chosen by what it holds, the cheapest of some, and emptied as a driver does
 * that wants the very range: isolated, so that nothing new comes in, what is clean and of
 * a file dropped, the rest moved out, and given back.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "inspect.h"
#include "state.h"

/* Blocks that are looked at for those to clear, at a time. */
#define WINDOW		128UL

/* Blocks that are cleared at a time, at most. */
#define CLEAR_MAX	8

/**
 * struct candidate - a block that could be cleared
 * @pfn: number of its first page
 * @cost: pages to move
 */
struct candidate {
	unsigned long pfn;
	u64 cost;
};

/* Keep the cheapest, cheapest first; return how many there are. */
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

/* The next blocks of the zone, from where the last look ended. */
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
 * Free pages that are allocated one by one as one that is free is found in the buddy.
 * By halves: a block of this very order would go to a per-CPU list.
 */
static void block_free(unsigned long pfn)
{
	unsigned long half = pageblock_nr_pages / 2, i;
	struct page *page = pfn_to_page(pfn);

	/* Where allocations are profiled, each has a tag of its own to be dropped. */
	for (i = 0; i < pageblock_nr_pages && !IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING); i++)
		if (i % half && !page_ref_freeze(page + i, 1))
			break;
	if (i == pageblock_nr_pages) {
		__free_pages(page, pageblock_order - 1);
		__free_pages(page + half, pageblock_order - 1);
		return;
	}
	/* Somebody looks at one of them. */
	while (i--)
		if (i % half)
			page_ref_unfreeze(page + i, 1);
	for (i = 0; i < pageblock_nr_pages; i++)
		__free_page(page + i);
}

/*
 * Is there room for so many pages?  Reclaims, if need be.  To be asked first, as the
 * kernel complains to the log where it finds none for what it moves out of a range.
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

/* Make a block free, and movable; false if something in it cannot be moved now. */
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
 * @pz: what is known of it
 * @nr: how many blocks are wanted
 *
 * Context: process, may sleep, memory does not go offline; may reclaim.
 * Return: how many were made free.
 */
unsigned int pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, unsigned int nr)
{
	struct candidate best[CLEAR_MAX];
	unsigned int i, made = 0, found = candidates_find(zone, pz, best);

	/* The cheapest may be so because what is left in it does not move. */
	for (i = 0; i < found && made < nr; i++) {
		if (!block_clear(best[i].pfn, best[i].cost))
			continue;
		made++;
		lmm_count(&lmm_pageblock_policy, COUNT_MOVED, best[i].cost);
		cond_resched();
	}
	return made;
}
