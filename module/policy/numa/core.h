/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of mode quiet: which of the kernel's scans a quiet process does without
 *
 * The kernel has a period for each thread, and asks for a scan when a thread has run for so long.
 * The policy makes no scan of its own.  Of the kernel's scans the policy leaves some out: the
 * period of a process is the kernel's period of the thread that asks, times a factor.  The factor
 * is 1 at first, doubles with each quiet window, and is 1 again after a change.  A window is a pass
 * over the address space.  The kernel's own signs work on as they are: a thread that leaves its
 * preferred node gets a short period from the kernel, and so soon has a scan.
 *
 * A scan that is put off leaves other threads free to ask, where a scan keeps them waiting for the
 * period of the thread that scanned.  So a thread of a short period may have scans sooner.
 *
 * A hint fault is local when the page is on the node of the CPU that faulted, otherwise remote.  A
 * fault is private when the same thread had the last fault on the page, otherwise shared.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_H
#define LIVEMM_POLICY_NUMA_CORE_H

#include <linux/types.h>

/*
 * Least hint faults of a window: "could be a good minimum" (seed series, 2022-02-02).  A huge page
 * is one: all its pages are where one of them is.
 */
#define NUMA_MIN_FAULTS		100

/*
 * Most of the factor, and most of the period in periods that are the kernel's longest.  Chosen by
 * tests/numasim: with 2 the stable loads save a quarter, with 8 memory that changes hands every
 * half a minute is local later than with the kernel alone; so is, with any value, memory that
 * changes hands after ten minutes, as the longest period is longer than the kernel's.
 */
#define NUMA_FACTOR_MAX		4
#define NUMA_LONGEST		2

/*
 * Percentage points by which the share of remote faults must rise to be a change.  The hook looks
 * at one fault in four, so a share that is taken of NUMA_MIN_FAULTS has a standard deviation of 10
 * points at most.
 */
#define NUMA_RISE_POINTS	20

/*
 * A window in which the kernel moved one page in so many is no quiet window.  Pages that threads
 * use at random move to and fro at one in eight: to scan for that is no use.
 */
#define NUMA_MOVED_PART		4

/**
 * enum numa_class - what a hint fault was
 * @NUMA_LOCAL_PRIVATE: page on the node of the CPU, last fault by the same thread
 * @NUMA_LOCAL_SHARED: page on the node of the CPU, last fault by another thread
 * @NUMA_REMOTE_PRIVATE: page on another node, last fault by the same thread
 * @NUMA_REMOTE_SHARED: page on another node, last fault by another thread
 * @NUMA_NR_CLASSES: number of the above
 *
 * The first fault on a page is private, as for the kernel.
 */
enum numa_class {
	NUMA_LOCAL_PRIVATE,
	NUMA_LOCAL_SHARED,
	NUMA_REMOTE_PRIVATE,
	NUMA_REMOTE_SHARED,
	NUMA_NR_CLASSES
};

/**
 * struct numa_counts - hint faults of an address space, in all or in one window
 * @pages: pages of hint faults, by enum numa_class; a huge page counts all its pages
 * @moved: those of them that the kernel moved to another node
 * @faults: hint faults
 */
struct numa_counts {
	u64 pages[NUMA_NR_CLASSES];
	u64 moved;
	u64 faults;
};

/**
 * struct numa_quiet - how quiet a process is; all zeros at first
 * @factor: factor of the kernel's period; 0 is 1
 * @share: percent of remote faults in the last window
 * @changed: the window that goes on has had a change
 */
struct numa_quiet {
	u8 factor;
	u8 share;
	bool changed;
};

bool numa_counts_since(const struct numa_counts *closed, const struct numa_counts *now,
		       struct numa_counts *window);
u64 numa_pages_of(const struct numa_counts *counts);
u32 numa_remote_share(const struct numa_counts *window);
bool numa_quiet_look(struct numa_quiet *quiet, const struct numa_counts *window, bool ends);
u32 numa_quiet_period(const struct numa_quiet *quiet, u32 own_ms, u32 longest_ms);

/**
 * numa_class() - the class of a hint fault
 * @local: the page is on the node of the CPU
 * @private: the same thread had the last fault on the page, or the fault is the first
 *
 * Return: its class.
 */
static inline enum numa_class numa_class(bool local, bool private)
{
	return (local ? NUMA_LOCAL_PRIVATE : NUMA_REMOTE_PRIVATE) + !private;
}

/**
 * numa_is_due() - is a scan due, at which a thread asks?
 * @period_ms: period of the process
 * @own_ms: the kernel's period of the thread that asks, at most @period_ms
 * @since_ms: time since the last scan
 *
 * A thread asks once in a period of its own, so the ask next to the end of @period_ms counts.
 *
 * Return: true if so.
 */
static inline bool numa_is_due(u32 period_ms, u32 own_ms, u64 since_ms)
{
	return since_ms + own_ms / 2 >= period_ms;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_H */
