// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the cma policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the
 * rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[CMA_MODE_KEEP] = "keep",
	[CMA_MODE_RATIO] = "ratio",
	NULL
};

const struct lmm_knob cma_knobs[NR_KNOBS] = {
	CMA_KNOBS(LMM_KNOB_ROW)
};

const char *const cma_counter_names[NR_COUNTERS] = {
	CMA_COUNTERS(LMM_COUNTER_NAME)
};
