// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_walk.c - a walk over the blocks of all zones, some blocks at a time; see core_walk.h
 */
#include <linux/kernel.h>

#include "core_walk.h"

/**
 * pageblock_walk_next() - the next block of the zone that the round is at
 * @walk: the round; goes on behind the block, or to the next zone
 * @zone: the zone of number @walk->slot, as the zone is now
 * @order: pages of a block are 1 << @order
 * @block: set to the block, or to the part of the block that is within the zone
 *
 * The whole block is done afterwards: when the zone grows within the block, no second part follows.
 *
 * Return: true if there is one; false if the zone is done.
 */
bool pageblock_walk_next(struct pageblock_walk *walk, const struct pageblock_span *zone,
			 unsigned int order, struct pageblock_span *block)
{
	if (!walk->end)
		walk->end = zone->end;
	block->start = max(walk->next, zone->start);
	walk->next = ((block->start >> order) + 1) << order;
	block->end = min3(walk->next, walk->end, zone->end);
	if (block->start < block->end)
		return true;
	*walk = (struct pageblock_walk){ .slot = walk->slot + 1 };
	return false;
}

/**
 * pageblock_walk_blocks() - blocks of a zone
 * @zone: the zone
 * @order: pages of a block are 1 << @order
 *
 * Return: number of blocks, holes and parts of blocks included.
 */
u64 pageblock_walk_blocks(const struct pageblock_span *zone, unsigned int order)
{
	if (zone->end <= zone->start)
		return 0;
	return ((zone->end - 1) >> order) - (zone->start >> order) + 1;
}

/**
 * pageblock_walk_done() - blocks of a zone that a round has done
 * @walk: the round
 * @slot: number of the zone
 * @zone: the zone as the zone is now
 * @order: pages of a block are 1 << @order
 *
 * Return: number of blocks, at most pageblock_walk_blocks().
 */
u64 pageblock_walk_done(const struct pageblock_walk *walk, unsigned int slot,
			const struct pageblock_span *zone, unsigned int order)
{
	struct pageblock_span done = *zone;

	if (slot == walk->slot)
		done.end = min(walk->next, zone->end);
	return slot <= walk->slot ? pageblock_walk_blocks(&done, order) : 0;
}
