/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shards.h - which CPUs share a shard of a depot
 */
#ifndef LIVEMM_POLICY_ZONELOCK_SHARDS_H
#define LIVEMM_POLICY_ZONELOCK_SHARDS_H

#include <linux/types.h>

/*
 * Most CPUs that share a shard.  A lock is held for some ten instructions for every few hundred
 * pages; eight CPUs rarely meet.  Desktop and server caches of AMD (L3 complexes) have eight cores.
 */
#define SHARD_CPUS	8

/**
 * struct shard_topology - what is known about CPUs
 * @node_of: NUMA node of a CPU
 * @share_cache: do two CPUs share their last-level cache?
 */
struct shard_topology {
	int (*node_of)(unsigned int cpu);
	bool (*share_cache)(unsigned int a, unsigned int b);
};

unsigned int shards_assign(const struct shard_topology *topology, unsigned int nr_cpus,
			   u16 *shard_of);

#endif /* LIVEMM_POLICY_ZONELOCK_SHARDS_H */
