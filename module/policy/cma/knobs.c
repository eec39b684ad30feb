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

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob cma_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, CMA_MODE_KEEP),
	[KNOB_KEEP_MS] = LMM_UINT("keep_ms", 0, 600000, 30000),
	/* 256 MiB a second, while regular memory is short. */
	[KNOB_MOVE_PAGES_PER_S] = LMM_UINT("move_pages_per_s", 0, 1048576, 65536),
};

const char *const cma_counter_names[NR_COUNTERS] = {
	CMA_COUNTERS(LMM_COUNTER_NAME)
};
