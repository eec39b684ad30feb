/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain.h - how many pages of a per-CPU list a free drains
 */
#ifndef LIVEMM_POLICY_COMMON_DRAIN_H
#define LIVEMM_POLICY_COMMON_DRAIN_H

#include <linux/minmax.h>

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

#endif /* LIVEMM_POLICY_COMMON_DRAIN_H */
