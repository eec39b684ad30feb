/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - knobs and counters of the cma policy
 */
#ifndef LIVEMM_POLICY_CMA_KNOBS_H
#define LIVEMM_POLICY_CMA_KNOBS_H

#include "livemm.h"

/**
 * enum cma_mode - values of knob `mode`
 * @CMA_MODE_KEEP: refills of the lists are left to the kernel
 * @CMA_MODE_RATIO: refills come from regular and CMA memory in the ratio of what is left of each
 */
enum cma_mode {
	CMA_MODE_KEEP,
	CMA_MODE_RATIO,
};

/* Knobs, in debugfs and in the parameter policies. */
#define CMA_KNOBS(KNOB)								\
	KNOB(MODE, LMM_CHOICE("mode", mode_words, CMA_MODE_KEEP, "",		\
		"where refills come from; Debian's 7.2 has `keep` alone"))	\
	KNOB(KEEP_MS, LMM_UINT("keep_ms", 0, 600000, 30000, "ms",		\
		"how long a range is kept for its owner; more, if an owner pauses for longer"))	\
	/* 256 MiB a second, while regular memory is short. */			\
	KNOB(MOVE_PAGES_PER_S, LMM_UINT("move_pages_per_s", 0, 1048576, 65536,		\
		"pages a second",						\
		"what may be moved; 0: none; less, where movement takes too much CPU time"))

enum cma_knob {
	CMA_KNOBS(LMM_KNOB_ID)
	NR_KNOBS
};

/* Counters, and their names in the file counters. */
#define CMA_COUNTERS(COUNTER)				\
	COUNTER(LENT_PAGES, "lent_pages")		\
	COUNTER(REGULAR_PAGES, "regular_pages")		\
	COUNTER(ALLOCS, "allocs")			\
	COUNTER(RETRIES, "retries")			\
	COUNTER(FAILURES, "failures")			\
	COUNTER(BALANCED, "balanced")			\
	COUNTER(BALANCE_NO_ROOM, "balance_no_room")	\
	COUNTER(BALANCE_VAIN, "balance_vain")		\
	COUNTER(BALANCE_OOM, "balance_oom")

enum cma_counter {
	CMA_COUNTERS(LMM_COUNTER)
	NR_COUNTERS
};

extern const struct lmm_knob cma_knobs[NR_KNOBS];
extern const char *const cma_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_CMA_KNOBS_H */
