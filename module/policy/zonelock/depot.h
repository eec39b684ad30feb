/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * depot.h - the depot: batches of free pages between the per-CPU lists and the
 * buddy
 *
 * A CPU that only frees fills its list and gives the excess to the buddy, page by page
 * under zone->lock.  A CPU that only allocates empties its list and gets more from the buddy, page
 * by page under zone->lock.  No size of list helps such CPUs.  A drained batch is therefore put
 * into a depot as the batch is, a chain of pages.  An empty list is filled with a chain, without
 * zone->lock and without looking at any page between the ends.
 *
 * The idea of handing over many pages without touching each is that of "Eliminate
 * zone->lock contention" (RFC v4, 2018, 20181017063330.15384-1-aaron.lu@intel.com),
 * which kept them in the buddy, unmerged.
 *
 * Nothing here knows pages: a chain is of list_heads.  The same source is part of
 * livemm.ko, of its KUnit suite, and of a program that runs under ThreadSanitizer.
 */
#ifndef LIVEMM_POLICY_ZONELOCK_DEPOT_H
#define LIVEMM_POLICY_ZONELOCK_DEPOT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/*
 * Kinds of blocks: by order, 0 to PAGE_ALLOC_COSTLY_ORDER, and by migratetype, as per-CPU
 * lists keep them apart and number them (NR_LOWORDER_PCP_LISTS).
 */
#define DEPOT_KINDS	12

/* Batches that a shard has room for, of each kind. */
#define DEPOT_BATCHES	64

/*
 * Pages in a batch, at most: eight of the kernel's own batches, a quarter of what it drains
 * under one hold of zone->lock at most (63 << CONFIG_PCP_BATCH_SCALE_MAX; 52166607ecc9,
 * 6.7).  The more go at a time, the longer who takes has to wait for who stores.
 */
#define DEPOT_BATCH_MAX	504

/*
 * Batches are joined up to so many pages, about what the kernel's own refill gets: in a
 * burst it drains larger blocks one by one, and those would fill a ring.
 */
#define DEPOT_JOIN_MAX	64

/* CPUs, by number, that share a shard: those of one last-level cache, or part of them. */
#define DEPOT_SHARD_CPUS	8

/**
 * struct depot_batch - pages that change hands together
 * @pages: the chain, of blocks
 * @count: pages in it; 0 where there is none
 * @born: time at which the first of them was stored, in jiffies
 */
struct depot_batch {
	struct list_head pages;
	unsigned int count;
	unsigned long born;
};

/**
 * struct depot_ring - batches of one kind, in the order they were stored in
 * @oldest: index of the oldest in @batch
 * @nr: how many
 * @batch: the rest hold nothing
 */
struct depot_ring {
	unsigned int oldest;
	unsigned int nr;
	struct depot_batch batch[DEPOT_BATCHES];
};

/**
 * struct depot_shard - what a few CPUs share
 * @lock: held for a few instructions; whoever cannot have it at once goes elsewhere,
 *	but for who gives back.  Taken under pcp->lock; nothing is taken under it.
 * @ring: [kind]
 */
struct depot_shard {
	spinlock_t lock;	/* its rings */
	struct depot_ring ring[DEPOT_KINDS];
} ____cacheline_aligned_in_smp;

/**
 * struct depot - the depot of one zone
 * @pages: that are in it; they count as not free, as those in per-CPU lists do
 * @batches: that they are in
 * @nr_shards: entries in @shards
 * @shards: by groups of CPUs
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

#endif /* LIVEMM_POLICY_ZONELOCK_DEPOT_H */
