/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_trend.h - arithmetic of mode period: a period that follows the share of remote faults
 *
 * The controller of "[RFC PATCH v0 3/3] sched/numa: Add adaptive scan period calculation" (Disha
 * Talreja, Wei Huang, Bharata B Rao, 2022-01-28, 20220128052851.17162-4-bharata@amd.com).  A
 * decayed history of the windows gives the rate of remote faults.  The period is divided by a
 * slope, which is a ratio of rates.  The trend turns when two windows in a row intend the turn.
 * With more than 30 % shared faults the period is not shortened for long.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_TREND_H
#define LIVEMM_POLICY_NUMA_CORE_TREND_H

#include <linux/limits.h>
#include <linux/minmax.h>

#include "core.h"

/* The series' figures: points that a rate may move and be stable, and tenths of private faults. */
#define NUMA_STABLE_POINTS	5
#define NUMA_PRIVATE_TENTHS	7

/*
 * Milliseconds of the first period, and of the shortest and the longest: the series', but for the
 * shortest, which was 50.  The kernel scans no faster than 256 MiB in 100 ms.
 */
#define NUMA_PERIOD_FIRST_MS	1000
#define NUMA_PERIOD_MIN_MS	100
#define NUMA_PERIOD_MAX_MS	5000

/* The kernel's own shortest period, but in a large process. */
#define NUMA_PERIOD_KERNEL_MS	1000

/**
 * struct numa_trend - what mode period has learnt of a process; all zeros at first
 * @local: decayed sum of pages of local faults; a window takes off 1/4, as of @remote
 * @remote: of remote faults
 * @private: of private faults; a window takes off 1/2, as of @shared
 * @shared: of shared faults
 * @period_us: the period
 * @slope: divisor of the period, in NUMA_SLOPE_ONE
 * @rate: percent of remote faults after the last window, at least 1
 * @older: one window earlier
 * @lengthening: the trend
 * @intended: the window before intended to lengthen
 */
struct numa_trend {
	u64 local;
	u64 remote;
	u64 private;
	u64 shared;
	u32 period_us;
	u32 slope;
	u8 rate;
	u8 older;
	bool lengthening;
	bool intended;
};

/* A slope that leaves the period as it is. */
#define NUMA_SLOPE_ONE		0x10000U

void numa_trend_window(struct numa_trend *trend, const struct numa_counts *window, u32 passes);

/**
 * numa_trend_period() - the period of a process
 * @trend: of the process
 *
 * Return: ms, within the bounds.
 */
static inline u32 numa_trend_period(const struct numa_trend *trend)
{
	return trend->period_us ? trend->period_us / 1000 : NUMA_PERIOD_FIRST_MS;
}

/**
 * numa_trend_back() - the period of a thread that is left to the kernel again
 * @period_ms: the period, as mode period may have written it; 0: the kernel has given none yet
 * @longest_ms: the kernel's longest of the thread; 0: not known yet
 *
 * Return: ms, such as the kernel itself may have had.
 */
static inline u32 numa_trend_back(u32 period_ms, u32 longest_ms)
{
	u32 longest = longest_ms ?: U32_MAX;

	if (!period_ms)
		return 0;
	return clamp(period_ms, min_t(u32, longest, NUMA_PERIOD_KERNEL_MS), longest);
}

#endif /* LIVEMM_POLICY_NUMA_CORE_TREND_H */
