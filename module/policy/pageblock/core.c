// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the filter's rules, and which pages of a block can leave
 */
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "core.h"

/* The verdict on a machine with one node. */
static enum pageblock_verdict judge_alone(const struct pageblock_request *request,
					  enum pageblock_mode mode)
{
	if (!request->slow)
		return PAGEBLOCK_REFUSE_FAST;
	if (request->last || request->victim || request->memalloc || request->nofail)
		return PAGEBLOCK_ALLOW_URGENT;
	if (request->cleans)
		return PAGEBLOCK_REFUSE_HAS_FALLBACK;
	if (request->highatomic)
		return PAGEBLOCK_ALLOW_ATOMIC;
	if (request->has_fallback && !request->high && !request->interrupt && !request->rounds)
		return PAGEBLOCK_REFUSE_HAS_FALLBACK;
	if (!request->waits)
		return PAGEBLOCK_ALLOW_ATOMIC;
	/*
	 * kswapd does not start while enough pages of other types are free, so the request would
	 * reclaim alone: on 6.12 such requests stalled more than without the filter.
	 */
	if (request->above_high && mode == PAGEBLOCK_MODE_CLAIM) {
		if (!request->guarded)
			return PAGEBLOCK_ALLOW_ABOVE_HIGH;
		if (!request->rounds)
			return PAGEBLOCK_REFUSE_GUARDED;
	}
	if (request->much_free && mode == PAGEBLOCK_MODE_CLAIM)
		return PAGEBLOCK_ALLOW_MUCH_FREE;
	if (!request->rounds)
		return PAGEBLOCK_REFUSE_SLOW;
	if (request->compact_deferred)
		return PAGEBLOCK_ALLOW_COMPACT_DEFERRED;
	if (mode == PAGEBLOCK_MODE_STRICT && request->rounds < PAGEBLOCK_MAX_ROUNDS)
		return PAGEBLOCK_REFUSE_SLOW;
	return PAGEBLOCK_ALLOW_TRIED;
}

/**
 * pageblock_judge() - may a request take a part of another type's block?
 * @request: the request
 * @mode: how long mixing is refused
 *
 * A refused request goes on to the next zone.  A request that would get a page of another node is
 * not refused: locality comes first, as for the kernel, which avoids mixing no further than the
 * node goes (ALLOC_NOFRAGMENT in get_page_from_freelist()).
 *
 * No other request may mix in the fast path: the slow path follows, which wakes kswapd and
 * kcompactd.  There, a request that cannot wait, or must not be made to wait, may mix at once.
 *
 * Return: the verdict.
 */
enum pageblock_verdict pageblock_judge(const struct pageblock_request *request,
				       enum pageblock_mode mode)
{
	enum pageblock_verdict verdict = judge_alone(request, mode);

