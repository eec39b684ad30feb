// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - the arithmetic of the cma policy; see core.h
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core.h"

/* Free pages of CMA memory that may be lent; negative if the counts are off. */
static long lendable(const struct cma_view *view)
{
	return view->free_cma - view->kept;
}

/**
 * cma_room() - how far regular memory is above its high watermark
 * @view: the zone
 *
 * Free CMA memory does not count: the kernel, kswapd included, checks the watermark without it
 * for requests that may not use CMA memory.
 *
 * Context: any.
 * Return: pages; 0 or less if regular memory is not above its high watermark.
 */
long cma_room(const struct cma_view *view)
{
	return view->free - view->free_cma - view->high;
}

/**
 * cma_share() - the share of CMA memory in the pages to refill from
 * @view: the zone, which has regular and CMA memory
 *
 * Context: any.
 * Return: 0 to CMA_SHARE_ONE.
 */
unsigned int cma_share(const struct cma_view *view)
{
	u64 cma = max(lendable(view), 0L);
	u64 room = max(cma_room(view), 0L);

	if (!cma)
		return 0;
	/* The product fits: no machine addresses 2^48 pages. */
	return div64_u64(cma * CMA_SHARE_ONE, cma + room);
}

/**
 * cma_judge() - where is a refill to come from?
 * @view: the zone
 * @settings: knobs of the policy
 * @ratio: present run of the zone
 *
 * Refills ask for regular memory only above its high watermark, so that requests that can use
 * nothing else do not go short.  The count of free CMA pages lags behind by up to @slack of the
 * view; within that, a refill that got none says more than the count.
 *
 * Context: any.
 * Return: the verdict.
 */
enum cma_verdict cma_judge(const struct cma_view *view, const struct cma_settings *settings,
			   const struct cma_ratio *ratio)
{
	long used = view->cma - view->free_cma;
	bool above = cma_room(view) > 0;

	if (!cma_mode_lends(settings->mode))
		return CMA_AS_STOCK_MODE;
	if (view->unguarded)
		return CMA_AS_STOCK_LIVEPATCH;
	if (view->cma <= 0 || view->managed < view->cma || used < -view->slack)
		return CMA_AS_STOCK_DRIFT;
	if (view->free_cma <= (view->dry ? view->slack : 0))
		return CMA_AS_STOCK_EMPTY;
	if (settings->mode == CMA_MODE_REGULAR_FIRST)
		return above ? CMA_REGULAR_FIRST : CMA_AS_STOCK_PRESSURE;
	if (view->allocating)
		return above ? CMA_REGULAR_BUSY : CMA_AS_STOCK_PRESSURE;
	if (lendable(view) <= 0)
		return above ? CMA_REGULAR_KEPT : CMA_AS_STOCK_PRESSURE;
	if (view->pins)
		return above ? CMA_REGULAR_PINS : CMA_AS_STOCK_PRESSURE;
	if (max(used, 0L) * 100 >= view->cma * (long)settings->cap_pct && settings->cap_pct < 100)
		return above ? CMA_REGULAR_CAP : CMA_AS_STOCK_PRESSURE;
	if (settings->mode == CMA_MODE_CMA_FIRST)
		return CMA_LEND_FIRST;
	if (!above)
		return CMA_LEND_PRESSURE;
	return READ_ONCE(ratio->lending) ? CMA_LEND_RATIO : CMA_REGULAR_RATIO;
}

/**
 * cma_tops_up() - is a refill to be filled up from regular memory where CMA memory is too little?
 * @view: the zone
 * @verdict: where the refill is to come from
 *
 * The last free CMA pages would otherwise make many refills of a few pages each.
 *
 * Context: any.
 * Return: true if so; never of regular memory at its high watermark.
 */
bool cma_tops_up(const struct cma_view *view, enum cma_verdict verdict)
{
	return cma_lends(verdict) && cma_room(view) > 0;
}

/**
 * cma_charge() - account a refill that was judged by the ratio
 * @ratio: present run of the zone
 * @share: share of CMA memory when the refill was judged
 * @regular: pages that came from regular memory
 * @lent: pages that came from CMA memory
 * @block: pages in a pageblock
 *
 * The shorter of the two runs is a pageblock long.  Pages that a refill takes beyond the end of
 * its run shorten the next run.
 *
 * Context: any; several CPUs at once.
 */
