/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of per-CPU list sizing: what a list may become, and mode
 * `depth`
 *
 * The algorithm of `depth` is that of "[RFC 2/2] mm: alloc/free depth based PCP high
 * auto-tuning" (Huang Ying, 2023-07-10,
 * 20230710065325.290366-3-ying.huang@intel.com): in a period, the depth of
 * allocation is the largest rise of (pages allocated - pages freed), the depth
 * of freeing the largest fall; both averaged with half decay; a list as large
 * as the smaller of the two serves the next period without zone->lock.
 *
 * Pure: no kernel state, no lock, no clock.  Pages everywhere.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_H
#define LIVEMM_POLICY_PCP_CORE_H

#include <linux/types.h>

/*
 * No activity for so many whole periods forgets what was learnt (the series).  No
 * CPU of a real machine does nothing at all for two seconds: less than 1/8 of what
 * was learnt counts as none, or the pages would stay for long after the load.
 */
#define PCP_IDLE_PERIODS	2
#define PCP_IDLE_SHARE		8

/*
 * A rise or fall that began so many periods ago at most, the current one
 * included, counts with its whole depth.  The series has 1: it forgets a run that
 * is under way when a period ends, which its review named as what makes patterns
 * longer than the period unpredictable (Mel Gorman, 2023-07-14).
 */
#define PCP_WINDOW_MAX	4

/*
 * A list in use is lowered by 1/16 of its size a period at most: giving pages back
 * is itself what the policy is to avoid.  The kernel's own tuning gives back 1/8 a
 * second (decay_pcp_high(), 51a755c56dc0, 6.7).  Idle lists, and reclaim, do not
 * wait for this.
 */
#define PCP_LOWER_SHIFT	4

/**
 * struct pcp_clock - the time of all tracks
 * @epoch: number of the current period
 * @window: periods in which a run may have begun, 1..PCP_WINDOW_MAX
 */
struct pcp_clock {
	u32 epoch;
	u32 window;
};

/**
 * struct pcp_extremes - smallest and largest count of a period
 * @low: smallest, relative to the count when the current period began
 * @high: largest, relative to the count when the current period began
 */
struct pcp_extremes {
	long low;
	long high;
};

/**
 * struct pcp_track - what one CPU did to one zone's list in the current period
 * @count: pages allocated less pages freed since the period began
 * @low: smallest @count in the window so far
 * @high: largest @count in the window so far
 * @alloc_depth: largest rise so far
 * @free_depth: largest fall so far
 * @epoch: number of the period that the above belong to
 * @last_epoch: number of the period before it in which anything happened
 * @last_alloc_depth: largest rise in @last_epoch
 * @last_free_depth: largest fall in @last_epoch
 * @last_swing: largest less smallest count in @last_epoch alone
 * @now: extremes of the current period alone
 * @past: those of the periods before it, the latest first
 *
 * Written by its own CPU only.  An interrupt between the load and the store of
 * a field can lose that interrupt's pages from the period; the sums start anew
 * each period, so this never adds up.
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
 * struct pcp_depth - what the finished periods taught about one list
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
 * enum pcp_reason - why a list is as large as it is
 * @PCP_BY_DEFAULT: the depth is within the default
 * @PCP_BY_DEPTH: raised to the depth
 * @PCP_BY_MAX: the depth is above the maximum
 * @PCP_BY_DECAY: the depth is below what the list has; being lowered in steps
 * @PCP_BY_ROOM: cut, so that all lists together stay below the room above the
 *	zone's high watermark
 * @PCP_BY_IDLE: nothing happened for PCP_IDLE_PERIODS
 * @PCP_BY_USE: mode `event`: it is in use
 * @PCP_BY_WATERMARK: not raised, because the zone is near its high watermark
 * @PCP_BY_QUIET: not raised, because zone->lock is not contended
 * @PCP_BY_RECLAIM: reclaim is active in the zone, or was a moment ago
 * @PCP_BY_OOM: so little memory was left that a task might have been killed
 * @PCP_BY_SYSCTL: the admin has set percpu_pagelist_high_fraction; hands off
 * @PCP_BY_KERNEL: the kernel has disabled the list; hands off
 * @PCP_NR_REASONS: number of the above
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
	/* From here on a list has its default: see pcp_blocked(). */
	PCP_BY_RECLAIM,
	PCP_BY_OOM,
	/* And from here on it is the kernel's alone. */
	PCP_BY_SYSCTL,
	PCP_BY_KERNEL,
	PCP_NR_REASONS
};

/**
 * struct pcp_limits - what a list may become
 * @def: the kernel's default, in pages
 * @max: the largest size allowed, in pages
 * @now: what we have raised the list to, in pages; 0 if we have not
 * @batch: the list's batch, in pages
 * @disabled: the kernel has set the list's bound to 0
 * @sysctl: the admin has set percpu_pagelist_high_fraction
 * @reclaim: reclaim is active in the zone, or was a moment ago
 * @oom: the kernel ran out of memory a moment ago
 * @near: the zone is near its high watermark: it may be lowered, not raised
 */
struct pcp_limits {
	int def;
	int max;
	int now;
	int batch;
	bool disabled;
	bool sysctl;
	bool reclaim;
	bool oom;
	bool near;
};

/**
 * struct pcp_decision - what to do with a list
 * @high: pages to set; meaningless if @hands_off
 * @hands_off: leave the list to the kernel, and undo what we did to it
 * @reason: why
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
bool pcp_depth_period(struct pcp_depth *depth, bool active, long alloc_depth,
		      long free_depth);
struct pcp_decision pcp_depth_decide(const struct pcp_depth *depth,
				     const struct pcp_limits *limits);
int pcp_max_high(unsigned long managed, u32 max_tenths, unsigned int cpus, int def,
		 int batch);
int pcp_room_share(int high, int def, long raised, long room);

/**
 * pcp_track_page() - a block was allocated from, or freed to, a list
 * @track: of this CPU and the block's zone
 * @clock: the time
 * @pages: in the block; negative when freed
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
