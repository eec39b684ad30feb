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
 * @ZONELOCK_MODE_NOMERGE: keep freed pages unmerged until a high order is wanted; bounded by the
 *	watermarks alone, for comparison
 */
enum zonelock_mode {
	ZONELOCK_MODE_DEPOT,
	ZONELOCK_MODE_NOMERGE,
};

enum zonelock_knob {
	KNOB_MODE,
	KNOB_MAX_PAGES_PCT,
	KNOB_MAX_AGE_MS,
	KNOB_WATERMARK_GUARD_PCT,
	KNOB_HOLD_OFF_MS,
	NR_KNOBS
};

enum zonelock_counter {
	COUNT_STORED,
	COUNT_STORED_PAGES,
	COUNT_COUNTED,
	COUNT_KEPT_PAGES,
	COUNT_TAKEN,
	COUNT_TAKEN_PAGES,
	COUNT_MISSED,
	COUNT_BUSY,
	/* One for each enum depot_verdict from DEPOT_DISABLED on. */
	COUNT_REFUSED,
	/* Pages, one for each enum depot_reason. */
	COUNT_RETURNED = COUNT_REFUSED + DEPOT_NR_VERDICTS - 1,
	COUNT_KICKS = COUNT_RETURNED + DEPOT_NR_REASONS,
	NR_COUNTERS
};

extern const struct lmm_knob zonelock_knobs[NR_KNOBS];
extern const char *const zonelock_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_ZONELOCK_KNOBS_H */
