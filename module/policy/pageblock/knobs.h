/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the pageblock policy
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_KNOBS_H
#define LIVEMM_POLICY_PAGEBLOCK_KNOBS_H

#include "livemm.h"
#include "core.h"

enum pageblock_knob {
	KNOB_MODE,
	KNOB_MAX_ATTEMPTS,
	KNOB_RESERVE_BLOCKS,
	KNOB_MOVE_PAGES_PER_S,
	KNOB_PERIOD_MS,
	KNOB_BUFFERS,
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters: from refused_fast on the verdicts, in the order
 * of enum pageblock_verdict, and from skipped_off_list on the reasons of enum pageblock_skip.
 */
#define PAGEBLOCK_COUNTERS(COUNTER)					\
	COUNTER(SEARCHES, "searches")					\
	COUNTER(REFUSED_FAST, "refused_fast")				\
	COUNTER(REFUSED_SLOW, "refused_slow")				\
	COUNTER(REFUSED_NO_PROGRESS, "refused_no_progress")		\
	COUNTER(REFUSED_HAS_FALLBACK, "refused_has_fallback")		\
	COUNTER(REFUSED_GUARDED, "refused_guarded")			\
	COUNTER(ALLOWED_TRIED, "allowed_tried")				\
	COUNTER(ALLOWED_ATOMIC, "allowed_atomic")			\
	COUNTER(ALLOWED_HIGHATOMIC, "allowed_highatomic")		\
	COUNTER(ALLOWED_MEMALLOC, "allowed_memalloc")			\
	COUNTER(ALLOWED_OOM, "allowed_oom")				\
	COUNTER(ALLOWED_NOFAIL, "allowed_nofail")			\
	COUNTER(ALLOWED_UNGROUPED, "allowed_ungrouped")			\
	COUNTER(ALLOWED_COMPACT_DEFERRED, "allowed_compact_deferred")	\
	COUNTER(ALLOWED_UNTRACKED, "allowed_untracked")			\
	COUNTER(ALLOWED_ABOVE_HIGH, "allowed_above_high")		\
	COUNTER(ALLOWED_MUCH_FREE, "allowed_much_free")			\
	COUNTER(ALLOWED_NODE, "allowed_node")				\
	COUNTER(UNKNOWN, "unknown")					\
	COUNTER(COMPACTION_KEPT, "compaction_kept")			\
	COUNTER(CLAIMED, "claimed")					\
	COUNTER(MIXED, "mixed")						\
	COUNTER(ROUNDS, "rounds")					\
	COUNTER(PASSES, "passes")					\
	COUNTER(WORK_TIME, "work_time")					\
	COUNTER(ATTEMPTS, "attempts")					\
	COUNTER(LOOKED, "looked")					\
	COUNTER(OVER_BUDGET, "over_budget")				\
	COUNTER(TOO_DEAR, "too_dear")					\
	COUNTER(MADE, "made")						\
	COUNTER(MOVED, "moved")						\
	COUNTER(CLEANED, "cleaned")					\
	COUNTER(SKIPPED_OFF_LIST, "skipped_off_list")			\
	COUNTER(SKIPPED_LARGE, "skipped_large")				\
	COUNTER(SKIPPED_UNEVICTABLE, "skipped_unevictable")		\
	COUNTER(SKIPPED_LOCKED, "skipped_locked")			\
	COUNTER(SKIPPED_WRITEBACK, "skipped_writeback")			\
	COUNTER(SKIPPED_NOT_READ, "skipped_not_read")			\
	COUNTER(SKIPPED_BOUND, "skipped_bound")				\
	COUNTER(SKIPPED_FILESYSTEM, "skipped_filesystem")		\
	COUNTER(SKIPPED_PINNED, "skipped_pinned")			\
	COUNTER(NOT_MOVED, "not_moved")					\
	COUNTER(NO_ROOM, "no_room")					\
	COUNTER(BUSY, "busy")

enum pageblock_counter {
	PAGEBLOCK_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob pageblock_knobs[NR_KNOBS];
extern const char *const pageblock_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_PAGEBLOCK_KNOBS_H */
