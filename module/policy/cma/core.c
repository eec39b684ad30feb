// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - how much of a zone is free, and which range is kept for its owner; see core.h
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core.h"

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

static bool range_is_used(const struct cma_range *range, unsigned long now)
{
	return range->start < range->end && time_before(now, range->until);
}

static unsigned long overlap(const struct cma_range *a, const struct cma_range *b)
{
	unsigned long start = max(a->start, b->start);
	unsigned long end = min(a->end, b->end);

	return start < end ? end - start : 0;
}

/**
 * cma_taken() - an owner has got a range: none of its pages is free any more
 * @range: what is kept of an area
 * @start: first page frame number of the owner's range
 * @end: page frame number after the last
 *
 * What an owner takes of a kept range is kept no longer, so that pieces that are taken one after
 * the other leave no pages of their owner behind.  Of a range that is taken from the middle, the
 * longer part stays.
 *
 * Context: any, range locked.
 */
void cma_taken(struct cma_range *range, unsigned long start, unsigned long end)
{
	struct cma_range taken = { .start = start, .end = end };
	unsigned long pages = overlap(range, &taken);

	if (!pages)
		return;
	range->free -= min(range->free, pages);
	/* The longer of what is left on both sides. */
	if (max(start, range->start) - range->start < range->end - min(end, range->end))
		range->start = end;
	else
		range->end = max(start, range->start);
	range->free = min(range->free, range->end - range->start);
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
 * cma_remember() - keep a range for a while
 * @range: what is kept of an area; updated
 * @wanted: range to keep
 * @now: time in jiffies
 * @max: pages that may be kept; the first ones of @wanted
 *
 * A range that is kept already stays only if it touches, and both together are not too large.
 *
 * Context: any, range locked.
 */
void cma_remember(struct cma_range *range, const struct cma_range *wanted, unsigned long now,
		  unsigned long max)
{
	struct cma_range older = *range;
	unsigned long start, end;

	*range = *wanted;
	range->end = min(range->end, range->start + max);
	range->free = min(range->free, range->end - range->start);
	start = min(older.start, range->start);
	end = max(older.end, range->end);
	if (!range_is_used(&older, now) || older.start > range->end || range->start > older.end ||
	    end - start > max)
		return;
	range->free += older.free - min(older.free, overlap(range, &older));
	range->start = start;
	range->end = end;
	if (time_after(older.until, range->until))
		range->until = older.until;
}

/**
 * cma_keeps() - is one of these pages kept?
 * @range: what is kept of an area
 * @start: first page frame number
 * @end: page frame number after the last
 * @now: time in jiffies
 *
 * Context: any, range locked.
 * Return: true if so.
 */
bool cma_keeps(const struct cma_range *range, unsigned long start, unsigned long end,
	       unsigned long now)
{
	const struct cma_range wanted = { .start = start, .end = end };

	return range_is_used(range, now) && overlap(range, &wanted);
}

/**
 * cma_forget() - forget a range that was kept long enough
 * @range: what is kept of an area
 * @now: time in jiffies
 *
 * Context: any, range locked.
 * Return: free pages of the range.
 */
unsigned long cma_forget(struct cma_range *range, unsigned long now)
{
	if (!range_is_used(range, now))
		*range = (struct cma_range){ };
	return range->free;
}
