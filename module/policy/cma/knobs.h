/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the cma policy
 */
#ifndef LIVEMM_POLICY_CMA_KNOBS_H
#define LIVEMM_POLICY_CMA_KNOBS_H

#include "livemm.h"
#include "core.h"

enum cma_knob {
	KNOB_MODE,
	KNOB_CAP_PCT,
	KNOB_KEEP_MS,
	KNOB_KEEP_MAX_PCT,
	KNOB_BUFFERS,
	KNOB_MOVE_PAGES_PER_S,
	KNOB_REGULAR_FREE_PCT,
	NR_KNOBS
};

/*
 * Counters, and their names in the file counters: first the refills by enum cma_verdict, in the
 * order of the enum.
 */
#define CMA_COUNTERS(COUNTER)				\
	COUNTER(LEND_RATIO, "lend_ratio")		\
	COUNTER(LEND_FIRST, "lend_first")		\
	COUNTER(LEND_PRESSURE, "lend_pressure")		\
	COUNTER(REGULAR_RATIO, "regular_ratio")		\
	COUNTER(REGULAR_FIRST, "regular_first")		\
	COUNTER(REGULAR_BUSY, "regular_busy")		\
	COUNTER(REGULAR_CAP, "regular_cap")		\
	COUNTER(REGULAR_KEPT, "regular_kept")		\
	COUNTER(REGULAR_PINS, "regular_pins")		\
	COUNTER(STOCK_PRESSURE, "stock_pressure")	\
	COUNTER(STOCK_EMPTY, "stock_empty")		\
	COUNTER(STOCK_DRIFT, "stock_drift")		\
	COUNTER(STOCK_MODE, "stock_mode")		\
	COUNTER(STOCK_LIVEPATCH, "stock_livepatch")	\
	COUNTER(LENT_PAGES, "lent_pages")		\
	COUNTER(REGULAR_PAGES, "regular_pages")		\
	COUNTER(TOPPED_UP_PAGES, "topped_up_pages")	\
	COUNTER(LENT_NONE, "lent_none")			\
	COUNTER(REGULAR_NONE, "regular_none")		\
	COUNTER(ALLOCS, "allocs")			\
	COUNTER(ALLOC_PAGES, "alloc_pages")		\
	COUNTER(RETRIES, "retries")			\
	COUNTER(FAILURES, "failures")			\
	COUNTER(RELEASED_PAGES, "released_pages")	\
	COUNTER(DRAINED_PAGES, "drained_pages")		\
	COUNTER(MOVED_PAGES, "moved_pages")		\
	COUNTER(BALANCE_PASSES, "balance_passes")	\
	COUNTER(BALANCED, "balanced")			\
	COUNTER(BALANCE_NOT_MOVED, "balance_not_moved")	\
	COUNTER(BALANCE_SKIPPED, "balance_skipped")	\
	COUNTER(BALANCE_WARM, "balance_warm")		\
	COUNTER(BALANCE_NO_ROOM, "balance_no_room")	\
	COUNTER(BALANCE_VAIN, "balance_vain")		\
	COUNTER(BALANCE_OOM, "balance_oom")		\
	COUNTER(AHEAD, "ahead")				\
	COUNTER(AHEAD_NO_ROOM, "ahead_no_room")		\
	COUNTER(AHEAD_EARLY, "ahead_early")		\
	COUNTER(AHEAD_HELD, "ahead_held")		\
	COUNTER(AHEAD_UNASKED, "ahead_unasked")

enum cma_counter {
	CMA_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob cma_knobs[NR_KNOBS];
extern const char *const cma_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_CMA_KNOBS_H */
