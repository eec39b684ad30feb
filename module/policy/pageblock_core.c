// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_core.c - the filter's rules, and when to make blocks free
 */
#include <linux/minmax.h>

#include "pageblock_core.h"

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
	if (request->highatomic)
		return PAGEBLOCK_ALLOW_HIGHATOMIC;
	if (request->spare && !request->high && !request->rounds)
		return PAGEBLOCK_REFUSE_SPARE;
	if (!request->waits)
		return PAGEBLOCK_ALLOW_ATOMIC;
	if (request->crowded)
		return PAGEBLOCK_ALLOW_CROWDED;
	if (!request->rounds)
		return PAGEBLOCK_REFUSE_SLOW;
	if (request->hopeless)
		return PAGEBLOCK_ALLOW_HOPELESS;
	if (settings->mode == PAGEBLOCK_MODE_STRICT &&
	    request->stuck < settings->max_attempts && request->rounds < PAGEBLOCK_MAX_ROUNDS)
		return PAGEBLOCK_REFUSE_STUCK;
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
 * @allowed: the verdict, of which only the first of a search counts
 *
 * On the way up the kernel takes what it finds: that is one page, for which the right
 * to mix is used up, where one search fills a whole list.
 *
 * Return: may it have what was found?
 */
bool pageblock_search_answer(struct pageblock_search *search, unsigned int order,
			     bool allowed)
{
	bool up = order >= search->order;

	search->order = order;
	if (search->pass == PAGEBLOCK_PASS_BEGUN)
		search->pass = allowed ? PAGEBLOCK_PASS_ALLOWED : PAGEBLOCK_PASS_REFUSED;
	if (search->pass != PAGEBLOCK_PASS_ALLOWED)
		return false;
	if (up)
		search->pass = PAGEBLOCK_PASS_REFUSED;
	return true;
}

/**
 * pageblock_reserve_tick() - is it time to make wholly free blocks?
 * @reserve: state of the zone; updated
 * @blocks: wholly free blocks that it has
 * @want: those that it should have
 *
 * The gap between attempts doubles while they make no progress.
 *
 * Return: true if compaction is to be woken.
 */
bool pageblock_reserve_tick(struct pageblock_reserve *reserve, unsigned long blocks,
			    unsigned long want)
{
	if (blocks >= want) {
		*reserve = (struct pageblock_reserve){ };
		return false;
	}
	if (reserve->wait) {
		reserve->wait--;
		return false;
	}
	if (!reserve->trying || blocks > reserve->had)
		reserve->gap = 0;
	else
		reserve->gap = min(reserve->gap ? reserve->gap * 2 : 1U, PAGEBLOCK_MAX_GAP);
	reserve->wait = reserve->gap;
	reserve->had = blocks;
	reserve->trying = true;
	return true;
}
