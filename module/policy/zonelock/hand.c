// SPDX-License-Identifier: GPL-2.0-only
/*
 * hand.c - free blocks on their way to the buddy, several under one hold of zone->lock
 *
 * The kernel's own drain does the work: it gets a struct per_cpu_pages that belongs to no CPU, with
 * nothing but the blocks.  The buddy therefore merges the blocks and respects isolated pageblocks
 * and changed migratetypes as usual, blocks of all orders go under one hold, and nobody else waits
 * for a list meanwhile.  This file touches none of the buddy's structures.
 *
 * The drain reads and writes @lists and @count of the struct, and nothing else (6.1 to 7.2).
 * Our wrapper keeps no page of such a call: the caller is no path that frees, and the struct is no
 * CPU's list.
 */
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/mmzone.h>

#include "compat/pageset.h"
#include "flow/drain.h"
#include "hand.h"
#include "runs.h"

/**
 * hand_init() - nothing in the hand
 * @hand: the hand
 * @zone: zone of the blocks
 * @most: blocks that may go under one hold
 * @hold_pages: pages that may go under one hold, however many blocks they are
 *
 * Context: any.
 */
void hand_init(struct zonelock_hand *hand, struct zone *zone, unsigned int most,
	       unsigned int hold_pages)
{
	unsigned int i;

	hand->zone = zone;
	hand->most = most;
	hand->hold_pages = hold_pages;
	hand->blocks = 0;
	hand->nr_joined = 0;
	INIT_LIST_HEAD(&hand->joined);
	hand->pages.count = 0;
	/* Those of no list; our wrapper reads them where the drain goes through the wrapper. */
	hand->pages.high = 0;
	hand->pages.batch = 0;
	for (i = 0; i < NR_PCP_LISTS; i++)
		INIT_LIST_HEAD(&hand->pages.lists[i]);
}

/**
 * hand_free() - give back what is in the hand, under one hold of zone->lock
 * @hand: the hand; empty afterwards
 *
 * Context: any but NMI, preemption off, zone->lock not held.
 */
void hand_free(struct zonelock_hand *hand)
{
	if (!hand->blocks)
		return;
	lmm_drain_by_kernel(hand->zone, hand->pages.count, &hand->pages);
	hand->blocks = 0;
}

/**
 * hand_add() - put blocks of a kind into the hand, and give back what is too much for a hold
 * @hand: the hand
 * @pindex: index of the kind in struct per_cpu_pages.lists
 * @blocks: list of blocks that are the caller's alone; empty afterwards
 *
 * Context: as hand_free().
 */
void hand_add(struct zonelock_hand *hand, unsigned int pindex, struct list_head *blocks)
{
	unsigned int pages = 1U << lmm_pindex_order(pindex);

	while (!list_empty(blocks)) {
		list_move(blocks->next, &hand->pages.lists[pindex]);
		hand->pages.count += pages;
		hand->blocks++;
		if (hand->blocks >= hand->most && hand->pages.count >= hand->hold_pages)
			hand_free(hand);
	}
}

/* A page that the kernel would not free goes alone: it would find only the first of a block. */
static unsigned long pfn_of(const struct list_head *entry)
{
	const struct page *page = list_entry(entry, struct page, lru);

	return lmm_page_is_free(page) ? page_to_pfn(page) : RUNS_ALONE;
}

/* All struct pages of a zone's memory lie in one array. */
static int by_address(void *unused, const struct list_head *a, const struct list_head *b)
{
	return a > b ? 1 : -1;
}

/**
 * hand_join() - join single pages that are neighbours to larger blocks
 * @hand: the hand; gets the larger blocks
 * @pages: list of pages that are the caller's alone; keeps those that were not joined
 *
 * Pages that are neighbours in the list make blocks of order PAGE_ALLOC_COSTLY_ORDER, and these
 * make pageblocks, with blocks of earlier calls too.  Lists have blocks of no order between the
 * two.  The buddy merges one block where it would merge eight pages, or 512.
 *
 * May be called several times, with more pages of the same migratetype, before hand_rest().
 *
 * Context: as hand_free().
 */
void hand_join(struct zonelock_hand *hand, struct list_head *pages)
{
	unsigned int blocks = runs_join(pages, 0, PAGE_ALLOC_COSTLY_ORDER, pfn_of, &hand->joined);
	LIST_HEAD(large);

	hand->nr_joined += blocks;
	if (!blocks || !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return;
	list_sort(NULL, &hand->joined, by_address);
	blocks = runs_join(&hand->joined, PAGE_ALLOC_COSTLY_ORDER, pageblock_order, pfn_of, &large);
	hand->nr_joined -= blocks << (pageblock_order - PAGE_ALLOC_COSTLY_ORDER);
	hand_add(hand, NR_LOWORDER_PCP_LISTS, &large);
}

/**
 * hand_rest() - put into the hand what makes no pageblock
 * @hand: the hand
 * @migratetype: migratetype of the pages, below MIGRATE_PCPTYPES
 * @pages: what hand_join() has left; empty afterwards
 *
 * Context: as hand_free().
 */
void hand_rest(struct zonelock_hand *hand, unsigned int migratetype, struct list_head *pages)
{
	hand->nr_joined = 0;
	hand_add(hand, lmm_pindex(PAGE_ALLOC_COSTLY_ORDER, migratetype), &hand->joined);
	hand_add(hand, migratetype, pages);
}
