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
	NR_KNOBS
};

enum cma_counter {
	/* Refills by enum cma_verdict. */
	COUNT_VERDICT,
	COUNT_LENT_PAGES = COUNT_VERDICT + CMA_NR_VERDICTS,
	COUNT_REGULAR_PAGES,
	COUNT_LENT_NONE,
	COUNT_REGULAR_NONE,
	COUNT_ALLOCS,
	COUNT_ALLOC_PAGES,
	COUNT_RETRIES,
	COUNT_FAILURES,
	COUNT_RELEASED_PAGES,
	COUNT_DRAINED_PAGES,
	COUNT_MOVED_PAGES,
	NR_COUNTERS
};

extern const struct lmm_knob cma_knobs[NR_KNOBS];
extern const char *const cma_counter_names[NR_COUNTERS];

#endif /* LIVEMM_POLICY_CMA_KNOBS_H */
