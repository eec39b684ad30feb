// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of the zonelock policy; see core.h
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * depot_judge() - may a drained batch be stored?
 * @view: state of the batch's zone
 * @count: pages in the batch
 *
 * Refusals because somebody waits for the pages take precedence over the depot's own bounds.
 *
 * Return: DEPOT_STORE, or the reason for a refusal.
 */
enum depot_verdict depot_judge(const struct depot_view *view, unsigned int count)
{
	if (view->disabled)
		return DEPOT_DISABLED;
	if (view->isolated)
		return DEPOT_ISOLATED;
	if (view->reclaim || view->free < view->mark)
		return DEPOT_WATERMARK;
	if (view->closed)
		return DEPOT_CLOSED;
	if (view->held + count > view->max)
		return DEPOT_FULL;
	return DEPOT_STORE;
}

/**
 * depot_duty() - reason for a pass to give pages of a zone back
 * @view: state of a zone whose depot holds pages
 *
 * Return: DEPOT_BY_AGE: give old batches back; DEPOT_BY_SIZE: give back down to the bound, then old
 * batches; any other reason: give back everything.
 */
enum depot_reason depot_duty(const struct depot_view *view)
{
	if (view->isolated)
		return DEPOT_BY_DRAIN;
	if (view->reclaim || view->free < view->mark)
		return DEPOT_BY_WATERMARK;
	if (view->closed)
		return DEPOT_BY_ORDER;
	return view->held > view->max ? DEPOT_BY_SIZE : DEPOT_BY_AGE;
}

/**
 * depot_bound() - pages that a depot may hold
 * @view: state of the zone, but for @max
 * @limit: the admin's limit, in pages
 * @took: result of depot_took()
 *
 * Pages that nobody takes cross zone->lock twice all the same, and are missing meanwhile: twice
 * what CPUs take in max_age is enough.  The bound falls with the free pages, so that a depot is
 * nearly empty when these reach the mark.
 *
 * Return: pages.
 */
unsigned long depot_bound(const struct depot_view *view, unsigned long limit, unsigned long took)
{
	unsigned long whole = view->free + view->held;
	unsigned long room = whole > view->mark ? (whole - view->mark) / DEPOT_FREE_SHARE : 0;
	unsigned long trial = max(limit / DEPOT_TRIAL_SHARE, DEPOT_TRIAL_PAGES);

	return min3(limit, room, max(2 * took, trial));
}

/**
 * depot_took() - pages that CPUs take of a depot in max_age, of late
 * @took: the same when it was last reckoned
 * @taken: pages that CPUs have taken since
 * @times: how often a DEPOT_TOOK_PARTS-th of max_age has passed since
 *
 * Return: pages; what was taken longer ago than a few max_age hardly counts.
 */
unsigned long depot_took(unsigned long took, unsigned long taken, unsigned long times)
{
	if (times >= DEPOT_TOOK_TIMES)
		return taken;
	while (times--)
		took -= DIV_ROUND_UP(took, DEPOT_TOOK_PARTS);
	return took + taken;
}

/**
 * depot_wants() - pages that a depot can use of those that a list gives back
 * @took: result of depot_took()
 * @held: pages in the depot
 *
 * A batch goes back by age after half of max_age.  By then CPUs take half of @took.
 *
 * Return: pages.
 */
unsigned long depot_wants(unsigned long took, unsigned long held)
{
	return took / 2 > held ? took / 2 - held : 0;
}

/**
 * drain_cut() - pages of a list to drain at a time
 * @view: the drain
 *
 * Return: pages, at most @asked.
 */
unsigned int drain_cut(const struct drain_view *view)
{
	return view->keep ? min(view->asked, view->have - view->keep) : view->asked;
}

/**
 * drain_goes_on() - may more pages go under the same hold of zone->lock?
 * @view: the drain, after some pages were cut off
 *
 * As many again, as long as the pages make few blocks.  A kernel that asks for a batch wants no
 * more to go, unless the batch is a part of a drain.
 *
 * Return: false if the hold ends here.
 */
bool drain_goes_on(const struct drain_view *view)
{
	unsigned int next = view->gone + view->asked;

	return (view->is_part || view->asked > view->batch) && view->blocks <= JOIN_BLOCKS / 2 &&
	       next <= JOIN_PAGES && view->have >= (view->keep ? view->keep + 1 : next);
}

/**
 * refill_pages() - number of single pages to refill a list with
 * @view: the zone and the list
 *
 * While the CPU only allocates, the pages double with each refill, as those of drains do while a
 * CPU only frees (3b12e7e97938, 5.14), and those of refills from 6.7 on (c0a242394cb9).  The pages
 * stay within the list's room, and within a quarter of what is free above the mark.
 *
 * Return: pages, at least what the kernel wants.
 */
unsigned long refill_pages(const struct refill_view *view)
{
	unsigned long pages = view->asked << min(view->successive, REFILL_DOUBLES);
	long most = min3(view->room, view->spare / 4, (long)(REFILL_BLOCKS << REFILL_DOUBLES));

	return max_t(long, view->asked, min_t(long, pages, most));
}

/**
 * refill_order() - order of which REFILL_BLOCKS blocks are enough
 * @pages: pages of the refill, at least 1
 *
 * Return: the order.
 */
unsigned int refill_order(unsigned long pages)
{
	unsigned int order = 0;

	while (pages > REFILL_BLOCKS << order)
		order++;
	return order;
}

/**
 * refill_splits() - may larger blocks be split, and not the smallest ones be used up first?
 * @view: the zone and the list
 * @pages: pages of the refill
 * @small: pages in free blocks that are too small
 *
 * Only where the kernel would soon come to split large blocks: few pages are free in small ones.
 * And only where large blocks of the migratetype are many, so that none is taken from another.
 *
 * Return: true if so.
 */
bool refill_splits(const struct refill_view *view, unsigned long pages, unsigned long small)
{
	return view->large >= 4 * pages && small <= view->large / REFILL_SMALL_SHARE;
}