void cma_charge(struct cma_ratio *ratio, unsigned int share, long regular, long lent,
		unsigned long block)
{
	s64 rest = CMA_SHARE_ONE - share;
	s64 most = (s64)CMA_OWED_BLOCKS * block * CMA_SHARE_ONE;
	s64 owed;

	owed = atomic64_add_return(regular * share - lent * rest, &ratio->owed);
	if (owed > most || owed < -most)
		atomic64_cmpxchg(&ratio->owed, owed, clamp(owed, -most, most));
	if (owed >= (s64)block * max_t(s64, share, rest))
		WRITE_ONCE(ratio->lending, true);
	else if (owed <= 0)
		WRITE_ONCE(ratio->lending, false);
}

static bool range_is_used(const struct cma_range *range, unsigned long now)
{
	return range->start < range->end && time_before(now, range->until);
}

/* Do the ranges overlap or adjoin? */
static bool ranges_touch(const struct cma_range *a, const struct cma_range *b)
{
	return a->start <= b->end && b->start <= a->end;
}

static unsigned long overlap(const struct cma_range *a, const struct cma_range *b)
{
	unsigned long start = max(a->start, b->start);
	unsigned long end = min(a->end, b->end);

	return start < end ? end - start : 0;
}

/* Merge an older range that touches; free pages of the overlap are those of @range. */
static void range_join(struct cma_range *range, const struct cma_range *older)
{
	range->free += older->free - min(older->free, overlap(range, older));
	range->start = min(range->start, older->start);
	range->end = max(range->end, older->end);
	if (time_after(older->until, range->until))
		range->until = older->until;
}

static unsigned long pages_remembered(const struct cma_range *ranges, unsigned long now)
{
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++)
		if (range_is_used(&ranges[i], now))
			pages += ranges[i].end - ranges[i].start;
	return pages;
}

/* An unused range if there is one, else the range to be forgotten first. */
static struct cma_range *range_spare(struct cma_range *ranges, unsigned long now)
{
	struct cma_range *spare = &ranges[0];
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++) {
		if (!range_is_used(&ranges[i], now))
			return &ranges[i];
		if (time_before(ranges[i].until, spare->until))
			spare = &ranges[i];
	}
	return spare;
}

/**
 * cma_taken() - an owner has got a range: none of its pages is free any more
 * @ranges: CMA_RANGES ranges of an area
 * @start: first page frame number of the owner's range
 * @end: page frame number after the last
 *
 * What an owner takes of a kept range is kept no longer, so that pieces that are taken one after
 * the other leave no pages of their owner behind.  Of a range that is taken from the middle, the
 * longer part stays.
 *
 * Context: any, ranges locked.
 */
void cma_taken(struct cma_range *ranges, unsigned long start, unsigned long end)
{
	struct cma_range taken = { .start = start, .end = end };
	struct cma_range *one;
	unsigned long pages;

	for (one = ranges; one < ranges + CMA_RANGES; one++) {
		pages = overlap(one, &taken);
		if (!pages)
			continue;
		one->free -= min(one->free, pages);
		/* The longer of what is left on both sides. */
		if (max(start, one->start) - one->start < one->end - min(end, one->end))
			one->start = end;
		else
			one->end = max(start, one->start);
		one->free = min(one->free, one->end - one->start);
	}
}

/**
 * cma_owned() - does an owner have one of these pages?
 * @owners: what the owners have
 * @start: first page frame number
 * @end: page frame number after the last
 *
 * Context: any; a racy look.
 * Return: true if so; false where the range is no memory of the area.
 */
bool cma_owned(const struct cma_owners *owners, unsigned long start, unsigned long end)
{
	unsigned long bit, last;

	start = max(start, owners->start);
	end = min(end, owners->end);
	if (start >= end)
		return false;
	last = (end - 1 - owners->start) >> owners->order;
	for (bit = (start - owners->start) >> owners->order; bit <= last; bit++)
		if (READ_ONCE(owners->bitmap[bit / BITS_PER_LONG]) >> bit % BITS_PER_LONG & 1)
			return true;
	return false;
}

/**
 * cma_first_range() - which pages would the kernel give to an owner that asks now?
 * @owners: what the owners have
 * @pages: pages that the owner wants, at least 1
 * @range: gets the first and the last page; its other members stay
 *
 * As the kernel's search, from the start of the area, without the alignment of the request.
 *
 * Context: any; a racy look.
 * Return: false if the owners leave no such range.
 */
bool cma_first_range(const struct cma_owners *owners, unsigned long pages,
		     struct cma_range *range)
{
	unsigned long bits = (owners->end - owners->start) >> owners->order;
	unsigned long wanted = DIV_ROUND_UP(pages, 1UL << owners->order);
	unsigned long bit = 0, run = 0, word;

