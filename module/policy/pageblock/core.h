/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - may a block of pages be mixed?  when is a block to be made free?
 *
 * A pageblock has a migratetype: what the pages in it are for.  When a request finds
 * no free page of its type, the kernel takes some of another type's block and leaves
 * that mixed.  The filter refuses that until the kernel has tried to make room; what
 * is wholly free belongs to nobody and may always be claimed.
 *
 * The idea is that of "mm: reliable huge page allocator" (RFC, 2023,
 * 20230418191313.268131-1-hannes@cmpxchg.org), and of vm.defrag_mode, which came of it
 * (e3aa7df331bc "mm: page_alloc: defrag_mode", 6.15).
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_H

#include <linux/types.h>

#include "core_census.h"

/**
 * enum pageblock_mode - how long mixing is refused: values of knob `mode`
 * @PAGEBLOCK_MODE_CLAIM: until reclaim or compaction has been tried once; to what can be
 *	moved only where kswapd has a reason to reclaim
 * @PAGEBLOCK_MODE_STRICT: until `max_attempts` rounds of that made no progress
 */
enum pageblock_mode {
	PAGEBLOCK_MODE_CLAIM,
	PAGEBLOCK_MODE_STRICT,
};

/*
 * Rounds after which mode strict gives in though reclaim still finds pages: what it
 * finds is evidently of no use to the request.  The kernel itself gives up after so
 * many without progress (MAX_RECLAIM_RETRIES).
 */
#define PAGEBLOCK_MAX_ROUNDS	16

/**
 * enum pageblock_verdict - what becomes of a request that would mix, and why
 * @PAGEBLOCK_REFUSE_FAST: refused, it has not been in the slow path; it goes there
 * @PAGEBLOCK_REFUSE_SLOW: refused, neither reclaim nor compaction was tried for it
 * @PAGEBLOCK_REFUSE_NO_PROGRESS: refused, they were, but not often enough (mode strict)
 * @PAGEBLOCK_REFUSE_HAS_FALLBACK: refused, who asks has said that it can do with less
 * @PAGEBLOCK_ALLOW_TRIED: allowed, they were tried
 * @PAGEBLOCK_ALLOW_ATOMIC: allowed, it may not wait
 * @PAGEBLOCK_ALLOW_HIGHATOMIC: allowed, the request may not wait and is of a high order
 * @PAGEBLOCK_ALLOW_MEMALLOC: allowed, memory is freed by means of it
 * @PAGEBLOCK_ALLOW_OOM: allowed, the next step is to kill, or the killed one asks
 * @PAGEBLOCK_ALLOW_NOFAIL: allowed, it may not fail
 * @PAGEBLOCK_ALLOW_UNGROUPED: allowed, the machine is too small for grouping
 * @PAGEBLOCK_ALLOW_COMPACT_DEFERRED: allowed, the zone has no wholly free block and compaction
 *	has failed to make one, so that more rounds would be for nothing
 * @PAGEBLOCK_ALLOW_UNTRACKED: allowed, there was no room to note what was tried for it
 * @PAGEBLOCK_ALLOW_ABOVE_HIGH: allowed, but not to claim the block: what it gets can be moved
 *	away again, and enough is free, though not of its type, so that kswapd does not
 *	reclaim for it (mode claim)
 * @PAGEBLOCK_NR_VERDICTS: number of the above
 */
enum pageblock_verdict {
	PAGEBLOCK_REFUSE_FAST,
	PAGEBLOCK_REFUSE_SLOW,
	PAGEBLOCK_REFUSE_NO_PROGRESS,
	PAGEBLOCK_REFUSE_HAS_FALLBACK,
	PAGEBLOCK_ALLOW_TRIED,
	PAGEBLOCK_ALLOW_ATOMIC,
	PAGEBLOCK_ALLOW_HIGHATOMIC,
	PAGEBLOCK_ALLOW_MEMALLOC,
	PAGEBLOCK_ALLOW_OOM,
	PAGEBLOCK_ALLOW_NOFAIL,
	PAGEBLOCK_ALLOW_UNGROUPED,
	PAGEBLOCK_ALLOW_COMPACT_DEFERRED,
	PAGEBLOCK_ALLOW_UNTRACKED,
	PAGEBLOCK_ALLOW_ABOVE_HIGH,
	PAGEBLOCK_NR_VERDICTS
};

