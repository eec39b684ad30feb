// SPDX-License-Identifier: GPL-2.0-only
/*
 * depot.c - the depot; see depot.h
 *
 * Storing and taking happen under a pcp->lock and may interrupt a CPU that holds a shard's lock.
 * They must not wait and therefore only try the lock.  Giving back runs in process context and may
 * wait for the few instructions that the lock is held.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "depot.h"

/**
 * depot_init() - make an empty depot
 * @depot: the depot
 * @shards: zeroed memory for @nr shards
 * @nr: number of shards, at least 1
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
 * The slot that a batch of @count pages goes into: the newest one if the two batches together are
 * small, else a new one, or NULL if the ring is full.  Joined batches keep the age of the older.
 * The caller holds the shard's lock.
 */
static struct depot_batch *ring_slot(struct depot_ring *ring, unsigned int count, unsigned long now)
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

/* Empty a slot.  The caller holds the shard's lock and takes the slot out of the ring. */
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
 * depot_put() - store a batch; a small one is joined to the newest one if that is small too
 * @depot: depot of the pages' zone
 * @cpu: CPU that stores the batch
 * @kind: kind of the blocks
 * @pages: the chain; empty afterwards if it was stored
 * @count: pages in the chain
 * @now: time in jiffies
 *
 * Context: any; does not wait.
 * Return: false if there is no room, or if another CPU holds the shard's lock.
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
		/* Before another CPU can take the batch, so that no sum is ever too small. */
		depot_account(depot, count, !batch->count);
		batch->count += count;
	}
	spin_unlock(&shard->lock);
	return batch;
}

static unsigned int shard_take(struct depot_shard *shard, unsigned int kind, struct list_head *to)
{
	struct depot_ring *ring = &shard->ring[kind];
	unsigned int count = 0;

	/* Look without the lock first: most shards of other CPUs are empty. */
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
 * depot_get() - take the newest batch of the nearest shard that has one
 * @depot: depot of the zone
 * @cpu: CPU that takes the batch
 * @kind: kind of blocks
 * @to: list to whose end the chain is added
 *
 * Context: any; does not wait.
 * Return: pages in the batch, 0 if none can be had without waiting.
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

/* Take out the oldest batch of a ring.  The caller holds the shard's lock. */
static unsigned int ring_return(struct depot_ring *ring, struct list_head *to)
{
	unsigned int count = batch_take(&ring->batch[ring->oldest], to);

	ring->oldest = (ring->oldest + 1) % DEPOT_BATCHES;
	WRITE_ONCE(ring->nr, ring->nr - 1);
	return count;
}

static unsigned int shard_return(struct depot_shard *shard, unsigned int kind,
				 unsigned long before, struct list_head *to)
{
	struct depot_ring *ring = &shard->ring[kind];
	unsigned int count = 0;

	spin_lock(&shard->lock);
	if (ring->nr && time_before_eq(ring->batch[ring->oldest].born, before))
		count = ring_return(ring, to);
	spin_unlock(&shard->lock);
	return count;
}

/**
 * depot_return() - take a batch out to give it back, the oldest of a ring first
 * @depot: depot of the zone
 * @before: take only a batch that was stored at this time, in jiffies, or earlier
 * @kind: receives the kind of the blocks
 * @to: list to whose end the chain is added
 *
 * Context: any that cannot have interrupted a holder of a shard's lock.
 * Return: pages in the batch, 0 if none is old enough.
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

/**
 * depot_try_return() - take a batch out to give it back, without waiting
 * @depot: depot of the zone
 * @kind: receives the kind of the blocks
 * @to: list to whose end the chain is added
 *
 * Context: any.
 * Return: pages in the batch, 0 if none can be had without waiting.
 */
unsigned int depot_try_return(struct depot *depot, unsigned int *kind, struct list_head *to)
{
	struct depot_shard *shard = depot->shards;
	unsigned int count = 0;

	for (; shard < depot->shards + depot->nr_shards && !count; shard++) {
		for (*kind = 0; *kind < DEPOT_KINDS && !READ_ONCE(shard->ring[*kind].nr);)
			++*kind;
		if (*kind == DEPOT_KINDS || !spin_trylock(&shard->lock))
			continue;
		if (shard->ring[*kind].nr)
			count = ring_return(&shard->ring[*kind], to);
		spin_unlock(&shard->lock);
	}
	if (count)
		depot_account(depot, -(long)count, -1);
	return count;
}
