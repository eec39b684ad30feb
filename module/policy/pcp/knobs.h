/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the pcp policy
 */
#ifndef LIVEMM_POLICY_PCP_KNOBS_H
#define LIVEMM_POLICY_PCP_KNOBS_H

#include "livemm.h"
#include "core.h"

/**
 * enum pcp_mode - how lists are sized: values of knob `mode`
 * @PCP_MODE_DEPTH: by the depth of allocation and freeing, tracked page by page
 * @PCP_MODE_EVENT: by refills and drains
 */
enum pcp_mode {
	PCP_MODE_DEPTH,
	PCP_MODE_EVENT,
};

enum pcp_knob {
	KNOB_MODE,
	KNOB_PERIOD_MS,
	KNOB_WINDOW_PERIODS,
	KNOB_HIGH_MAX_PCT,
	KNOB_LIMIT_EXIT_DRAIN,
	KNOB_BATCH_MAX_SCALE,
	KNOB_DECAY_MS,
	KNOB_GAIN_PCT,
	KNOB_WATERMARK_GUARD_PCT,
	KNOB_CONTENDED_ONLY,
	KNOB_SCOPE,
	NR_KNOBS
};

enum pcp_scope {
	SCOPE_ZONE,
	SCOPE_NODE,
};

enum pcp_counter {
	COUNT_REFILLS,
	COUNT_REFILL_PAGES,
	COUNT_SCALED_REFILLS,
	COUNT_DRAINS,
	COUNT_DRAIN_PAGES,
	COUNT_KEPT_PAGES,
	COUNT_CONTENDED,
	COUNT_PERIODS,
	COUNT_GROWN,
	COUNT_RAISED,
	COUNT_LOWERED,
	COUNT_RESTORED,
	COUNT_EXCESS_PAGES,
	COUNT_LOST_RACE,
	COUNT_LIMITED_MAX,
	COUNT_LIMITED_ROOM,
	COUNT_LIMITED_WATERMARK,
	COUNT_LIMITED_QUIET,
	COUNT_LIMITED_RECLAIM,
	COUNT_KICKS,
	COUNT_OOM_CALLS,
	COUNT_OOM_PAGES,
	COUNT_IDLE_RESETS,
	COUNT_HANDS_OFF,
	NR_COUNTERS
};

extern const struct lmm_knob pcp_knobs[NR_KNOBS];
extern const char *const pcp_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_PCP_KNOBS_H */
