/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - how much of a zone is free, and which range is kept for its owner
 *
 * Pure: no kernel state, lock, clock or struct page.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_H
#define LIVEMM_POLICY_CMA_CORE_H

#include <linux/types.h>

/**
 * struct cma_view - a zone, in pages
 * @free: free pages, CMA memory included
 * @free_cma: free pages of CMA memory
 * @high: the zone's high watermark
 * @managed: pages of the allocator, CMA memory included
 * @cma: pages of CMA memory, free or not
 * @kept: free pages of CMA memory that are kept for its owner
 * @allocating: an owner is allocating CMA memory
 */
struct cma_view {
	long free;
	long free_cma;
	long high;
	long managed;
	long cma;
	long kept;
	bool allocating;
};

long cma_room(const struct cma_view *view);

/**
 * struct cma_range - page frames that are kept for their owner
 * @start: first page frame number
 * @end: page frame number after the last; equal to @start: no range
 * @until: time in jiffies at which the range is forgotten
 * @free: free pages of the range, as far as is known
 */
struct cma_range {
	unsigned long start;
	unsigned long end;
	unsigned long until;
	unsigned long free;
};

void cma_taken(struct cma_range *range, unsigned long start, unsigned long end);
void cma_remember(struct cma_range *range, const struct cma_range *wanted, unsigned long now,
		  unsigned long max);
bool cma_keeps(const struct cma_range *range, unsigned long start, unsigned long end,
	       unsigned long now);
unsigned long cma_forget(struct cma_range *range, unsigned long now);

/**
 * struct cma_owners - what the owners of an area have
 * @bitmap: the kernel's bitmap.  A bit is set before its pages are taken, and cleared after these
 *	are free.
 * @start: first page frame number of the area
 * @end: page frame number after the last
 * @order: a bit stands for 2^@order pages
 */
struct cma_owners {
	const unsigned long *bitmap;
	unsigned long start;
	unsigned long end;
	unsigned int order;
};

bool cma_owned(const struct cma_owners *owners, unsigned long start, unsigned long end);

#endif /* LIVEMM_POLICY_CMA_CORE_H */
