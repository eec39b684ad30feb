/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_sample.h - arithmetic of a watch: has the use of memory changed?
 *
 * After a scan each page in use faults once, and then no more until the next scan: so
 * with a long period a change goes unseen for long.  A watch scans a part of every
 * region, and the faults that come of it tell.  That costs a part of what the kernel's
 * scan would have, and is as prompt.
 *
 * Every region, because a thread that sees no fault in a pass has the kernel believe
 * that it is idle, and scan later.  Each watch takes another part, so in `every` of
 * them all of the memory has had its turn.
 *
 * Pure: no kernel state, no lock, no clock.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_SAMPLE_H
#define LIVEMM_POLICY_NUMA_CORE_SAMPLE_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "core_vma.h"

/*
 * Percentage points by which the remote faults of a watch must exceed what was to be
 * expected: four standard deviations of a share that is taken of 100 faults.
 */
#define NUMA_ALARM_POINTS	20

/*
 * Milliseconds from a scan to the watch after it, and by how many percent that grows
 * with each.  The kernel's own period grows by 30 percent a scan at most, from 1000, so
 * these are no later than its scans; and it cannot be taken for this, as it doubles
 * after a scan in which a thread has seen nothing, or nothing local.  In the long run
 * there are four watches for each scan of the kernel's, or a quarter of its faults.
 */
#define NUMA_GAP_MIN_MS		500
#define NUMA_GAP_MAX_MS		15000
#define NUMA_GAP_GROWTH_PCT	15

/* Faults of a watch that an alarm is judged by. */
#define NUMA_ALARM_FAULTS_MIN	64
#define NUMA_ALARM_FAULTS_MAX	400

/**
 * struct numa_watch - what a watch takes
 * @every: one page in so many, 1..512
 * @turn: which of them; grows by one for each watch
 */
struct numa_watch {
	u32 every;
	u32 turn;
};

bool numa_watch_region(const struct numa_watch *watch, u64 region, bool huge,
		       struct numa_range *run);

/**
 * numa_watch_faults() - by how many faults is a watch to be judged?
 * @resident: pages the address space has
 * @every: one in so many is watched
 *
 * Half of what it may come to, for not all memory is in use.
 *
 * Context: any; pure.
 * Return: the number.
 */
static inline u32 numa_watch_faults(u64 resident, u32 every)
{
	u64 most = resident / every / 2;

	return clamp_t(u64, most, NUMA_ALARM_FAULTS_MIN, NUMA_ALARM_FAULTS_MAX);
}

/**
 * numa_watch_gap() - how long until the next watch?
 * @gap_ms: what it was the last time; 0 for the first
 *
 * Context: any; pure.
 * Return: milliseconds.
 */
static inline u32 numa_watch_gap(u32 gap_ms)
{
	u32 next = (u64)gap_ms * (100 + NUMA_GAP_GROWTH_PCT) / 100;

	return clamp_t(u32, next, NUMA_GAP_MIN_MS, NUMA_GAP_MAX_MS);
}

/**
 * numa_watch_alarm() - has the use of memory changed?
 * @remote: remote faults of the watch
 * @faults: all of them
 * @rate: percent of remote faults that was to be expected
 *
 * Context: any; pure.
 * Return: true if all is to be scanned, and soon.
 */
static inline bool numa_watch_alarm(u32 remote, u32 faults, unsigned int rate)
{
	return remote * 100ULL > (u64)faults * (rate + NUMA_ALARM_POINTS);
}

#endif /* LIVEMM_POLICY_NUMA_CORE_SAMPLE_H */
