// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the pageblock policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the
 * rows.
 */
#include "knobs.h"

const struct lmm_knob pageblock_knobs[NR_KNOBS] = {
	PAGEBLOCK_KNOBS(LMM_KNOB_ROW)
};

const char *const pageblock_counter_names[NR_COUNTERS] = {
	PAGEBLOCK_COUNTERS(LMM_COUNTER_NAME)
};
