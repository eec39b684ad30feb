/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - where a list of movable pages is refilled from, and which ranges are not lent
 *
 * Memory that is reserved for CMA may be lent to movable allocations while its owner has no use
 * for it.  Lending too late does not help: by then reclaim is at work, and the CMA memory that
 * reclaim frees does not bring the zone over its watermark.  So refills come from CMA memory first,
 * or (mode ratio) from regular and CMA memory in the ratio of what is left of each.  Runs of one
 * kind are then at least a pageblock long, so that pages that are allocated together are also close
 * in memory.
 *
 * Ratio and runs are those of "CMA: aggressively allocate the pages on cma reserved memory when
 * not used" (RFC, 2014, Joonsoo Kim).  There the length of a run was fixed at its beginning.
 * Here every refill updates what CMA memory owes, and a run ends when the debt is paid.  While
 * memory does not change, the runs are the same.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_H
#define LIVEMM_POLICY_CMA_CORE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* The whole, as a share of pages. */
#define CMA_SHARE_ONE	65536

/* Pageblocks that may be owed at most, either way; the rest is forgotten. */
#define CMA_OWED_BLOCKS	64

/**
 * enum cma_mode - values of knob `mode`
 * @CMA_MODE_RATIO: regular and CMA memory in the ratio of what is left of each
 * @CMA_MODE_CMA_FIRST: CMA memory while any is free
 * @CMA_MODE_REGULAR_FIRST: regular memory above the high watermark; the kernel's own rule (CMA
 *	memory once free CMA memory is over half of free memory) is off
 * @CMA_MODE_KEEP: the kernel's own rule; released ranges are still kept for their owner
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
 * @CMA_REGULAR_PINS: regular memory, as the process has pinned memory before, and the kernel moves
 *	a page out of CMA memory before a long-term pin
 * @CMA_AS_STOCK_PRESSURE: the kernel's own rule: a reason from @CMA_REGULAR_FIRST to
 *	@CMA_REGULAR_PINS asks for regular memory, which is at its high watermark
 * @CMA_AS_STOCK_EMPTY: the kernel's own rule, as no CMA memory is free
 * @CMA_AS_STOCK_DRIFT: the kernel's own rule, as the counts contradict each other
 * @CMA_AS_STOCK_MODE: the kernel's own rule, by the mode
 * @CMA_AS_STOCK_LIVEPATCH: the kernel's own rule, as the wrapper is missing that keeps the kernel
 *	within its table of fallbacks when CMA memory is used up
 * @CMA_NR_VERDICTS: number of verdicts
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
	CMA_REGULAR_PINS,
	CMA_AS_STOCK_PRESSURE,
	CMA_AS_STOCK_EMPTY,
	CMA_AS_STOCK_DRIFT,
	CMA_AS_STOCK_MODE,
	CMA_AS_STOCK_LIVEPATCH,
	CMA_NR_VERDICTS
};

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
	return verdict >= CMA_REGULAR_RATIO && verdict <= CMA_REGULAR_PINS;
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
 * @managed: pages of the allocator, CMA memory included
 * @cma: pages of CMA memory, free or not
 * @kept: free pages of CMA memory that are kept for its owner
 * @slack: error of a page count, which may be negative by as much
 * @allocating: an owner is allocating CMA memory
 * @unguarded: the kernel must not be asked for CMA memory
 * @dry: a refill that asked for CMA memory has just got none
 * @pins: the process has pinned memory before
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
	bool dry;
	bool pins;
};

/**
 * struct cma_settings - knobs of the verdicts
 * @mode: see enum cma_mode
 * @cap_pct: share of CMA memory that may be in use, by its owner or lent, in percent
 */
struct cma_settings {
	enum cma_mode mode;
	unsigned int cap_pct;
};

/**
 * struct cma_ratio - the present run of a zone; zeroed: the first run, of regular memory
 * @owed: pages that CMA memory owes for pages from regular memory, times CMA_SHARE_ONE
 * @lending: the run is of CMA memory
 */
struct cma_ratio {
	atomic64_t owed;
	bool lending;
};

long cma_room(const struct cma_view *view);
unsigned int cma_share(const struct cma_view *view);
enum cma_verdict cma_judge(const struct cma_view *view, const struct cma_settings *settings,
			   const struct cma_ratio *ratio);
bool cma_tops_up(const struct cma_view *view, enum cma_verdict verdict);
void cma_charge(struct cma_ratio *ratio, unsigned int share, long regular, long lent,
		unsigned long block);

/* Limit of the ranges that an area keeps. */
#define CMA_RANGES	8

/**
 * struct cma_range - page frames that are not lent for a while
 * @start: first page frame number
 * @end: page frame number after the last; equal to @start: no range
 * @until: time in jiffies at which the range is forgotten
 * @free: free pages of the range, as far as is known
 */
struct cma_range {
	unsigned long start;
	unsigned long end;
	unsigned long until;
	unsigned long free;
};

void cma_taken(struct cma_range *ranges, unsigned long start, unsigned long end);
void cma_limit(struct cma_range *ranges, unsigned long now, unsigned long keep, unsigned long max);
void cma_remember(struct cma_range *ranges, const struct cma_range *wanted, unsigned long now,
		  unsigned long max);
bool cma_keeps(const struct cma_range *ranges, unsigned long start, unsigned long end,
	       unsigned long now);
unsigned long cma_forget(struct cma_range *ranges, unsigned long now);

/**
 * struct cma_owners - what the owners of an area have
 * @bitmap: the kernel's bitmap.  A bit is set before its pages are taken, and cleared after these
 *	are free.
 * @start: first page frame number of the area
 * @end: page frame number after the last
 * @order: a bit stands for 2^@order pages
 */
struct cma_owners {
	const unsigned long *bitmap;
	unsigned long start;
	unsigned long end;
	unsigned int order;
};

/*
 * Part of an area that is kept until the first request of an owner: of 512 MiB, 16 MiB, which is
 * two buffers of a video stream of 1080 lines.  Nobody knows yet what the owner will ask for.
 */
#define CMA_FIRST_PARTS	32

bool cma_owned(const struct cma_owners *owners, unsigned long start, unsigned long end);
bool cma_first_range(const struct cma_owners *owners, unsigned long pages,
		     struct cma_range *range);

#endif /* LIVEMM_POLICY_CMA_CORE_H */
