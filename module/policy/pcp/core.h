/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of per-CPU list sizing: limits of a list, and mode `depth`
 *
 * Mode `depth` implements "[RFC 2/2] mm: alloc/free depth based PCP high auto-tuning" (Huang Ying,
 * 2023-07-10, 20230710065325.290366-3-ying.huang@intel.com).  In a period, the depth of allocation
 * is the largest rise of (pages allocated - pages freed), and the depth of freeing the largest
 * fall.  Both are averaged with half decay.  A list as large as the smaller of the two averages
 * serves the next period without zone->lock.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 * All sizes are in pages.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_H
#define LIVEMM_POLICY_PCP_CORE_H

#include <linux/types.h>

/*
 * This many whole periods without activity reset the averages (the series).  No CPU of a real
 * machine is quite idle for two seconds: depths below 1/8 of the averages count as no activity, or
 * the pages would stay long after the load.
 */
#define PCP_IDLE_PERIODS	2
#define PCP_IDLE_SHARE		8

/*
 * A rise or fall counts with its whole depth if it began at most this many periods ago, the current
 * one included.  The series has 1 and so forgets a run that is under way when a period ends.  Its
 * review: this makes patterns longer than the period unpredictable (Mel Gorman, 2023-07-14).
 */
#define PCP_WINDOW_MAX	4

/*
 * A list in use is lowered by at most 1/16 of its size a period, because the policy is to avoid
 * returning pages.  The kernel's own tuning returns 1/8 a second (decay_pcp_high(), 51a755c56dc0,
 * 6.7).  Idle lists and reclaim have no such limit.
 */
#define PCP_LOWER_SHIFT	4

/* No zone has so many pages free, and lmm_zone_moment_mark() may be added. */
#define PCP_NEVER_CALM	(ULONG_MAX / 2)

/**
 * struct pcp_clock - time of all tracks
 * @epoch: number of the current period
 * @window: periods in which a run may have begun, 1..PCP_WINDOW_MAX
 */
struct pcp_clock {
	u32 epoch;
	u32 window;
};

/* Extremes of a period's count, relative to the count when the current period began. */
struct pcp_extremes {
	long low;
	long high;
};

/**
 * struct pcp_track - activity of one CPU on one zone's list in the current period
 * @count: pages allocated less pages freed since the period began
 * @low: smallest @count in the window so far
 * @high: largest @count in the window so far
 * @alloc_depth: largest rise so far
 * @free_depth: largest fall so far
 * @epoch: number of the current period
 * @last_epoch: number of the latest period before @epoch that had activity
 * @last_alloc_depth: largest rise in @last_epoch
 * @last_free_depth: largest fall in @last_epoch
 * @last_swing: largest less smallest count in @last_epoch alone
 * @now: extremes of the current period alone
 * @past: extremes of the periods before, the latest first
 *
 * Only the owning CPU writes.  An interrupt between load and store of a field can lose the
 * interrupt's pages.  Each period starts the sums anew, so losses do not add up.
 */
struct pcp_track {
	long count;
	long low;
	long high;
	long alloc_depth;
	long free_depth;
	u32 epoch;
	u32 last_epoch;
	long last_alloc_depth;
	long last_free_depth;
	long last_swing;
	struct pcp_extremes now;
	struct pcp_extremes past[PCP_WINDOW_MAX - 1];
};

/**
 * struct pcp_depth - averages over the finished periods of one list
 * @alloc: average depth of allocation
 * @free: average depth of freeing
 * @idle: whole periods with hardly any activity, at most PCP_IDLE_PERIODS
 */
struct pcp_depth {
	long alloc;
	long free;
	unsigned int idle;
};

/**
 * enum pcp_reason - why a list has its size
 * @PCP_BY_DEFAULT: the depth is within the default
 * @PCP_BY_DEPTH: raised to the depth
 * @PCP_BY_MAX: the depth is above the maximum
 * @PCP_BY_DECAY: the list is larger than needed and is lowered in steps
 * @PCP_BY_ROOM: cut, because the zone is below its high watermark
 * @PCP_BY_IDLE: no activity for PCP_IDLE_PERIODS
 * @PCP_BY_USE: mode `event`: the list is in use
 * @PCP_BY_WATERMARK: not raised, because the zone is below its high watermark
 * @PCP_BY_QUIET: not raised, because zone->lock is not contended
 * @PCP_BY_RECLAIM: reclaim wants a block of a high order, and the zone has none
 * @PCP_BY_OOM: memory ran out a moment ago
 * @PCP_BY_SYSCTL: hands off: percpu_pagelist_high_fraction is set
 * @PCP_BY_KERNEL: hands off: the kernel has disabled the list
 * @PCP_NR_REASONS: number of reasons
 */
