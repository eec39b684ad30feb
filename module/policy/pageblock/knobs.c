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
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, PAGEBLOCK_MODE_STRICT, PAGEBLOCK_MODE_CLAIM),
	[KNOB_MAX_ATTEMPTS] = LMM_UINT("max_attempts", 1, PAGEBLOCK_MAX_ROUNDS, 3),
	[KNOB_RESERVE_BLOCKS] = LMM_UINT("reserve_blocks", 0, 4096, 16),
	[KNOB_PERIOD_MS] = LMM_UINT("period_ms", 100, 60000, 100),
	[KNOB_BUFFERS] = LMM_BOOL("buffers", 1),
};

/* Names in the file counters. */
const char *const pageblock_counter_names[NR_COUNTERS] = {
	[COUNT_SEARCHES] = "searches",
	[COUNT_REFUSED_FAST] = "refused_fast",
	[COUNT_REFUSED_SLOW] = "refused_slow",
	[COUNT_REFUSED_NO_PROGRESS] = "refused_no_progress",
	[COUNT_REFUSED_HAS_FALLBACK] = "refused_has_fallback",
	[COUNT_ALLOWED_TRIED] = "allowed_tried",
	[COUNT_ALLOWED_ATOMIC] = "allowed_atomic",
	[COUNT_ALLOWED_HIGHATOMIC] = "allowed_highatomic",
	[COUNT_ALLOWED_MEMALLOC] = "allowed_memalloc",
	[COUNT_ALLOWED_OOM] = "allowed_oom",
	[COUNT_ALLOWED_NOFAIL] = "allowed_nofail",
	[COUNT_ALLOWED_UNGROUPED] = "allowed_ungrouped",
	[COUNT_ALLOWED_COMPACT_DEFERRED] = "allowed_compact_deferred",
	[COUNT_ALLOWED_UNTRACKED] = "allowed_untracked",
	[COUNT_ALLOWED_ABOVE_HIGH] = "allowed_above_high",
	[COUNT_UNKNOWN] = "unknown",
	[COUNT_COMPACTION_KEPT] = "compaction_kept",
	[COUNT_CLAIMED] = "claimed",
	[COUNT_MIXED] = "mixed",
	[COUNT_ROUNDS] = "rounds",
	[COUNT_ATTEMPTS] = "attempts",
	[COUNT_MADE] = "made",
	[COUNT_MOVED] = "moved",
	[COUNT_CLEANED] = "cleaned",
};
