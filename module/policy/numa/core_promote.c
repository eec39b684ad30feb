// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_promote.c - arithmetic of mode promote; see core_promote.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_promote.h"

/**
 * numa_promote_next() - a pass begins: when shall the next begin?
 * @promote: the passes; all zeros before the first
 * @faults: pages of hint faults so far
 * @promoted: pages promoted so far
 * @resident: resident pages of the process
 * @since_ms: time since the pass before began
 *
 * Pages that fault and are not promoted are in use, but not hot enough, or there is no room: to
 * arm them again soon would cost the same faults again.
 *
 * Return: ms from the beginning of this pass to the beginning of the next.
 */
u32 numa_promote_next(struct numa_promote *promote, u64 faults, u64 promoted, u64 resident,
		      u64 since_ms)
{
	u64 paid = promoted - promote->promoted;
	u64 cost = faults - promote->faults;
	u64 forgotten = div_u64(promote->recent * min(since_ms, NUMA_PROMOTE_FORGET_MS),
				NUMA_PROMOTE_FORGET_MS);
	bool circles;

	promote->faults = faults;
	promote->promoted = promoted;
	promote->recent += paid - forgotten;
	circles = promote->recent > resident;
	/* Nothing is known of the first pass when it begins. */
	if (!promote->passes++ || (paid >= NUMA_PROMOTE_PAGES &&
				   paid >= cost / NUMA_PROMOTE_SHARE && !circles))
		promote->period_ms = NUMA_PROMOTE_MIN_MS;
	else
		promote->period_ms = min_t(u32, 2 * promote->period_ms, circles ?
					   NUMA_PROMOTE_CIRCLES_MS : NUMA_PROMOTE_MAX_MS);
	return promote->period_ms;
}

/**
 * numa_promote_charge() - pages that may still be armed after a call
 * @left: pages that could be armed before
 * @pages: address range of the call
 * @armed: pages that were armed
 *
 * Return: pages that can be armed.
 */
u32 numa_promote_charge(u32 left, u64 pages, u64 armed)
{
	u64 charge = max(armed, pages / NUMA_PROMOTE_VIRTUAL);

	return charge < left ? left - charge : 0;
}
