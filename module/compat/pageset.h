/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pageset.h - the bound of a per-CPU page list, on every kernel
 *
 * A list's bound is pcp->high (up to 6.6), or lies between pcp->high_min and pcp->high_max
 * (LMM_TUNES_LISTS).  struct zone has the kernel's own value.  The kernel rewrites the list's
 * fields with plain stores under pcp_batch_high_lock; zero means that the list is disabled (memory
 * offlining, boot).  Every write here is a compare-and-exchange, so a store of the kernel wins,
 * whether the store comes first or last.
 */
#ifndef LIVEMM_COMPAT_PAGESET_H
#define LIVEMM_COMPAT_PAGESET_H

#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/spinlock.h>

#include "compat.h"

/**
 * struct lmm_pageset_bound - the bound of one list, in pages
 * @low: smallest value the kernel may choose for pcp->high
 * @high: largest value
 *
 * @low equals @high on a kernel that does not tune.
 */
struct lmm_pageset_bound {
	int low;
	int high;
};

/**
 * lmm_pageset_default() - the kernel's own bound for the lists of a zone
 * @zone: any populated zone
 *
 * Context: any.
 * Return: the bound.
 */
static inline struct lmm_pageset_bound lmm_pageset_default(struct zone *zone)
{
#if LMM_TUNES_LISTS
	return (struct lmm_pageset_bound){
		.low = READ_ONCE(zone->pageset_high_min),
		.high = READ_ONCE(zone->pageset_high_max),
	};
#else
	int high = READ_ONCE(zone->pageset_high);

	return (struct lmm_pageset_bound){ .low = high, .high = high };
#endif
}

/**
 * lmm_pageset_read() - the bound of a list now
 * @pcp: the list
 *
 * Context: any.
 * Return: the bound; .high is 0 while the list is disabled.
 */
static inline struct lmm_pageset_bound
lmm_pageset_read(struct per_cpu_pages *pcp)
{
#if LMM_TUNES_LISTS
	return (struct lmm_pageset_bound){
		.low = READ_ONCE(pcp->high_min),
		.high = READ_ONCE(pcp->high_max),
	};
#else
	int high = READ_ONCE(pcp->high);

	return (struct lmm_pageset_bound){ .low = high, .high = high };
#endif
}

/**
 * lmm_pageset_swap() - replace the bound of a list if nobody else has
 * @pcp: the list
 * @seen: what lmm_pageset_read() gave
 * @want: what to write; its .high must not be 0
 *
 * On a kernel with two fields the order of the writes keeps low <= high all the
 * time.  If the kernel stores the second field in between, the first field is put
 * back, unless the kernel has stored the first field too.
 *
 * Context: any.
 * Return: true if @want stands, false if the kernel was first or the list is
 * disabled.
 */
static inline bool lmm_pageset_swap(struct per_cpu_pages *pcp, struct lmm_pageset_bound seen,
				    struct lmm_pageset_bound want)
{
	if (!seen.high || !want.high)
		return false;
#if LMM_TUNES_LISTS
	if (!seen.low)
		return false;
	if (want.high >= seen.high) {
		if (cmpxchg(&pcp->high_max, seen.high, want.high) != seen.high)
			return false;
		if (cmpxchg(&pcp->high_min, seen.low, want.low) == seen.low)
			return true;
		cmpxchg(&pcp->high_max, want.high, seen.high);
		return false;
	}
	if (cmpxchg(&pcp->high_min, seen.low, want.low) != seen.low)
		return false;
	if (cmpxchg(&pcp->high_max, seen.high, want.high) == seen.high)
		return true;
	cmpxchg(&pcp->high_min, want.low, seen.low);
	return false;
#else
	return cmpxchg(&pcp->high, seen.high, want.high) == seen.high;
#endif
}

/**
 * lmm_pageset_restore() - put the kernel's bound back where ours still stands
 * @pcp: the list
 * @ours: what we have written
 * @def: the kernel's own bound
 *
 * The fields are put back one by one, because the kernel may have stored one of them anew.  The
 * low field comes first: the kernel's own low bound is the smallest possible value.
 *
 * Context: process.
 * Return: true if anything was put back.
 */
static inline bool lmm_pageset_restore(struct per_cpu_pages *pcp, struct lmm_pageset_bound ours,
				       struct lmm_pageset_bound def)
{
#if LMM_TUNES_LISTS
	bool low = cmpxchg(&pcp->high_min, ours.low, def.low) == ours.low;
	bool high = cmpxchg(&pcp->high_max, ours.high, def.high) == ours.high;

	return low || high;
#else
	return cmpxchg(&pcp->high, ours.high, def.high) == ours.high;
#endif
}

/**
 * lmm_pageset_tuned() - the value that the kernel's tuning has reached
 * @pcp: the list
 *
 * Context: any.
 * Return: pcp->high in pages, or 0 where the kernel does not tune.
 */
static inline int lmm_pageset_tuned(struct per_cpu_pages *pcp)
{
#if LMM_TUNES_LISTS
	return READ_ONCE(pcp->high);
#else
	return 0;
#endif
}

