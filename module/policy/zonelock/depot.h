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
 * A depot has shards, each with a lock of its own, for CPUs that share a last-level cache
 * (shards.h).  A batch goes to the shard of the CPU that stores, or to another shard where that one
 * is full or locked.  A CPU takes from its own shard first, from others next.
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

/*
 * Most pages in a batch: eight of the kernel's batches, a quarter of the most that the kernel
 * drains under one hold of zone->lock (63 << CONFIG_PCP_BATCH_SCALE_MAX; 52166607ecc9, 6.7).  With
 * larger batches a CPU that takes pages waits longer for a CPU that stores them.
 */
#define DEPOT_BATCH_MAX	504

/**
 * struct depot_batch - pages that change hands together
 * @link: in a ring, or among the spare batches of a shard
 * @pages: chain of blocks
 * @count: pages in the chain; 0 in a spare batch
 * @born: time in jiffies at which the first pages were stored
 */
struct depot_batch {
	struct list_head link;
	struct list_head pages;
	unsigned int count;
	unsigned long born;
};

/**
 * struct depot_shard - the part of a depot that a few CPUs share
 * @lock: held for a few instructions.  A CPU that stores or takes only tries it; one that gives
 *	back waits.  Taken under pcp->lock; nothing is taken under it.
 * @kinds: BIT(kind) of each ring that has a batch
 * @nr: batches in the rings
 * @nr_spare: batches in @spare
 * @spare: batches without pages
 * @ring: by kind, batches in the order in which they were stored
 *
 * The rings that are used most, of single pages, share a cache line with the lock.
 */
struct depot_shard {
	spinlock_t lock;	/* its rings */
	unsigned int kinds;
	unsigned int nr;
	unsigned int nr_spare;
	struct list_head spare;
	struct list_head ring[DEPOT_KINDS];
} ____cacheline_aligned_in_smp;

/**
 * struct depot - the depot of one zone
 * @shards: one for each group of CPUs
 * @nr_shards: entries in @shards
 * @nr_batches: batches that the depot was given, spare or not
 * @shard_of: number of the shard of each CPU
 * @pages: pages in the depot; like those in per-CPU lists they do not count as free
 * @taken: pages that CPUs took; the owner may reset the sum
 *
 * @pages may be too large for a moment, never too small.  What is only read lies on another cache
 * line than the rest, which CPUs that store and take write.
 */
struct depot {
	struct depot_shard *shards;
	unsigned int nr_shards;
	unsigned long nr_batches;
	const u16 *shard_of;
	atomic_long_t pages ____cacheline_aligned_in_smp;
	atomic_long_t taken;
};

/**
 * depot_stocked() - may the depot hold pages?
 * @depot: the depot
 *
 * Context: any.
 * Return: false if the depot holds none.
 */
static inline bool depot_stocked(const struct depot *depot)
{
	return atomic_long_read(&depot->pages);
}

unsigned long depot_batches_for(unsigned long pages, unsigned int nr_shards);
void depot_init(struct depot *depot, struct depot_shard *shards, unsigned int nr,
		const u16 *shard_of);
void depot_supply(struct depot *depot, struct depot_batch *batches, unsigned long nr);
bool depot_has_room(const struct depot *depot, unsigned int cpu);
bool depot_put(struct depot *depot, unsigned int cpu, unsigned int kind,
	       struct list_head *pages, unsigned int count, unsigned long now);
unsigned int depot_get(struct depot *depot, unsigned int cpu, unsigned int kind,
		       struct list_head *to);
unsigned int depot_return(struct depot *depot, unsigned long before, unsigned int *kind,
			  struct list_head *to);
unsigned int depot_try_return(struct depot *depot, unsigned int *kind, struct list_head *to);
unsigned int depot_batches(const struct depot *depot);

#endif /* LIVEMM_POLICY_ZONELOCK_DEPOT_H */
