/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * depot.h - the depot: batches of free pages between the per-CPU lists and the buddy
 *
 * A CPU that only frees fills its list and gives the excess to the buddy, page by page under
 * zone->lock.  A CPU that only allocates empties its list and refills it, also page by page under
 * zone->lock.  No list size helps such CPUs.  The depot therefore stores a drained batch as a chain
 * of pages, and fills an empty list with a chain.  Both work without zone->lock and touch only the
 * ends of the chain.
 *
 * The idea of handing over many pages without touching each comes from "Eliminate zone->lock
 * contention" (RFC v4, 2018, 20181017063330.15384-1-aaron.lu@intel.com), which kept the pages in
 * the buddy, unmerged.
 *
 * The depot knows list_heads, not pages.  The same source is part of livemm.ko, of its KUnit suite,
 * and of a program that runs under ThreadSanitizer.
 */
#ifndef LIVEMM_POLICY_ZONELOCK_DEPOT_H
#define LIVEMM_POLICY_ZONELOCK_DEPOT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* Kinds of blocks: orders 0 to PAGE_ALLOC_COSTLY_ORDER by migratetype (NR_LOWORDER_PCP_LISTS). */
#define DEPOT_KINDS	12

/* Batches of each kind that a shard has room for. */
#define DEPOT_BATCHES	64

/*
 * Most pages in a batch: eight of the kernel's batches, a quarter of the most that the kernel
 * drains under one hold of zone->lock (63 << CONFIG_PCP_BATCH_SCALE_MAX; 52166607ecc9, 6.7).  With
 * larger batches a CPU that takes pages waits longer for a CPU that stores them.
 */
#define DEPOT_BATCH_MAX	504

/* Join batches up to about one refill: bursts drain larger blocks singly and would fill a ring. */
#define DEPOT_JOIN_MAX	64

/* CPUs with neighbouring numbers that share a shard: all or part of a last-level cache. */
#define DEPOT_SHARD_CPUS	8

/**
 * struct depot_batch - pages that change hands together
 * @pages: chain of blocks
 * @count: pages in the chain; 0 in an empty slot
 * @born: time in jiffies at which the first pages were stored
 */
struct depot_batch {
	struct list_head pages;
	unsigned int count;
	unsigned long born;
};

/**
 * struct depot_ring - batches of one kind, in the order in which they were stored
 * @oldest: index of the oldest batch in @batch
 * @nr: number of batches
 * @batch: slots; @nr of them from @oldest on are in use, the ring wraps
 */
struct depot_ring {
	unsigned int oldest;
	unsigned int nr;
	struct depot_batch batch[DEPOT_BATCHES];
};

/**
 * struct depot_shard - the part of a depot that a few CPUs share
 * @lock: held for a few instructions.  A CPU that stores or takes only tries it; one that gives
 *	back waits.  Taken under pcp->lock; nothing is taken under it.
 * @ring: one ring for each kind
 */
struct depot_shard {
	spinlock_t lock;	/* its rings */
	struct depot_ring ring[DEPOT_KINDS];
} ____cacheline_aligned_in_smp;

/**
 * struct depot - the depot of one zone
 * @pages: pages in the depot; like those in per-CPU lists they do not count as free
 * @batches: batches in the depot
 * @nr_shards: entries in @shards
 * @shards: one shard for each group of CPUs
 *
 * @pages and @batches may be too large for a moment, never too small.
 */
struct depot {
	atomic_long_t pages;
	atomic_t batches;
	unsigned int nr_shards;
	struct depot_shard *shards;
};

void depot_init(struct depot *depot, struct depot_shard *shards, unsigned int nr);
bool depot_put(struct depot *depot, unsigned int cpu, unsigned int kind,
	       struct list_head *pages, unsigned int count, unsigned long now);
unsigned int depot_get(struct depot *depot, unsigned int cpu, unsigned int kind,
		       struct list_head *to);
unsigned int depot_return(struct depot *depot, unsigned long before, unsigned int *kind,
			  struct list_head *to);
unsigned int depot_try_return(struct depot *depot, unsigned int *kind, struct list_head *to);

/* May the depot hold pages? */
static inline bool depot_stocked(const struct depot *depot)
{
	return atomic_read(&depot->batches);
}

#endif /* LIVEMM_POLICY_ZONELOCK_DEPOT_H */