/**
 * lmm_pageset_retune() - restore the value of the kernel's tuning
 * @pcp: the list, its bound already restored
 * @tuned: result of lmm_pageset_tuned() before the first change
 *
 * Does nothing on a kernel that does not tune.
 *
 * Context: any, under pcp->lock.
 */
static inline void lmm_pageset_retune(struct per_cpu_pages *pcp, int tuned)
{
#if LMM_TUNES_LISTS
	struct lmm_pageset_bound bound = lmm_pageset_read(pcp);

	lockdep_assert_held(&pcp->lock);
	if (bound.high && tuned)
		pcp->high = clamp(tuned, bound.low, bound.high);
#endif
}

/**
 * lmm_pageset_filled() - pages came to a list from elsewhere than the buddy
 * @zone: zone of the list
 * @pcp: the list
 * @pages: pages that came
 *
 * Where the kernel tunes, nr_pcp_alloc() raises the bound of a list by what the buddy gives, so
 * that a list which is refilled again and again is soon large enough.  Pages from elsewhere count
 * as well, or the list would stay small.  The kernel's tuning lowers the bound again.
 *
 * nr_pcp_alloc() also doubles each refill while the CPU only allocates.  Once other CPUs give the
 * pages, the buddy is only to bridge a gap: the next refill begins with a batch.
 *
 * Context: any, under pcp->lock.
 */
static inline void lmm_pageset_filled(const struct zone *zone, struct per_cpu_pages *pcp, int pages)
{
#if LMM_TUNES_LISTS
	if (!test_bit(ZONE_BELOW_HIGH, &zone->flags))
		lmm_pageset_retune(pcp, pcp->high + pages);
	pcp->alloc_factor = 0;
#endif
}

/**
 * lmm_pageset_drains_in_parts() - is a drain of a full list one of several parts?
 * @pcp: the list, full after a free
 * @count: pages that the kernel wants to drain
 *
 * The kernel drains as many pages as the CPU has freed since the CPU allocated last, at least a
 * batch (nr_pcp_free()).  Where the kernel drains in parts, each part but the last is a batch.
 *
 * Context: any, under pcp->lock.
 * Return: true if so.
 */
static inline bool lmm_pageset_drains_in_parts(const struct per_cpu_pages *pcp, int count)
{
#if LMM_DRAINS_IN_PARTS
	return count == READ_ONCE(pcp->batch) && pcp->free_count > count;
#else
	return false;
#endif
}

/*
 * A pageblock may be smaller than a huge page, and the lists keep huge pages.
 * Upstream "mm: add CONFIG_PAGE_BLOCK_ORDER to select page block order", 6.16, which a later commit
 * renames to CONFIG_PAGE_BLOCK_MAX_ORDER.
 */
#if defined(PAGE_BLOCK_MAX_ORDER) && defined(CONFIG_TRANSPARENT_HUGEPAGE)
static_assert(pageblock_order == HPAGE_PMD_ORDER,
	      "livemm needs pageblocks of the size of a huge page: CONFIG_PAGE_BLOCK_MAX_ORDER");
#endif

/**
 * lmm_pindex_order() - order of the pages on one of a CPU's lists
 * @pindex: index in struct per_cpu_pages.lists, which is sorted by order
 *
 * Context: any.
 * Return: the order.
 */
static inline unsigned int lmm_pindex_order(unsigned int pindex)
{
	return pindex < NR_LOWORDER_PCP_LISTS ? pindex / MIGRATE_PCPTYPES : pageblock_order;
}

/**
 * lmm_pindex() - index of the list for a block
 * @order: order of the block
 * @migratetype: migratetype of the block, below MIGRATE_PCPTYPES
 *
 * Context: any.
 * Return: index in struct per_cpu_pages.lists; at least NR_LOWORDER_PCP_LISTS for orders
 * whose lists are not split by migratetype.
 */
static inline unsigned int lmm_pindex(unsigned int order, unsigned int migratetype)
{
	return order * MIGRATE_PCPTYPES + migratetype;
}

/**
 * lmm_page_type_copy() - a free page of a list belongs to the migratetype that another belongs to
 * @to: the page
 * @from: the other page, on a list or just taken from the buddy
 *
 * A drain reads what is kept in the page itself, before 17edeb5d3f76 ("mm: page_alloc: remove
 * pcppage migratetype caching", 6.7).
 *
 * Context: any; both pages are the caller's alone.
 */
static inline void lmm_page_type_copy(struct page *to, const struct page *from)
{
#if !LMM_TUNES_LISTS
	to->index = from->index;
#endif
}

/**
 * lmm_zone_isolates() - are pages of a zone being isolated?
 * @zone: any populated zone
 *
 * Memory offline and contiguous allocation isolate pages, and need them in the buddy.
 *
 * Context: any; exact for a caller that takes a pcp->lock after the kernel has drained that list.
 * Return: true if so.
 */
static inline bool lmm_zone_isolates(const struct zone *zone)
{
	return READ_ONCE(zone->nr_isolate_pageblock);
}

#endif /* LIVEMM_COMPAT_PAGESET_H */
