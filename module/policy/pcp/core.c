// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of per-CPU list sizing; see core.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * pcp_blocked() - may a list have another bound than its default?
 * @limits: limits of the list
 *
 * Return: PCP_BY_DEFAULT if it may, else why not.  PCP_BY_SYSCTL and PCP_BY_KERNEL mean hands off.
 */
enum pcp_reason pcp_blocked(const struct pcp_limits *limits)
{
	if (limits->disabled)
		return PCP_BY_KERNEL;
	if (limits->sysctl)
		return PCP_BY_SYSCTL;
	if (limits->oom)
		return PCP_BY_OOM;
	if (limits->reclaim)
		return PCP_BY_RECLAIM;
	return PCP_BY_DEFAULT;
}

/*
 * Move the finished period into @past, @gap periods back.  Counts are relative to the beginning of
 * the current period, so the old count is subtracted.  Periods without events stay flat at 0.
 */
static void past_push(struct pcp_track *track, u32 gap)
{
	long base = track->count;
	int i;

	for (i = PCP_WINDOW_MAX - 2; i >= 0; i--) {
		struct pcp_extremes from = { .low = base, .high = base };

		if (i + 1 == gap)
			from = track->now;
		else if (i >= gap)
			from = track->past[i - gap];
		track->past[i].low = from.low - base;
		track->past[i].high = from.high - base;
	}
}

/**
 * pcp_track_roll() - begin a new period
 * @track: track of this CPU
 * @clock: the new period and the window
 *
 * The finished depths are published before the epoch changes and the running depths cleared after
 * the change, so pcp_track_collect() on another CPU finds the depths in one of the two places.
 *
 * Context: any, on the CPU that owns @track.
 */
void pcp_track_roll(struct pcp_track *track, const struct pcp_clock *clock)
{
	u32 window = READ_ONCE(clock->window);
	u32 epoch = READ_ONCE(clock->epoch);
	u32 gap = epoch - track->epoch;
	unsigned int i;

	WRITE_ONCE(track->last_alloc_depth, track->alloc_depth);
	WRITE_ONCE(track->last_free_depth, track->free_depth);
	WRITE_ONCE(track->last_swing, track->now.high - track->now.low);
	WRITE_ONCE(track->last_epoch, track->epoch);
	smp_wmb(); /* pairs with the smp_rmb()s in pcp_track_collect() */
	WRITE_ONCE(track->epoch, epoch);
	smp_wmb(); /* pairs with the smp_rmb()s in pcp_track_collect() */
	WRITE_ONCE(track->alloc_depth, 0);
	WRITE_ONCE(track->free_depth, 0);

	past_push(track, gap);
	track->count = 0;
	track->now = (struct pcp_extremes){ };
	track->low = 0;
	track->high = 0;
	for (i = 0; i + 1 < window && i < PCP_WINDOW_MAX - 1; i++) {
		track->low = min(track->low, track->past[i].low);
		track->high = max(track->high, track->past[i].high);
	}
}

/**
 * pcp_track_collect() - read the depths of a period that has just ended
 * @track: track of any CPU
 * @ended: number of the ended period, one less than the current period's
 * @alloc_depth: receives the largest rise
 * @free_depth: receives the largest fall
 *
 * A single page shows the whole depth of a run that began periods ago, even if the run is over.
 * The period therefore counts as active only if its own swing is a fair share of the depth.
 *
 * Context: any.
 * Return: false if nothing happened in the period (both depths are then 0), or if its swing is less
 * than 1/PCP_IDLE_SHARE of the larger depth.
 */
bool pcp_track_collect(const struct pcp_track *track, u32 ended, long *alloc_depth,
		       long *free_depth)
{
	long swing;

	if (READ_ONCE(track->epoch) == ended) {
		smp_rmb(); /* pairs with pcp_track_roll() */
		*alloc_depth = READ_ONCE(track->alloc_depth);
		*free_depth = READ_ONCE(track->free_depth);
		swing = READ_ONCE(track->now.high) - READ_ONCE(track->now.low);
		smp_rmb(); /* pairs with pcp_track_roll() */
		if (READ_ONCE(track->epoch) == ended)
			return swing >= max(*alloc_depth, *free_depth) / PCP_IDLE_SHARE;
	}
	smp_rmb(); /* pairs with pcp_track_roll() */
	if (READ_ONCE(track->last_epoch) == ended) {
		*alloc_depth = READ_ONCE(track->last_alloc_depth);
		*free_depth = READ_ONCE(track->last_free_depth);
		swing = READ_ONCE(track->last_swing);
		return swing >= max(*alloc_depth, *free_depth) / PCP_IDLE_SHARE;
	}
	*alloc_depth = 0;
	*free_depth = 0;
	return false;
}

