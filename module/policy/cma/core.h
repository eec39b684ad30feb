/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - from which memory a list of movable pages is refilled, and which ranges of
 * CMA memory are best not lent
 *
 * Memory that is reserved for CMA may be lent to movable allocations as long as its owner
 * has no use for it.  Lent too late it does not help: by then reclaim is at work, and what
 * it frees of CMA memory does not bring the zone over its watermark.  So the two kinds are
 * drawn on in the ratio of what is left of each, in runs of at least a pageblock so that
 * pages that follow each other in time do so in memory.
 *
 * The ratio and the runs are those of "CMA: aggressively allocate the pages on cma
 * reserved memory when not used" (RFC, 2014, Joonsoo Kim).  There a run's length was
 * worked out when it began, and held to however memory changed; here what CMA memory is
 * owed is kept up to date with every refill, and a run ends when it has been paid.  Where
 * nothing changes the runs are the same.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_H
#define LIVEMM_POLICY_CMA_CORE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* One, as a share of pages. */
#define CMA_SHARE_ONE	65536

/* Pageblocks that may be owed at most, either way: what cannot be paid is forgotten. */
#define CMA_OWED_BLOCKS	64

/**
 * enum cma_mode - values of knob `mode`
 * @CMA_MODE_RATIO: regular and CMA memory in the ratio of what is left of each
 * @CMA_MODE_CMA_FIRST: CMA memory as long as there is any
 * @CMA_MODE_REGULAR_FIRST: regular memory as long as there is any; the kernel's own rule,
 *	CMA memory once it is over half of what is free, is off
 * @CMA_MODE_KEEP: as the kernel has it; what an owner has released is kept for it all the same
 */
enum cma_mode {
	CMA_MODE_RATIO,
	CMA_MODE_CMA_FIRST,
	CMA_MODE_REGULAR_FIRST,
	CMA_MODE_KEEP,
};

/**
 * enum cma_verdict - where a refill is to come from, and why
 * @CMA_LEND_RATIO: CMA memory, by the ratio
 * @CMA_LEND_FIRST: CMA memory, by the mode
 * @CMA_LEND_PRESSURE: CMA memory, as regular memory is at its high watermark
 * @CMA_REGULAR_RATIO: regular memory, by the ratio
 * @CMA_REGULAR_FIRST: regular memory, by the mode
 * @CMA_REGULAR_BUSY: regular memory, as an owner is allocating CMA memory
 * @CMA_REGULAR_CAP: regular memory, as the most CMA memory allowed is in use
 * @CMA_REGULAR_KEPT: regular memory, as free CMA memory is kept for its owner
 * @CMA_AS_STOCK_PRESSURE: the kernel's own rule: a reason from @CMA_REGULAR_FIRST to
 *	@CMA_REGULAR_KEPT asks for regular memory, which is at its high watermark
 * @CMA_AS_STOCK_EMPTY: the kernel's own rule, as no CMA memory is free
 * @CMA_AS_STOCK_DRIFT: the kernel's own rule, as the counts contradict each other
 * @CMA_AS_STOCK_MODE: the kernel's own rule, by the mode
 * @CMA_AS_STOCK_LIVEPATCH: the kernel's own rule, as the wrapper is not in place that keeps the
 *	kernel from running off the end of its table when CMA memory is used up
 * @CMA_NR_VERDICTS: number of the above
 */
enum cma_verdict {
	CMA_LEND_RATIO,
	CMA_LEND_FIRST,
	CMA_LEND_PRESSURE,
	CMA_REGULAR_RATIO,
	CMA_REGULAR_FIRST,
	CMA_REGULAR_BUSY,
	CMA_REGULAR_CAP,
	CMA_REGULAR_KEPT,
	CMA_AS_STOCK_PRESSURE,
	CMA_AS_STOCK_EMPTY,
	CMA_AS_STOCK_DRIFT,
	CMA_AS_STOCK_MODE,
	CMA_AS_STOCK_LIVEPATCH,
	CMA_NR_VERDICTS
};

/* Does a mode say where refills come from? */
static inline bool cma_mode_lends(enum cma_mode mode)
{
	return mode != CMA_MODE_KEEP;
}

static inline bool cma_lends(enum cma_verdict verdict)
{
	return verdict <= CMA_LEND_PRESSURE;
}

static inline bool cma_wants_regular(enum cma_verdict verdict)
{
	return verdict >= CMA_REGULAR_RATIO && verdict <= CMA_REGULAR_KEPT;
}

static inline bool cma_by_ratio(enum cma_verdict verdict)
{
	return verdict == CMA_LEND_RATIO || verdict == CMA_REGULAR_RATIO;
}

/**
 * struct cma_view - a zone, in pages
 * @free: free pages, CMA memory included
 * @free_cma: free pages of CMA memory
 * @high: the zone's high watermark
 * @managed: pages that the allocator has, CMA memory included
 * @cma: pages of CMA memory, free or not
 * @kept: free pages of it that are kept for its owner
 * @slack: by how much a count may be off, and so negative
 * @allocating: its owner is about to take some
 * @unguarded: the kernel must not be asked for CMA memory
 */
struct cma_view {
	long free;
	long free_cma;
	long high;
	long managed;
	long cma;
	long kept;
	long slack;
	bool allocating;
	bool unguarded;
};

/**
 * struct cma_settings - what the admin wants
 * @mode: see enum cma_mode
 * @cap_pct: share of CMA memory that may be in use, by its owner or lent, in percent
 */
struct cma_settings {
	enum cma_mode mode;
	unsigned int cap_pct;
};

/**
 * struct cma_ratio - which run a zone is in; zeroed, it is the first one, of regular memory
 * @owed: pages that CMA memory has yet to give for those that came from regular memory,
 *	times CMA_SHARE_ONE
 * @lending: the run is one of CMA memory
 */
struct cma_ratio {
	atomic64_t owed;
	bool lending;
};

long cma_room(const struct cma_view *view);
unsigned int cma_share(const struct cma_view *view);
enum cma_verdict cma_judge(const struct cma_view *view, const struct cma_settings *settings,
			   const struct cma_ratio *ratio);
void cma_charge(struct cma_ratio *ratio, unsigned int share, long regular, long lent,
		unsigned long block);

/* Ranges that an area remembers. */
#define CMA_RANGES	8

/**
 * struct cma_range - page frames that are not to be lent for a while
 * @start: the first
 * @end: the one after the last; no range where it is @start
 * @until: time at which it is forgotten, in jiffies
 * @free: pages of it that are free, as far as is known
 */
struct cma_range {
	unsigned long start;
	unsigned long end;
	unsigned long until;
	unsigned long free;
};

void cma_taken(struct cma_range *ranges, unsigned long start, unsigned long end);
void cma_remember(struct cma_range *ranges, const struct cma_range *wanted, unsigned long now,
		  unsigned long max);
unsigned long cma_forget(struct cma_range *ranges, unsigned long now);

#endif /* LIVEMM_POLICY_CMA_CORE_H */
