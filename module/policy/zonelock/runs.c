// SPDX-License-Identifier: GPL-2.0-only
/*
 * runs.c - blocks that are neighbours, as larger blocks; see runs.h
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 *
 * Pages that a process frees when it ends, or unmaps, lie in a list in the order of their
 * addresses, up or down.  Looking at neighbours in the list finds their runs in one walk.
 */
#include "runs.h"

/* The last @nr pieces of the walk, up to @last, leave their list; the lowest one is the block. */
static void block_take(struct list_head *last, unsigned int nr, bool up, struct list_head *blocks)
{
	struct list_head *piece = last, *block = last;

	while (nr--) {
		struct list_head *before = piece->prev;

		if (up)
			block = piece;
		list_del(piece);
		piece = before;
	}
	list_add_tail(block, blocks);
}

/**
 * runs_join() - join single pages, or blocks, to larger blocks
 * @pieces: list of free blocks that are the caller's alone; keeps those that were not joined
 * @of: order of @pieces
 * @order: order of the larger blocks, above @of
 * @pfn_of: page frame number of a page
 * @blocks: list to whose end each block is added, by its first page; its other pieces are in no
 *	list
 *
 * Return: number of larger blocks.
 */
unsigned int runs_join(struct list_head *pieces, unsigned int of, unsigned int order,
		       unsigned long (*pfn_of)(const struct list_head *),
		       struct list_head *blocks)
{
	const unsigned long step = 1UL << of, inside = (1UL << order) - 1;
	const unsigned int size = 1U << (order - of);
	struct list_head *piece, *next;
	unsigned int run = 0, nr = 0;
	unsigned long before = 0;
	bool up = false;

	for (piece = pieces->next; piece != pieces; piece = next) {
		unsigned long pfn = pfn_of(piece);

		next = piece->next;
		if (run >= 1 && pfn == before + step && (run == 1 || up)) {
			up = true;
			run++;
		} else if (run >= 1 && pfn + step == before && (run == 1 || !up)) {
			up = false;
			run++;
		} else {
			run = 1;
		}
		before = pfn;
		if (run < size || (pfn & inside) != (up ? inside + 1 - step : 0))
			continue;
		block_take(piece, size, up, blocks);
		nr++;
		run = 0;
	}
	return nr;
}