	/* The policy's worker would rather have no page. */
	if (request->away && !request->cleans && !pageblock_allows(verdict))
		return PAGEBLOCK_ALLOW_NODE;
	return verdict;
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
 * pageblock_pages_but_cma() - free pages that any request may have
 * @pages: free pages of a zone
 * @cma: free pages of CMA memory in the zone
 *
 * The kernel keeps both figures apart, and each lags behind, so @cma may be above @pages.
 *
 * Return: number of pages.
 */
unsigned long pageblock_pages_but_cma(unsigned long pages, unsigned long cma)
{
	return pages - min(pages, cma);
}

/**
 * pageblock_much_is_free() - is so much free that reclaim would be for nothing?
 * @pages: free pages of a zone, of all types but CMA memory
 * @high: high watermark of the zone, without the boost
 *
 * Return: true if so.
 */
bool pageblock_much_is_free(unsigned long pages, unsigned long high)
{
	return pages / PAGEBLOCK_MUCH > high;
}

/**
 * pageblock_compaction_rests() - does the kernel defer compaction for a request?
 * @order: order of the request
 * @failed: lowest order for which compaction has failed in the zone
 * @considered: requests that were deferred since
 * @shift: log2 of the number of requests to defer; 0: none
 *
 * As compaction_deferred() (mm/compaction.c), which counts the request as well.  The kernel never
 * compacts for a single page.
 *
 * Return: true if so.
 */
bool pageblock_compaction_rests(unsigned int order, int failed, unsigned int considered,
				unsigned int shift)
{
	return order && (int)order >= failed && considered + 1UL < 1UL << shift;
}

/* The time may be before the stamp, which another CPU has set since this CPU read the time. */
static bool tried_lately(const struct pageblock_tried *tried, unsigned long now,
			 unsigned long life)
{
	return (long)(now - READ_ONCE(tried->stamp)) <= (long)life;
}

/**
 * pageblock_tried_rounds() - rounds of a task's request
 * @tried: place of the task
 * @owner: the task
 * @now: time, in ticks
 * @life: ticks after which a round belongs to a request that has ended
 *
 * Return: number of rounds; 0 if there is no right to mix.
 */
unsigned int pageblock_tried_rounds(const struct pageblock_tried *tried, const void *owner,
				    unsigned long now, unsigned long life)
{
	if (READ_ONCE(tried->owner) != owner || !tried_lately(tried, now, life))
		return 0;
	return READ_ONCE(tried->rounds);
}

/**
 * pageblock_tried_add() - note a round
 * @tried: place of the task; updated
 * @owner: the task
 * @now: time, in ticks
 * @life: as pageblock_tried_rounds()
 *
 * A task takes the place of another, which has to reclaim once more, but its count goes on: else no
 * count of two tasks that share a place would come to an end.  A task's own count goes on for
 * PAGEBLOCK_COUNT_LIVES, because a round may take longer than @life.  That a reclaim found nothing
 * does not count any more when the round is old.
 */
void pageblock_tried_add(struct pageblock_tried *tried, const void *owner, unsigned long now,
			 unsigned long life)
{
	bool own = READ_ONCE(tried->owner) == owner, lately = tried_lately(tried, now, life);
	bool goes_on = tried_lately(tried, now, own ? PAGEBLOCK_COUNT_LIVES * life : life);

	WRITE_ONCE(tried->owner, owner);
	WRITE_ONCE(tried->rounds, goes_on ? READ_ONCE(tried->rounds) + 1 : 1);
	WRITE_ONCE(tried->vain, own && lately && READ_ONCE(tried->vain));
	WRITE_ONCE(tried->left, PAGEBLOCK_REFILL);
	WRITE_ONCE(tried->stamp, now);
}

/**
 * pageblock_tried_judged() - a verdict may end the right to mix
 * @tried: place of the task; updated
 * @verdict: the verdict on the task's search
 *
 * The right to mix is for a refill of a list.  A refill may be one search, or a search for each
 * page.  The right ends with the next request, which begins in the fast path.  After a reclaim that
 * found nothing the right lasts until the round is too old: reclaiming again would find nothing
 * either.
 */
void pageblock_tried_judged(struct pageblock_tried *tried, enum pageblock_verdict verdict)
{
	bool over = verdict == PAGEBLOCK_REFUSE_FAST;

	if (verdict == PAGEBLOCK_ALLOW_TRIED && READ_ONCE(tried->left)) {
		WRITE_ONCE(tried->left, READ_ONCE(tried->left) - 1);
		over = !READ_ONCE(tried->left);
	}
	if (over && !READ_ONCE(tried->vain))
		WRITE_ONCE(tried->rounds, 0);
}

/**
 * pageblock_tried_boosts() - does a verdict raise the watermarks?
 * @tried: place of the task; updated
 * @owner: the task
 * @verdict: the verdict on the task's search
 *
 * A request raises the watermarks once, as a mix does, though the request is searched for in each
 * zone, twice, before and after it wakes kswapd.  Only the slow path raises them: most requests
 * that are refused in the fast path may mix there.  Who can do without pages raises none.
 *
 * Return: true if so.
 */
bool pageblock_tried_boosts(struct pageblock_tried *tried, const void *owner,
			    enum pageblock_verdict verdict)
{
	bool had = READ_ONCE(tried->boosted) == owner;