enum pcp_reason {
	PCP_BY_DEFAULT,
	PCP_BY_DEPTH,
	PCP_BY_MAX,
	PCP_BY_DECAY,
	PCP_BY_ROOM,
	PCP_BY_IDLE,
	PCP_BY_USE,
	PCP_BY_WATERMARK,
	PCP_BY_QUIET,
	/* From here on a list gets its default: see pcp_blocked(). */
	PCP_BY_RECLAIM,
	PCP_BY_OOM,
	/* From here on the list is left to the kernel. */
	PCP_BY_SYSCTL,
	PCP_BY_KERNEL,
	PCP_NR_REASONS
};

/**
 * struct pcp_limits - limits of a list
 * @def: the kernel's default, in pages
 * @max: the largest size allowed, in pages
 * @now: the size that the list was raised to, in pages; 0 if it was not raised
 * @sized: the size that the list had until pressure a moment ago, in pages, or 0
 * @batch: the list's batch, in pages
 * @disabled: the kernel has set the list's bound to 0
 * @sysctl: percpu_pagelist_high_fraction is set
 * @reclaim: reclaim wants a block of a high order, and the zone has none
 * @oom: memory ran out a moment ago
 * @near: the zone is below its high watermark: the list may be lowered, not raised
 */
struct pcp_limits {
	int def;
	int max;
	int now;
	int sized;
	int batch;
	bool disabled;
	bool sysctl;
	bool reclaim;
	bool oom;
	bool near;
};

/**
 * struct pcp_decision - what to do with a list
 * @high: bound to set, in pages; meaningless if @hands_off
 * @hands_off: leave the list to the kernel and restore the kernel's bound
 * @reason: reason of the decision
 */
struct pcp_decision {
	int high;
	bool hands_off;
	enum pcp_reason reason;
};

enum pcp_reason pcp_blocked(const struct pcp_limits *limits);
void pcp_track_roll(struct pcp_track *track, const struct pcp_clock *clock);
bool pcp_track_collect(const struct pcp_track *track, u32 ended, long *alloc_depth,
		       long *free_depth);
bool pcp_depth_period(struct pcp_depth *depth, bool active, long alloc_depth, long free_depth);
struct pcp_decision pcp_depth_decide(const struct pcp_depth *depth, const struct pcp_limits *limits,
				     bool ended);
int pcp_max_high(unsigned long managed, u32 max_tenths, unsigned int cpus, int def, int batch);
int pcp_keep(int count, int def, long held, long missing);
unsigned long pcp_calm_mark(unsigned long mark, unsigned long gap, bool pressed);

/**
 * pcp_track_page() - a block was allocated from, or freed to, a list
 * @track: track of this CPU and the block's zone
 * @clock: the current period and the window
 * @pages: pages in the block; negative when freed
 *
 * Context: any, on the CPU that owns @track, preemption off.
 */
static inline void pcp_track_page(struct pcp_track *track, const struct pcp_clock *clock,
				  long pages)
{
	long count;

	if (unlikely(track->epoch != READ_ONCE(clock->epoch)))
		pcp_track_roll(track, clock);
	count = track->count + pages;
	track->count = count;
	if (pages > 0) {
		if (count > track->high)
			track->high = count;
		if (count > track->now.high)
			track->now.high = count;
		if (count - track->low > track->alloc_depth)
			WRITE_ONCE(track->alloc_depth, count - track->low);
	} else {
		if (count < track->low)
			track->low = count;
		if (count < track->now.low)
			track->now.low = count;
		if (track->high - count > track->free_depth)
			WRITE_ONCE(track->free_depth, track->high - count);
	}
}

#endif /* LIVEMM_POLICY_PCP_CORE_H */
