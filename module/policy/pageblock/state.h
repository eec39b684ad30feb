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

/* Buckets for the rounds of requests in the slow path, of PAGEBLOCK_WAYS slots each. */
#define PAGEBLOCK_BUCKET_BITS	8
#define PAGEBLOCK_BUCKETS	BIT(PAGEBLOCK_BUCKET_BITS)

/* Blocks to choose from a window. */
#define PAGEBLOCK_CANDIDATES	8

/**
 * struct pageblock_ask - a request that asks for pages of another type
 * @gfp: flags
 * @order: order
 * @flags: ALLOC_* flags
 * @migratetype: migratetype
 * @nodemask: nodes that may serve the request; compared, never followed; NULL: all
 */
struct pageblock_ask {
	gfp_t gfp;
	unsigned int order;
	unsigned int flags;
	int migratetype;
	const void *nodemask;
};

/**
 * struct pageblock_candidate - a block that could be emptied
 * @pfn: first page frame number
 * @cost: pages to move, and pages in lists
 */
struct pageblock_candidate {
	unsigned long pfn;
	u64 cost;
};

/**
 * struct pageblock_zone - a zone's reserve and its mixed blocks
 * @reserve: pacing of the reserve
 * @want: wholly free blocks that the zone should have had at the last tick
 * @had: wholly free blocks at the begin of the attempt under way
 * @left: blocks to make in this attempt; 0: there is none
 * @made: blocks made in this attempt
 * @cursor: page frame number at which the search for blocks to empty goes on
 * @best: blocks of the last window, cheapest first
 * @found: number of @best
 * @next_best: the block of @best to empty next
 * @emptied: the lists of the zone were emptied for this window
 * @progress: a block was made free since the last window
 * @rest: pacing of the clean-up
 * @looks: remembered blocks to look at before the next tick
 * @unmixed: pages moved out of them
 * @mixed: a bit for each block: mixed, and not cleaned since; NULL if blocks cannot be cleaned
 * @first: number of the block of bit 0
 * @blocks: number of bits
 * @next: bit of @mixed to look at next
 */
struct pageblock_zone {
	struct pageblock_reserve reserve;
	unsigned long want;
	unsigned long had;
	unsigned long left;
	unsigned long made;
	unsigned long cursor;
	struct pageblock_candidate best[PAGEBLOCK_CANDIDATES];
	unsigned int found;
	unsigned int next_best;
	bool emptied;
	bool progress;
	struct pageblock_reserve rest;
	unsigned int looks;
	unsigned long unmixed;
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
 * @rounds: rounds of the requests in the slow path; no lock: a task gets a slot, its own or the
 *	oldest, with cmpxchg(), and a round that two tasks note at once may count for either
 * @reserve_blocks: wholly free blocks that each zone should have; 0: none
 * @hotplug: the kernel's lock of memory hotplug; NULL if blocks cannot be inspected
 * @tick: jiffies between two ticks of the worker, at which the worker decides what is due
 * @leaving: the policy goes off: the worker stops at the next step
 * @unfinished: the worker has not done yet what was due at the last tick
 * @slice_end: time at which the worker stops for a while, in jiffies
 * @zones: one for each zone of each node, by lmm_zone_slot()
 * @cleaner: the worker's task while it runs
 * @work: the worker; queues itself
 */
struct pageblock_state {
	struct pageblock_settings settings;
	const int *ungrouped;
	const int *boost_factor;
	struct pageblock_rounds rounds[PAGEBLOCK_BUCKETS][PAGEBLOCK_WAYS];
	unsigned int reserve_blocks;
	struct percpu_rw_semaphore *hotplug;
	unsigned long tick;
	bool leaving;
	bool unfinished;
	unsigned long slice_end;
	struct pageblock_zone *zones;
	struct task_struct *cleaner;
	struct delayed_work work;
};

extern struct pageblock_state pageblock;

/* move.c */
bool pageblock_can_go(struct zone *zone, unsigned long pfn);
unsigned int pageblock_move_out(struct zone *zone, unsigned long pfn, bool stranger, bool *all);

/* vacate.c */
bool pageblock_vacate_possible(void);
void pageblock_vacate_begin(struct pageblock_zone *pz);
bool pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, bool *made);

/* unmix.c */
bool pageblock_unmix_possible(void);
bool pageblock_unmix_start(struct zone *zone, struct pageblock_zone *pz);
bool pageblock_unmix(struct zone *zone, struct pageblock_zone *pz, unsigned long *moved);
void pageblock_remember(const struct page *page);

/* reserve.c */
int pageblock_reserve_start(void);
void pageblock_reserve_stop(void);
void pageblock_reserve_configure(void);
unsigned long pageblock_free_blocks(struct zone *zone);
bool pageblock_slice_over(void);

/* node.c */
bool pageblock_leaves_node(struct zone *zone, const struct pageblock_ask *ask);

/* filter.c */
void pageblock_filter_start(void);
int pageblock_on_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole);
void pageblock_on_reclaim_end(unsigned long pages);
void pageblock_on_compact_begin(void);
void pageblock_on_mixed(const struct page *page, int got_order);

/* census.c */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m);
void pageblock_census_forget(struct lmm_policy *policy);

#endif /* LIVEMM_POLICY_PAGEBLOCK_STATE_H */
