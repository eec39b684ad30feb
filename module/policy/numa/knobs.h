/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the policy numa
 */
#ifndef LIVEMM_POLICY_NUMA_KNOBS_H
#define LIVEMM_POLICY_NUMA_KNOBS_H

#include "livemm.h"
#include "core.h"

/**
 * enum numa_mode - values of knob `mode`
 * @NUMA_MODE_PERIOD: when an address space is scanned
 * @NUMA_MODE_VMA: when an address space is scanned, and which parts of its VMAs
 */
enum numa_mode {
	NUMA_MODE_PERIOD,
	NUMA_MODE_VMA,
};

enum numa_knob {
	KNOB_MODE,
	KNOB_SCAN_PERIOD_MIN_MS,
	KNOB_SCAN_PERIOD_MAX_MS,
	KNOB_MIN_FAULTS,
	KNOB_STEP_MAX_PCT,
	KNOB_STEADY_PCT,
	KNOB_SCAN_DELAY_MS,
	KNOB_SCAN_DELAY_RUN_MS,
	KNOB_THREAD_PERIOD_MIN_MS,
	KNOB_SAMPLING_STRIDE,
	KNOB_FULL_PASS_INTERVAL,
	KNOB_SKIP_BY_THREAD,
	KNOB_SKIP_BY_REGION,
	KNOB_CHARGE_PTES,
	KNOB_CGROUPS,
	NR_KNOBS
};

enum numa_counter {
	COUNT_FAULTS,
	COUNT_LOCAL_PRIVATE,	/* the classes in the order of enum numa_class */
	COUNT_LOCAL_SHARED,
	COUNT_REMOTE_PRIVATE,
	COUNT_REMOTE_SHARED,
	COUNT_WINDOWS,
	COUNT_FEW_FAULTS,
	COUNT_WAITED,
	COUNT_LENGTHENED,
	COUNT_SHORTENED,
	COUNT_LIMITED_FIRST_PASS,
	COUNT_LIMITED_THREAD,
	COUNT_LIMITED_SCAN_DELAY,
	COUNT_LIMITED_KERNEL,
	COUNT_LIMITED_CALM,
	COUNT_SCANS,
	COUNT_SAMPLING_SCANS,
	COUNT_POSTPONED,
	COUNT_EXPEDITED,
	COUNT_RESAMPLED,
	COUNT_SCANNED_PAGES,
	COUNT_UPDATED_ENTRIES,
	COUNT_SKIPPED_BY_SAMPLING,
	COUNT_SKIPPED_BY_THREAD,
	COUNT_SKIPPED_BY_REGION,
	COUNT_MMS,
	COUNT_MMS_GONE,
	COUNT_MMS_REFUSED,
	COUNT_OUT_OF_SCOPE,
	NR_COUNTERS
};

extern const struct lmm_knob numa_knobs[NR_KNOBS];
extern const char *const numa_counter_names[NR_COUNTERS];

int numa_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why, size_t len);

#endif /* LIVEMM_POLICY_NUMA_KNOBS_H */
