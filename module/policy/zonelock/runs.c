// SPDX-License-Identifier: GPL-2.0-only
/*
 * runs.c - single pages that are neighbours, as larger blocks; see runs.h
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 *
 * Pages that a process frees when it ends, or unmaps, lie in a list in the order of their
 * addresses, up or down.  Looking at neighbours in the list finds their runs in one walk.
 */
#include "runs.h"

/* The last @nr pages of the walk, up to @last, leave their list; the lowest one is the block. */
static void block_take(struct list_head *last, unsigned int nr, bool up, struct list_head *blocks)
{
	struct list_head *page = last, *block = last;

	while (nr--) {
		struct list_head *before = page->prev;

		if (up)
			block = page;
		list_del(page);
		page = before;
	}
	list_add_tail(block, blocks);
}

/**
 * runs_join() - join single pages to blocks
 * @pages: list of free pages that are the caller's alone; keeps those that were not joined
 * @order: order of the blocks, at least 1
 * @pfn_of: page frame number of a page
 * @blocks: list to whose end each block is added, by its first page; the other pages of the block
 *	are in no list
 *
 * Return: number of blocks.
 */
unsigned int runs_join(struct list_head *pages, unsigned int order,
		       unsigned long (*pfn_of)(const struct list_head *),
		       struct list_head *blocks)
{
	const unsigned int size = 1U << order;
	struct list_head *page, *next;
	unsigned int run = 0, nr = 0;
	unsigned long before = 0;
	bool up = false;

	for (page = pages->next; page != pages; page = next) {
		unsigned long pfn = pfn_of(page);

		next = page->next;
		if (run >= 1 && pfn == before + 1 && (run == 1 || up)) {
			up = true;
			run++;
		} else if (run >= 1 && pfn + 1 == before && (run == 1 || !up)) {
			up = false;
			run++;
		} else {
			run = 1;
		}
		before = pfn;
		if (run < size || pfn % size != (up ? size - 1 : 0))
			continue;
		block_take(page, size, up, blocks);
		nr++;
		run = 0;
	}
	return nr;
}
