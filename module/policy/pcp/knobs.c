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

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob pcp_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, PCP_MODE_EVENT),
	/* percpu_pagelist_high_fraction = 8, the series' limit. */
	[KNOB_HIGH_MAX_PCT] = LMM_TENTHS("high_max_pct", 10, 500, 125),
	/* As long as the kernel lets remote lists idle (pcp->expire). */
	[KNOB_DECAY_MS] = LMM_UINT("decay_ms", 500, 60000, 3000),
};

const char *const pcp_counter_names[NR_COUNTERS] = {
	PCP_COUNTERS(LMM_COUNTER_NAME)
};
