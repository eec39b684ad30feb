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
	KNOB_HIGH_MAX_PCT,
	KNOB_DECAY_MS,
	NR_KNOBS
};

/* Counters, and their names in the file counters. */
#define PCP_COUNTERS(COUNTER)				\
	COUNTER(REFILLS, "refills")			\
	COUNTER(DRAINS, "drains")			\
	COUNTER(PERIODS, "periods")			\
	COUNTER(GROWN, "grown")				\
	COUNTER(RAISED, "raised")			\
	COUNTER(RESTORED, "restored")			\
	COUNTER(EXCESS_PAGES, "excess_pages")		\
	COUNTER(LIMITED_ROOM, "limited_room")		\
	COUNTER(LIMITED_WATERMARK, "limited_watermark")	\
	COUNTER(LIMITED_RECLAIM, "limited_reclaim")	\
	COUNTER(KICKS, "kicks")				\
	COUNTER(HUGE, "huge")				\
	COUNTER(OOM_CALLS, "oom_calls")			\
	COUNTER(OOM_PAGES, "oom_pages")			\
	COUNTER(HANDS_OFF, "hands_off")

enum pcp_counter {
	PCP_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob pcp_knobs[NR_KNOBS];
extern const char *const pcp_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_PCP_KNOBS_H */