	/* The next request begins in the fast path. */
	if (verdict == PAGEBLOCK_REFUSE_FAST && had)
		WRITE_ONCE(tried->boosted, NULL);
	if (had || (verdict != PAGEBLOCK_REFUSE_SLOW && verdict != PAGEBLOCK_REFUSE_GUARDED))
		return false;
	WRITE_ONCE(tried->boosted, owner);
	return true;
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
 * @movable: the search is for movable pages
 * @guarded: the block that was found is guarded, see pageblock_guards()
 *
 * One search may fill a whole list.  The right to mix is used up on the way up, where the kernel
 * takes the page that it finds.
 *
 * Return: true if the request may have what was found.
 */
bool pageblock_search_answer(struct pageblock_search *search, unsigned int order,
			     enum pageblock_verdict verdict, bool movable, bool guarded)
{
	bool up = order >= search->order;

	search->order = order;
	if (search->pass == PAGEBLOCK_PASS_BEGUN) {
		search->spared = verdict == PAGEBLOCK_REFUSE_GUARDED;
		search->pass = pageblock_allows(verdict) || search->spared ?
			       PAGEBLOCK_PASS_ALLOWED : PAGEBLOCK_PASS_REFUSED;
		search->parts = movable && (verdict == PAGEBLOCK_ALLOW_ABOVE_HIGH ||
					    verdict == PAGEBLOCK_ALLOW_NODE || search->spared);
		search->left = PAGEBLOCK_REFILL;
	}
	if (search->pass != PAGEBLOCK_PASS_ALLOWED || (guarded && search->spared))
		return false;
	if (up && !--search->left)
		search->pass = PAGEBLOCK_PASS_REFUSED;
	return true;
}

/**
 * pageblock_guards() - is a wholly free block of the reserve kept from a request?
 * @movable: the request is for movable pages
 * @order: order of the request
 * @whole: order of a block
 * @kept: blocks in the reserve
 * @want: blocks that the reserve should have
 *
 * Small movable requests would use up the reserve within a moment, because page cache takes any
 * page that is free.  Such a request takes pages of partly used blocks while the zone is above its
 * high watermark, and has to reclaim where there are none, as without a reserve.  A request for a
 * whole block is what the reserve is for, and so is an unmovable request.
 *
 * Return: true if so.
 */
bool pageblock_guards(bool movable, unsigned int order, unsigned int whole, unsigned long kept,
		      unsigned long want)
{
	return movable && order < whole && kept <= want;
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
 * pageblock_vacate_hopeless() - is a block no candidate, whatever its other pages are?
 * @block: content of the part of the block that was counted
 *
 * A look at a block can then end.
 *
 * Return: true if so.
 */
bool pageblock_vacate_hopeless(const struct census_block *block)
{
	return block->type != CENSUS_TYPE_MOVABLE || block->huge ||
	       block->pages[CENSUS_RESERVED] || pageblock_census_kernel_pages(block->pages);
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
 * @whole: pages of a block
 *
 * A block with fewer pages than @whole ends at a hole, or belongs to another zone as well, perhaps
 * of another node.  Such a block is left alone, as compaction leaves it (pageblock_pfn_to_page()).
 *
 * Return: pages; unmovable pages in a movable block do not count, since they have to stay.
 */
u64 pageblock_out_of_place(const struct census_block *block, u64 whole)
{
	if (block->huge || pageblock_census_pages(block->pages) != whole ||
	    !pageblock_census_foreign(block->type, CENSUS_MOVABLE))
		return 0;
	return block->pages[CENSUS_MOVABLE];
}
