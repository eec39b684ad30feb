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

static const char *const scope_words[] = {
	[SCOPE_ZONE] = "zone",
	[SCOPE_NODE] = "node",
	NULL
};

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob pcp_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, PCP_MODE_EVENT, PCP_MODE_EVENT),
	/* PCP_AUTO_TUNE_PERIOD of the series is one second. */
	[KNOB_PERIOD_MS] = LMM_UINT("period_ms", 100, 10000, 1000),
	/* 1 is the series as posted. */
	[KNOB_WINDOW_PERIODS] = LMM_UINT("window_periods", 1, PCP_WINDOW_MAX, PCP_WINDOW_MAX),
	/* percpu_pagelist_high_fraction = 8, the series' limit. */
	[KNOB_HIGH_MAX_PCT] = LMM_TENTHS("high_max_pct", 10, 500, 125),
	[KNOB_LIMIT_EXIT_DRAIN] = LMM_BOOL("limit_exit_drain", 1),
	/* CONFIG_PCP_BATCH_SCALE_MAX, 52166607ecc9 (6.7). */
	[KNOB_BATCH_MAX_SCALE] = LMM_UINT("batch_max_scale", 0, 6, 5),
	/* As long as the kernel lets remote lists idle (pcp->expire). */
	[KNOB_DECAY_MS] = LMM_UINT("decay_ms", 500, 60000, 3000),
	[KNOB_GAIN_PCT] = LMM_UINT("gain_pct", 10, 200, 100),
	[KNOB_WATERMARK_GUARD_PCT] = LMM_UINT("watermark_guard_pct", 0, 1000, 0),
	[KNOB_CONTENDED_ONLY] = LMM_BOOL("contended_only", 0),
	[KNOB_SCOPE] = LMM_CHOICE("scope", scope_words, SCOPE_NODE, SCOPE_ZONE),
};

const char *const pcp_counter_names[NR_COUNTERS] = {
	PCP_COUNTERS(LMM_COUNTER_NAME)
};