/**
 * pcp_depth_period() - learn from a finished period
 * @depth: averages of the list
 * @active: the period was active
 * @alloc_depth: largest rise, in pages
 * @free_depth: largest fall, in pages
 *
 * Half decay and the reset after two idle periods come from the series.
 *
 * Return: true if averages were known and have been reset.
 */
bool pcp_depth_period(struct pcp_depth *depth, bool active, long alloc_depth, long free_depth)
{
	bool known = depth->alloc || depth->free;

	if (active && max(alloc_depth, free_depth) >=
		      max(depth->alloc, depth->free) / PCP_IDLE_SHARE) {
		depth->alloc = (depth->alloc + alloc_depth) / 2;
		depth->free = (depth->free + free_depth) / 2;
		depth->idle = 0;
		return false;
	}
	if (depth->idle < PCP_IDLE_PERIODS)
		depth->idle++;
	if (depth->idle < PCP_IDLE_PERIODS)
		return false;
	depth->alloc = 0;
	depth->free = 0;
	return known;
}

/**
 * pcp_depth_decide() - decide on the size of a list
 * @depth: averages of the list
 * @limits: limits of the list
 * @ended: a period has ended; in between no list is lowered by a step, however often this is asked
 *
 * Return: the decision.  @high is between the default and the maximum; pure allocation and pure
 * freeing give the default.
 */
struct pcp_decision pcp_depth_decide(const struct pcp_depth *depth, const struct pcp_limits *limits,
				     bool ended)
{
	struct pcp_decision decision = { .high = limits->def };
	long want = min(depth->alloc, depth->free);
	int step = limits->now - (ended ? limits->now >> PCP_LOWER_SHIFT : 0);

	decision.reason = pcp_blocked(limits);
	if (decision.reason) {
		decision.hands_off = decision.reason >= PCP_BY_SYSCTL;
		return decision;
	}
	if (want > limits->max && limits->max > limits->def) {
		decision.high = limits->max;
		decision.reason = PCP_BY_MAX;
	} else if (want > limits->def && limits->max > limits->def) {
		decision.high = want;
		decision.reason = PCP_BY_DEPTH;
	} else if (depth->idle == PCP_IDLE_PERIODS) {
		decision.reason = PCP_BY_IDLE;
	}
	if (depth->idle < PCP_IDLE_PERIODS && decision.high < min(step, limits->max)) {
		decision.high = min(step, limits->max);
		decision.reason = PCP_BY_DECAY;
	}
	if (limits->near && decision.high > max(limits->now, limits->def)) {
		decision.high = max(limits->now, limits->def);
		decision.reason = PCP_BY_WATERMARK;
	}
	return decision;
}

/**
 * pcp_max_high() - largest size that a list may get
 * @managed: pages that the zone manages
 * @max_tenths: share of @managed that all lists together may hold, in tenths of a percent
 * @cpus: CPUs that share the zone
 * @def: the kernel's default size
 * @batch: the list's batch
 *
 * Computes what zone_highsize() does for percpu_pagelist_high_fraction = 8, which is 12.5 percent.
 *
 * Return: pages, at least @def and four batches.
 */
int pcp_max_high(unsigned long managed, u32 max_tenths, unsigned int cpus, int def, int batch)
{
	u64 share = div_u64(mul_u32_u32(max_tenths, 1) * managed, 1000);
	u64 high = div_u64(share, max(cpus, 1U));

	return max3((int)min_t(u64, high, INT_MAX), batch * 4, def);
}

/**
 * pcp_calm_mark() - free pages with which a zone is surely not short until the next pass
 * @mark: free pages below which the zone is short, without lmm_zone_moment_mark()
 * @gap: pages by which the mark is higher while reclaim is active
 * @pressed: lists of the zone are to be drained as the kernel wants, whatever is free
 *
 * A boost of the watermarks, or free CMA memory, comes and goes without a pass, so that whoever
 * compares adds lmm_zone_moment_mark().
 *
 * Return: pages without that; PCP_NEVER_CALM if @pressed.
 */
unsigned long pcp_calm_mark(unsigned long mark, unsigned long gap, bool pressed)
{
	return pressed ? PCP_NEVER_CALM : mark + gap;
}

/**
 * pcp_keep() - pages that a list may keep while its zone lacks free pages
 * @count: pages in the list
 * @def: the kernel's default bound
 * @held: pages that all lists of the zone hold above their defaults, @count - @def among them
 * @missing: pages that the zone lacks
 *
 * Each list gives in proportion to what it holds above its default.
 *
 * Return: pages, at least @def.
 */
int pcp_keep(int count, int def, long held, long missing)
{
	long keep = max(held - max(missing, 0L), 0L);

	if (count <= def || held <= 0)
		return def;
	if (missing <= 0)
		return count;
	/* In larger units, so that the product fits. */
	for (; held > INT_MAX; held = held / 2 + 1)
		keep /= 2;
	return def + (int)div64_s64((s64)(count - def) * keep, held);
}
