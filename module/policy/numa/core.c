// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of mode quiet; see core.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * numa_pages_of() - pages of hint faults
 * @counts: by class
 *
 * Return: the sum.
 */
u64 numa_pages_of(const struct numa_counts *counts)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < NUMA_NR_CLASSES; i++)
		sum += counts->pages[i];
	return sum;
}

/**
 * numa_counts_since() - the hint faults of a window
 * @closed: the counters when the window before ended
 * @now: the counters now; never reset, so a difference is exact also where a counter wraps
 * @window: receives the counts of the window
 *
 * Return: false if they are too few to say anything.
 */
bool numa_counts_since(const struct numa_counts *closed, const struct numa_counts *now,
		       struct numa_counts *window)
{
	int i;

	for (i = 0; i < NUMA_NR_CLASSES; i++)
		window->pages[i] = now->pages[i] - closed->pages[i];
	window->moved = now->moved - closed->moved;
	window->faults = now->faults - closed->faults;
	return window->faults >= NUMA_MIN_FAULTS;
}

/**
 * numa_remote_share() - remote faults of a window
 * @window: the window
 *
 * Return: percent.
 */
u32 numa_remote_share(const struct numa_counts *window)
{
	u64 remote = window->pages[NUMA_REMOTE_PRIVATE] + window->pages[NUMA_REMOTE_SHARED];

	return div64_u64(remote * 100, max(numa_pages_of(window), 1ULL));
}

/**
 * numa_quiet_look() - is a process quiet?
 * @quiet: of the process
 * @window: the window so far, with enough faults
 * @ends: the window ends: a pass has ended
 *
 * A change counts at once, but only a whole window is quiet: parts of the memory may differ.
 *
 * Return: true at a change.
 */
bool numa_quiet_look(struct numa_quiet *quiet, const struct numa_counts *window, bool ends)
{
	u32 share = numa_remote_share(window);
	bool change = share > quiet->share + NUMA_RISE_POINTS ||
		      window->moved >= div_u64(numa_pages_of(window), NUMA_MOVED_PART);

	if (change)
		quiet->factor = 1;
	else if (ends && !quiet->changed)
		quiet->factor = min(2 * max(quiet->factor, 1), NUMA_FACTOR_MAX);
	quiet->changed = change && !ends;
	if (ends)
		quiet->share = share;
	return change;
}

/**
 * numa_quiet_period() - the period of a process
 * @quiet: of the process
 * @own_ms: the kernel's period of the thread that asks
 * @longest_ms: the kernel's longest
 *
 * Return: ms, at least @own_ms.
 */
u32 numa_quiet_period(const struct numa_quiet *quiet, u32 own_ms, u32 longest_ms)
{
	u64 period = (u64)own_ms * max_t(u32, quiet->factor, 1);

	period = min(period, (u64)longest_ms * NUMA_LONGEST);
	return clamp_t(u64, period, own_ms, U32_MAX);
}
