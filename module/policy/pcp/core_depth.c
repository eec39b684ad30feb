// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_depth.c - arithmetic of mode `depth`; see core_depth.h
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core_depth.h"

/**
 * pcp_track_roll() - end the period of a track, and begin another
 * @track: the track
 * @period: number of the new period
 *
 * Context: any, on the CPU that owns @track.
 */
void pcp_track_roll(struct pcp_track *track, u32 period)
{
	struct pcp_depth average = { };

	if (period - track->period <= PCP_IDLE_PERIODS) {
		average.alloc = (track->average.alloc + track->alloc_depth) / 2;
		average.free = (track->average.free + track->free_depth) / 2;
	}
	*track = (struct pcp_track){ .period = period, .average = average };
}

/**
 * pcp_track_depth() - averages of a track over the periods that have ended
 * @track: track of any CPU
 * @period: number of the current period
 *
 * The owner may write meanwhile: the next look finds what this one has missed.
 *
 * Context: any.
 * Return: the averages.
 */
struct pcp_depth pcp_track_depth(const struct pcp_track *track, u32 period)
{
	struct pcp_track now = *track;

	if (now.period != period)
		pcp_track_roll(&now, period);
	return now.average;
}

/**
 * pcp_depth_decide() - decide on the size of a list
 * @depth: averages of the list
 * @limits: limits of the list
 *
 * Return: the decision.  @high is between the default and the maximum; pure allocation and pure
 * freeing give the default.
 */
struct pcp_decision pcp_depth_decide(const struct pcp_depth *depth, const struct pcp_limits *limits)
{
	long want = min(depth->alloc, depth->free);
	struct pcp_decision decision = { .high = limits->def, .reason = pcp_blocked(limits) };

	if (decision.reason) {
		decision.hands_off = decision.reason >= PCP_BY_SYSCTL;
		return decision;
	}
	if (min_t(long, want, limits->max) > limits->def) {
		decision.high = min_t(long, want, limits->max);
		decision.reason = want > limits->max ? PCP_BY_MAX : PCP_BY_DEPTH;
	}
	if (limits->near && decision.high > max(limits->now, limits->def)) {
		decision.high = max(limits->now, limits->def);
		decision.reason = PCP_BY_WATERMARK;
	}
	return decision;
}
