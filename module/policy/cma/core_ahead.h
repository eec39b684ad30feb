/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_ahead.h - when an owner will ask for memory again, and which range is to be empty by then
 *
 * What the kernel lent of a kept range has to leave when the owner asks, and the owner waits.  An
 * owner such as a camera asks in regular intervals.  So the time from a release to the next request
 * is learned, and the pages are moved out just before the request.  From then on nobody gets the
 * range's free pages until the owner asks: the range is held.  Earlier than needed is no use, since
 * others could have used the memory.
 *
 * Pure: no kernel state, lock, clock or struct page.  Times are in ms since any moment, and do not
 * go back.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_AHEAD_H
#define LIVEMM_POLICY_CMA_CORE_AHEAD_H

#include <linux/limits.h>
#include <linux/types.h>

#include "core.h"

/**
 * struct cma_rhythm - requests and releases of an area's owners
 * @released: time of the last release; 0: there was a request since, or no release yet
 * @gap: ms from a release to the next request; 0: not known
 * @wanted: pages of the last request
 */
struct cma_rhythm {
	u64 released;
	u64 gap;
	unsigned long wanted;
};

/*
 * Time before the expected request at which movement ends, in ms: pages under way would make the
 * kernel try another range.  Two jiffies of Debian's kernels, whose timers the owner waits for too.
 */
#define CMA_AHEAD_REST_MS	8U

/* Time for one more look before movement ends, in ms: the interval of looks near the goal. */
#define CMA_AHEAD_LOOK_MS	20U

/*
 * Time after the expected request for which a range is held for a late owner, in ms: a few turns of
 * the scheduler on a busy CPU.
 */
#define CMA_AHEAD_LATE_MS	100U

/*
 * For so long the first range that an owner releases is held, in ms, for nobody knows yet when that
 * owner asks again.
 */
#define CMA_AHEAD_FIRST_MS	1000U

/*
 * The lists of CPUs are emptied so often meanwhile, in ms.  On a CPU that ends processes all the
 * time, second requests of an owner ran for 15 to 84 million instructions without that, and for 10
 * to 39 with it (bench/cma.md).
 */
#define CMA_AHEAD_FIRST_LOOK_MS	50U

/*
 * Most pages that are held, 256 MiB with pages of 4 KiB: preemption is off while their blocks, each
 * of up to 512 pages, are released.
 */
#define CMA_HOLD_PAGES		65536UL

/* A late request makes the expected gap longer by one of so many parts at most. */
#define CMA_AHEAD_LONGER	16U

/* Movement gets so many times what the budget takes, since others need the CPU as well. */
#define CMA_AHEAD_SLACK		2U

/* No movement is due. */
#define CMA_AHEAD_NEVER		U64_MAX

void cma_rhythm_asks(struct cma_rhythm *rhythm, u64 now, unsigned long count);
bool cma_rhythm_releases(struct cma_rhythm *rhythm, u64 now);
u64 cma_ahead_end(const struct cma_rhythm *rhythm);
u64 cma_ahead_first_end(const struct cma_rhythm *rhythm, u64 now);
u64 cma_ahead_due(const struct cma_rhythm *rhythm, u64 now, unsigned long lent, unsigned int rate);
unsigned long cma_ahead_range(const struct cma_range *ranges, unsigned long now,
			      unsigned long wanted, struct cma_range *range);
void cma_hold_apart(struct cma_owners *owners, const struct cma_owners *next,
		    unsigned long block);
void cma_hold_blocks(const struct cma_owners *owners, unsigned long block,
		     struct cma_range *range);

#endif /* LIVEMM_POLICY_CMA_CORE_AHEAD_H */
