/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the files of the pageblock policy share
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_STATE_H
#define LIVEMM_POLICY_PAGEBLOCK_STATE_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "livemm.h"
#include "core.h"
#include "knobs.h"

struct page;
struct seq_file;

/* Slots for the rounds of requests in the slow path. */
#define PAGEBLOCK_TASK_BITS	8
#define PAGEBLOCK_TASKS		BIT(PAGEBLOCK_TASK_BITS)

/*
 * For the pages to move others to.  Their allocation does not mix blocks (struct
 * pageblock_request, cleans) nor complain, and gives up early, so that kswapd does what there is
 * to reclaim.
 */
#define PAGEBLOCK_TARGET_GFP \
	(GFP_HIGHUSER_MOVABLE | __GFP_THISNODE | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct pageblock_task - rounds of a request in the slow path
 * @task: owner of the slot; compared, never followed; NULL: none
 * @stamp: jiffies of the last round
 * @rounds: see struct pageblock_request
 * @no_progress: see struct pageblock_request
 * @vain: the last reclaim found nothing
 *
 * A task writes only its own slot, so no lock is needed.  A slot unused for a second is free.
 */
struct pageblock_task {
	struct task_struct *task;
	unsigned long stamp;
	unsigned int rounds;
	unsigned int no_progress;
	bool vain;
};

/**
 * struct pageblock_zone - a zone's reserve and its mixed blocks
 * @reserve: pacing of the reserve
 * @want: wholly free blocks that the zone should have had at the last tick
 * @cursor: page frame number at which the search for blocks to empty goes on
 * @rest: pacing of the clean-up
 * @mixed: a bit for each block: mixed, and not cleaned since; NULL if blocks cannot be cleaned
 * @first: number of the block of bit 0
 * @blocks: number of bits
 * @next: bit of @mixed to look at next
 */
struct pageblock_zone {
	struct pageblock_reserve reserve;
	unsigned long want;
	unsigned long cursor;
	struct pageblock_reserve rest;
	unsigned long *mixed;
	unsigned long first;
	unsigned long blocks;
	unsigned long next;
};

/**
 * struct pageblock_state - the policy
 * @settings: knobs of the filter; each may change at any time
 * @ungrouped: kernel variable: too little memory to group pages by mobility
 * @boost_factor: kernel variable: limit of the boost in 1/10000 of the high watermark
 * @tasks: rounds of the requests in the slow path
 * @reserve_blocks: wholly free blocks that each zone should have; 0: none
 * @hotplug: the kernel's lock of memory hotplug; NULL if blocks cannot be inspected
 * @tick: jiffies between two runs of the worker
 * @zones: one for each zone of each node, by lmm_zone_slot()
 * @cleaner: the worker's task while it runs
 * @work: the worker; queues itself
 */
struct pageblock_state {
	struct pageblock_settings settings;
	const int *ungrouped;
	const int *boost_factor;
	struct pageblock_task tasks[PAGEBLOCK_TASKS];
	unsigned int reserve_blocks;
	struct percpu_rw_semaphore *hotplug;
	unsigned long tick;
	struct pageblock_zone *zones;
	struct task_struct *cleaner;
	struct delayed_work work;
};

extern struct pageblock_state pageblock;

/* vacate.c */
unsigned int pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, unsigned int nr);

/* unmix.c */
bool pageblock_unmix_possible(void);
bool pageblock_unmix_start(struct zone *zone, struct pageblock_zone *pz);
unsigned int pageblock_unmix(struct zone *zone, struct pageblock_zone *pz);
void pageblock_remember(const struct page *page);

/* reserve.c */
int pageblock_reserve_start(void);
void pageblock_reserve_stop(void);
void pageblock_reserve_configure(void);
unsigned long pageblock_free_blocks(struct zone *zone);

/* filter.c */
void pageblock_filter_start(void);
int pageblock_on_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole);
void pageblock_on_reclaim_end(unsigned long pages);
void pageblock_on_compact_begin(void);
void pageblock_on_mixed(const struct page *page, int got_order);

/* census.c */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m);

#endif /* LIVEMM_POLICY_PAGEBLOCK_STATE_H */
