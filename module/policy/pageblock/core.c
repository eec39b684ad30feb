// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the filter's rules, and which pages of a block can leave
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "core.h"

/* The verdict on a machine with one node. */
static enum pageblock_verdict judge_alone(const struct pageblock_request *request,
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
	if (request->has_fallback && !request->high && !request->interrupt && !request->rounds)
		return PAGEBLOCK_REFUSE_HAS_FALLBACK;
	if (!request->waits)
		return PAGEBLOCK_ALLOW_ATOMIC;
	if (request->untracked)
		return PAGEBLOCK_ALLOW_UNTRACKED;
	/*
	 * kswapd does not start while enough pages of other types are free, so the request would
	 * reclaim alone: on 6.12 such requests stalled more than without the filter.
	 */
	if (request->above_high && settings->mode == PAGEBLOCK_MODE_CLAIM) {
		if (!request->guarded)
			return PAGEBLOCK_ALLOW_ABOVE_HIGH;
		if (!request->rounds)
			return PAGEBLOCK_REFUSE_GUARDED;
	}
	if (request->much_free && settings->mode == PAGEBLOCK_MODE_CLAIM)
		return PAGEBLOCK_ALLOW_MUCH_FREE;
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
 * pageblock_judge() - may a request take a part of another type's block?
 * @request: the request
 * @settings: knobs of the filter
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
				       const struct pageblock_settings *settings)
{
	enum pageblock_verdict verdict = judge_alone(request, settings);

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
 * pageblock_boosts() - does a request that was judged raise the watermarks?
 * @verdict: the verdict
 * @cleans: see struct pageblock_request
 * @order: order of the request; 0 if that is not known
 *
 * As a mix does.  But the policy's own worker can do without a larger folio, so nothing is
 * reclaimed for one.
 *
 * Return: true if so.
 */
bool pageblock_boosts(enum pageblock_verdict verdict, bool cleans, unsigned int order)
{
	return !pageblock_allows(verdict) && !(cleans && order);
}

/**
 * pageblock_wakes() - does a search that was judged wake the worker?
 * @lacks: the zone has fewer blocks than the worker should see to
 * @cleans: see struct pageblock_request
 *
 * The worker knows what its zones lack.  A search of its own, often for a larger folio that is not
 * to be had, would keep the worker from resting.
 *
 * Return: true if so.
 */
bool pageblock_wakes(bool lacks, bool cleans)
{
	return lacks && !cleans;
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

/* Below 0 for a round that another CPU has noted since this CPU read the time. */
static long rounds_age(const struct pageblock_rounds *slot, unsigned long now)
{
	return now - READ_ONCE(slot->stamp);
}

static bool rounds_old(const struct pageblock_rounds *slot, unsigned long now, unsigned long life)
{
	return rounds_age(slot, now) > (long)life;
}

/**
 * pageblock_rounds_of() - find the rounds of a task
 * @slots: PAGEBLOCK_WAYS slots
 * @owner: the task
 * @now: time, in ticks
 * @life: ticks after which rounds belong to a request that has ended
 *
 * Return: number of the slot, or -1.
 */
int pageblock_rounds_of(const struct pageblock_rounds *slots, const void *owner,
			unsigned long now, unsigned long life)
{
	int i;

	for (i = 0; i < PAGEBLOCK_WAYS; i++)
		if (READ_ONCE(slots[i].owner) == owner && !rounds_old(&slots[i], now, life))
			return i;
	return -1;
}

/**
 * pageblock_rounds_room() - find a slot for the rounds of a task that has none
 * @slots: PAGEBLOCK_WAYS slots
 * @now: time, in ticks
 *
 * A request is asked right after its round.  So the oldest slot goes, unless its round was in this
 * very tick: a request whose round is lost has to reclaim once more.
 *
 * Return: number of the slot; -1 if there is no room.
 */
int pageblock_rounds_room(const struct pageblock_rounds *slots, unsigned long now)
{
	int i, oldest = -1;
	long age, most = 0;

	for (i = 0; i < PAGEBLOCK_WAYS; i++) {
		if (!READ_ONCE(slots[i].owner))
			return i;
		age = rounds_age(&slots[i], now);
		if (age > most) {
			most = age;
			oldest = i;
		}
	}
	return oldest;
}

/**
 * pageblock_rounds_slot() - find the slot for a further round of a task
 * @slots: PAGEBLOCK_WAYS slots
 * @owner: the task
 * @now: time, in ticks
 * @life: as pageblock_rounds_of()
 * @fresh: set to true if the count of rounds begins anew
 *
 * Reclaim may take longer than @life, and its rounds count all the same.  A request that takes the
 * slot of one that is under way goes on with that count: where there are more tasks than slots, the
 * rounds of no task would come to an end.
 *
 * Return: number of the slot; -1 if there is no room.
 */
int pageblock_rounds_slot(const struct pageblock_rounds *slots, const void *owner,
			  unsigned long now, unsigned long life, bool *fresh)
{
	int i = pageblock_rounds_of(slots, owner, now, PAGEBLOCK_COUNT_LIVES * life);

	*fresh = false;
	if (i >= 0)
		return i;
	i = pageblock_rounds_room(slots, now);
	*fresh = i >= 0 && (!READ_ONCE(slots[i].owner) || rounds_old(&slots[i], now, life));
	return i;
}

/**
 * pageblock_rounds_take() - take a slot from its former owner
 * @slot: the slot
 * @former: owner that the slot had when it was found; NULL: none
 * @owner: the task
 *
 * The former owner may be noting a round: at worst that round counts for @owner.  A task takes its
 * own slot anew when the last round is old: that a reclaim found nothing then no longer counts.
 *
 * Return: false if another task was faster.
 */
bool pageblock_rounds_take(struct pageblock_rounds *slot, const void *former, const void *owner)
{
	if (cmpxchg(&slot->owner, former, owner) != former)
		return false;
	WRITE_ONCE(slot->vain, false);
	return true;
}

/**
 * pageblock_rounds_drop() - give a slot up
 * @slot: slot of the task
 * @owner: the task; if another task has taken the slot meanwhile, that task keeps the slot
 */
void pageblock_rounds_drop(struct pageblock_rounds *slot, const void *owner)
{
	cmpxchg(&slot->owner, owner, NULL);
}

/**
 * pageblock_rounds_add() - note a round
 * @slot: slot of the task; updated
 * @fresh: the count of rounds begins anew
 * @made: the round made progress
 * @now: time, in ticks
 */
void pageblock_rounds_add(struct pageblock_rounds *slot, bool fresh, bool made, unsigned long now)
{
	if (fresh) {
		WRITE_ONCE(slot->rounds, 0);
		WRITE_ONCE(slot->no_progress, 0);
	}
	WRITE_ONCE(slot->rounds, slot->rounds + 1);
	WRITE_ONCE(slot->no_progress, made ? 0 : slot->no_progress + 1);
	WRITE_ONCE(slot->used, 0);
	WRITE_ONCE(slot->stamp, now);
}

/**
 * pageblock_rounds_over() - do the rounds of a task end with a verdict?
 * @slot: slot of the task; updated
 * @verdict: the verdict on the task's search
 *
 * The right to mix is for a refill of a list.  A refill may be one search, or a search for each
 * page.  The right ends with the next request, which begins in the fast path.  After a reclaim that
 * found nothing the right lasts until the round is too old: reclaiming again would find nothing
 * either.
 *
 * Return: true if the slot is to be given up.
 */
bool pageblock_rounds_over(struct pageblock_rounds *slot, enum pageblock_verdict verdict)
{
	bool over = verdict == PAGEBLOCK_REFUSE_FAST;

	if (verdict == PAGEBLOCK_ALLOW_TRIED) {
		WRITE_ONCE(slot->used, slot->used + 1);
		over = slot->used >= PAGEBLOCK_REFILL;
	}
	return over && !READ_ONCE(slot->vain);
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
 * pageblock_boost_serves() - is there enough to reclaim for a boost?
 * @boost: the boost, in pages
 * @reclaimable: pages of the zone that reclaim may free
 *
 * A request that is refused asks again and again, where a mix would have been the last.  Free pages
 * that a boost keeps from requests for nothing could have the OOM killer act.
 *
 * Return: true if so.
 */
bool pageblock_boost_serves(unsigned long boost, unsigned long reclaimable)
{
	return boost <= reclaimable;
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
