// SPDX-License-Identifier: GPL-2.0-only
/*
 * shards.c - which CPUs share a shard of a depot; see shards.h
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#include <linux/limits.h>

#include "shards.h"

/* A CPU that has no shard yet. */
#define NO_SHARD	U16_MAX

/* Do two CPUs belong to the same node, and to the same cache? */
static bool joins(const struct shard_topology *t, unsigned int first, unsigned int cpu,
		  bool by_cache)
{
	if (t->node_of(first) != t->node_of(cpu))
		return false;
	return !by_cache || t->share_cache(first, cpu);
}

/*
 * Give shards, from number @nr on, to @first and to the CPUs behind it that belong to the same
 * cache, or else to the same node.  Returns the number behind the last.
 */
static unsigned int group_assign(const struct shard_topology *t, unsigned int nr_cpus,
				 u16 *shard_of, unsigned int first, unsigned int nr, bool by_cache)
{
	unsigned int cpu, members = 0;

	for (cpu = first; cpu < nr_cpus; cpu++)
		if (shard_of[cpu] == NO_SHARD && joins(t, first, cpu, by_cache))
			shard_of[cpu] = nr + members++ / SHARD_CPUS;
	return nr + (members + SHARD_CPUS - 1) / SHARD_CPUS;
}

/* Does any other CPU of the node share the cache of @cpu? */
static bool has_mate(const struct shard_topology *t, unsigned int nr_cpus, unsigned int cpu)
{
	unsigned int other;

	for (other = 0; other < nr_cpus; other++)
		if (other != cpu && joins(t, cpu, other, true))
			return true;
	return false;
}

/* Give shards to the CPUs of a node, from number @nr on; returns the number behind the last. */
static unsigned int node_assign(const struct shard_topology *t, unsigned int nr_cpus, u16 *shard_of,
				unsigned int first, unsigned int nr)
{
	unsigned int cpu;
	int by_cache;

	for (by_cache = 1; by_cache >= 0; by_cache--)
		for (cpu = first; cpu < nr_cpus; cpu++)
			if (shard_of[cpu] == NO_SHARD && joins(t, first, cpu, false) &&
			    (!by_cache || has_mate(t, nr_cpus, cpu)))
				nr = group_assign(t, nr_cpus, shard_of, cpu, nr, by_cache);
	return nr;
}

/**
 * shards_assign() - give each CPU a shard
 * @topology: what is known about CPUs
 * @nr_cpus: number of CPUs, at most U16_MAX
 * @shard_of: receives the number of the shard of each CPU
 *
 * Shards of a cache have consecutive numbers, and so have those of a node.  A CPU that shares its
 * cache with no other CPU (of a virtual machine, isolated, or offline) shares a shard with others
 * of the kind on its node.
 *
 * Return: number of shards.
 */
unsigned int shards_assign(const struct shard_topology *topology, unsigned int nr_cpus,
			   u16 *shard_of)
{
	unsigned int cpu, nr = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		shard_of[cpu] = NO_SHARD;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (shard_of[cpu] == NO_SHARD)
			nr = node_assign(topology, nr_cpus, shard_of, cpu, nr);
	return nr;
}
