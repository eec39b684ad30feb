/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the files of the pageblock policy share
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_STATE_H
#define LIVEMM_POLICY_PAGEBLOCK_STATE_H

#include <linux/gfp.h>
#include <linux/mmzone.h>
#include <linux/types.h>

#include "livemm.h"
#include "core_reserve.h"
#include "knobs.h"
#include "policy/common/core_budget.h"
#include "policy/common/worker.h"

struct lmm_klp_fallback;
struct page;
struct seq_file;

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
 * struct pageblock_zone - a zone's part of the worker
 * @pace: when to try to make a block
 * @cursor: page frame number at which the search for blocks to empty goes on
 */
struct pageblock_zone {
	struct pageblock_pace pace;
	unsigned long cursor;
};

/**
 * struct pageblock_state - the policy
 * @boost_factor: kernel variable: limit of the boost in 1/10000 of the high watermark
 * @reserve_blocks: wholly free blocks that each zone should have; 0: none
 * @hotplug: the kernel's lock of memory hotplug; NULL if blocks cannot be inspected
 * @move_rate: pages that the worker may move in a second; 0: the worker does nothing
 * @vacates: the kernel has what it takes to make blocks
 * @leaving: the policy goes off: the worker stops at the next batch of pages
 * @asked: something has happened since the last pass, and the worker is on its way
 * @resting: nothing is due, and no timer runs
 * @passed: time of the last pass, in jiffies
 * @next: time of the next pass, in jiffies, unless @resting
 * @emptied: jiffies when lists of CPUs were emptied last
 * @pages: budget of pages to move
 * @zones: one for each zone of each node, by lmm_zone_slot()
 * @cleaner: the worker's task while it runs
 * @worker: makes blocks; its pass queues itself unless nothing will be due
 */
struct pageblock_state {
	const int *boost_factor;
	unsigned int reserve_blocks;
	struct percpu_rw_semaphore *hotplug;
	unsigned int move_rate;
	bool vacates;
	bool leaving;
	bool asked;
	bool resting;
	unsigned long passed;
	unsigned long next;
	unsigned long emptied;
	struct lmm_budget pages;
	struct pageblock_zone *zones;
	struct task_struct *cleaner;
	struct lmm_worker worker;
};

extern struct pageblock_state pageblock;

/* move.c */
bool pageblock_may_go(unsigned long pfn, bool *loose);
bool pageblock_move_out(unsigned long pfn);

/* vacate.c */
bool pageblock_vacate_possible(void);
bool pageblock_vacate(struct zone *zone, struct pageblock_zone *pz);

/* reserve.c */
unsigned long pageblock_free_blocks(const struct zone *zone);
unsigned long pageblock_wanted_blocks(const struct zone *zone);
bool pageblock_is_short(const struct zone *zone);
bool pageblock_is_worker(void);
void pageblock_worker_ask(void);
int pageblock_reserve_start(void);
void pageblock_reserve_stop(void);
void pageblock_reserve_configure(void);
void pageblock_reserve_show(struct seq_file *m);

/* node.c */
bool pageblock_leaves_node(struct zone *zone, const struct pageblock_ask *ask);

/* filter.c */
void pageblock_filter_start(void);
void pageblock_on_fallback(struct lmm_klp_fallback *fallback);
void pageblock_on_reclaim_end(unsigned long pages);
void pageblock_on_compact_begin(void);
void pageblock_on_mixed(const struct page *page, int got_order);

/* census.c */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m);

#endif /* LIVEMM_POLICY_PAGEBLOCK_STATE_H */
