// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the cma policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the
 * rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[CMA_MODE_RATIO] = "ratio",
	[CMA_MODE_CMA_FIRST] = "cma_first",
	[CMA_MODE_REGULAR_FIRST] = "regular_first",
	[CMA_MODE_KEEP] = "keep",
	NULL
};

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob cma_knobs[NR_KNOBS] = {
	/* The series uses the ratio; bench/README.md compares the two. */
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, CMA_MODE_KEEP, CMA_MODE_CMA_FIRST),
	[KNOB_CAP_PCT] = LMM_UINT("cap_pct", 0, 100, 100),
	[KNOB_KEEP_MS] = LMM_UINT("keep_ms", 0, 600000, 30000),
	[KNOB_KEEP_MAX_PCT] = LMM_UINT("keep_max_pct", 0, 100, 25),
	[KNOB_BUFFERS] = LMM_BOOL("buffers", 1),
	/* 256 MiB a second, while regular memory is short. */
	[KNOB_MOVE_PAGES_PER_S] = LMM_UINT("move_pages_per_s", 0, 1048576, 65536),
	/* Above the high watermark, at which reclaim ends: what a burst takes between two looks. */
	[KNOB_REGULAR_FREE_PCT] = LMM_UINT("regular_free_pct", 0, 50, 4),
};

const char *const cma_counter_names[NR_COUNTERS] = {
	CMA_COUNTERS(LMM_COUNTER_NAME)
};
