/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the zonelock policy
 */
#ifndef LIVEMM_POLICY_ZONELOCK_KNOBS_H
#define LIVEMM_POLICY_ZONELOCK_KNOBS_H

#include "livemm.h"
#include "core.h"

/**
 * enum zonelock_mode - purpose of the depot: values of knob `mode`
 * @ZONELOCK_MODE_DEPOT: hand pages over; what no CPU takes goes back
 * @ZONELOCK_MODE_NOMERGE: keep freed pages unmerged until a high order is wanted, for comparison
 */
enum zonelock_mode {
	ZONELOCK_MODE_DEPOT,
	ZONELOCK_MODE_NOMERGE,
};

enum zonelock_knob {
	KNOB_MODE,
	KNOB_MAX_PAGES_PCT,
	KNOB_MAX_AGE_MS,
	KNOB_HOLD_OFF_MS,
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters: refused_ by enum depot_verdict from
 * DEPOT_DISABLED on, returned_ by enum depot_reason, each in the order of the enum.
 */
#define ZONELOCK_COUNTERS(COUNTER)				\
	COUNTER(STORED, "stored")				\
	COUNTER(STORED_PAGES, "stored_pages")			\
	COUNTER(PASSED_PAGES, "passed_pages")			\
	COUNTER(COUNTED, "counted")				\
	COUNTER(KEPT_PAGES, "kept_pages")			\
	COUNTER(JOINED, "joined")				\
	COUNTER(JOINED_PAGES, "joined_pages")			\
	COUNTER(TAKEN, "taken")					\
	COUNTER(TAKEN_PAGES, "taken_pages")			\
	COUNTER(MISSED, "missed")				\
	COUNTER(SPLIT, "split")					\
	COUNTER(SPLIT_PAGES, "split_pages")			\
	COUNTER(BUSY, "busy")					\
	COUNTER(REFUSED_DISABLED, "refused_disabled")		\
	COUNTER(REFUSED_ISOLATED, "refused_isolated")		\
	COUNTER(REFUSED_RECLAIM, "refused_reclaim")		\
	COUNTER(REFUSED_WATERMARK, "refused_watermark")		\
	COUNTER(REFUSED_CLOSED, "refused_closed")		\
	COUNTER(REFUSED_FULL, "refused_full")			\
	COUNTER(RETURNED_AGE, "returned_age")			\
	COUNTER(RETURNED_SIZE, "returned_size")			\
	COUNTER(RETURNED_RECLAIM, "returned_reclaim")		\
	COUNTER(RETURNED_WATERMARK, "returned_watermark")	\
	COUNTER(RETURNED_ORDER, "returned_order")		\
	COUNTER(RETURNED_COMPACTION, "returned_compaction")	\
	COUNTER(RETURNED_DRAIN, "returned_drain")		\
	COUNTER(RETURNED_OOM, "returned_oom")			\
	COUNTER(RETURNED_OFF, "returned_off")			\
	COUNTER(KICKS, "kicks")					\
	COUNTER(HUGE, "huge")

enum zonelock_counter {
	ZONELOCK_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob zonelock_knobs[NR_KNOBS];
extern const char *const zonelock_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_ZONELOCK_KNOBS_H */
