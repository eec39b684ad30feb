/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_event.h - arithmetic of per-CPU list sizing, mode `event`
 *
 * What the review of the series asked for (Mel Gorman, 2023-07-14, in the thread
 * of 20230710065325.290366-3-ying.huang@intel.com): nothing per page; refills and
 * drains are the events; batches grow when all is allocation or all is freeing; a
 * mix steers the list to the smallest size at which refills and drains become
 * rare; decay comes from a slow tick.
 *
 * The quantity that is steered is the *outstanding* pages: net, which is pages
 * allocated less pages freed by the CPU, less the smallest net of the recent past.
 * At a drain, those are the pages that are yet to come back if the CPU repeats
 * what it did; a list larger by that many needs neither that drain nor the refill
 * after it.  So the error is known in pages when the first drain of a burst
 * happens, and the controller answers in one step: it raises the bound by gain
 * times the error (its proportional part; at 100 percent it is dead-beat).  The
 * tick integrates: what of the bound the list has really used in the recent past
 * stays, the rest fades, so that the bound settles where the error is zero.
 *
 * Pure: no kernel state, no lock, no clock.  Pages everywhere.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_EVENT_H
#define LIVEMM_POLICY_PCP_CORE_EVENT_H

#include <linux/types.h>

#include "core.h"

/* Ticks in decay_ms: pages that no tick of so many saw in use go back. */
#define PCP_USE_TICKS	8

/*
 * Ticks for which the smallest net is remembered.  Twice as long, because a burst
 * comes back as late as it was held.
 */
#define PCP_NET_TICKS	16

/*
 * A list whose CPU allocates more than the list holds in decay_ms is in use: it gives
 * back a batch a tick of what it does not use, twice as much after each 32 ticks (four
 * times decay_ms), because the load may well come back for it.  One that is not gives
 * back all at once, and so does pressure.  The kernel's own tuning gives back 1/8 of
 * the list a second (decay_pcp_high(), 51a755c56dc0, 6.7), in use or not.  So little
 * that a drain is not worth it stays.
 */
#define PCP_SPARE_TICKS		32
#define PCP_SPARE_MAX_SHIFT	5
#define PCP_SPARE_BATCHES	8

/*
 * A bound that the list never filled holds no memory.  It comes down by half a tick if
 * the CPU allocated less than 1/8 of it in decay_ms, else by 1/256.
 */
#define PCP_IDLE_SHIFT		1
#define PCP_UNUSED_SHIFT	8
#define PCP_TURNOVER_SHIFT	3

/**
 * struct pcp_use - what one list did in one tick
 * @net: smallest net seen
 * @most: most pages seen in the list
 * @least: fewest
 * @allocated: pages that the CPU allocated from such zones
 * @refilled: pages that came from the buddy
 * @drained: pages that went to the buddy because the list was full
 */
struct pcp_use {
	long net;
	int most;
	int least;
	unsigned long allocated;
	unsigned long refilled;
	unsigned long drained;
};

/**
 * struct pcp_event - what is known of one list
 * @use: the last ticks, the current one at @now
 * @now: index of the current tick
 * @refills: refills in a row, drains would have ended the row
 * @spare_ticks: ticks in a row in which a list in use gave back what it did not use
 * @least: fewest pages seen in the list in the last PCP_USE_TICKS
 * @net: smallest net seen in the last PCP_NET_TICKS, the current one left out
 * @allocated: the CPU's allocation count when the current tick began
 * @drained: pages drained in the last PCP_USE_TICKS, the current one left out
 * @refilled: pages refilled in the last PCP_NET_TICKS, the current one left out
 *
 * Written under the list's pcp->lock.
 */
struct pcp_event {
	struct pcp_use use[PCP_NET_TICKS];
	unsigned int now;
	unsigned int refills;
	unsigned int spare_ticks;
	int least;
	long net;
	unsigned long allocated;
	unsigned long drained;
	unsigned long refilled;
};

/**
 * struct pcp_sample - a list at one moment
 * @count: pages in it
 * @net: pages that its CPU has allocated less those that it has freed, ever; only
 *	differences count
 */
struct pcp_sample {
	int count;
	long net;
};

/**
 * struct pcp_steer - how to steer
 * @gain_pct: how much of the error is answered, in percent
 * @batch_max_scale: batches grow to batch << this at most
 * @sees_refills: refills are events on this kernel
 */
struct pcp_steer {
	u32 gain_pct;
	u32 batch_max_scale;
	bool sees_refills;
};

void pcp_event_begin(struct pcp_event *event, const struct pcp_sample *sample,
		     unsigned long allocated);
int pcp_event_refill_count(const struct pcp_event *event, int asked, int count,
			   const struct pcp_limits *limits,
			   const struct pcp_steer *steer);
void pcp_event_refill(struct pcp_event *event, const struct pcp_sample *sample,
		      int pages);
struct pcp_decision pcp_event_drain(struct pcp_event *event,
				    const struct pcp_sample *sample,
				    const struct pcp_limits *limits,
				    const struct pcp_steer *steer);
int pcp_event_drain_count(const struct pcp_event *event,
			  const struct pcp_sample *sample, int asked,
			  const struct pcp_limits *limits,
			  const struct pcp_steer *steer);
void pcp_event_drained(struct pcp_event *event, int pages);
struct pcp_decision pcp_event_hold(const struct pcp_limits *limits);
struct pcp_decision pcp_event_tick(struct pcp_event *event,
				   const struct pcp_sample *sample,
				   unsigned long allocated,
				   const struct pcp_limits *limits);

#endif /* LIVEMM_POLICY_PCP_CORE_EVENT_H */
