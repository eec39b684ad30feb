/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the policy numa
 */
#ifndef LIVEMM_POLICY_NUMA_KNOBS_H
#define LIVEMM_POLICY_NUMA_KNOBS_H

#include "livemm.h"

/**
 * enum numa_mode - values of knob `mode`
 * @NUMA_MODE_QUIET: a quiet process is scanned less often
 * @NUMA_MODE_PERIOD: how often a process is scanned follows its share of remote faults
 * @NUMA_MODE_PROMOTE: slow memory that the kernel's scan leaves out is scanned, too
 */
enum numa_mode {
	NUMA_MODE_QUIET,
	NUMA_MODE_PERIOD,
	NUMA_MODE_PROMOTE,
};

/* Knobs, in debugfs and in the parameter policies. */
#define NUMA_KNOBS(KNOB)								\
	KNOB(MODE, LMM_CHOICE("mode", mode_words, NUMA_MODE_QUIET, "",			\
		"`quiet`: leave out scans of quiet processes; `period`: the series' "		\
		"controller; `promote`: scan slow memory that the kernel leaves out"))		\
	/* A tenth of the kernel's fastest scan of one process. */			\
	KNOB(PROMOTE_RATE_MB, LMM_UINT("promote_rate_mb", 2, 65536, 256,			\
		"MiB a second", "what mode `promote` arms at most"))			\
	KNOB(CGROUPS, LMM_TEXT("cgroups", "paths",					\
		"only processes in these cgroups (v2); empty: all"))

enum numa_knob {
	NUMA_KNOBS(LMM_KNOB_ID)
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters: first the classes, in the order of enum
 * numa_class.
 */
#define NUMA_COUNTERS(COUNTER)					\
	COUNTER(LOCAL_PRIVATE, "local_private")			\
	COUNTER(LOCAL_SHARED, "local_shared")			\
	COUNTER(REMOTE_PRIVATE, "remote_private")		\
	COUNTER(REMOTE_SHARED, "remote_shared")			\
	COUNTER(SCANS, "scans")					\
	COUNTER(POSTPONED, "postponed")				\
	COUNTER(CHANGES, "changes")				\
	COUNTER(PINNED, "pinned")				\
	COUNTER(UPDATED_ENTRIES, "updated_entries")		\
	COUNTER(SCAN_FLUSHES, "scan_flushes")			\
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
