// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the zonelock policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the rows.
 */
#include "knobs.h"

const struct lmm_knob zonelock_knobs[NR_KNOBS] = {
	ZONELOCK_KNOBS(LMM_KNOB_ROW)
};

const char *const zonelock_counter_names[NR_COUNTERS] = {
	ZONELOCK_COUNTERS(LMM_COUNTER_NAME)
};
