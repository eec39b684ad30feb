/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_event.h - arithmetic of per-CPU list sizing, mode `event`
 *
 * Implements what the review of the series asked for (Mel Gorman, 2023-07-14, in the thread of
 * 20230710065325.290366-3-ying.huang@intel.com): nothing runs per page; refills and drains are the
 * events; batches grow while a CPU only allocates or only frees; a mix steers the list to the
 * smallest size that makes refills and drains rare; decay comes from a slow tick.
 *
 * The steered quantity is the *outstanding* pages: net (pages allocated less pages freed by the
 * CPU) less the smallest net of the recent past.  At a drain, the outstanding pages are still to
 * come back if the CPU repeats what it did.  A list larger by that many needs neither the drain nor
 * the refill after it.  The first drain of a burst thus tells the error in pages, and the
 * controller answers in one step: the controller raises the bound by the error (the proportional
 * part, dead-beat).  The tick integrates: the part of the bound that
 * the list has used recently stays and the rest fades, so that the bound settles where the error
 * is zero.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 * All sizes are in pages.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_EVENT_H
#define LIVEMM_POLICY_PCP_CORE_EVENT_H

#include <linux/types.h>

#include "core.h"

/* Ticks in decay_ms: pages unused for this many ticks go back. */
#define PCP_USE_TICKS	8

/*
 * A list is in use if its CPU allocates at least the list's bound in decay_ms.  A list in use keeps
 * what it has had, because the load may need the pages again.  An idle list gives back all at once,
 * and so does a list under pressure.
 */

/* A bound that the kernel has raised by so few batches does not count as raised. */
#define PCP_SPARE_BATCHES	8

/* A tick halves the part of a bound that the list did not fill. */
#define PCP_UNUSED_SHIFT	1

/*
 * A drain of a list in a mix takes at most 1/8 of the list for pages that are outstanding: some of
 * these may not come back.
 */
#define PCP_DRAIN_SHIFT		3

/*
 * The kernel drains up to so many batches at once while a CPU only frees, and its tuning raises the
 * list's bound to as many and one more (CONFIG_PCP_BATCH_SCALE_MAX, nr_pcp_high(); 52166607ecc9,
 * 6.7).  Batches of refills and drains double as often.
 */
#define PCP_BATCH_SCALE		5U
#define PCP_FREED_BATCHES	32

/* Migratetypes, each of which has a list of single pages on a CPU. */
#define PCP_TYPES	3

/**
 * struct pcp_use - activity of one list in one tick
 * @net: smallest net seen
 * @most: most pages seen in the list
 * @least: fewest pages seen in the list
 * @allocated: pages that the CPU allocated from zones of this kind
 * @refilled: for each migratetype, pages that came to the list because it was empty
 * @drained: pages that went to the buddy because the list was full
 * @missing: pages that the list lost otherwise, by what was seen of the list: the CPU took these
 */
struct pcp_use {
	long net;
	int most;
	int least;
	unsigned long allocated;
	unsigned long refilled[PCP_TYPES];
	unsigned long drained;
	unsigned long missing;
};

/**
 * struct pcp_event - what mode `event` knows of one list
 * @use: the last ticks, the current one at @now
 * @now: index of the current tick
 * @seen: pages in the list when last seen, less what drains took since
 * @least: fewest pages seen in the list in the last PCP_USE_TICKS
 * @at_once: most pages allocated in one of the last PCP_USE_TICKS, without the current tick
 * @net: smallest net seen in the last PCP_USE_TICKS, without the current tick
 * @allocated: the CPU's allocation count when the current tick began
 * @drained: pages drained in the last PCP_USE_TICKS, without the current tick
 * @missing: pages missing in the last PCP_USE_TICKS, without the current tick
 * @refilled: for each migratetype, pages refilled in the last PCP_USE_TICKS, without the current
 *	tick
 *
 * Written under the list's pcp->lock.
 */
struct pcp_event {
	struct pcp_use use[PCP_USE_TICKS];
	unsigned int now;
	int seen;
	int least;
	unsigned long at_once;
	long net;
	unsigned long allocated;
	unsigned long drained;
	unsigned long missing;
	unsigned long refilled[PCP_TYPES];
};

/**
 * struct pcp_sample - a list at one moment
 * @type: migratetype of the page that was freed, or of the list that was refilled
 * @count: pages in the list
 * @net: pages allocated less pages freed by the CPU since boot; only differences count
 * @allocated: pages allocated by the CPU from zones of the list's kind since boot; may wrap
 */
struct pcp_sample {
	unsigned int type;
	int count;
	long net;
	unsigned long allocated;
};

int pcp_event_tuned(int tuned, int low, int batch);
void pcp_event_begin(struct pcp_event *event, const struct pcp_sample *sample,
		     unsigned long allocated);
void pcp_event_refill(struct pcp_event *event, const struct pcp_sample *sample, int pages);
struct pcp_decision pcp_event_drain(struct pcp_event *event, const struct pcp_sample *sample,
				    const struct pcp_limits *limits);
int pcp_event_drain_count(const struct pcp_event *event, const struct pcp_sample *sample, int asked,
			  const struct pcp_limits *limits);
void pcp_event_drained(struct pcp_event *event, int pages);
struct pcp_decision pcp_event_hold(const struct pcp_limits *limits);
struct pcp_decision pcp_event_tick(struct pcp_event *event, const struct pcp_sample *sample,
				   unsigned long allocated, const struct pcp_limits *limits);

#endif /* LIVEMM_POLICY_PCP_CORE_EVENT_H */
