// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the zonelock policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the rows.
 */
#include "knobs.h"

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob zonelock_knobs[NR_KNOBS] = {
	[KNOB_MAX_PAGES_PCT] = LMM_TENTHS("max_pages_pct", 1, 500, 40),
	[KNOB_MAX_AGE_MS] = LMM_UINT("max_age_ms", 100, 60000, 1000),
};

const char *const zonelock_counter_names[NR_COUNTERS] = {
	ZONELOCK_COUNTERS(LMM_COUNTER_NAME)
};
