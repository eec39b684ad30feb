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

#include "livemm.h"
#include "core.h"
#include "core_reserve.h"
#include "knobs.h"
#include "policy/common/worker.h"

struct page;
struct seq_file;

/* log2 of the places for tasks that make room. */
#define PAGEBLOCK_TRIED_BITS	10

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
 * struct pageblock_zone - a zone's reserve and its mixed blocks
 * @pace: when to try to make blocks
 * @had: blocks in the reserve at the begin of the attempt under way
 * @check: the blocks of @kept are to be checked in this pass
 * @left: blocks to make in this attempt; 0: there is none
 * @cursor: page frame number at which the search for blocks to empty goes on
 * @choice: the cheapest blocks that were looked at
 * @chosen: enough blocks were looked at; those of @choice are emptied, one after the other
 * @begun: the first block of @choice was emptied in part
 * @later: a block of @choice has pages in lists of CPUs, which were emptied a moment ago
 * @progress: a block was made free since the last choice
 * @clean_pace: when to try to clean mixed blocks
 * @looks: mixed blocks to look at in this attempt to clean
 * @unmixed: pages moved out of them
 * @kept: a bit for each block: made unmovable for the reserve; NULL as @mixed
 * @mixed: a bit for each block: mixed, and not cleaned since; NULL if blocks cannot be cleaned
 * @first: number of the block of bit 0
 * @blocks: number of bits
 * @next: bit of @mixed to look at next
 *
 * All but the bits are the worker's.
 */
struct pageblock_zone {
	struct pageblock_pace pace;
	unsigned long had;
	bool check;
	unsigned long left;
	unsigned long cursor;
	struct pageblock_choice choice;
	bool chosen;
	bool begun;
	bool later;
	bool progress;
	struct pageblock_pace clean_pace;
	unsigned int looks;
	unsigned long unmixed;
	unsigned long *kept;
	unsigned long *mixed;
	unsigned long first;
	unsigned long blocks;
	unsigned long next;
};

/**
 * struct pageblock_state - the policy
 * @mode: how long mixing is refused; may change at any time
 * @boost_factor: kernel variable: limit of the boost in 1/10000 of the high watermark
 * @tried: what tasks have done to make room, by a hash of the task; no lock: two tasks that share a
 *	place may count a round of each other
 * @reserve_blocks: wholly free blocks that each zone should have; 0: none
 * @hotplug: the kernel's lock of memory hotplug; NULL if blocks cannot be inspected
 * @move_rate: pages that the worker may move in a second; 0: the worker does nothing
 * @vacates: the kernel has what it takes to make blocks
 * @guards: free blocks of the reserve are of type unmovable
 * @leaving: the policy goes off: the worker stops at the next step
 * @asked: something has happened since the last pass, and the worker is on its way
 * @unfinished: the worker has not done yet what was due in this pass
 * @paused: the budget did not suffice for what was due in this pass
 * @resting: nothing is due, and no timer runs
 * @passed: time of the last pass, in jiffies
 * @slice_end: time at which the worker stops for a while, in jiffies
 * @turn: slot of the zone with which a pass begins
 * @emptied: jiffies when lists of CPUs were emptied last
 * @pages: budget of pages to move
 * @blocks: budget of blocks to look at
 * @zones: one for each zone of each node, by lmm_zone_slot()
 * @cleaner: the worker's task while it runs
 * @worker: makes blocks; its pass queues itself unless nothing will be due
 */
struct pageblock_state {
	enum pageblock_mode mode;
	const int *boost_factor;
	struct pageblock_tried tried[BIT(PAGEBLOCK_TRIED_BITS)];
	unsigned int reserve_blocks;
	struct percpu_rw_semaphore *hotplug;
	unsigned int move_rate;
	bool vacates;
	bool guards;
	bool leaving;
	bool asked;
	bool unfinished;
	bool paused;
	bool resting;
	unsigned long passed;
	unsigned long slice_end;
	unsigned int turn;
	unsigned long emptied;
	struct lmm_budget pages;
	struct lmm_budget blocks;
	struct pageblock_zone *zones;
	struct task_struct *cleaner;
	struct lmm_worker worker;
};

extern struct pageblock_state pageblock;

/**
 * enum pageblock_step - what a step of the worker came to
 * @PAGEBLOCK_STEP_MORE: there is more to do
 * @PAGEBLOCK_STEP_OVER: the attempt has come to its end
 * @PAGEBLOCK_STEP_DEAR: as OVER: there is less left of the budget of pages than the next step costs
 * @PAGEBLOCK_STEP_LATER: as OVER: what is left has to wait until lists may be emptied
 * @PAGEBLOCK_STEP_PAUSE: the budget does not suffice for the next step
 */
enum pageblock_step {
	PAGEBLOCK_STEP_MORE,
	PAGEBLOCK_STEP_OVER,
	PAGEBLOCK_STEP_DEAR,
	PAGEBLOCK_STEP_LATER,
	PAGEBLOCK_STEP_PAUSE,
};

/* move.c */
u64 pageblock_price(struct zone *zone, unsigned long pfn);
unsigned int pageblock_move_out(struct zone *zone, unsigned long pfn, bool stranger, bool *all);

/* vacate.c */
bool pageblock_vacate_possible(void);
void pageblock_vacate_begin(struct pageblock_zone *pz);
unsigned int pageblock_lists_wait(void);
enum pageblock_step pageblock_vacate(struct zone *zone, struct pageblock_zone *pz, bool *made);

/* keep.c */
bool pageblock_keep_possible(void);
bool pageblock_block_is_free(struct zone *zone, unsigned long pfn);
unsigned int pageblock_keep(struct zone *zone, struct pageblock_zone *pz);
void pageblock_release(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn, bool whole);
void pageblock_kept_check(struct zone *zone, struct pageblock_zone *pz);
void pageblock_give_back(struct zone *zone, struct pageblock_zone *pz);

/* unmix.c */
bool pageblock_unmix_possible(void);
bool pageblock_unmix_start(struct zone *zone, struct pageblock_zone *pz);
bool pageblock_is_mixed(const struct pageblock_zone *pz);
enum pageblock_step pageblock_unmix(struct zone *zone, struct pageblock_zone *pz,
				    unsigned long *moved);
void pageblock_remember(const struct page *page);

/* reserve.c */
int pageblock_reserve_start(void);
void pageblock_reserve_stop(void);
void pageblock_reserve_configure(void);
void pageblock_reserve_show(struct seq_file *m);

/* means.c */
unsigned long pageblock_free_blocks(const struct zone *zone);
unsigned long pageblock_guarded_blocks(const struct zone *zone);
unsigned long pageblock_kept_blocks(const struct zone *zone);
unsigned long pageblock_reserve_blocks(struct zone *zone);
unsigned long pageblock_wanted_blocks(const struct zone *zone);
bool pageblock_may_make(void);
bool pageblock_is_worker(void);
bool pageblock_is_short(const struct zone *zone, unsigned long kept);
void pageblock_worker_ask(void);
bool pageblock_may_look(unsigned int looks);
void pageblock_look_again(void);
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

#endif /* LIVEMM_POLICY_PAGEBLOCK_STATE_H */
