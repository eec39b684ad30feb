// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the zonelock policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[ZONELOCK_MODE_DEPOT] = "depot",
	[ZONELOCK_MODE_NOMERGE] = "nomerge",
	NULL
};

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob zonelock_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, ZONELOCK_MODE_NOMERGE, ZONELOCK_MODE_DEPOT),
	[KNOB_MAX_PAGES_PCT] = LMM_TENTHS("max_pages_pct", 1, 500, 40),
	[KNOB_MAX_AGE_MS] = LMM_UINT("max_age_ms", 100, 60000, 1000),
	/* Same as pcp's knob of this name. */
	[KNOB_WATERMARK_GUARD_PCT] = LMM_UINT("watermark_guard_pct", 0, 1000, 100),
	[KNOB_HOLD_OFF_MS] = LMM_UINT("hold_off_ms", 0, 60000, 1000),
};

/* Names in the file counters. */
const char *const zonelock_counter_names[NR_COUNTERS] = {
	[COUNT_STORED] = "stored",
	[COUNT_STORED_PAGES] = "stored_pages",
	[COUNT_COUNTED] = "counted",
	[COUNT_KEPT_PAGES] = "kept_pages",
	[COUNT_TAKEN] = "taken",
	[COUNT_TAKEN_PAGES] = "taken_pages",
	[COUNT_MISSED] = "missed",
	[COUNT_BUSY] = "busy",
	[COUNT_REFUSED + DEPOT_DISABLED - 1] = "refused_disabled",
	[COUNT_REFUSED + DEPOT_ISOLATED - 1] = "refused_isolated",
	[COUNT_REFUSED + DEPOT_RECLAIM - 1] = "refused_reclaim",
	[COUNT_REFUSED + DEPOT_WATERMARK - 1] = "refused_watermark",
	[COUNT_REFUSED + DEPOT_CLOSED - 1] = "refused_closed",
	[COUNT_REFUSED + DEPOT_FULL - 1] = "refused_full",
	[COUNT_RETURNED + DEPOT_BY_AGE] = "returned_age",
	[COUNT_RETURNED + DEPOT_BY_SIZE] = "returned_size",
	[COUNT_RETURNED + DEPOT_BY_RECLAIM] = "returned_reclaim",
	[COUNT_RETURNED + DEPOT_BY_WATERMARK] = "returned_watermark",
	[COUNT_RETURNED + DEPOT_BY_ORDER] = "returned_order",
	[COUNT_RETURNED + DEPOT_BY_COMPACTION] = "returned_compaction",
	[COUNT_RETURNED + DEPOT_BY_DRAIN] = "returned_drain",
	[COUNT_RETURNED + DEPOT_BY_OOM] = "returned_oom",
	[COUNT_RETURNED + DEPOT_BY_OFF] = "returned_off",
	[COUNT_KICKS] = "kicks",
};
