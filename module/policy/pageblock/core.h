/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - may a request mix a pageblock?
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

/**
 * enum pageblock_verdict - what becomes of a request that would mix, and why
 * @PAGEBLOCK_REFUSE_FAST: refused, the request has yet to go through the slow path
 * @PAGEBLOCK_REFUSE_SLOW: refused, the request has not reclaimed or compacted yet
 * @PAGEBLOCK_REFUSE_CASUAL: refused, who asks can do without
 * @PAGEBLOCK_ALLOW_TRIED: allowed, reclaim or compaction was tried
 * @PAGEBLOCK_ALLOW_ATOMIC: allowed, the request may not wait
 * @PAGEBLOCK_ALLOW_URGENT: allowed, the request helps to free memory, no other attempt follows, or
 *	an OOM victim asks
 * @PAGEBLOCK_ALLOW_FREE: allowed, so much is free that reclaim would be for nothing
 * @PAGEBLOCK_ALLOW_NODE: allowed, a refusal would get the request a page of another node
 * @PAGEBLOCK_NR_VERDICTS: number of verdicts
 */
enum pageblock_verdict {
	PAGEBLOCK_REFUSE_FAST,
	PAGEBLOCK_REFUSE_SLOW,
	PAGEBLOCK_REFUSE_CASUAL,
	PAGEBLOCK_ALLOW_TRIED,
	PAGEBLOCK_ALLOW_ATOMIC,
	PAGEBLOCK_ALLOW_URGENT,
	PAGEBLOCK_ALLOW_FREE,
	PAGEBLOCK_ALLOW_NODE,
	PAGEBLOCK_NR_VERDICTS
};

/**
 * struct pageblock_request - a request that would mix
 * @slow: the request is in the slow path
 * @waits: the request may reclaim directly
 * @highatomic: the request may use the reserve for high orders
 * @memalloc: the request helps to free memory
 * @last: no attempt follows: the next step is an OOM kill, or the request gives up where reclaim
 *	finds nothing
 * @victim: the task is an OOM victim
 * @has_fallback: a request for more than one page whose caller can do with less
 * @cleans: the policy's own worker asks, for pages to move others to
 * @free: pageblock_much_is_free()
 * @away: a refused request would get a page of another node
 * @tried: the request has reclaimed or compacted
 */
struct pageblock_request {
	bool slow;
	bool waits;
	bool highatomic;
	bool memalloc;
	bool last;
	bool victim;
	bool has_fallback;
	bool cleans;
	bool free;
	bool away;
	bool tried;
};

enum pageblock_verdict pageblock_judge(const struct pageblock_request *request);
bool pageblock_allows(enum pageblock_verdict verdict);

unsigned long pageblock_pages_but_cma(unsigned long pages, unsigned long cma);
bool pageblock_much_is_free(bool movable, unsigned long pages, unsigned long high);

/**
 * struct pageblock_tried - what a task has done to make room for its request
 * @owner: the task; compared, never followed
 * @stamp: time of the last round of reclaim or compaction, in ticks
 * @rounds: there was one for this request
 * @vain: the last reclaim found nothing
 * @boosted: the request has raised the watermarks
 */
struct pageblock_tried {
	const void *owner;
	unsigned long stamp;
	bool rounds;
	bool vain;
	bool boosted;
};

void pageblock_tried_add(struct pageblock_tried *tried, const void *owner, unsigned long now,
			 bool vain);
bool pageblock_tried_has(const struct pageblock_tried *tried, const void *owner,
			 unsigned long now, unsigned long life);
bool pageblock_tried_judged(struct pageblock_tried *tried, const void *owner,
			    enum pageblock_verdict verdict);

/**
 * enum pageblock_pass - where the kernel is in its search for a fallback
 * @PAGEBLOCK_PASS_FREE: the beginning of the search was not seen: refuse nothing
 * @PAGEBLOCK_PASS_BEGUN: the search has begun, no verdict yet
 * @PAGEBLOCK_PASS_JUDGED: the search has its verdict
 */
enum pageblock_pass {
	PAGEBLOCK_PASS_FREE,
	PAGEBLOCK_PASS_BEGUN,
	PAGEBLOCK_PASS_JUDGED,
};

/**
 * struct pageblock_search - one CPU's search for a fallback
 * @pass: where the search is
 * @parts: the request may take pages of a block, but not claim the block
 * @left: questions that may still be answered with what was found; 0: the request may not mix
 *
 * The kernel asks about each order from the highest down.  To split a block rather than claim
 * one, the kernel then asks from the request's order up, and relies on finding again what was
 * found on the way down.  So a search has one verdict.  Since 6.15, and 6.12 by way of stable, a
 * search goes on up from page to page of a refill, of which there may be 2,000.
 */
struct pageblock_search {
	enum pageblock_pass pass;
	bool parts;
	unsigned int left;
};

/* A right to mix is for so many questions, one a page: pages of a usual refill of a list. */
#define PAGEBLOCK_REFILL	64

void pageblock_search_judged(struct pageblock_search *search, enum pageblock_verdict verdict,
			     bool movable);
bool pageblock_search_may(struct pageblock_search *search);

unsigned long pageblock_boost(unsigned long boost, unsigned long high, int factor,
			      unsigned long managed, unsigned long block);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_H */
