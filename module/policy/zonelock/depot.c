// SPDX-License-Identifier: GPL-2.0-only
/*
 * depot.c - the depot; see depot.h
 *
 * Storing and taking happen under a pcp->lock and may interrupt a CPU that holds a shard's lock.
 * They must not wait and therefore only try the lock.  Giving back runs in process context and may
 * wait for the few instructions that the lock is held.
 *
 * Each of them reads one word of a shard without the lock first, so that a shard without pages, or
 * without room, costs one load.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "depot.h"

/**
 * depot_batches_for() - how many batches have room for a number of pages?
 * @pages: the most that the depot may hold
 * @nr_shards: shards of the depot
 *
 * Of two batches that follow each other in a ring, one cannot be joined to the other: together
 * they have more than DEPOT_BATCH_MAX pages.  A ring with n batches thus has more than
 * n / 2 * DEPOT_BATCH_MAX pages, rounded down, and a depot that has used up all batches holds more
 * than @pages.
 *
 * Context: any.
 * Return: number of batches, a multiple of @nr_shards.
 */
unsigned long depot_batches_for(unsigned long pages, unsigned int nr_shards)
{
	unsigned long shared = pages / DEPOT_BATCH_MAX * 2 + 2;

	return (shared / nr_shards + 1 + DEPOT_KINDS) * nr_shards;
}

/**
 * depot_init() - make an empty depot without batches
 * @depot: the depot
 * @shards: zeroed memory for @nr shards
 * @nr: number of shards, at least 1
 * @shard_of: for each CPU that will use the depot, the number of a shard
 *
 * Context: any.
 */
void depot_init(struct depot *depot, struct depot_shard *shards, unsigned int nr,
		const u16 *shard_of)
{
	struct depot_shard *shard;
	unsigned int kind;

	atomic_long_set(&depot->pages, 0);
	atomic_long_set(&depot->taken, 0);
	depot->nr_batches = 0;
	depot->nr_shards = nr;
	depot->shard_of = shard_of;
	depot->shards = shards;
	for (shard = shards; shard < shards + nr; shard++) {
		spin_lock_init(&shard->lock);
		INIT_LIST_HEAD(&shard->spare);
		for (kind = 0; kind < DEPOT_KINDS; kind++)
			INIT_LIST_HEAD(&shard->ring[kind]);
	}
}

/**
 * depot_supply() - give more batches to a depot, as many to each shard
 * @depot: the depot
 * @batches: zeroed memory for @nr batches, which lives as long as the depot
 * @nr: number of batches
 *
 * Context: any that cannot have interrupted a holder of a shard's lock; one caller at a time.
 */
void depot_supply(struct depot *depot, struct depot_batch *batches, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++) {
		struct depot_shard *shard = &depot->shards[i % depot->nr_shards];

		INIT_LIST_HEAD(&batches[i].pages);
		spin_lock(&shard->lock);
		list_add_tail(&batches[i].link, &shard->spare);
		WRITE_ONCE(shard->nr_spare, shard->nr_spare + 1);
		spin_unlock(&shard->lock);
	}
	depot->nr_batches += nr;
}

/*
 * Shards from near to far: number @step of them, from the shard of a CPU on.  Numbers that differ
 * in the lowest bits only belong to neighbours (shards.h).  NULL where there is no such shard.
 */
static struct depot_shard *shard_at(const struct depot *depot, unsigned int cpu, unsigned int step)
{
	unsigned int shard = depot->shard_of[cpu] ^ step;

	return shard < depot->nr_shards ? &depot->shards[shard] : NULL;
}

/* Note whether a ring has a batch.  Under the shard's lock. */
static void ring_note(struct depot_shard *shard, unsigned int kind, bool stocked)
{
	WRITE_ONCE(shard->kinds, stocked ? shard->kinds | BIT(kind) : shard->kinds & ~BIT(kind));
}

/* Steps of shard_at() that reach every shard. */
static unsigned int shard_steps(const struct depot *depot)
{
	return 1U << fls(depot->nr_shards - 1);
}

/* Take the newest or oldest batch out of its ring; it becomes spare.  Under the shard's lock. */
static unsigned int batch_empty(struct depot_shard *shard, unsigned int kind,
				struct depot_batch *batch, struct list_head *to)
{
	unsigned int count = batch->count;

	list_splice_tail_init(&batch->pages, to);
	batch->count = 0;
	list_move(&batch->link, &shard->spare);
	WRITE_ONCE(shard->nr, shard->nr - 1);
	WRITE_ONCE(shard->nr_spare, shard->nr_spare + 1);
	if (list_empty(&shard->ring[kind]))
		ring_note(shard, kind, false);
	return count;
}

/*
 * The batch that @count pages go into: the newest one of the ring if both fit into one batch, else
 * a spare one, or NULL if there is none.  Joined pages keep the age of the older.  Under the
 * shard's lock.
 */
static struct depot_batch *batch_for(struct depot_shard *shard, unsigned int kind,
				     unsigned int count, unsigned long now)
{
	struct list_head *ring = &shard->ring[kind];
	struct depot_batch *batch;

	if (!list_empty(ring)) {
		batch = list_last_entry(ring, struct depot_batch, link);
		if (batch->count + count <= DEPOT_BATCH_MAX)
			return batch;
	}
	if (list_empty(&shard->spare))
		return NULL;
	batch = list_first_entry(&shard->spare, struct depot_batch, link);
	batch->born = now;
	if (list_empty(ring))
		ring_note(shard, kind, true);
	list_move_tail(&batch->link, ring);
	WRITE_ONCE(shard->nr, shard->nr + 1);
	WRITE_ONCE(shard->nr_spare, shard->nr_spare - 1);
	return batch;
}

