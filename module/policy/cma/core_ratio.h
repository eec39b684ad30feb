/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_ratio.h - where a list of movable pages is refilled from in mode ratio
 *
 * Refills come from regular and from CMA memory in the ratio of what is left of each.  Runs of one
 * kind are at least a pageblock long, so that pages that are allocated together are also close in
 * memory.
 *
 * Ratio and runs are those of "CMA: aggressively allocate the pages on cma reserved memory when
 * not used" (RFC, 2014, Joonsoo Kim).  There the length of a run was fixed at its beginning.
 * Here every refill updates what CMA memory owes, and a run ends when the debt is paid.  While
 * memory does not change, the runs are the same.
 *
 * Pure: no kernel state, lock, clock or struct page.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_RATIO_H
#define LIVEMM_POLICY_CMA_CORE_RATIO_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core.h"

/* The whole, as a share of pages. */
#define CMA_SHARE_ONE	65536

/* Pageblocks that may be owed at most, either way; the rest is forgotten. */
#define CMA_OWED_BLOCKS	64

/**
 * enum cma_source - where a refill is to come from
 * @CMA_AS_STOCK: the kernel's own rule
 * @CMA_REGULAR: regular memory
 * @CMA_LENT: CMA memory
 */
enum cma_source {
	CMA_AS_STOCK,
	CMA_REGULAR,
	CMA_LENT,
};

/**
 * struct cma_ratio - the present run of a zone; zeroed: the first run, of regular memory
 * @owed: pages that CMA memory owes for pages from regular memory, times CMA_SHARE_ONE
 * @lending: the run is of CMA memory
 */
struct cma_ratio {
	atomic64_t owed;
	bool lending;
};

unsigned int cma_share(const struct cma_view *view);
enum cma_source cma_source(const struct cma_view *view, const struct cma_ratio *ratio);
void cma_charge(struct cma_ratio *ratio, unsigned int share, enum cma_source source, long pages,
		unsigned long block);

#endif /* LIVEMM_POLICY_CMA_CORE_RATIO_H */