	while (bit < bits && run < wanted) {
		word = READ_ONCE(owners->bitmap[bit / BITS_PER_LONG]);
		if (word == ~0UL) {
			bit = (bit / BITS_PER_LONG + 1) * BITS_PER_LONG;
			run = 0;
			continue;
		}
		run = word >> bit % BITS_PER_LONG & 1 ? 0 : run + 1;
		bit++;
	}
	if (run < wanted)
		return false;
	range->start = owners->start + ((bit - run) << owners->order);
	range->end = owners->start + (bit << owners->order);
	return true;
}

/* Forget the range that would be forgotten first. */
static void forget_oldest(struct cma_range *ranges, unsigned long now)
{
	struct cma_range *oldest = NULL;
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++)
		if (range_is_used(&ranges[i], now) &&
		    (!oldest || time_before(ranges[i].until, oldest->until)))
			oldest = &ranges[i];
	oldest->end = oldest->start;
}

/* Leave the first @max pages of a range. */
static void range_cut(struct cma_range *range, unsigned long max)
{
	range->end = min(range->end, range->start + max);
	range->free = min(range->free, range->end - range->start);
}

/**
 * cma_limit() - keep no longer, and no more, than the knobs now say
 * @ranges: CMA_RANGES ranges of an area
 * @now: time in jiffies
 * @keep: jiffies that a range is kept at most from now on
 * @max: pages that may be kept in all; the oldest ranges go first
 *
 * Context: any, ranges locked.
 */
void cma_limit(struct cma_range *ranges, unsigned long now, unsigned long keep, unsigned long max)
{
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++) {
		if (!range_is_used(&ranges[i], now))
			continue;
		if (time_after(ranges[i].until, now + keep))
			ranges[i].until = now + keep;
		range_cut(&ranges[i], max);
	}
	while (pages_remembered(ranges, now) > max)
		forget_oldest(ranges, now);
}

/**
 * cma_remember() - stop lending a range for a while
 * @ranges: CMA_RANGES ranges of an area
 * @wanted: range to keep; cut to its first @max pages
 * @now: time in jiffies
 * @max: pages that may be kept in all; the oldest ranges make room
 *
 * Context: any, ranges locked.
 */
void cma_remember(struct cma_range *ranges, const struct cma_range *wanted, unsigned long now,
		  unsigned long max)
{
	struct cma_range range = *wanted;
	struct cma_range all;
	unsigned int i;
	bool join;

	range_cut(&range, max);
	if (!range_is_used(&range, now))
		return;
	all = range;
	for (i = 0; i < CMA_RANGES; i++)
		if (range_is_used(&ranges[i], now) && ranges_touch(&ranges[i], &all))
			range_join(&all, &ranges[i]);
	/* Too large when joined: leave alone what only adjoins, drop what overlaps. */
	join = all.end - all.start <= max;
	if (!join)
		all = range;
	for (i = 0; i < CMA_RANGES; i++)
		if (join ? ranges_touch(&ranges[i], &all) : overlap(&ranges[i], &all))
			ranges[i].end = ranges[i].start;
	while (pages_remembered(ranges, now) + all.end - all.start > max)
		forget_oldest(ranges, now);
	*range_spare(ranges, now) = all;
}

/**
 * cma_keeps() - is one of these pages in a range that is kept?
 * @ranges: CMA_RANGES ranges of an area
 * @start: first page frame number
 * @end: page frame number after the last
 * @now: time in jiffies
 *
 * Context: any, ranges locked.
 * Return: true if so.
 */
bool cma_keeps(const struct cma_range *ranges, unsigned long start, unsigned long end,
	       unsigned long now)
{
	const struct cma_range wanted = { .start = start, .end = end };
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++)
		if (range_is_used(&ranges[i], now) && overlap(&ranges[i], &wanted))
			return true;
	return false;
}

/**
 * cma_forget() - forget the ranges that were kept long enough
 * @ranges: CMA_RANGES ranges of an area
 * @now: time in jiffies
 *
 * Context: any, ranges locked.
 * Return: free pages of the remaining ranges.
 */
unsigned long cma_forget(struct cma_range *ranges, unsigned long now)
{
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; i < CMA_RANGES; i++) {
		if (range_is_used(&ranges[i], now))
			pages += ranges[i].free;
		else
			ranges[i] = (struct cma_range){ };
	}
	return pages;
}