/**
 * depot_has_room() - is there a spare batch?
 * @depot: the depot
 * @cpu: CPU that wants to store
 *
 * Context: any.
 * Return: true if so; another CPU may be faster.
 */
bool depot_has_room(const struct depot *depot, unsigned int cpu)
{
	unsigned int step;

	for (step = 0; step < shard_steps(depot); step++) {
		const struct depot_shard *shard = shard_at(depot, cpu, step);

		if (shard && READ_ONCE(shard->nr_spare))
			return true;
	}
	return false;
}

static bool shard_put(struct depot *depot, struct depot_shard *shard, unsigned int kind,
		      struct list_head *pages, unsigned int count, unsigned long now)
{
	struct depot_batch *batch;

	if (!READ_ONCE(shard->nr_spare) && !(READ_ONCE(shard->kinds) & BIT(kind)))
		return false;
	if (!spin_trylock(&shard->lock))
		return false;
	batch = batch_for(shard, kind, count, now);
	if (batch) {
		list_splice_tail_init(pages, &batch->pages);
		/* Before another CPU can take the batch, so that the sum is never too small. */
		atomic_long_add(count, &depot->pages);
		batch->count += count;
	}
	spin_unlock(&shard->lock);
	return batch;
}

/**
 * depot_put() - store a batch; it is joined to the newest one if the two make one batch
 * @depot: depot of the pages' zone
 * @cpu: CPU that stores the batch
 * @kind: kind of the blocks
 * @pages: the chain; empty afterwards if it was stored
 * @count: pages in the chain, at most DEPOT_BATCH_MAX
 * @now: time in jiffies
 *
 * Context: any; does not wait.
 * Return: false if there is no room, or if other CPUs hold the locks of the shards that have room.
 */
bool depot_put(struct depot *depot, unsigned int cpu, unsigned int kind,
	       struct list_head *pages, unsigned int count, unsigned long now)
{
	unsigned int step;

	for (step = 0; step < shard_steps(depot); step++) {
		struct depot_shard *shard = shard_at(depot, cpu, step);

		if (shard && shard_put(depot, shard, kind, pages, count, now))
			return true;
	}
	return false;
}

static unsigned int shard_get(struct depot_shard *shard, unsigned int kind, struct list_head *to)
{
	struct list_head *ring = &shard->ring[kind];
	unsigned int count = 0;

	if (!(READ_ONCE(shard->kinds) & BIT(kind)) || !spin_trylock(&shard->lock))
		return 0;
	if (!list_empty(ring))
		count = batch_empty(shard, kind, list_last_entry(ring, struct depot_batch, link),
				    to);
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
	unsigned int count = 0;
	unsigned int step;

	for (step = 0; step < shard_steps(depot) && !count; step++) {
		struct depot_shard *shard = shard_at(depot, cpu, step);

		if (shard)
			count = shard_get(shard, kind, to);
	}
	if (count) {
		atomic_long_add(-(long)count, &depot->pages);
		atomic_long_add(count, &depot->taken);
	}
	return count;
}

/* The oldest batch of any ring that was stored at @before or earlier.  Under the shard's lock. */
static unsigned int shard_return(struct depot_shard *shard, unsigned long before,
				 unsigned int *kind, struct list_head *to)
{
	unsigned int kinds;

	for (kinds = shard->kinds; kinds; kinds &= kinds - 1) {
		struct depot_batch *batch;

		*kind = __ffs(kinds);
		batch = list_first_entry(&shard->ring[*kind], struct depot_batch, link);
		if (time_before_eq(batch->born, before))
			return batch_empty(shard, *kind, batch, to);
	}
	return 0;
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
	struct depot_shard *shard = depot->shards;
	unsigned int count = 0;

	for (; shard < depot->shards + depot->nr_shards && !count; shard++) {
		if (!READ_ONCE(shard->kinds))
			continue;
		spin_lock(&shard->lock);
		count = shard_return(shard, before, kind, to);
		spin_unlock(&shard->lock);
	}
	if (count)
		atomic_long_add(-(long)count, &depot->pages);
	return count;
}

static unsigned int shard_try_return(struct depot_shard *shard, unsigned int *kind,
				     struct list_head *to)
{
	struct depot_batch *batch;
	unsigned int count = 0;

	if (!spin_trylock(&shard->lock))
		return 0;
	if (shard->kinds) {
		*kind = __ffs(shard->kinds);
		batch = list_first_entry(&shard->ring[*kind], struct depot_batch, link);
		count = batch_empty(shard, *kind, batch, to);
	}
	spin_unlock(&shard->lock);
	return count;
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

	for (; shard < depot->shards + depot->nr_shards && !count; shard++)
		if (READ_ONCE(shard->kinds))
			count = shard_try_return(shard, kind, to);
	if (count)
		atomic_long_add(-(long)count, &depot->pages);
	return count;
}

/**
 * depot_batches() - number of batches in a depot, for people
 * @depot: the depot
 *
 * Context: any.
 * Return: the number; that of a moment ago where CPUs store or take.
 */
unsigned int depot_batches(const struct depot *depot)
{
	const struct depot_shard *shard = depot->shards;
	unsigned int nr = 0;

	for (; shard < depot->shards + depot->nr_shards; shard++)
		nr += READ_ONCE(shard->nr);
	return nr;
}
