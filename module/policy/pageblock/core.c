// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the filter's rules
 */
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "core.h"

/* The verdict on a machine with one node. */
static enum pageblock_verdict judge_alone(const struct pageblock_request *request)
{
	if (!request->slow)
		return PAGEBLOCK_REFUSE_FAST;
	if (request->last || request->victim || request->memalloc)
		return PAGEBLOCK_ALLOW_URGENT;
	if (request->cleans)
		return PAGEBLOCK_REFUSE_CASUAL;
	if (!request->waits || request->highatomic)
		return PAGEBLOCK_ALLOW_ATOMIC;
	if (request->tried)
		return PAGEBLOCK_ALLOW_TRIED;
	if (request->has_fallback)
		return PAGEBLOCK_REFUSE_CASUAL;
	return request->free ? PAGEBLOCK_ALLOW_FREE : PAGEBLOCK_REFUSE_SLOW;
}

/**
 * pageblock_judge() - may a request take a part of another type's block?
 * @request: the request
 *
 * A refused request goes on to the next zone.  A request that would get a page of another node is
 * not refused: locality comes first, as for the kernel, which avoids mixing no further than the
 * node goes (ALLOC_NOFRAGMENT in get_page_from_freelist()).
 *
 * No other request may mix in the fast path: the slow path follows, which wakes kswapd and
 * kcompactd.  There, a request that cannot wait may mix at once.  A request that may not fail is
 * judged as others are: the kernel goes on to reclaim for it until it may mix.
 *
 * Return: the verdict.
 */
enum pageblock_verdict pageblock_judge(const struct pageblock_request *request)
{
	enum pageblock_verdict verdict = judge_alone(request);

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

/*
 * So many times the high watermark is much free memory.  kswapd frees up to the high watermark
 * with its boost, at most 2.5 times the high watermark by default (vm.watermark_boost_factor), so
 * more is free only where nobody had to reclaim.  On large machines the high watermark is GiBs, and
 * far less above it is much.
 */
#define MUCH_TIMES	4
#define MUCH_PAGES	65536UL		/* 256 MiB */

/**
 * pageblock_much_is_free() - is so much free that reclaim would be for nothing?
 * @movable: the request is for movable pages
 * @pages: free pages of a zone, of all types but CMA memory
 * @high: high watermark of the zone, without the boost: a request's own boost is not held against
 *	it
 *
 * Above the high watermark kswapd does not start, so a movable request would reclaim alone: on 6.12
 * such requests stalled more than without the filter.  Movable pages can leave the block later.
 *
 * Return: true if so.
 */
bool pageblock_much_is_free(bool movable, unsigned long pages, unsigned long high)
{
	if (movable)
		return pages > high;
	return pages / MUCH_TIMES > high || (pages > high && pages - high > MUCH_PAGES);
}

/**
 * pageblock_tried_add() - note a round
 * @tried: place of the task; updated
 * @owner: the task
 * @now: time, in ticks
 * @vain: it was reclaim, which found nothing
 *
 * A task takes the place of another, which has to reclaim once more.
 */
void pageblock_tried_add(struct pageblock_tried *tried, const void *owner, unsigned long now,
			 bool vain)
{
	if (READ_ONCE(tried->owner) != owner)
		WRITE_ONCE(tried->boosted, false);
	WRITE_ONCE(tried->owner, owner);
	WRITE_ONCE(tried->stamp, now);
	WRITE_ONCE(tried->rounds, true);
	WRITE_ONCE(tried->vain, vain);
}

/**
 * pageblock_tried_has() - has a task tried to make room for its request?
 * @tried: place of the task
 * @owner: the task
 * @now: time, in ticks; may be before the stamp, which another CPU has set
 * @life: ticks after which a round belongs to a request that has ended
 *
 * Return: true if so, or if its last request has reclaimed in vain.
 */
bool pageblock_tried_has(const struct pageblock_tried *tried, const void *owner,
			 unsigned long now, unsigned long life)
{
	return READ_ONCE(tried->owner) == owner && READ_ONCE(tried->rounds) &&
	       (long)(now - READ_ONCE(tried->stamp)) <= (long)life;
}

/**
 * pageblock_tried_judged() - note a verdict; does it raise the watermarks?
 * @tried: place of the task; updated
 * @owner: the task
 * @verdict: the verdict on the task's search
 *
 * The next request begins in the fast path, which ends the right to mix.  After a reclaim that
 * found nothing the right lasts until the round is too old: reclaiming again would find nothing
 * either.
 *
 * A request raises the watermarks once, as a mix does, though the request is searched for in each
 * zone, twice, before and after it wakes kswapd.  Only the slow path raises them: most requests
 * that are refused in the fast path may mix there.  Who can do without pages raises none.
 *
 * Return: true if so.
 */
bool pageblock_tried_judged(struct pageblock_tried *tried, const void *owner,
			    enum pageblock_verdict verdict)
{
	bool own = READ_ONCE(tried->owner) == owner, had = own && READ_ONCE(tried->boosted);

	if (verdict == PAGEBLOCK_REFUSE_FAST && own) {
		WRITE_ONCE(tried->boosted, false);
		if (!READ_ONCE(tried->vain))
			WRITE_ONCE(tried->rounds, false);
	}
	/* Nor does a request whose place is another's, who has a right to mix. */
	if (verdict != PAGEBLOCK_REFUSE_SLOW || had || (!own && READ_ONCE(tried->rounds)))
		return false;
	WRITE_ONCE(tried->owner, owner);
	WRITE_ONCE(tried->rounds, false);
	WRITE_ONCE(tried->boosted, true);
	return true;
}

/**
 * pageblock_search_judged() - a search has its verdict
 * @search: the search; updated
 * @verdict: the verdict
 * @movable: the search is for movable pages
 *
 * A movable request that has not tried to make room claims no block.
 */
void pageblock_search_judged(struct pageblock_search *search, enum pageblock_verdict verdict,
			     bool movable)
{
	search->pass = PAGEBLOCK_PASS_JUDGED;
	search->parts = movable && verdict != PAGEBLOCK_ALLOW_TRIED;
	search->left = pageblock_allows(verdict) ? PAGEBLOCK_REFILL : 0;
}

/**
 * pageblock_search_may() - may the request have what a question of its search has found?
 * @search: the search, which has a verdict; updated
 *
 * Return: true if so.
 */
bool pageblock_search_may(struct pageblock_search *search)
{
	return search->left && search->left--;
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
