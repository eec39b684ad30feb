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
};

/* Names in the file counters. */
const char *const cma_counter_names[NR_COUNTERS] = {
	[COUNT_VERDICT + CMA_LEND_RATIO] = "lend_ratio",
	[COUNT_VERDICT + CMA_LEND_FIRST] = "lend_first",
	[COUNT_VERDICT + CMA_LEND_PRESSURE] = "lend_pressure",
	[COUNT_VERDICT + CMA_REGULAR_RATIO] = "regular_ratio",
	[COUNT_VERDICT + CMA_REGULAR_FIRST] = "regular_first",
	[COUNT_VERDICT + CMA_REGULAR_BUSY] = "regular_busy",
	[COUNT_VERDICT + CMA_REGULAR_CAP] = "regular_cap",
	[COUNT_VERDICT + CMA_REGULAR_KEPT] = "regular_kept",
	[COUNT_VERDICT + CMA_AS_STOCK_PRESSURE] = "stock_pressure",
	[COUNT_VERDICT + CMA_AS_STOCK_EMPTY] = "stock_empty",
	[COUNT_VERDICT + CMA_AS_STOCK_DRIFT] = "stock_drift",
	[COUNT_VERDICT + CMA_AS_STOCK_MODE] = "stock_mode",
	[COUNT_VERDICT + CMA_AS_STOCK_LIVEPATCH] = "stock_livepatch",
	[COUNT_LENT_PAGES] = "lent_pages",
	[COUNT_REGULAR_PAGES] = "regular_pages",
	[COUNT_LENT_NONE] = "lent_none",
	[COUNT_REGULAR_NONE] = "regular_none",
	[COUNT_ALLOCS] = "allocs",
	[COUNT_ALLOC_PAGES] = "alloc_pages",
	[COUNT_RETRIES] = "retries",
	[COUNT_FAILURES] = "failures",
	[COUNT_RELEASED_PAGES] = "released_pages",
	[COUNT_DRAINED_PAGES] = "drained_pages",
	[COUNT_MOVED_PAGES] = "moved_pages",
};
