/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - may a request mix a pageblock?  which pages of a block can leave?
 *
 * A pageblock has a migratetype.  When a request finds no free page of its type, the kernel takes
 * pages from a block of another type, which mixes that block.  The filter refuses a mix until the
 * kernel has tried to make room.  A wholly free block may always be claimed.
 *
 * From "mm: reliable huge page allocator" (RFC, 2023,
 * 20230418191313.268131-1-hannes@cmpxchg.org), which led to vm.defrag_mode (e3aa7df331bc "mm:
 * page_alloc: defrag_mode", 6.15).
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_H

#include <linux/types.h>

#include "core_census.h"

/**
 * enum pageblock_mode - how long mixing is refused: values of knob `mode`
 * @PAGEBLOCK_MODE_CLAIM: until the request has reclaimed or compacted once; not at all for a
 *	movable request in a zone above its high watermark
 * @PAGEBLOCK_MODE_STRICT: until the kernel itself would give up, as in the series, which mixes only
 *	where the next step is an OOM kill
 */
enum pageblock_mode {
	PAGEBLOCK_MODE_CLAIM,
	PAGEBLOCK_MODE_STRICT,
};

/*
 * Mode strict gives in after so many rounds, even if reclaim finds pages, which evidently do not
 * help.  The kernel gives up after as many rounds without progress (MAX_RECLAIM_RETRIES).
 */
#define PAGEBLOCK_MAX_ROUNDS	16

/**
 * enum pageblock_verdict - what becomes of a request that would mix, and why
 * @PAGEBLOCK_REFUSE_FAST: refused, the request has yet to go through the slow path
 * @PAGEBLOCK_REFUSE_SLOW: refused, the request has not reclaimed or compacted often enough
 * @PAGEBLOCK_REFUSE_HAS_FALLBACK: refused, the caller has a fallback for a failed request
 * @PAGEBLOCK_REFUSE_GUARDED: refused a guarded block; may take pages of a partly used one, as with
 *	PAGEBLOCK_ALLOW_ABOVE_HIGH
 * @PAGEBLOCK_ALLOW_TRIED: allowed, reclaim or compaction was tried often enough
 * @PAGEBLOCK_ALLOW_COMPACT_DEFERRED: allowed, compaction for the request failed in the zone and is
 *	deferred
 * @PAGEBLOCK_ALLOW_ATOMIC: allowed, the request may not wait
 * @PAGEBLOCK_ALLOW_URGENT: allowed, the request may not fail or helps to free memory, the next step
 *	is an OOM kill, or an OOM victim asks
 * @PAGEBLOCK_ALLOW_ABOVE_HIGH: may take pages, but not claim the block: movable pages can leave
 *	later, and kswapd does not reclaim in a zone above its high watermark (mode claim)
 * @PAGEBLOCK_ALLOW_MUCH_FREE: allowed, far more is free than the high watermark: reclaim would only
 *	free more of the other types (mode claim)
 * @PAGEBLOCK_ALLOW_NODE: allowed, a refusal would get the request a page of another node; a movable
 *	request may take pages, but not claim the block
 * @PAGEBLOCK_NR_VERDICTS: number of verdicts
 */
enum pageblock_verdict {
	PAGEBLOCK_REFUSE_FAST,
	PAGEBLOCK_REFUSE_SLOW,
	PAGEBLOCK_REFUSE_HAS_FALLBACK,
	PAGEBLOCK_REFUSE_GUARDED,
	PAGEBLOCK_ALLOW_TRIED,
	PAGEBLOCK_ALLOW_COMPACT_DEFERRED,
	PAGEBLOCK_ALLOW_ATOMIC,
	PAGEBLOCK_ALLOW_URGENT,
	PAGEBLOCK_ALLOW_ABOVE_HIGH,
	PAGEBLOCK_ALLOW_MUCH_FREE,
	PAGEBLOCK_ALLOW_NODE,
	PAGEBLOCK_NR_VERDICTS
};

/**
 * struct pageblock_request - a request that would mix
 * @slow: the request is in the slow path
 * @waits: the request may reclaim directly
 * @high: the request may use reserves (__GFP_HIGH)
 * @highatomic: the request may use the reserve for high orders
 * @memalloc: the request helps to free memory
 * @last: this is the last attempt before an OOM kill
 * @victim: the task is an OOM victim
 * @nofail: the request may not fail
 * @has_fallback: a request for more than one page whose caller can do with less
 * @cleans: the policy's own worker asks, for pages to move others to
 * @compact_deferred: compaction has failed in the zone for this order or a lower one, and the
 *	kernel defers the next try
 * @interrupt: the request is of an interrupt
 * @above_high: a movable request; free pages of all types but CMA memory are above the high
 *	watermark, without the boost: the request's own boost is not held against it
 * @much_free: another request; pageblock_much_is_free()
 * @away: a refused request would get a page of another node
 * @guarded: the search has found a block that is kept from the request, see pageblock_guards()
 * @rounds: rounds of reclaim or compaction of the request
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
	bool compact_deferred;
	bool interrupt;
	bool above_high;
	bool much_free;
	bool away;
	bool guarded;
	unsigned int rounds;
};

enum pageblock_verdict pageblock_judge(const struct pageblock_request *request,
				       enum pageblock_mode mode);
bool pageblock_allows(enum pageblock_verdict verdict);

/*
 * This many times the high watermark is much free memory.  kswapd frees up to the high watermark
 * with its boost, at most 2.5 times the high watermark by default (vm.watermark_boost_factor), so
 * more is free only where nobody had to reclaim.
 */
#define PAGEBLOCK_MUCH		4

unsigned long pageblock_pages_but_cma(unsigned long pages, unsigned long cma);
bool pageblock_much_is_free(unsigned long pages, unsigned long high);

bool pageblock_compaction_rests(unsigned int order, int failed, unsigned int considered,
				unsigned int shift);

/* A right to mix is for this many pages: as many as a list is usually refilled with. */
#define PAGEBLOCK_REFILL	64

/* A task's count of rounds goes on for so many times the life of a round. */
#define PAGEBLOCK_COUNT_LIVES	64

/**
 * struct pageblock_tried - what a task has done to make room for its request
 * @owner: the task; compared, never followed
 * @stamp: time of the last round of reclaim or compaction, in ticks
 * @rounds: rounds so far; 0: there is no right to mix
 * @left: searches that the right to mix is still for
 * @vain: the last reclaim found nothing
 * @boosted: the task that has raised the watermarks for its request; compared, never followed
 */
struct pageblock_tried {
	const void *owner;
	unsigned long stamp;
	unsigned int rounds;
	unsigned int left;
	bool vain;
	const void *boosted;
};

unsigned int pageblock_tried_rounds(const struct pageblock_tried *tried, const void *owner,
				    unsigned long now, unsigned long life);
void pageblock_tried_add(struct pageblock_tried *tried, const void *owner, unsigned long now,
			 unsigned long life);
void pageblock_tried_judged(struct pageblock_tried *tried, enum pageblock_verdict verdict);
bool pageblock_tried_boosts(struct pageblock_tried *tried, const void *owner,
			    enum pageblock_verdict verdict);

/**
 * enum pageblock_pass - where the kernel is in its search for a fallback
 * @PAGEBLOCK_PASS_FREE: the beginning of the search was not seen: refuse nothing
 * @PAGEBLOCK_PASS_BEGUN: the search has begun, no verdict yet
 * @PAGEBLOCK_PASS_ALLOWED: the request may mix
 * @PAGEBLOCK_PASS_REFUSED: the request may not mix, or has used up its right to mix
 */
enum pageblock_pass {
	PAGEBLOCK_PASS_FREE,
	PAGEBLOCK_PASS_BEGUN,
	PAGEBLOCK_PASS_ALLOWED,
	PAGEBLOCK_PASS_REFUSED,
};

/**
 * struct pageblock_search - one CPU's search for a fallback
 * @pass: where the search is
 * @order: order of the last question
 * @parts: the request may take pages of a block, but not claim the block
 * @spared: the request may not have a guarded block
 * @left: pages that the right to mix is still for
 *
 * The kernel asks about each order from the highest down.  To split a block rather than claim
 * one, the kernel then asks from the request's order up, and relies on finding again what was
 * found on the way down.  So a search has one verdict.
 */
struct pageblock_search {
	enum pageblock_pass pass;
	unsigned int order;
	bool parts;
	bool spared;
	unsigned int left;
};

bool pageblock_search_asks(struct pageblock_search *search, unsigned int order,
			   unsigned int top, bool found);
bool pageblock_search_answer(struct pageblock_search *search, unsigned int order,
			     enum pageblock_verdict verdict, bool movable, bool guarded);

bool pageblock_guards(bool movable, unsigned int order, unsigned int whole, unsigned long kept,
		      unsigned long want);

unsigned long pageblock_boost(unsigned long boost, unsigned long high, int factor,
			      unsigned long managed, unsigned long block);
u64 pageblock_out_of_place(const struct census_block *block, u64 whole);
bool pageblock_vacate_hopeless(const struct census_block *block);
u64 pageblock_vacate_cost(const struct census_block *block, u64 whole);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_H */
