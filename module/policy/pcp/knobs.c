// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the pcp policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[PCP_MODE_DEPTH] = "depth",
	[PCP_MODE_EVENT] = "event",
	NULL
};

const struct lmm_knob pcp_knobs[NR_KNOBS] = {
	PCP_KNOBS(LMM_KNOB_ROW)
};

const char *const pcp_counter_names[NR_COUNTERS] = {
	PCP_COUNTERS(LMM_COUNTER_NAME)
};
