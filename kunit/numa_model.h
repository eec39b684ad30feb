/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * numa_model.h - settings and facts that the suites of the numa policy share
 */
#ifndef LIVEMM_KUNIT_NUMA_MODEL_H
#define LIVEMM_KUNIT_NUMA_MODEL_H

#include "../module/policy/numa/core.h"

/*
 * Bounds of the series.  The shortest is half of what the kernel's own limit comes to,
 * since memory has become faster; the longest was "found to work well", though the
 * kernel's own is 60000.
 */
#define SERIES_BOUNDS	.period_min_ms = 50, .period_max_ms = 5000

/* What the review asked for, as the policy has it by itself. */
#define REVIEWED					\
	.min_faults = NUMA_MIN_FAULTS,			\
	.step_max_pct = 400,				\
	.scan_delay_ms = 4000,				\
	.scan_delay_run_ms = 1000,				\
	.thread_period_min_ms = 1000,			\
	.full_pass_interval = 8,				\
	.skip_by_thread = true,				\
	.skip_by_region = true

/* As published: nothing of ours. */
static const struct numa_settings series = {
	SERIES_BOUNDS,
	.min_faults = NUMA_MIN_FAULTS,
	.step_max_pct = 10000,
	.steady_pct = 100,
	.full_pass_interval = 1,
};

/* With all that the review asked for. */
static const struct numa_settings reviewed = { SERIES_BOUNDS, REVIEWED, .steady_pct = 130 };

/* As the policy has it by itself. */
static const struct numa_settings defaults = {
	REVIEWED,
	.period_min_ms = 100,
	.period_max_ms = 240000,
	.steady_pct = 200,
};

/* Of an address space that is old, was scanned often, and has as much as was scanned. */
#define OLD(kernel_ms, worst)	{ 9, 0, 9, 9000, 9000, kernel_ms, worst }

#endif /* LIVEMM_KUNIT_NUMA_MODEL_H */
