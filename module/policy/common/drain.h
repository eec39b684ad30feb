/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain.h - how much of a per-CPU list a free drains
 */
#ifndef LIVEMM_POLICY_COMMON_DRAIN_H
#define LIVEMM_POLICY_COMMON_DRAIN_H

#include <linux/minmax.h>

/**
 * lmm_drain_limit() - how much of a list to drain for a block of order 1 or more
 * @count: pages that the kernel wants to drain
 * @have: pages in the list
 * @batch: the list's batch, in pages
 *
 * Context: any; pure.
 * Return: a batch where the block would empty a list of more than that, else @count.
 */
static inline int lmm_drain_limit(int count, int have, int batch)
{
	return count >= have ? min(count, batch) : count;
}

#endif /* LIVEMM_POLICY_COMMON_DRAIN_H */
