/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - which batches a depot may keep, and why pages go back to the buddy
 */
#ifndef LIVEMM_POLICY_ZONELOCK_CORE_H
#define LIVEMM_POLICY_ZONELOCK_CORE_H

#include <linux/types.h>

/**
 * enum depot_verdict - may a drained batch be stored, and why not
 * @DEPOT_STORE: it may
 * @DEPOT_DISABLED: not, the kernel has disabled the list: its pages are wanted
 * @DEPOT_ISOLATED: not, pages of the zone are being isolated
 * @DEPOT_RECLAIM: not, memory is being reclaimed
 * @DEPOT_WATERMARK: not, the zone is near its high watermark
 * @DEPOT_CLOSED: not, somebody wanted pages in one piece a moment ago
 * @DEPOT_FULL: not, the depot holds as much as it may
 * @DEPOT_NR_VERDICTS: number of the above
 */
enum depot_verdict {
	DEPOT_STORE,
	DEPOT_DISABLED,
	DEPOT_ISOLATED,
	DEPOT_RECLAIM,
	DEPOT_WATERMARK,
	DEPOT_CLOSED,
	DEPOT_FULL,
	DEPOT_NR_VERDICTS
};

/**
 * enum depot_reason - why pages go back to the buddy
 * @DEPOT_BY_AGE: nobody has wanted them for a while
 * @DEPOT_BY_SIZE: the depot holds more than it may now
 * @DEPOT_BY_RECLAIM: memory is being reclaimed
 * @DEPOT_BY_WATERMARK: the zone is near its high watermark
 * @DEPOT_BY_ORDER: somebody wants pages in one piece
 * @DEPOT_BY_COMPACTION: somebody is about to compact the zone
 * @DEPOT_BY_DRAIN: the kernel drains per-CPU lists: for isolation (memory offline,
 *	contiguous allocation), because a CPU has gone, before it gives reclaim up
 * @DEPOT_BY_OOM: the next step is to kill
 * @DEPOT_BY_OFF: the policy goes off
 * @DEPOT_NR_REASONS: number of the above
 */
enum depot_reason {
	DEPOT_BY_AGE,
	DEPOT_BY_SIZE,
	DEPOT_BY_RECLAIM,
	DEPOT_BY_WATERMARK,
	DEPOT_BY_ORDER,
	DEPOT_BY_COMPACTION,
	DEPOT_BY_DRAIN,
	DEPOT_BY_OOM,
	DEPOT_BY_OFF,
	DEPOT_NR_REASONS
};

/**
 * struct depot_view - a zone, as who has a batch to store sees it
 * @free: free pages
 * @mark: below so many none is stored
 * @held: pages in the depot
 * @max: pages that it may hold
 * @disabled: the list is
 * @isolated: some of the zone's pages are
 * @reclaim: is active
 * @closed: the depot is
 */
struct depot_view {
	unsigned long free;
	unsigned long mark;
	unsigned long held;
	unsigned long max;
	bool disabled;
	bool isolated;
	bool reclaim;
	bool closed;
};

enum depot_verdict depot_judge(const struct depot_view *view, unsigned int count);
enum depot_reason depot_duty(const struct depot_view *view);
unsigned int depot_cut(unsigned int asked, unsigned int on_list);

#endif /* LIVEMM_POLICY_ZONELOCK_CORE_H */
