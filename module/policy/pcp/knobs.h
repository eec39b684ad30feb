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

/* Knobs, in debugfs and in the parameter policies. */
#define PCP_KNOBS(KNOB)								\
	KNOB(MODE, LMM_CHOICE("mode", mode_words, PCP_MODE_EVENT, "",		\
		"how lists are sized"))						\
	/* percpu_pagelist_high_fraction = 8, the series' limit. */		\
	KNOB(HIGH_MAX_PCT, LMM_TENTHS("high_max_pct", 10, 500, 125, "percent",	\
		"how much of a zone the lists of the CPUs of its node may hold"))	\
	/* As long as the kernel lets remote lists idle (pcp->expire). */	\
	KNOB(DECAY_MS, LMM_UINT("decay_ms", 500, 60000, 3000, "ms",		\
		"unused pages go back after this time"))

enum pcp_knob {
	PCP_KNOBS(LMM_KNOB_ID)
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
