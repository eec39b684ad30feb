// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the filter's rules, and when to make blocks free
 */
#include <linux/math.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * pageblock_judge() - may a request take a part of another type's block?
 * @request: what is known of it
 * @settings: knobs
 *
 * In the fast path never: the slow path follows, for every request, and with it the
 * waking of kswapd and kcompactd.  There, whoever cannot wait, or must not be made to,
 * may at once.
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
	 * Pages of other types are no reason for kswapd to begin, so it would reclaim by
	 * itself: on 6.12 it stalled more than without the filter.
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
 * pageblock_allows() - is it one of those that allow?
 * @verdict: the verdict
 *
 * Return: true if mixing is allowed.
 */
bool pageblock_allows(enum pageblock_verdict verdict)
{
	return verdict >= PAGEBLOCK_ALLOW_TRIED;
}

/**
 * pageblock_search_asks() - is this question of a search to be judged?
 * @search: the search; updated
 * @order: which is asked about
 * @top: the highest there is; a search begins with it
 * @found: is there anything of this order to fall back on?
 *
 * Return: true if it is, by pageblock_search_answer(); else nothing is refused.
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
 * @order: which is asked about
 * @verdict: the verdict, of which only the first of a search counts
 *
 * On the way up the kernel takes what it finds: that is one page, for which the right
 * to mix is used up, where one search fills a whole list.
 *
 * Return: may it have what was found?
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
 * pageblock_boost() - how far are the watermarks of a zone raised for a mix?
 * @boost: how far they are, in pages
 * @high: its high watermark without that
 * @factor: vm.watermark_boost_factor: by so many 1/10000 of @high at most; 0: never
 * @managed: pages of the zone
 * @block: pages of a pageblock
 *
 * As the kernels that we know do it, since 1c30844d2dfe ("mm: reclaim small amounts of
 * memory when an external fragmentation event occurs", 5.0): a block more, and one is
 * always allowed, but not in a zone of less than four.
 *
 * Return: pages.
 */
unsigned long pageblock_boost(unsigned long boost, unsigned long high, int factor,
			      unsigned long managed, unsigned long block)
{
	unsigned long most = factor > 0 ? mult_frac(high, (unsigned long)factor, 10000UL) : 0;

	/* Watermarks are 0 until they have been set up. */
	if (!most || block * 4 > managed)
		return boost;
	return max(boost, min(boost + block, max(most, block)));
}

/**
 * pageblock_vacate_cost() - how much is to be moved for a block to be wholly free?
 * @block: what it holds
 * @whole: pages of a block
 *
 * What is loose is in the buddy as soon as the lists are emptied; where nothing else is,
 * there is nothing to do.  Nor in a block for what cannot be moved: what is left in it
 * belongs there, as buffers do, or will be moved out.
 *
 * Return: pages; 0 if it cannot be done, or need not.
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
 * pageblock_out_of_place() - how much is to be moved for a block to be what its type says?
 * @block: what it holds
 *
 * What cannot be moved, in a block for what can, has to stay.
 *
 * Return: pages.
 */
u64 pageblock_out_of_place(const struct census_block *block)
{
	if (block->huge || !pageblock_census_foreign(block->type, CENSUS_MOVABLE))
		return 0;
	return block->pages[CENSUS_MOVABLE];
}

/**
 * pageblock_reserve_tick() - is it time to make wholly free blocks?
 * @reserve: state of the zone; updated
 * @blocks: wholly free blocks that it has
 * @want: those that it should have
 *
 * Return: how many to try and make now; tell pageblock_reserve_made().
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
 * pageblock_reserve_made() - what has come of an attempt
 * @reserve: state of the zone; updated
 * @made: blocks that were made; they may be gone again
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
