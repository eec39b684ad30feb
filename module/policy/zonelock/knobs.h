/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the zonelock policy
 */
#ifndef LIVEMM_POLICY_ZONELOCK_KNOBS_H
#define LIVEMM_POLICY_ZONELOCK_KNOBS_H

#include "livemm.h"
#include "core.h"

/* Knobs, in debugfs and in the parameter policies. */
#define ZONELOCK_KNOBS(KNOB)							\
	KNOB(MAX_PAGES_PCT, LMM_TENTHS("max_pages_pct", 1, 500, 40, "percent",	\
		"how much of a zone its depot may hold"))				\
	KNOB(MAX_AGE_MS, LMM_UINT("max_age_ms", 100, 60000, 1000, "ms",		\
		"age at which a batch goes back"))

enum zonelock_knob {
	ZONELOCK_KNOBS(LMM_KNOB_ID)
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters; returned_ by enum depot_reason, in the order of
 * the enum.
 */
#define ZONELOCK_COUNTERS(COUNTER)				\
	COUNTER(STORED_PAGES, "stored_pages")			\
	COUNTER(PASSED_PAGES, "passed_pages")			\
	COUNTER(JOINED, "joined")				\
	COUNTER(JOINED_PAGES, "joined_pages")			\
	COUNTER(TAKEN_PAGES, "taken_pages")			\
	COUNTER(SPLIT_PAGES, "split_pages")			\
	COUNTER(REFUSED_WATERMARK, "refused_watermark")		\
	COUNTER(REFUSED_FULL, "refused_full")			\
	COUNTER(RETURNED_AGE, "returned_age")			\
	COUNTER(RETURNED_SIZE, "returned_size")			\
	COUNTER(RETURNED_WATERMARK, "returned_watermark")	\
	COUNTER(RETURNED_ORDER, "returned_order")		\
	COUNTER(RETURNED_COMPACTION, "returned_compaction")	\
	COUNTER(RETURNED_DRAIN, "returned_drain")		\
	COUNTER(RETURNED_OOM, "returned_oom")			\
	COUNTER(RETURNED_OFF, "returned_off")			\
	COUNTER(HUGE, "huge")

enum zonelock_counter {
	ZONELOCK_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob zonelock_knobs[NR_KNOBS];
extern const char *const zonelock_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_ZONELOCK_KNOBS_H */