/**
 * struct pageblock_settings - knobs of the filter
 * @mode: how long mixing is refused
 * @max_attempts: rounds without progress, 1..PAGEBLOCK_MAX_ROUNDS (mode strict)
 */
struct pageblock_settings {
	enum pageblock_mode mode;
	unsigned int max_attempts;
};

/**
 * struct pageblock_request - what is known of a request that would mix
 * @slow: it is in the slow path
 * @waits: it may reclaim directly
 * @high: it may use reserves (__GFP_HIGH)
 * @highatomic: and those of high orders
 * @memalloc: memory is freed by means of it
 * @last: the last attempt before somebody is killed
 * @victim: by the one that was
 * @nofail: it may not fail
 * @has_fallback: for more than one page, and who asks does not mind if there is none
 * @cleans: it is ours, to put pages where they belong
 * @grouped: the machine groups pages by mobility
 * @compact_deferred: compaction of the zone has failed, and is put off by the kernel
 * @untracked: what was tried for it could not be noted
 * @above_high: it is for what can be moved, and more is free in the zone, of whatever type,
 *	than kswapd reclaims for
 * @rounds: times that reclaim or compaction was tried for it
 * @no_progress: those of them, the last ones in a row, that made no progress
 */
struct pageblock_request {
	bool slow;
	bool waits;
	bool high;
	bool highatomic;
	bool memalloc;
	bool last;
	bool victim;
	bool nofail;
	bool has_fallback;
	bool cleans;
	bool grouped;
	bool compact_deferred;
	bool untracked;
	bool above_high;
	unsigned int rounds;
	unsigned int no_progress;
};

enum pageblock_verdict pageblock_judge(const struct pageblock_request *request,
				       const struct pageblock_settings *settings);
bool pageblock_allows(enum pageblock_verdict verdict);

/**
 * enum pageblock_pass - where the kernel is in its search for a fallback
 * @PAGEBLOCK_PASS_FREE: not known to have begun under our eyes: let it be
 * @PAGEBLOCK_PASS_BEGUN: at the top, nothing was judged
 * @PAGEBLOCK_PASS_ALLOWED: judged, it may mix
 * @PAGEBLOCK_PASS_REFUSED: judged, it may not, or has
 */
enum pageblock_pass {
	PAGEBLOCK_PASS_FREE,
	PAGEBLOCK_PASS_BEGUN,
	PAGEBLOCK_PASS_ALLOWED,
	PAGEBLOCK_PASS_REFUSED,
};

/**
 * struct pageblock_search - one CPU's search for a fallback
 * @pass: where it is
 * @order: of the last question
 * @parts: it may mix, but not claim a block that others have part of
 *
 * The kernel asks about one order after the other: from the highest down, and, if what
 * is there is to be split rather than claimed, from the request's up.  It relies on
 * finding again on the way up what it has found on the way down, so one search gets one
 * answer.
 */
struct pageblock_search {
	enum pageblock_pass pass;
	unsigned int order;
	bool parts;
};

bool pageblock_search_asks(struct pageblock_search *search, unsigned int order,
			   unsigned int top, bool found);
bool pageblock_search_answer(struct pageblock_search *search, unsigned int order,
			     enum pageblock_verdict verdict);

/**
 * struct pageblock_reserve - the wholly free blocks of a zone
 * @gap: ticks from one attempt to make more to the next
 * @wait: ticks left until that
 */
struct pageblock_reserve {
	unsigned int gap;
	unsigned int wait;
};

/* Ticks between attempts that make no progress, at most. */
#define PAGEBLOCK_MAX_GAP	16

unsigned long pageblock_boost(unsigned long boost, unsigned long high, int factor,
			      unsigned long managed, unsigned long block);
u64 pageblock_out_of_place(const struct census_block *block);
u64 pageblock_vacate_cost(const struct census_block *block, u64 whole);
unsigned long pageblock_reserve_tick(struct pageblock_reserve *reserve, unsigned long blocks,
				     unsigned long want);
void pageblock_reserve_made(struct pageblock_reserve *reserve, unsigned long made);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_H */
