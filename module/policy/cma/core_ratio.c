// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_ratio.c - where a list of movable pages is refilled from in mode ratio; see core_ratio.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_ratio.h"

/* Free pages of CMA memory that may be lent: none while an owner is allocating. */
static long lendable(const struct cma_view *view)
{
	return view->allocating ? 0 : max(view->free_cma - view->kept, 0L);
}

/**
 * cma_share() - the share of CMA memory in the pages to refill from
 * @view: the zone
 *
 * Context: any.
 * Return: 0 to CMA_SHARE_ONE.
 */
unsigned int cma_share(const struct cma_view *view)
{
	u64 cma = lendable(view);
	u64 room = max(cma_room(view), 0L);

	if (!cma)
		return 0;
	/* The product fits: no machine addresses 2^48 pages. */
	return div64_u64(cma * CMA_SHARE_ONE, cma + room);
}

/**
 * cma_source() - where is a refill to come from?
 * @view: the zone
 * @ratio: present run of the zone
 *
 * From regular memory only above its high watermark, so that requests that can use nothing else
 * do not go short.
 *
 * Context: any.
 * Return: the source.
 */
enum cma_source cma_source(const struct cma_view *view, const struct cma_ratio *ratio)
{
	bool above = cma_room(view) > 0;

	if (!lendable(view))
		return above ? CMA_REGULAR : CMA_AS_STOCK;
	return !above || READ_ONCE(ratio->lending) ? CMA_LENT : CMA_REGULAR;
}

/**
 * cma_charge() - account a refill
 * @ratio: present run of the zone
 * @share: share of CMA memory when the refill was judged
 * @source: CMA_REGULAR or CMA_LENT
 * @pages: pages of the refill
 * @block: pages in a pageblock
 *
 * The shorter of the two runs is a pageblock long.  Pages that a refill takes beyond the end of
 * its run shorten the next run.
 *
 * Context: any; several CPUs at once.
 */
void cma_charge(struct cma_ratio *ratio, unsigned int share, enum cma_source source, long pages,
		unsigned long block)
{
	s64 rest = CMA_SHARE_ONE - share;
	s64 most = (s64)CMA_OWED_BLOCKS * block * CMA_SHARE_ONE;
	s64 owed;

	owed = atomic64_add_return(source == CMA_LENT ? -pages * rest : pages * share,
				   &ratio->owed);
	if (owed > most || owed < -most)
		atomic64_cmpxchg(&ratio->owed, owed, clamp(owed, -most, most));
	if (owed >= (s64)block * max_t(s64, share, rest))
		WRITE_ONCE(ratio->lending, true);
	else if (owed <= 0)
		WRITE_ONCE(ratio->lending, false);
}
