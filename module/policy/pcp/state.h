/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the pcp policy share
 *
 * policy.c		knobs, counters, switching on and off, state for people
 * handlers.c	what the hooks report; runs under the kernel's pcp->lock
 * size.c		the tick, and what answers memory pressure
 * hotplug.c	CPUs and memory that come and go
 * lists.c	the actuator
 */
#ifndef LIVEMM_POLICY_PCP_STATE_H
#define LIVEMM_POLICY_PCP_STATE_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "core.h"
#include "core_event.h"
#include "lists.h"
#include "policy/common/worker.h"
#include "policy/common/zones.h"

struct per_cpu_pages;
struct zone;

/**
 * struct pcp_zone - a zone's pressure, as the hooks want to know it
 * @room: pages by which lists of the zone may still be raised; 0 while a pass over
 *	its lists is under way, so that their sum stays within the room
 * @raised: pages by which they are raised; a little old
 * @mark: free pages below which no list is raised and raised ones go back
 * @near: the zone, or with scope=node another one of its node, is near its high
 *	watermark
 * @reclaim: in the zone, or with scope=node in another one of its node, reclaim is active or
 *	was a moment ago
 * @own_near: the zone itself is near
 * @own_reclaim: reclaim is active in the zone itself, or was a moment ago
 * @contended: jiffies when zone->lock was last seen taken
 * @kicked: jiffies when a hook last asked for a pass; ahead of now when the last
 *	such pass found nothing to do
 * @reclaim_until: jiffies until which reclaim counts as active
 *
 * Written by the pass under pcp.lock, but @room and @raised (atomic), and
 * @contended, @kicked and @reclaim_until (any hook, one store each).  What hooks
 * only read is apart from what they write.
 */
struct pcp_zone {
	unsigned long mark;
	bool near;
	bool reclaim;
	bool own_near;
	bool own_reclaim;
	atomic_long_t room ____cacheline_aligned_in_smp;
	atomic_long_t raised;
	unsigned long contended;
	unsigned long kicked;
	unsigned long reclaim_until;
} ____cacheline_aligned_in_smp;

/**
 * struct pcp_state - the policy while it is on
 * @lock: serialises passes, hotplug and settings; protects all below but what the
 *	lists' own pcp->lock protects
 * @lists: [cpu][slot]
 * @zones: [slot]
 * @frozen: slots whose memory is going offline
 * @cpus: CPUs whose lists may be sized
 * @clock: time of the tracks; read by the hooks without the lock
 * @steer: settings of mode `event`; read by the hooks without the lock
 * @mode: fixed while on
 * @limit_exit_drain: see the knob; read by the hooks without the lock
 * @contended_only: raise only while zone->lock is contended; read by the hooks without the lock
 * @decay: jiffies that the past counts; read by the hooks without the lock
 * @node_scope: pressure in one zone counts for its whole node
 * @tick: jiffies between two passes
 * @max_tenths: share of a zone that its lists may hold, in tenths of a percent
 * @guard_pct: distance of @pcp_zone.mark above the high watermark, in percent of it
 * @oom_until: jiffies until which out-of-memory counts as now; 0 if never
 * @forget_ticks: ticks at which lists are looked at as for the first time, since a
 *	CPU has gone and another one got its page counters
 * @high_fraction: the sysctl
 * @worker: makes a pass in between two ticks
 * @tick_work: a pass at the end of each tick or period
 * @cpuhp_state: of our CPU hotplug callbacks
 *
 * A slot is nid * MAX_NR_ZONES + zone index.  nr_node_ids is fixed at boot, so
 * slots cover nodes that are yet to come.
 */
struct pcp_state {
	struct mutex lock;	/* passes, hotplug and settings */
	struct pcp_list **lists;
	struct pcp_zone *zones;
	unsigned long *frozen;
	cpumask_var_t cpus;
	struct pcp_clock clock;
	struct pcp_steer steer;
	enum pcp_mode mode;
	bool limit_exit_drain;
	bool contended_only;
	unsigned long decay;
	bool node_scope;
	unsigned long tick;
	u32 max_tenths;
	u32 guard_pct;
	unsigned long oom_until;
	unsigned int forget_ticks;
	const int *high_fraction;
	struct lmm_worker worker;
	struct delayed_work tick_work;
	int cpuhp_state;
};

extern struct pcp_state pcp;

/* What mode `depth` tracks, an entry a slot; NULL in mode `event`. */
DECLARE_PER_CPU(struct pcp_track *, pcp_tracks);

static inline struct pcp_list *pcp_list_of(unsigned int slot, int cpu)
{
	return &pcp.lists[cpu][slot];
}

/* Nobody contends for zone->lock, and lists are to be raised only where somebody does. */
static inline bool pcp_quiet(const struct pcp_zone *pz)
{
	return pcp.mode == PCP_MODE_EVENT && READ_ONCE(pcp.contended_only) &&
	       time_after(jiffies, READ_ONCE(pz->contended) + READ_ONCE(pcp.decay));
}

/* size.c */
unsigned int pcp_next_zone(unsigned int slot, struct zone **zone);
long pcp_pass(bool tick);
void pcp_tick(struct work_struct *work);
void pcp_recheck(struct work_struct *work);
int pcp_oom(struct notifier_block *nb, unsigned long unused, void *parm);

/* hotplug.c */
int pcp_hotplug_start(void);
void pcp_hotplug_stop(void);

/* handlers.c */
void pcp_on_list_pages(int nid, int zone_idx, long pages);
unsigned long pcp_on_refill_count(struct zone *zone, unsigned int order,
				  unsigned long asked);
void pcp_on_refill(struct zone *zone, unsigned int order, int pages);
int pcp_on_drain_count(struct zone *zone, int count, struct per_cpu_pages *pages,
		       int pindex);
void pcp_on_drain(int pages);
void pcp_on_list_bounds(void);
void pcp_on_kswapd_woken(struct zone *zone);

#endif /* LIVEMM_POLICY_PCP_STATE_H */
