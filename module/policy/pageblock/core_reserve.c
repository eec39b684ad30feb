// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_reserve.c - when the worker works, on which blocks, and how much it may spend; see
 * core_reserve.h
 */
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core_reserve.h"

/**
 * pageblock_price_limit() - what a block may cost at most
 * @tokens: pages that the worker may still move
 * @urgent: few free blocks are left, or some pages of the block were moved already
 *
 * With a full bucket nothing is saved by waiting, so any block may be taken.  With less in the
 * bucket only cheaper blocks may: dear blocks cannot use up what a cheap block will need a moment
 * later.  What is urgent may use all there is.
 *
 * Return: the highest price.
 */
u64 pageblock_price_limit(u64 tokens, bool urgent)
{
	return tokens * PAGEBLOCK_PRICE / (urgent ? 1 : PAGEBLOCK_SHARE);
}

/**
 * pageblock_choice_limit() - what must a block cost less than, to be one of the cheapest?
 * @choice: the cheapest so far
 *
 * Return: the price; U64_MAX while there are few blocks.
 */
u64 pageblock_choice_limit(const struct pageblock_choice *choice)
{
	return choice->found < PAGEBLOCK_CANDIDATES ? U64_MAX :
						      choice->best[choice->found - 1].price;
}

static void choice_remove(struct pageblock_choice *choice, unsigned int at)
{
	choice->found--;
	memmove(&choice->best[at], &choice->best[at + 1],
		(choice->found - at) * sizeof(choice->best[0]));
}

/**
 * pageblock_choice_add() - keep a block if it is one of the cheapest
 * @choice: the cheapest so far; updated
 * @pfn: first page frame number of the block; a block that is there already stays, with @price
 * @price: its price
 */
void pageblock_choice_add(struct pageblock_choice *choice, unsigned long pfn, u64 price)
{
	struct pageblock_candidate *best = choice->best;
	unsigned int at;

	for (at = 0; at < choice->found; at++)
		if (best[at].pfn == pfn)
			choice_remove(choice, at);
	if (price >= pageblock_choice_limit(choice))
		return;
	if (choice->found < PAGEBLOCK_CANDIDATES)
		choice->found++;
	for (at = choice->found - 1; at && best[at - 1].price > price; at--)
		best[at] = best[at - 1];
	best[at] = (struct pageblock_candidate){ pfn, price };
}

/**
 * pageblock_choice_drop() - take the cheapest block off the list
 * @choice: the cheapest so far, at least one; updated
 */
void pageblock_choice_drop(struct pageblock_choice *choice)
{
	choice_remove(choice, 0);
}

/**
 * pageblock_window() - how many blocks to look at before the cheapest is chosen
 * @low: few free blocks are left
 *
 * Of more blocks, the cheapest is cheaper.  But when few free blocks are left, the next request may
 * find none: then fewer have to do.
 *
 * Return: number of blocks.
 */
unsigned int pageblock_window(bool low)
{
	return low ? PAGEBLOCK_WINDOW_LOW : PAGEBLOCK_WINDOW;
}

/**
 * pageblock_lists_gap() - how often may the lists of all CPUs be emptied?
 * @cpus: number of CPUs
 *
 * Return: shortest time from one time to the next, in ms.
 */
unsigned int pageblock_lists_gap(unsigned int cpus)
{
	return max(PAGEBLOCK_LISTS_MS, cpus * PAGEBLOCK_LISTS_CPU_MS);
}

/**
 * pageblock_reserve_is_low() - are few free blocks left?
 * @blocks: wholly free blocks that the zone has
 * @want: wholly free blocks that the zone should have
 *
 * Return: true if so.
 */
bool pageblock_reserve_is_low(unsigned long blocks, unsigned long want)
{
	return blocks < DIV_ROUND_UP(want, 4);
}

/**
 * pageblock_reserve_want() - wholly free blocks that a zone should have
 * @knob: what the admin wants
 * @blocks: blocks of the zone
 * @movable: only movable pages get into the zone; no request there can mix a block
 *
 * Return: number of blocks.
 */
unsigned long pageblock_reserve_want(unsigned long knob, unsigned long blocks, bool movable)
{
	return movable ? 0 : min(knob, blocks / PAGEBLOCK_RESERVE_PART);
}

/**
 * pageblock_reserve_lacks() - how many blocks has a reserve too few?
 * @guarded: blocks of the reserve that are guarded
 * @blocks: wholly free blocks, these included
 * @want: wholly free blocks that the zone should have
 *
 * Return: number of blocks.
 */
unsigned long pageblock_reserve_lacks(unsigned long guarded, unsigned long blocks,
				      unsigned long want)
{
	unsigned long most = min(want, PAGEBLOCK_GUARDED + 0UL);

	return max(want - min(want, blocks), most - min(most, guarded));
}

/**
 * pageblock_may_guard() - may a block be made unmovable for the reserve?
 * @whole: the block is wholly free
 * @joins: the buddy is going to join the block with its neighbour, which is free
 * @unmovable: the neighbour is unmovable
 *
 * A part of two blocks is on the list of one type, so both must have that type.
 *
 * Return: true if so.
 */
bool pageblock_may_guard(bool whole, bool joins, bool unmovable)
{
	return whole && (!joins || unmovable);
}

/**
 * pageblock_fate_of() - what is to be done about a block that was made unmovable for the reserve?
 * @block: the block
 * @whole: pages of a block
 *
 * A block that was joined with a movable one is given to movable requests without a search.
 *
 * Return: what is to be done.
 */
enum pageblock_fate pageblock_fate_of(const struct pageblock_kept_block *block, u64 whole)
{
	const u64 *pages = block->content.pages;
	u64 movable = pages[CENSUS_MOVABLE];

	if (!block->unmovable)
		return PAGEBLOCK_FATE_FORGET;
	if (block->free)
		return block->joined ? PAGEBLOCK_FATE_RESTORE : PAGEBLOCK_FATE_KEEP;
	if (movable + pages[CENSUS_FREE] + pages[CENSUS_LOOSE] != whole)
		return movable ? PAGEBLOCK_FATE_MIXED : PAGEBLOCK_FATE_FORGET;
	/* Whose the pages in per-CPU lists will be is not known. */
	return movable ? PAGEBLOCK_FATE_RESTORE : PAGEBLOCK_FATE_KEEP;
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
 * pageblock_pace_rests() - were there so many attempts in vain that nobody tries again?
 * @pace: the pace
 *
 * Return: true if so, until pageblock_pace_wake().
 */
bool pageblock_pace_rests(const struct pageblock_pace *pace)
{
	return pace->vain >= PAGEBLOCK_MAX_VAIN;
}

/**
 * pageblock_pace_due() - is it time to try?
 * @pace: the pace
 * @now: time, in ms
 *
 * Return: true if so.
 */
bool pageblock_pace_due(const struct pageblock_pace *pace, u64 now)
{
	return !pageblock_pace_rests(pace) && now >= pace->due;
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
	pace->gap = clamp(pace->gap * 2, PAGEBLOCK_PERIOD_MS,
			  PAGEBLOCK_PERIOD_MS * PAGEBLOCK_MAX_GAP);
	pace->vain = min(pace->vain + 1, PAGEBLOCK_MAX_VAIN);
	pace->due = now + pace->gap;
}

/**
 * pageblock_pace_put_off() - try no sooner than at a time, unless something happens
 * @pace: the pace; updated
 * @due: the time, in ms
 */
void pageblock_pace_put_off(struct pageblock_pace *pace, u64 due)
{
	pace->due = max(pace->due, due);
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
