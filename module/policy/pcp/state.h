/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - declarations that the files of the pcp policy share
 *
 *	knobs.c		knobs and counters
 *	policy.c	switching on and off, settings, `state`
 *	handlers.c	what the hooks report; runs under the kernel's pcp->lock
 *	depth.c		mode `depth`
 *	size.c		the tick, and the answer to memory pressure
 *	hotplug.c	CPUs and memory that come and go
 *	lists.c		the actuator
 */
#ifndef LIVEMM_POLICY_PCP_STATE_H
#define LIVEMM_POLICY_PCP_STATE_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "core.h"
#include "core_event.h"
#include "lists.h"
#include "policy/common/worker.h"
#include "policy/common/zones.h"

struct lmm_drain;
struct lmm_refill;

/**
 * struct pcp_zone - pressure of a zone, for the hooks
 * @near: the last pass has found the zone short: see lmm_zone_is_short()
 * @reclaim: reclaim wants a block of a high order of which the zone has none
 * @wanted: the next pass is to find @reclaim
 * @given: pages that the last pass has given back
 * @raised: pages by which lists are raised; may be too large until the next pass
 * @kicked: jiffies when a hook last asked for a pass
 *
 * Any hook may write @raised (atomic), and @wanted and @kicked (one store each).  A pass
 * writes the rest under pcp.lock, in a cache line of its own.
 */
struct pcp_zone {
	bool near;
	bool reclaim;
	long given;
	atomic_long_t raised ____cacheline_aligned_in_smp;
	bool wanted;
	unsigned long kicked;
} ____cacheline_aligned_in_smp;

/**
 * struct pcp_state - the policy while it is on
 * @lock: serialises passes, hotplug and settings; protects everything but what a list's own
 *	pcp->lock protects
 * @lists: [cpu][slot]; a slot is nid * MAX_NR_ZONES + zone index, for all possible nodes
 * @zones: [slot]
 * @frozen: slots whose memory is going offline
 * @cpus: CPUs whose lists may be sized
 * @sees_refills: this kernel reports refills
 * @mode: fixed while the policy is on
 * @decay: knob decay_ms, in jiffies
 * @tick: jiffies between two passes
 * @max_tenths: share of a zone that its lists may hold, in tenths of a percent
 * @oom_at: jiffies when memory ran out, which counts for @decay; 0 if it did not
 * @forget_ticks: ticks that still have to reset all lists, after another CPU got the page counters
 *	of an offline CPU
 * @high_fraction: the sysctl percpu_pagelist_high_fraction
 * @bounds_at: jiffies by which the kernel has stored the bounds that it told of last
 * @worker: makes a pass between two ticks
 * @tick_work: makes a pass at the end of each tick or period
 * @cpuhp_state: number of the CPU hotplug callbacks
 *
 * Hooks read @sees_refills, @decay and @tick without @lock.
 */
struct pcp_state {
	struct mutex lock;	/* passes, hotplug and settings */
	struct pcp_list **lists;
	struct pcp_zone *zones;
	unsigned long *frozen;
	cpumask_var_t cpus;
	bool sees_refills;
	enum pcp_mode mode;
	unsigned long decay;
	unsigned long tick;
	u32 max_tenths;
	unsigned long oom_at;
	unsigned int forget_ticks;
	const int *high_fraction;
	unsigned long bounds_at;
	struct lmm_worker worker;
	struct delayed_work tick_work;
	int cpuhp_state;
};

extern struct pcp_state pcp;

static inline struct pcp_list *pcp_list_of(unsigned int slot, int cpu)
{
	return &pcp.lists[cpu][slot];
}

/* Shortest time between two passes that hooks of a zone ask for, in ms. */
#define PCP_KICK_GAP_MS	10

/* Has a hook of the zone asked for a pass just now, so that others are refused one? */
static inline bool pcp_zone_kicked(const struct pcp_zone *pz, unsigned long now)
{
	return time_before(now, READ_ONCE(pz->kicked) + msecs_to_jiffies(PCP_KICK_GAP_MS));
}

struct zone *pcp_zone_after(struct zone *zone);
void pcp_pass(bool tick);
void pcp_tick(struct work_struct *work);
void pcp_recheck(struct work_struct *work);
int pcp_oom(struct notifier_block *nb, unsigned long unused, void *parm);

int pcp_hotplug_start(void);
void pcp_hotplug_stop(void);

void pcp_on_refilled(struct lmm_refill *refill);
void pcp_on_drain_size(struct lmm_drain *drain);
void pcp_on_drained(struct lmm_drain *drain);
void pcp_on_list_bounds(void);
void pcp_on_zone_lacks(struct zone *zone, unsigned int order, bool huge);

#endif /* LIVEMM_POLICY_PCP_STATE_H */
