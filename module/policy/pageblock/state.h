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

struct free_area;
struct lmm_policy;
struct page;
struct seq_file;

/* Requests in the slow path of which it is known what was tried for them. */
#define PAGEBLOCK_TASK_BITS	8
#define PAGEBLOCK_TASKS		BIT(PAGEBLOCK_TASK_BITS)

/*
 * To move pages to: not at the price of mixing (see struct pageblock_request), nor of a
 * complaint; kswapd is to do what there is to reclaim.
 */
#define PAGEBLOCK_TARGET_GFP \
	(GFP_HIGHUSER_MOVABLE | __GFP_THISNODE | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct pageblock_task - what was tried for a request in the slow path
 * @task: whose it is; compared, never followed; NULL for none
 * @stamp: jiffies of the last round
 * @rounds: see struct pageblock_request
 * @no_progress: see struct pageblock_request
 * @vain: the last time that it reclaimed there was nothing to reclaim
 *
 * A task writes its own only, so that nothing here needs a lock; one that has not been
 * used for a second may be taken over.
 */
struct pageblock_task {
	struct task_struct *task;
	unsigned long stamp;
	unsigned int rounds;
	unsigned int no_progress;
	bool vain;
};

/**
 * struct pageblock_zone - a zone's reserve
 * @reserve: state of the core
 * @want: wholly free blocks that it should have had at the last tick
 * @cursor: page number from which on a block to clear is looked for next
 * @rest: when to clean next
 * @mixed: a bit for each block: it was mixed, and has not been cleaned since; NULL if
 *	that cannot be done
 * @first: number of the first of them
 * @blocks: how many there are
 * @next: to be looked at next, as an index into @mixed
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
 * @settings: of the filter; fields are read while they may change, each by itself
 * @ungrouped: the kernel's: too little memory to group pages by mobility
 * @boost_factor: the kernel's: by how much, in 1/10000 of the high watermark, a mix raises
 *	the watermarks at most
 * @tasks: requests in the slow path
 * @reserve_blocks: wholly free blocks that each zone is to have; 0 for none
 * @hotplug: the kernel's: keeps memory from going offline; NULL if blocks cannot be
 *	looked at
 * @tick: jiffies between two looks at the reserve
 * @zones: one a zone of a node, by lmm_zone_slot()
 * @cleaner: the worker, while it moves pages
 * @work: looks at the reserve; queues itself
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

/* filter.c */
void pageblock_filter_start(void);

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
int pageblock_on_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole);
void pageblock_on_reclaim_end(unsigned long pages);
void pageblock_on_compact_begin(void);
void pageblock_on_mixed(const struct page *page, int got_order);

/* census.c */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m);

#endif /* LIVEMM_POLICY_PAGEBLOCK_STATE_H */
