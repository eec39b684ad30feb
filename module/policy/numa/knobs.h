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
 * @NUMA_MODE_PROMOTE: slow memory that the kernel's scan leaves out is scanned, too
 */
enum numa_mode {
	NUMA_MODE_PERIOD,
	NUMA_MODE_VMA,
	NUMA_MODE_PROMOTE,
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
	KNOB_PROMOTE_RATE_MB,
	KNOB_CGROUPS,
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters: from local_private on the classes, in the order
 * of enum numa_class.
 */
#define NUMA_COUNTERS(COUNTER)					\
	COUNTER(FAULTS, "faults")				\
	COUNTER(LOCAL_PRIVATE, "local_private")			\
	COUNTER(LOCAL_SHARED, "local_shared")			\
	COUNTER(REMOTE_PRIVATE, "remote_private")		\
	COUNTER(REMOTE_SHARED, "remote_shared")			\
	COUNTER(WINDOWS, "windows")				\
	COUNTER(FEW_FAULTS, "few_faults")			\
	COUNTER(WAITED, "waited")				\
	COUNTER(LENGTHENED, "lengthened")			\
	COUNTER(SHORTENED, "shortened")				\
	COUNTER(LIMITED_FIRST_PASS, "limited_first_pass")	\
	COUNTER(LIMITED_THREAD, "limited_thread")		\
	COUNTER(LIMITED_SCAN_DELAY, "limited_scan_delay")	\
	COUNTER(LIMITED_KERNEL, "limited_kernel")		\
	COUNTER(LIMITED_CALM, "limited_calm")			\
	COUNTER(SCANS, "scans")					\
	COUNTER(SAMPLING_SCANS, "sampling_scans")		\
	COUNTER(POSTPONED, "postponed")				\
	COUNTER(EXPEDITED, "expedited")				\
	COUNTER(RETRIED, "retried")				\
	COUNTER(RESAMPLED, "resampled")				\
	COUNTER(ALARMS_HELD_BACK, "alarms_held_back")		\
	COUNTER(SCANNED_PAGES, "scanned_pages")			\
	COUNTER(UPDATED_ENTRIES, "updated_entries")		\
	COUNTER(SCAN_FLUSHES, "scan_flushes")			\
	COUNTER(SKIPPED_BY_SAMPLING, "skipped_by_sampling")	\
	COUNTER(SKIPPED_BY_THREAD, "skipped_by_thread")		\
	COUNTER(SKIPPED_BY_REGION, "skipped_by_region")		\
	COUNTER(PROMOTION_PASSES, "promotion_passes")		\
	COUNTER(PROMOTED, "promoted")				\
	COUNTER(MMS, "mms")					\
	COUNTER(MMS_GONE, "mms_gone")				\
	COUNTER(MMS_REFUSED, "mms_refused")			\
	COUNTER(OUT_OF_SCOPE, "out_of_scope")

enum numa_counter {
	NUMA_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob numa_knobs[NR_KNOBS];
extern const char *const numa_counter_names[NR_COUNTERS];

int numa_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why, size_t len);

#endif /* LIVEMM_POLICY_NUMA_KNOBS_H */
