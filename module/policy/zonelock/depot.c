// SPDX-License-Identifier: GPL-2.0-only
/*
 * depot.c - the depot, see depot.h
 *
 * Who stores and who takes is under a pcp->lock, may have interrupted a CPU that holds a
 * shard's lock, and must not wait: it tries each lock once.  Who gives back runs in a
 * process and may wait for those few instructions.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "depot.h"

/**
 * depot_init() - an empty depot
 * @depot: what to make empty
 * @shards: zeroed memory for @nr of them
 * @nr: at least 1
 *
 * Context: any.
 */
void depot_init(struct depot *depot, struct depot_shard *shards, unsigned int nr)
{
	unsigned int shard, kind, i;

	atomic_long_set(&depot->pages, 0);
	atomic_set(&depot->batches, 0);
	depot->nr_shards = nr;
	depot->shards = shards;
	for (shard = 0; shard < nr; shard++) {
		spin_lock_init(&shards[shard].lock);
		for (kind = 0; kind < DEPOT_KINDS; kind++)
			for (i = 0; i < DEPOT_BATCHES; i++)
				INIT_LIST_HEAD(&shards[shard].ring[kind].batch[i].pages);
	}
}

static struct depot_shard *shard_of(struct depot *depot, unsigned int cpu)
{
	return &depot->shards[cpu / DEPOT_SHARD_CPUS % depot->nr_shards];
}

/*
 * Where a batch goes: to the newest one, if the two together are small, or into a slot of
 * its own, or with NULL nowhere; the shard is locked.  What is joined is as old as the
 * older part.
 */
static struct depot_batch *ring_slot(struct depot_ring *ring, unsigned int count,
				     unsigned long now)
{
	struct depot_batch *batch;

	if (ring->nr) {
		batch = &ring->batch[(ring->oldest + ring->nr - 1) % DEPOT_BATCHES];
		if (batch->count + count <= DEPOT_JOIN_MAX)
			return batch;
	}
	if (ring->nr == DEPOT_BATCHES)
		return NULL;
	batch = &ring->batch[(ring->oldest + ring->nr) % DEPOT_BATCHES];
	batch->born = now;
	WRITE_ONCE(ring->nr, ring->nr + 1);
	return batch;
}

/* Empty a slot, which the caller takes out of its ring; the shard is locked. */
static unsigned int batch_take(struct depot_batch *batch, struct list_head *to)
{
	unsigned int count = batch->count;

	list_splice_tail_init(&batch->pages, to);
	batch->count = 0;
	return count;
}

static void depot_account(struct depot *depot, long pages, int batches)
{
	atomic_long_add(pages, &depot->pages);
	atomic_add(batches, &depot->batches);
}

/**
 * depot_put() - store a batch, behind what is in the newest one if both are small
 * @depot: of its zone
 * @cpu: who stores it
 * @kind: of its blocks
 * @pages: the chain; empty afterwards if it was stored
 * @count: pages in it
 * @now: time in jiffies
 *
 * Context: any; does not wait.
 * Return: false if there is no room, or another CPU is at work in there just now.
 */
bool depot_put(struct depot *depot, unsigned int cpu, unsigned int kind,
	       struct list_head *pages, unsigned int count, unsigned long now)
{
	struct depot_shard *shard = shard_of(depot, cpu);
	struct depot_ring *ring = &shard->ring[kind];
	struct depot_batch *batch;

	if (!spin_trylock(&shard->lock))
		return false;
	batch = ring_slot(ring, count, now);
	if (batch) {
		list_splice_tail_init(pages, &batch->pages);
		/* Before anybody can take it, so that no sum is ever too small. */
		depot_account(depot, count, !batch->count);
		batch->count += count;
	}
	spin_unlock(&shard->lock);
	return batch;
}

static unsigned int shard_take(struct depot_shard *shard, unsigned int kind,
			       struct list_head *to)
{
	struct depot_ring *ring = &shard->ring[kind];
	unsigned int count = 0;

	/* A look from outside first: most shards that are not ours are empty. */
	if (!READ_ONCE(ring->nr) || !spin_trylock(&shard->lock))
		return 0;
	if (ring->nr) {
		WRITE_ONCE(ring->nr, ring->nr - 1);
		count = batch_take(&ring->batch[(ring->oldest + ring->nr) % DEPOT_BATCHES], to);
	}
	spin_unlock(&shard->lock);
	return count;
}

/**
 * depot_get() - take the newest batch there is, from as near as there is one
 * @depot: of the zone
 * @cpu: who takes it
 * @kind: of blocks
 * @to: gets the chain, behind what it has
 *
 * Context: any; does not wait.
 * Return: pages in it, 0 if there is none that can be had at once.
 */
unsigned int depot_get(struct depot *depot, unsigned int cpu, unsigned int kind,
		       struct list_head *to)
{
	unsigned int first = cpu / DEPOT_SHARD_CPUS % depot->nr_shards;
	unsigned int count = 0;
	unsigned int i;

	for (i = 0; i < depot->nr_shards && !count; i++)
		count = shard_take(&depot->shards[(first + i) % depot->nr_shards], kind, to);
	if (count)
		depot_account(depot, -(long)count, -1);
	return count;
}

static unsigned int shard_return(struct depot_shard *shard, unsigned int kind,
				 unsigned long before, struct list_head *to)
{
	struct depot_ring *ring = &shard->ring[kind];
	unsigned int count = 0;

	spin_lock(&shard->lock);
	if (ring->nr && time_before_eq(ring->batch[ring->oldest].born, before)) {
		count = batch_take(&ring->batch[ring->oldest], to);
		ring->oldest = (ring->oldest + 1) % DEPOT_BATCHES;
		WRITE_ONCE(ring->nr, ring->nr - 1);
	}
	spin_unlock(&shard->lock);
	return count;
}

/**
 * depot_return() - take a batch out to give it back, each ring's oldest first
 * @depot: of the zone
 * @before: only if it was stored then, in jiffies, or earlier
 * @kind: gets the kind of its blocks
 * @to: gets the chain, behind what it has
 *
 * Context: any that no holder of a shard's lock can have been interrupted by.
 * Return: pages in it, 0 if there is none that old.
 */
unsigned int depot_return(struct depot *depot, unsigned long before, unsigned int *kind,
			  struct list_head *to)
{
	unsigned int shard, count;

	for (shard = 0; shard < depot->nr_shards; shard++) {
		for (*kind = 0; *kind < DEPOT_KINDS; ++*kind) {
			if (!READ_ONCE(depot->shards[shard].ring[*kind].nr))
				continue;
			count = shard_return(&depot->shards[shard], *kind, before, to);
			if (count) {
				depot_account(depot, -(long)count, -1);
				return count;
			}
		}
	}
	return 0;
}
