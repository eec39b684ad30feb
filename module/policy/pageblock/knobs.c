// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the pageblock policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the
 * rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[PAGEBLOCK_MODE_CLAIM] = "claim",
	[PAGEBLOCK_MODE_STRICT] = "strict",
	NULL
};

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob pageblock_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, PAGEBLOCK_MODE_CLAIM),
	[KNOB_RESERVE_BLOCKS] = LMM_UINT("reserve_blocks", 0, 4096, 16),
	[KNOB_MOVE_PAGES_PER_S] = LMM_UINT("move_pages_per_s", 0, 1000000, 1450),
};

const char *const pageblock_counter_names[NR_COUNTERS] = {
	PAGEBLOCK_COUNTERS(LMM_COUNTER_NAME)
};
