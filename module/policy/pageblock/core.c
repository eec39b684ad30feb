// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the filter's rules, and when to make blocks free
 */
#include <linux/math.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * pageblock_judge() - may a request take a part of another type's block?
 * @request: the request
 * @settings: knobs of the filter
 *
 * No request may mix in the fast path: the slow path follows, which wakes kswapd and kcompactd.
 * There, a request that cannot wait, or must not be made to wait, may mix at once.
 *
 * Return: the verdict.
 */
enum pageblock_verdict pageblock_judge(const struct pageblock_request *request,
				       const struct pageblock_settings *settings)
{
	if (!request->grouped)
		return PAGEBLOCK_ALLOW_UNGROUPED;
	if (!request->slow)
		return PAGEBLOCK_REFUSE_FAST;
	if (request->last || request->victim)
		return PAGEBLOCK_ALLOW_OOM;
	if (request->memalloc)
		return PAGEBLOCK_ALLOW_MEMALLOC;
	if (request->nofail)
		return PAGEBLOCK_ALLOW_NOFAIL;
	if (request->cleans)
		return PAGEBLOCK_REFUSE_HAS_FALLBACK;
	if (request->highatomic)
		return PAGEBLOCK_ALLOW_HIGHATOMIC;
	if (request->has_fallback && !request->high && !request->rounds)
		return PAGEBLOCK_REFUSE_HAS_FALLBACK;
	if (!request->waits)
		return PAGEBLOCK_ALLOW_ATOMIC;
	if (request->untracked)
		return PAGEBLOCK_ALLOW_UNTRACKED;
	/*
	 * kswapd does not start while enough pages of other types are free, so the request would
	 * reclaim alone: on 6.12 such requests stalled more than without the filter.
	 */
	if (request->above_high && settings->mode == PAGEBLOCK_MODE_CLAIM)
		return PAGEBLOCK_ALLOW_ABOVE_HIGH;
	if (!request->rounds)
		return PAGEBLOCK_REFUSE_SLOW;
	if (request->compact_deferred)
		return PAGEBLOCK_ALLOW_COMPACT_DEFERRED;
	if (settings->mode == PAGEBLOCK_MODE_STRICT &&
	    request->no_progress < settings->max_attempts && request->rounds < PAGEBLOCK_MAX_ROUNDS)
		return PAGEBLOCK_REFUSE_NO_PROGRESS;
	return PAGEBLOCK_ALLOW_TRIED;
}

/**
 * pageblock_allows() - does a verdict allow mixing?
 * @verdict: the verdict
 *
 * Return: true if mixing is allowed.
 */
bool pageblock_allows(enum pageblock_verdict verdict)
{
	return verdict >= PAGEBLOCK_ALLOW_TRIED;
}

/**
 * pageblock_search_asks() - does a question of a search need an answer?
 * @search: the search; updated
 * @order: the order that the kernel asks about
 * @top: the highest order, with which a search begins
 * @found: there is a block of another type of this order
 *
 * Return: true if pageblock_search_answer() is to answer; false if nothing is to be refused.
 */
bool pageblock_search_asks(struct pageblock_search *search, unsigned int order,
			   unsigned int top, bool found)
{
	if (order == top) {
		search->pass = PAGEBLOCK_PASS_BEGUN;
		search->order = order;
		return false;
	}
	return found && search->pass != PAGEBLOCK_PASS_FREE;
}

/**
 * pageblock_search_answer() - answer a question of a search
 * @search: the search; updated
 * @order: the order that the kernel asks about
 * @verdict: the verdict; only the first verdict of a search counts
 *
 * One search may fill a whole list.  The right to mix covers one page, and is used up on the way
 * up, where the kernel takes the page that it finds.
 *
 * Return: true if the request may have what was found.
 */
bool pageblock_search_answer(struct pageblock_search *search, unsigned int order,
			     enum pageblock_verdict verdict)
{
	bool up = order >= search->order;

