// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_ahead.c - when an owner will ask for memory again, and which range is to be empty by then;
 * see core_ahead.h
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_ahead.h"

/**
 * cma_rhythm_asks() - an owner asks for pages
 * @rhythm: the area's rhythm
 * @now: time in ms
 * @count: pages wanted
 *
 * A shorter gap counts at once.  A longer one counts by a quarter of the difference, and by no more
 * than a sixteenth of the gap, or 20 ms.  To be early keeps a few pages from others for a while; to
 * be late is of no use.  On a busy CPU an owner may be late once by more than the gap itself.
 *
 * Context: any, rhythm locked.
 */
void cma_rhythm_asks(struct cma_rhythm *rhythm, u64 now, unsigned long count)
{
	u64 gap;

	if (rhythm->released) {
		gap = max_t(u64, now - min(now, rhythm->released), 1);
		if (rhythm->gap && gap > rhythm->gap)
			rhythm->gap += min((gap - rhythm->gap) / 4,
					   max_t(u64, rhythm->gap / CMA_AHEAD_LONGER,
						 CMA_AHEAD_LOOK_MS));
		else
			rhythm->gap = gap;
	}
	rhythm->released = 0;
	rhythm->wanted = count;
}

/**
 * cma_rhythm_releases() - an owner releases pages
 * @rhythm: the area's rhythm
 * @now: time in ms
 *
 * Context: any, rhythm locked.
 * Return: true if this is the first release since a request, and movement or a hold may become due.
 */
bool cma_rhythm_releases(struct cma_rhythm *rhythm, u64 now)
{
	bool first = !rhythm->released;

	rhythm->released = max_t(u64, now, 1);
	return first && (!rhythm->gap || rhythm->gap > CMA_AHEAD_REST_MS + CMA_AHEAD_LOOK_MS);
}

/**
 * cma_ahead_first_end() - until when is the first range that was released held?
 * @rhythm: the area's rhythm
 * @now: time in ms
 *
 * Context: any, rhythm locked.
 * Return: time in ms; 0 if this is not the first, or that time is over.
 */
u64 cma_ahead_first_end(const struct cma_rhythm *rhythm, u64 now)
{
	u64 end = rhythm->released + CMA_AHEAD_FIRST_MS;

	return rhythm->released && !rhythm->gap && now < end ? end : 0;
}

/**
 * cma_ahead_end() - when does movement end?
 * @rhythm: the area's rhythm
 *
 * Context: any, rhythm locked.
 * Return: time in ms; 0 if no request is expected.
 */
u64 cma_ahead_end(const struct cma_rhythm *rhythm)
{
	if (!rhythm->released || rhythm->gap <= CMA_AHEAD_REST_MS)
		return 0;
	return rhythm->released + rhythm->gap - CMA_AHEAD_REST_MS;
}

/**
 * cma_ahead_due() - when is movement due?
 * @rhythm: the area's rhythm
 * @now: time in ms
 * @lent: pages of the range that are to leave, as far as is known
 * @rate: pages that may be moved in a second
 *
 * Context: any, rhythm locked.
 * Return: ms from @now; 0 if movement is due; CMA_AHEAD_NEVER if no request is expected, or
 *	movement would come too late.
 */
u64 cma_ahead_due(const struct cma_rhythm *rhythm, u64 now, unsigned long lent, unsigned int rate)
{
	u64 end = cma_ahead_end(rhythm), need;

	if (!rate || now >= end)
		return CMA_AHEAD_NEVER;
	need = CMA_AHEAD_LOOK_MS + div_u64((u64)lent * 1000 * CMA_AHEAD_SLACK, rate);
	return end - now - min(end - now, need);
}

/**
 * cma_ahead_range() - what will the owner most likely get?
 * @ranges: CMA_RANGES ranges of an area
 * @now: time in jiffies
 * @wanted: pages that the owner asks for
 * @range: gets the pages
 *
 * The kernel takes the first range that no owner has and that is large enough.
 *
 * Context: any, ranges locked.
 * Return: pages of @range that are not free; 0 if nothing is kept, or all of it is free.
 */
unsigned long cma_ahead_range(const struct cma_range *ranges, unsigned long now,
			      unsigned long wanted, struct cma_range *range)
{
	const struct cma_range *best = NULL, *one;
	unsigned long pages, lent;

	*range = (struct cma_range){ };
	for (one = ranges; one < ranges + CMA_RANGES; one++) {
		pages = one->end - one->start;
		if (!pages || !time_before(now, one->until))
			continue;
		if (!best)
			best = one;
		else if (min(pages, wanted) > min(best->end - best->start, wanted) ||
			 (pages >= wanted && one->start < best->start))
			best = one;
	}
	if (!best)
		return 0;
	*range = *best;
	lent = range->end - range->start - min(range->free, range->end - range->start);
	range->end = min(range->end, range->start + wanted);
	return min(lent, range->end - range->start);
}

/**
 * cma_hold_apart() - leave the block at a border out of what may be held
 * @owners: an area, of which @start and @end become those of what may be held
 * @next: another area
 * @block: pages of the largest free block, a power of 2
 *
 * Where two areas meet inside such a block, an owner of one may isolate its part while the other
 * part is held.  Free blocks of both parts merge then, and 6.1 counts the pages twice that a
 * release gives back of the other part; from 6.10 on the kernel splits such a block.
 *
 * Context: any.
 */
void cma_hold_apart(struct cma_owners *owners, const struct cma_owners *next, unsigned long block)
{
	if (owners->end == next->start)
		owners->end &= ~(block - 1);
	if (owners->start == next->end)
		owners->start = (owners->start + block - 1) & ~(block - 1);
}

/**
 * cma_hold_blocks() - which blocks are held for an owner
 * @owners: the area
 * @block: pages of the largest free block, a power of 2
 * @range: what the owner will ask for; becomes what is held
 *
 * No free block may cross the ends of what is isolated, so the range grows to whole blocks.  At its
 * own ends the area has pageblocks, across which free blocks do not merge with other memory; see
 * cma_hold_apart() for other areas.
 *
 * Context: any.
 */
void cma_hold_blocks(const struct cma_owners *owners, unsigned long block, struct cma_range *range)
{
	unsigned long start = range->start & ~(block - 1);
	unsigned long end = (range->end + block - 1) & ~(block - 1);

	range->start = max(start, owners->start);
	range->end = max(min3(end, owners->end, start + CMA_HOLD_PAGES), range->start);
}
