/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the pageblock policy
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_KNOBS_H
#define LIVEMM_POLICY_PAGEBLOCK_KNOBS_H

#include "livemm.h"

/* Knobs, in debugfs and in the parameter policies. */
#define PAGEBLOCK_KNOBS(KNOB)							\
	KNOB(RESERVE_BLOCKS, LMM_UINT("reserve_blocks", 0, 4096, 16, "blocks",	\
		"wholly free blocks to keep in each zone; 0: none"))		\
	KNOB(MOVE_PAGES_PER_S, LMM_UINT("move_pages_per_s", 0, 1000000, 1450,		\
		"pages a second", "what the worker may move; 0: the worker does nothing"))

enum pageblock_knob {
	PAGEBLOCK_KNOBS(LMM_KNOB_ID)
	NR_KNOBS
};

/* Counters, and their names in the file counters. */
#define PAGEBLOCK_COUNTERS(COUNTER)					\
	COUNTER(SEARCHES, "searches")					\
	COUNTER(REFUSED, "refused")					\
	COUNTER(ALLOWED_TRIED, "allowed_tried")				\
	COUNTER(ALLOWED_ATOMIC, "allowed_atomic")			\
	COUNTER(ALLOWED_URGENT, "allowed_urgent")			\
	COUNTER(ALLOWED_FREE, "allowed_free")				\
	COUNTER(ALLOWED_NODE, "allowed_node")				\
	COUNTER(CLAIMED, "claimed")					\
	COUNTER(MIXED, "mixed")						\
	COUNTER(PASSES, "passes")					\
	COUNTER(WORK_TIME, "work_time")					\
	COUNTER(LOOKED, "looked")					\
	COUNTER(OVER_BUDGET, "over_budget")				\
	COUNTER(MADE, "made")						\
	COUNTER(MOVED, "moved")						\
	COUNTER(SKIPPED, "skipped")					\
	COUNTER(NOT_MOVED, "not_moved")					\
	COUNTER(NO_ROOM, "no_room")

enum pageblock_counter {
	PAGEBLOCK_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob pageblock_knobs[NR_KNOBS];
extern const char *const pageblock_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_PAGEBLOCK_KNOBS_H */