	search->order = order;
	if (search->pass == PAGEBLOCK_PASS_BEGUN) {
		search->pass = pageblock_allows(verdict) ? PAGEBLOCK_PASS_ALLOWED :
							   PAGEBLOCK_PASS_REFUSED;
		search->parts = verdict == PAGEBLOCK_ALLOW_ABOVE_HIGH;
	}
	if (search->pass != PAGEBLOCK_PASS_ALLOWED)
		return false;
	if (up)
		search->pass = PAGEBLOCK_PASS_REFUSED;
	return true;
}

/**
 * pageblock_boost() - how far a mix raises the watermarks of a zone
 * @boost: present boost, in pages
 * @high: high watermark without the boost
 * @factor: vm.watermark_boost_factor: upper limit in 1/10000 of @high; 0: no boost
 * @managed: pages of the zone
 * @block: pages of a pageblock
 *
 * As the kernel does since 1c30844d2dfe ("mm: reclaim small amounts of memory when an external
 * fragmentation event occurs", 5.0): a block more each time, at least one, but none in a zone of
 * fewer than four.
 *
 * Return: the new boost, in pages.
 */
unsigned long pageblock_boost(unsigned long boost, unsigned long high, int factor,
			      unsigned long managed, unsigned long block)
{
	unsigned long most = factor > 0 ? mult_frac(high, (unsigned long)factor, 10000UL) : 0;

	if (!most || block * 4 > managed)
		return boost;
	return max(boost, min(boost + block, max(most, block)));
}

/**
 * pageblock_vacate_cost() - pages to move to make a block wholly free
 * @block: content of the block
 * @whole: pages of a block
 *
 * Loose pages need no work: draining the lists frees them.  Blocks of unmovable types are left
 * alone: their pages belong there, as buffers do, or the clean-up moves them.
 *
 * Return: pages; 0 if the block cannot or need not be made free.
 */
u64 pageblock_vacate_cost(const struct census_block *block, u64 whole)
{
	u64 movable = block->pages[CENSUS_MOVABLE];

	if (block->type != CENSUS_TYPE_MOVABLE || block->huge ||
	    movable + block->pages[CENSUS_FREE] + block->pages[CENSUS_LOOSE] != whole)
		return 0;
	return movable;
}

/**
 * pageblock_out_of_place() - movable pages of a block that is not for movable pages
 * @block: content of the block
 *
 * Return: pages; unmovable pages in a movable block do not count, since they have to stay.
 */
u64 pageblock_out_of_place(const struct census_block *block)
{
	if (block->huge || !pageblock_census_foreign(block->type, CENSUS_MOVABLE))
		return 0;
	return block->pages[CENSUS_MOVABLE];
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
 * pageblock_reserve_tick() - is it time to make wholly free blocks?
 * @reserve: pacing of the zone; updated
 * @blocks: wholly free blocks that the zone has
 * @want: wholly free blocks that the zone should have
 *
 * Return: blocks to make now; report the result to pageblock_reserve_made().
 */
unsigned long pageblock_reserve_tick(struct pageblock_reserve *reserve, unsigned long blocks,
				     unsigned long want)
{
	if (blocks >= want) {
		*reserve = (struct pageblock_reserve){ };
		return 0;
	}
	if (reserve->wait) {
		reserve->wait--;
		return 0;
	}
	return want - blocks;
}

/**
 * pageblock_reserve_made() - note the result of an attempt
 * @reserve: pacing of the zone; updated
 * @made: blocks that were made, even if they are in use again
 *
 * The gap between attempts doubles while they make no progress.
 */
void pageblock_reserve_made(struct pageblock_reserve *reserve, unsigned long made)
{
	if (made)
		reserve->gap = 0;
	else
		reserve->gap = min(reserve->gap ? reserve->gap * 2 : 1U, PAGEBLOCK_MAX_GAP);
	reserve->wait = reserve->gap;
}
