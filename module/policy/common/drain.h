/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain.h - how many pages of a per-CPU list a free drains
 */
#ifndef LIVEMM_POLICY_COMMON_DRAIN_H
#define LIVEMM_POLICY_COMMON_DRAIN_H

#include <linux/minmax.h>
#include <linux/types.h>

/*
 * Most batches of a list that go back under one hold of zone->lock, as when the kernel drains a
 * list (1 << CONFIG_PCP_BATCH_SCALE_MAX; 52166607ecc9, 6.7).
 */
#define LMM_DRAIN_BATCHES	32

/**
 * lmm_drain_limit() - pages to drain after a block of order 1 or more was freed
 * @count: pages that the kernel wants to drain
 * @have: pages in the list
 * @batch: the list's batch, in pages
 *
 * Context: any; pure.
 * Return: @count, but at most @batch where @count would empty the list.
 */
static inline int lmm_drain_limit(int count, int have, int batch)
{
	return count >= have ? min(count, batch) : count;
}

/**
 * lmm_drain_hold() - pages to drain under one hold of zone->lock
 * @count: pages that the kernel wants to drain
 * @def: the kernel's own bound of the list, in pages
 * @batch: the list's batch, in pages
 *
 * The kernel empties a list under one hold in the belief that the list is as small as its own
 * bound.  A list that was raised has many times as many pages.
 *
 * Context: any; pure.
 * Return: @count, but no more than the list has by its own bound, or LMM_DRAIN_BATCHES batches.
 */
static inline int lmm_drain_hold(int count, int def, int batch)
{
	return min(count, max(def, batch * LMM_DRAIN_BATCHES));
}

/**
 * lmm_give_batches() - batches that a list gives back under one hold of zone->lock
 * @in_parts: the kernel drains a full list in parts of a batch (LMM_DRAINS_IN_PARTS)
 *
 * Where the kernel drains in parts, its longest hold is a refill of LMM_DRAIN_BATCHES batches,
 * which takes three quarters of the instructions that as many pages take to go back.
 *
 * Context: any; pure.
 * Return: number of batches.
 */
static inline int lmm_give_batches(bool in_parts)
{
	return in_parts ? LMM_DRAIN_BATCHES / 2 : LMM_DRAIN_BATCHES;
}

#endif /* LIVEMM_POLICY_COMMON_DRAIN_H */
