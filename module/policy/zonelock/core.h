/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - which batches a depot may keep, and why pages go back to the buddy
 */
#ifndef LIVEMM_POLICY_ZONELOCK_CORE_H
#define LIVEMM_POLICY_ZONELOCK_CORE_H

#include <linux/types.h>

/**
 * enum depot_verdict - may a drained batch be stored, and if not, why
 * @DEPOT_STORE: the batch may be stored
 * @DEPOT_DISABLED: the kernel has disabled the list because it wants the pages
 * @DEPOT_ISOLATED: pages of the zone are being isolated
 * @DEPOT_WATERMARK: fewer pages are free than the mark, or hardly more while reclaim is active
 * @DEPOT_CLOSED: a request for free pages closed the depot a moment ago
 * @DEPOT_FULL: the depot holds as much as it may
 * @DEPOT_NR_VERDICTS: number of verdicts
 */
enum depot_verdict {
	DEPOT_STORE,
	DEPOT_DISABLED,
	DEPOT_ISOLATED,
	DEPOT_WATERMARK,
	DEPOT_CLOSED,
	DEPOT_FULL,
	DEPOT_NR_VERDICTS
};

/**
 * enum depot_reason - why pages go back to the buddy
 * @DEPOT_BY_AGE: no CPU has taken the pages for a while
 * @DEPOT_BY_SIZE: the depot holds more than it may now
 * @DEPOT_BY_WATERMARK: as DEPOT_WATERMARK
 * @DEPOT_BY_ORDER: a request found no page, for instance none of a high order
 * @DEPOT_BY_COMPACTION: the zone is about to be compacted
 * @DEPOT_BY_DRAIN: the kernel drains per-CPU lists: to isolate pages (memory offline, contiguous
 *	allocation), because a CPU went offline, or before reclaim gives up
 * @DEPOT_BY_OOM: the kernel is about to kill a task
 * @DEPOT_BY_OFF: the policy is being switched off
 * @DEPOT_NR_REASONS: number of reasons
 */
enum depot_reason {
	DEPOT_BY_AGE,
	DEPOT_BY_SIZE,
	DEPOT_BY_WATERMARK,
	DEPOT_BY_ORDER,
	DEPOT_BY_COMPACTION,
	DEPOT_BY_DRAIN,
	DEPOT_BY_OOM,
	DEPOT_BY_OFF,
	DEPOT_NR_REASONS
};

/* A depot holds at most one in so many of the pages that would be free above the mark. */
#define DEPOT_FREE_SHARE	2

/*
 * What a depot may hold at least, to find out whether CPUs take pages again: one in so many pages
 * of its limit, or two batches (DEPOT_BATCH_MAX).
 */
#define DEPOT_TRIAL_SHARE	32
#define DEPOT_TRIAL_PAGES	1008UL

/* What CPUs take is reckoned so often in max_age, however many passes there are. */
#define DEPOT_TOOK_PARTS	4

/* After so many of these times nothing is known any more of what CPUs took. */
#define DEPOT_TOOK_TIMES	16

/**
 * struct depot_view - state of a zone that decides about its depot
 * @free: free pages of the zone
 * @mark: free pages below which nothing is stored
 * @held: pages in the depot
 * @max: pages that the depot may hold
 * @disabled: the kernel has disabled the per-CPU list
 * @isolated: the zone has isolated pageblocks
 * @reclaim: reclaim is active, and hardly more pages are free than @mark
 * @closed: the depot stores nothing for now
 */
struct depot_view {
	unsigned long free;
	unsigned long mark;
	unsigned long held;
	unsigned long max;
	bool disabled;
	bool isolated;
	bool reclaim;
	bool closed;
};

/*
 * Most blocks that are taken under one hold of zone->lock, as many as the kernel's batch of single
 * pages has at least; and how often the pages of a refill double, as long as a CPU only allocates:
 * once more than the kernel's drains do (CONFIG_PCP_BATCH_SCALE_MAX).
 */
#define REFILL_BLOCKS	64UL
#define REFILL_DOUBLES	6U

/* Small blocks are few if they have at most one page for so many pages in large blocks. */
#define REFILL_SMALL_SHARE	64

/**
 * struct refill_view - state of a zone and a list that decides about a refill
 * @asked: single pages that the kernel wants
 * @successive: refills since the CPU last drained the list
 * @room: pages that the list has room for
 * @spare: free pages above the mark
 * @large: pages in free blocks of pageblock_order and more, 0 if the migratetype has none
 */
struct refill_view {
	unsigned long asked;
	unsigned int successive;
	long room;
	long spare;
	unsigned long large;
};

/*
 * Most single pages that the kernel drains under one hold of zone->lock (32 batches of 63 pages;
 * 52166607ecc9, 6.7).  Most blocks under a hold that joins neighbours: an eighth of these,
 * because a block of a higher order costs the buddy more than a page.  Most pages of such a hold:
 * four times as many, and yet the longest hold at the end of a process is shorter than the kernel's
 * (docs/lists.md).
 */
#define DRAIN_PAGES	2016U
#define JOIN_BLOCKS	(DRAIN_PAGES / 8)
#define JOIN_PAGES	(DRAIN_PAGES * 4)

/**
 * struct drain_view - a drain of a list that joins neighbours, under way
 * @asked: pages that go at a time: what the kernel wants, at least 1
 * @batch: the list's batch, in pages
 * @have: pages in the lists
 * @keep: pages that the lists may keep; 0 where the kernel drains, and the lists keep at least as
 *	many as go
 * @gone: pages that wait for the hold
 * @blocks: blocks that the pages make
 * @is_part: the kernel is about to ask for as many pages again
 */
struct drain_view {
	unsigned int asked;
	unsigned int batch;
	unsigned int have;
	unsigned int keep;
	unsigned int gone;
	unsigned int blocks;
	bool is_part;
};

unsigned int drain_cut(const struct drain_view *view);
bool drain_goes_on(const struct drain_view *view);

unsigned long refill_pages(const struct refill_view *view);
unsigned int refill_order(unsigned long pages);
bool refill_splits(const struct refill_view *view, unsigned long pages, unsigned long small);

enum depot_verdict depot_judge(const struct depot_view *view, unsigned int count);
enum depot_reason depot_duty(const struct depot_view *view);
unsigned long depot_bound(const struct depot_view *view, unsigned long limit, unsigned long took);
unsigned long depot_took(unsigned long took, unsigned long taken, unsigned long times);
unsigned long depot_wants(unsigned long took, unsigned long held);

#endif /* LIVEMM_POLICY_ZONELOCK_CORE_H */
