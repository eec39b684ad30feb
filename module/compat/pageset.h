/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pageset.h - the bound of a per-CPU page list, on every kernel
 *
 * A list's bound is pcp->high.  From 6.7 on (LMM_TUNES_LISTS) the kernel moves pcp->high itself,
 * between pcp->high_min and pcp->high_max: up while a CPU frees or refills, down each second, and
 * with each free while the zone is below its high watermark.  livemm moves pcp->high alone, within
 * the same limits, so that all of this goes on.  Up to 6.6 the kernel stores pcp->high under
 * pcp_batch_high_lock, with struct zone's own value.
 *
 * A bound of zero (pcp->high, or both limits) means that the list is disabled: memory offlining,
 * boot.  Every write of a bound is a compare-and-exchange, so a store of the kernel wins, whether
 * the store comes first or last.
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
 * lmm_pageset_default() - the kernel's own bound for the lists of a zone
 * @zone: any populated zone
 *
 * Context: any.
 * Return: pages; where the kernel tunes, the least that it may choose.
 */
static inline int lmm_pageset_default(const struct zone *zone)
{
#if LMM_TUNES_LISTS
	return READ_ONCE(zone->pageset_high_min);
#else
	return READ_ONCE(zone->pageset_high);
#endif
}

/**
 * lmm_pageset_most() - the largest bound that the kernel may choose for the lists of a zone
 * @zone: any populated zone
 *
 * Context: any.
 * Return: pages; lmm_pageset_default() where the kernel does not tune.
 */
static inline int lmm_pageset_most(const struct zone *zone)
{
#if LMM_TUNES_LISTS
	return READ_ONCE(zone->pageset_high_max);
#else
	return READ_ONCE(zone->pageset_high);
#endif
}

/**
 * lmm_pageset_read() - the bound of a list now
 * @pcp: the list
 *
 * Context: any.
 * Return: pages; 0 while the list is disabled.
 */
static inline int lmm_pageset_read(const struct per_cpu_pages *pcp)
{
	int high = READ_ONCE(pcp->high);
#if LMM_TUNES_LISTS
	int least = READ_ONCE(pcp->high_min);

	/* A list that was never used has 0. */
	return least ? max(high, least) : 0;
#else
	return high;
#endif
}

/**
 * lmm_pageset_swap() - replace the bound of a list if nobody else has
 * @pcp: the list
 * @seen: what lmm_pageset_read() gave, in pages
 * @want: what to write, in pages; not 0
 *
 * Context: any.
 * Return: true if @want stands, false if the kernel was first or the list is disabled.
 */
static inline bool lmm_pageset_swap(struct per_cpu_pages *pcp, int seen, int want)
{
	int high = READ_ONCE(pcp->high);

	return seen && lmm_pageset_read(pcp) == seen && cmpxchg(&pcp->high, high, want) == high;
}

/**
 * lmm_pageset_restore() - put the kernel's bound back where ours still stands
 * @zone: zone of the list
 * @pcp: the list
 * @ours: what we have written, in pages
 * @tuned: the most from which the kernel's own tuning goes on, in pages, where it tunes
 *
 * When the kernel computes a new default, it stores the default in the zone first and in the lists
 * next.  Repeat until the list has the zone's.
 *
 * Context: any.
 * Return: true if anything was put back.
 */
static inline bool lmm_pageset_restore(const struct zone *zone, struct per_cpu_pages *pcp, int ours,
				       int tuned)
{
#if LMM_TUNES_LISTS
	int high = lmm_pageset_read(pcp);

	tuned = max(tuned, READ_ONCE(pcp->high_min));
	return high > tuned && lmm_pageset_swap(pcp, high, tuned);
#else
	bool restored = false;
	int def;

	do {
		def = READ_ONCE(zone->pageset_high);
		if (cmpxchg(&pcp->high, ours, def) != ours)
			break;
		restored = true;
		ours = def;
	} while (def != READ_ONCE(zone->pageset_high));
	return restored;
#endif
}

/**
 * lmm_zone_below_high() - has the kernel seen a zone below its high watermark?
 * @zone: any populated zone
 *
 * From 6.7 on (57c0419c5f0e) the kernel then takes pages off this zone's lists with each free.
 *
 * Context: any.
 * Return: true if so; false where the kernel does not tune.
 */
static inline bool lmm_zone_below_high(const struct zone *zone)
{
#if LMM_TUNES_LISTS
	return test_bit(ZONE_BELOW_HIGH, &zone->flags);
#else
	return false;
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
	int high = lmm_pageset_read(pcp);

	if (!lmm_zone_below_high(zone))
		lmm_pageset_swap(pcp, high, min(high + pages, READ_ONCE(pcp->high_max)));
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
 * lmm_page_is_free() - is a page of a list in the state of a free page?
 * @page: the page
 *
 * As page_expected_state().  Before 700d2e9a36b9 ("mm, page_alloc: reduce page alloc/free sanity
 * checks", 6.3) a drain looks at the first page of each block, and keeps a bad one from use.
 *
 * Context: any; the page is the caller's alone.
 * Return: true if so; true also where the kernel's drains do not look.
 */
static inline bool lmm_page_is_free(const struct page *page)
{
#if LMM_TUNES_LISTS
	return true;
#else
	unsigned long bad = (unsigned long)page->mapping | (page->flags & PAGE_FLAGS_CHECK_AT_FREE);

#ifdef CONFIG_MEMCG
	bad |= page->memcg_data;
#endif
	return !bad && !page_ref_count(page) && atomic_read(&page->_mapcount) == -1;
#endif
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
