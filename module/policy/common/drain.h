/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain.h - how many pages of a per-CPU list a free drains
 */
#ifndef LIVEMM_POLICY_COMMON_DRAIN_H
#define LIVEMM_POLICY_COMMON_DRAIN_H

#include <linux/minmax.h>
#include <linux/types.h>

/*
 * Most batches of a list that go back under one hold of zone->lock, as when a kernel that tunes its
 * lists drains one (1 << CONFIG_PCP_BATCH_SCALE_MAX; 52166607ecc9, 6.7).
 */
#define LMM_DRAIN_BATCHES	32

/**
 * lmm_drain_untuned() - pages that a kernel which does not tune drains under one hold of zone->lock
 * @def: the kernel's own bound of the list, in pages
 * @batch: the list's batch, in pages
 *
 * The kernel drains a list from its bound down to a batch (3b12e7e97938, 5.14).  Three quarters of
 * the bound, because all 606 pages of a bound took 288,526 instructions, and stock's longest drain
 * 227,869 (bench/lists.md, "How long interrupts are off").
 *
 * Context: any; pure.
 * Return: pages.
 */
static inline int lmm_drain_untuned(int def, int batch)
{
	return max(def - def / 4, batch * 4);
}

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
 * @have: pages in the list
 * @def: the kernel's own bound of the list, in pages; 0 if not known
 * @batch: the list's batch, in pages
 *
 * A kernel that does not tune drains a part of the list, or empties the list, under one hold in the
 * belief that the list is as small as its own bound.  A list that was raised has many times as many
 * pages.
 *
 * Context: any; pure.
 * Return: @count, but of a raised list no more than the kernel drains of a list with its own bound.
 */
static inline int lmm_drain_hold(int count, int have, int def, int batch)
{
	if (!def || have <= def + batch)
		return count;
	return min(count, lmm_drain_untuned(def, batch));
}

/**
 * lmm_give_pages() - pages that a list gives back under one hold of zone->lock
 * @def: the kernel's own bound of the list, in pages
 * @batch: the list's batch, in pages
 * @tunes: the kernel tunes its lists (LMM_TUNES_LISTS)
 *
 * Interrupts are off meanwhile, for no longer than in the kernel's own drains and refills.  With
 * LMM_DRAIN_BATCHES batches they were off for 1.4 times as long on a kernel that tunes, and with a
 * small bound for 3.2 times as long on another (bench/lists.md, "How long interrupts are off").
 *
 * Context: any; pure.
 * Return: pages.
 */
static inline int lmm_give_pages(int def, int batch, bool tunes)
{
	if (tunes)
		return batch * LMM_DRAIN_BATCHES / 2;
	return min(lmm_drain_untuned(def, batch), batch * LMM_DRAIN_BATCHES);
}

#endif /* LIVEMM_POLICY_COMMON_DRAIN_H */
