/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_depth.h - arithmetic of per-CPU list sizing, mode `depth`
 *
 * Implements "[RFC 2/2] mm: alloc/free depth based PCP high auto-tuning" (Huang Ying, 2023-07-10,
 * 20230710065325.290366-3-ying.huang@intel.com) as posted.  In a period, the depth of allocation is
 * the largest rise of (pages allocated - pages freed), and the depth of freeing the largest fall.
 * Both are averaged with half decay.  A list as large as the smaller of the two averages serves the
 * next period without zone->lock.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 * All sizes are in pages.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_DEPTH_H
#define LIVEMM_POLICY_PCP_CORE_DEPTH_H

#include <linux/types.h>

#include "core.h"

/* Length of a period, PCP_AUTO_TUNE_PERIOD of the series. */
#define PCP_PERIOD_MS	1000

/* So many whole periods without a page reset the averages. */
#define PCP_IDLE_PERIODS	2

/**
 * struct pcp_depth - averages over the finished periods of one list
 * @alloc: average depth of allocation
 * @free: average depth of freeing
 */
struct pcp_depth {
	long alloc;
	long free;
};

/**
 * struct pcp_track - activity of one CPU on one zone's list
 * @period: number of the period of the latest page
 * @count: pages allocated less pages freed since that period began
 * @low: smallest @count so far
 * @high: largest @count so far
 * @alloc_depth: largest rise so far
 * @free_depth: largest fall so far
 * @average: averages over the periods before @period
 *
 * Only the owning CPU writes.  An interrupt between load and store of a field can lose the
 * interrupt's pages.  Each period starts the sums anew, so losses do not add up.
 */
struct pcp_track {
	u32 period;
	long count;
	long low;
	long high;
	long alloc_depth;
	long free_depth;
	struct pcp_depth average;
};

void pcp_track_roll(struct pcp_track *track, u32 period);
struct pcp_depth pcp_track_depth(const struct pcp_track *track, u32 period);
struct pcp_decision pcp_depth_decide(const struct pcp_depth *depth,
				     const struct pcp_limits *limits);

/**
 * pcp_track_page() - a block was allocated from, or freed to, a list
 * @track: track of this CPU and the block's zone
 * @period: number of the current period
 * @pages: pages in the block; negative when freed
 *
 * Context: any, on the CPU that owns @track, preemption off.
 */
static inline void pcp_track_page(struct pcp_track *track, u32 period, long pages)
{
	long count;

	/* An interrupt may have begun a period since the caller read @period. */
	if (unlikely((s32)(period - track->period) > 0))
		pcp_track_roll(track, period);
	count = track->count + pages;
	track->count = count;
	if (pages > 0) {
		if (count > track->high)
			track->high = count;
		if (count - track->low > track->alloc_depth)
			track->alloc_depth = count - track->low;
	} else {
		if (count < track->low)
			track->low = count;
		if (track->high - count > track->free_depth)
			track->free_depth = track->high - count;
	}
}

#endif /* LIVEMM_POLICY_PCP_CORE_DEPTH_H */
