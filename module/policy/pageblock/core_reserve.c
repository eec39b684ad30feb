// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_reserve.c - how many free blocks a zone should have, and when the worker makes some; see
 * core_reserve.h
 */
#include <linux/limits.h>
#include <linux/minmax.h>

#include "core_reserve.h"

/**
 * pageblock_lists_gap() - how often may the lists of all CPUs be emptied?
 * @cpus: number of CPUs
 *
 * Pages in per-CPU lists cannot join a free block.  Every CPU whose lists are emptied has to fill
 * them again, and while this runs, a request that is about to give up does not empty the lists of
 * its own zones.  So that happens once a second at most, and to 50 CPUs a second.
 *
 * Return: shortest time from one time to the next, in ms.
 */
unsigned int pageblock_lists_gap(unsigned int cpus)
{
	return max(1000U, 20U * cpus);
}

/**
 * pageblock_reserve_want() - wholly free blocks that a zone should have
 * @knob: what the admin wants
 * @blocks: blocks of the zone
 * @movable: only movable pages get into the zone; no request there can mix a block
 *
 * Return: number of blocks, at most one in 16.
 */
unsigned long pageblock_reserve_want(unsigned long knob, unsigned long blocks, bool movable)
{
	return movable ? 0 : min(knob, blocks / 16);
}

/**
 * pageblock_usable_blocks() - wholly free blocks that any request may have
 * @blocks: wholly free blocks
 * @pages: free pages of CMA memory, and pages of blocks kept for atomic requests
 * @isolated: isolated blocks
 * @block: pages of a block
 *
 * How many of the wholly free blocks are of these kinds is not known, so all that could be count.
 * The reserve may be larger for that, by the blocks that are partly used, never smaller.
 *
 * Return: number of blocks.
 */
unsigned long pageblock_usable_blocks(unsigned long blocks, unsigned long pages,
				      unsigned long isolated, unsigned long block)
{
	unsigned long apart = pages / block + isolated;

	return blocks - min(blocks, apart);
}

/**
 * pageblock_pace_due() - when is the next attempt due?
 * @pace: the pace
 *
 * Return: the time, in ms; U64_MAX after so many attempts in vain that nobody tries again until
 * pageblock_pace_wake().
 */
u64 pageblock_pace_due(const struct pageblock_pace *pace)
{
	return pace->vain < PAGEBLOCK_MAX_VAIN ? pace->due : U64_MAX;
}

/**
 * pageblock_pace_note() - note the result of an attempt
 * @pace: the pace; updated
 * @progress: the attempt achieved something
 * @now: time, in ms
 *
 * The gap doubles while attempts make no progress.
 */
void pageblock_pace_note(struct pageblock_pace *pace, bool progress, u64 now)
{
	if (progress) {
		*pace = (struct pageblock_pace){ .due = now };
		return;
	}
	pace->gap = clamp(pace->gap * 2, PAGEBLOCK_GAP_MS, PAGEBLOCK_MAX_GAP_MS);
	pace->vain = min(pace->vain + 1, PAGEBLOCK_MAX_VAIN);
	pace->due = now + pace->gap;
}

/**
 * pageblock_pace_wake() - something has happened: try soon
 * @pace: the pace; updated
 * @now: time, in ms
 */
void pageblock_pace_wake(struct pageblock_pace *pace, u64 now)
{
	pace->due = min(pace->due, now);
	pace->vain = 0;
}
