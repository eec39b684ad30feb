// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - which requests may mix blocks
 *
 * The kernel asks for a fallback under zone->lock, interrupts off, and does not say for which
 * request.  At the entry of get_page_from_freelist() hook/entry.S notes the arguments and the
 * stack address of the call.  A noted address a little above us on our own stack is taken for our
 * request's.  Any other note is of an interrupt or of another task, and our request is unknown: a
 * task's unknown request counts as one in the fast path, an interrupt's as one that may not wait.
 *
 * In two cases the note is of another request, and one search is refused or allowed wrongly.  A
 * task that changes the CPU after it has noted a request may find its own older note on the new
 * CPU.  A request for pages in bulk is not noted at all: __alloc_pages_bulk() takes pages off the
 * lists itself, and the note is of an older request on our stack.  A bulk request that is refused
 * asks get_page_from_freelist() for one page.
 *
 * Switched off, the filter leaves behind only raised watermarks, which kswapd lowers as usual.
 */
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/oom.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/entry.h"
#include "hook/table.h"
#include "trace.h"
#include "state.h"
#include "flow/zones.h"

/* Bytes from the entry of get_page_from_freelist() to us; KASAN makes frames large. */
#define STACK_DEPTH	(THREAD_SIZE / 2)
/* A round that is this old belongs to a request that has ended. */
#define ROUND_LIFE	HZ

static DEFINE_PER_CPU(struct pageblock_search, searches);

/* What current has done to make room. */
static struct pageblock_tried *task_tried(void)
{
	return &pageblock.tried[hash_ptr(current, PAGEBLOCK_TRIED_BITS)];
}

/**
 * pageblock_on_reclaim_end() - event: current has reclaimed for its request
 * @pages: number of reclaimed pages
 *
 * Context: process, preemption off.
 */
void pageblock_on_reclaim_end(unsigned long pages)
{
	pageblock_tried_add(task_tried(), current, jiffies, ROUND_LIFE);
	WRITE_ONCE(task_tried()->vain, !pages);
}

/*
 * Should the worker be asked?  Under zone->lock: the list is walked only if the worker is not asked
 * already, and enough blocks are free.
 */
static bool zone_is_short(const struct zone *zone)
{
	return !READ_ONCE(pageblock.asked) &&
	       (pageblock_is_short(zone, PAGEBLOCK_GUARDED) ||
		(pageblock_may_make() && pageblock_is_short(zone, pageblock_kept_blocks(zone))));
}

static bool any_zone_is_short(void)
{
	struct zone *zone = lmm_zone_after(NULL);

	while (zone && !pageblock_is_short(zone, PAGEBLOCK_GUARDED))
		zone = lmm_zone_after(zone);
	return zone;
}

/**
 * pageblock_on_compact_begin() - event: current is about to compact for its request
 *
 * Context: process, preemption off.
 */
void pageblock_on_compact_begin(void)
{
	pageblock_tried_add(task_tried(), current, jiffies, ROUND_LIFE);
	/* Movable requests use up free blocks without a search for another type. */
	if (!READ_ONCE(pageblock.asked) && any_zone_is_short())
		pageblock_worker_ask();
}

static bool request_is_ours(void)
{
	unsigned long noted = this_cpu_read(lmm_request_stack);
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return noted - here < STACK_DEPTH;
}

/* The request that asks for a fallback; return whether the request is known, and *@ask written. */
static bool request_read(const struct zone *zone, struct pageblock_request *request,
			 struct pageblock_ask *ask)
{
	bool task = in_task();
	unsigned int flags;
	gfp_t gfp;

	*request = (struct pageblock_request){
		.interrupt = !task,
		.cleans = pageblock_is_worker(),
		.slow = !task,
		.memalloc = task && current->flags & PF_MEMALLOC,
		.victim = task && tsk_is_oom_victim(current),
		.rounds = task ? pageblock_tried_rounds(task_tried(), current, jiffies,
							ROUND_LIFE) : 0,
	};
	if (!request_is_ours())
		return false;
	lmm_hook_hit(LMM_HOOK_REQUEST);
	gfp = (__force gfp_t)this_cpu_read(lmm_request_gfp);
	flags = this_cpu_read(lmm_request_flags);
	ask->gfp = gfp;
	ask->flags = flags;
	ask->order = this_cpu_read(lmm_request_order);
	ask->nodemask = (const void *)this_cpu_read(lmm_request_nodemask);
	request->slow = (flags & LMM_ALLOC_WMARK_MASK) != WMARK_LOW;
	request->last = (flags & LMM_ALLOC_WMARK_MASK) == WMARK_HIGH || flags & LMM_ALLOC_OOM;
	request->waits = gfp & __GFP_DIRECT_RECLAIM;
	request->high = gfp & __GFP_HIGH;
	request->highatomic = flags & LMM_ALLOC_HIGHATOMIC;
	request->memalloc |= gfp & __GFP_MEMALLOC || flags & LMM_ALLOC_NO_WATERMARKS;
	request->nofail = gfp & __GFP_NOFAIL;
	request->has_fallback = gfp & __GFP_NORETRY && ask->order;
	request->compact_deferred =
		pageblock_compaction_rests(ask->order, READ_ONCE(zone->compact_order_failed),
					   READ_ONCE(zone->compact_considered),
					   READ_ONCE(zone->compact_defer_shift));
	return true;
}

/* As the kernel counts what reclaim may free, zone_reclaimable_pages(). */
static unsigned long zone_reclaimable(struct zone *zone)
{
	unsigned long pages = zone_page_state(zone, NR_ZONE_INACTIVE_FILE) +
			      zone_page_state(zone, NR_ZONE_ACTIVE_FILE);

	if (get_nr_swap_pages() > 0)
		pages += zone_page_state(zone, NR_ZONE_INACTIVE_ANON) +
			 zone_page_state(zone, NR_ZONE_ACTIVE_ANON);
	return pages;
}

/*
 * Boost the watermarks for a refused mix as the kernel does for a mix, 1c30844d2dfe ("mm: reclaim
 * small amounts of memory when an external fragmentation event occurs", 5.0).  Whoever allocates
 * next wakes kswapd after dropping the lock.  That may be this very request, so a request that
 * may not wake kswapd does not set the flag: its task may hold locks that the wake-up takes.
 */
static void zone_boost(struct zone *zone, gfp_t gfp)
{
	unsigned long boost = zone->watermark_boost;
	unsigned long raised = pageblock_boost(boost, zone->_watermark[WMARK_HIGH],
					       READ_ONCE(*pageblock.boost_factor),
					       zone_managed_pages(zone), pageblock_nr_pages);

	/*
	 * At the limit, which is reached soon, nothing more is read under zone->lock.  Free pages
	 * that a boost keeps from requests for nothing could have the OOM killer act.
	 */
	if (raised == boost || raised > zone_reclaimable(zone))
		return;
	WRITE_ONCE(zone->watermark_boost, raised);
	if (gfp & __GFP_KSWAPD_RECLAIM)
		set_bit(ZONE_BOOSTED_WATERMARK, &zone->flags);
}

static const u8 counted_as[PAGEBLOCK_NR_VERDICTS] = {
	[PAGEBLOCK_REFUSE_FAST] = COUNT_REFUSED,
	[PAGEBLOCK_REFUSE_SLOW] = COUNT_REFUSED,
	[PAGEBLOCK_REFUSE_HAS_FALLBACK] = COUNT_REFUSED,
	[PAGEBLOCK_REFUSE_GUARDED] = COUNT_REFUSED,
	[PAGEBLOCK_ALLOW_TRIED] = COUNT_ALLOWED_TRIED,
	[PAGEBLOCK_ALLOW_COMPACT_DEFERRED] = COUNT_ALLOWED_TRIED,
	[PAGEBLOCK_ALLOW_ATOMIC] = COUNT_ALLOWED_ATOMIC,
	[PAGEBLOCK_ALLOW_URGENT] = COUNT_ALLOWED_URGENT,
	[PAGEBLOCK_ALLOW_ABOVE_HIGH] = COUNT_ALLOWED_FREE,
	[PAGEBLOCK_ALLOW_MUCH_FREE] = COUNT_ALLOWED_FREE,
	[PAGEBLOCK_ALLOW_NODE] = COUNT_ALLOWED_NODE,
};

/* Judge the request behind a search, once. */
static enum pageblock_verdict search_judge(struct zone *zone, int migratetype, bool guarded)
{
	enum pageblock_mode mode = READ_ONCE(pageblock.mode);
	struct pageblock_ask ask = { .migratetype = migratetype };
	/* kswapd does not count CMA memory either: pgdat_balanced(). */
	unsigned long pages = pageblock_pages_but_cma(zone_page_state(zone, NR_FREE_PAGES),
						      zone_page_state(zone, NR_FREE_CMA_PAGES));
	struct pageblock_request request;
	enum pageblock_verdict verdict;
	bool known = request_read(zone, &request, &ask);
	bool movable = migratetype == MIGRATE_MOVABLE;
	unsigned long high = zone->_watermark[WMARK_HIGH];

	request.guarded = guarded;
	request.above_high = movable && pages > high;
	request.much_free = !movable && pageblock_much_is_free(pages, high);
	verdict = pageblock_judge(&request, mode);
	/* Looking at other zones takes a while, and matters to refusals alone. */
	request.away = known && !pageblock_allows(verdict) && pageblock_leaves_node(zone, &ask);
	if (request.away)
		verdict = pageblock_judge(&request, mode);
	lmm_count(&lmm_pageblock_policy, counted_as[verdict], 1);
	if (request.rounds)
		pageblock_tried_judged(task_tried(), verdict);
	trace_pageblock_verdict(zone_to_nid(zone), zone_idx(zone), migratetype, ask.gfp, &request,
				verdict);
	/* The flags are 0 where the request is unknown. */
	if (pageblock_tried_boosts(task_tried(), current, verdict) &&
	    !(LMM_SMALL_STEALS && movable && ask.order < pageblock_order))
		zone_boost(zone, ask.gfp);
	return verdict;
}

/*
 * Is a wholly free block of type @found kept from the request behind a search?  @kept: blocks in
 * the reserve, if so.
 */
static bool block_is_guarded(struct zone *zone, int migratetype, int found, unsigned long *kept)
{
	bool movable = migratetype == MIGRATE_MOVABLE;
	unsigned long want;
	unsigned int order;

	if (!pageblock.guards || found != MIGRATE_UNMOVABLE || !request_is_ours())
		return false;
	order = this_cpu_read(lmm_request_order);
	want = pageblock_guarded_blocks(zone);
	/* To count takes a walk of the list: not where no count keeps blocks from the request. */
	if (!pageblock_guards(movable, order, pageblock_order, 0, want))
		return false;
	*kept = pageblock_kept_blocks(zone);
	return pageblock_guards(movable, order, pageblock_order, *kept, want);
}

/**
 * pageblock_on_fallback() - event: the kernel has looked for pages of another type
 * @area: free blocks of one order, of all types
 * @order: order of @area
 * @migratetype: type that the kernel has no pages of
 * @stealable_only: compaction asks whether it can stop
 * @found: type that the kernel has found, or -1
 * @whole: set to false if the request may take pages of a block, but not claim the block
 *
 * Context: under zone->lock, interrupts off; with @stealable_only no lock, preemption off.
 * Return: @found, or -1 if the request is refused.
 */
int pageblock_on_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole)
{
	enum pageblock_verdict verdict = PAGEBLOCK_REFUSE_FAST;
	struct pageblock_search *search;
	bool asks, guarded = false;
	unsigned long kept = 0;
	struct zone *zone;

	/*
	 * In mode claim a request may mix after compaction, so compaction may stop at a part of a
	 * block.
	 */
	if (stealable_only) {
		if (order < pageblock_order && READ_ONCE(pageblock.mode) == PAGEBLOCK_MODE_STRICT)
			return -1;
		return found;
	}
	search = this_cpu_ptr(&searches);
	asks = pageblock_search_asks(search, order, LMM_MAX_ORDER, found >= 0);
	zone = container_of(area - order, struct zone, free_area[0]);
	if (order >= pageblock_order) {
		guarded = search->pass != PAGEBLOCK_PASS_FREE &&
			  block_is_guarded(zone, migratetype, found, &kept);
		asks = guarded;
	}
	if (!asks)
		return found;
	if (search->pass == PAGEBLOCK_PASS_BEGUN) {
		lmm_count(&lmm_pageblock_policy, COUNT_SEARCHES, 1);
		verdict = search_judge(zone, migratetype, guarded);
		if (guarded ? pageblock_is_short(zone, kept) : zone_is_short(zone))
			pageblock_worker_ask();
	}
	if (!pageblock_search_answer(search, order, verdict, migratetype == MIGRATE_MOVABLE,
				     guarded))
		return -1;
	if (!guarded)
		*whole = !search->parts;
	return found;
}

/**
 * pageblock_on_mixed() - event: a request got pages of another type
 * @page: first page
 * @got_order: order of the free block that the pages were taken from
 *
 * Context: under zone->lock, interrupts off.
 */
void pageblock_on_mixed(const struct page *page, int got_order)
{
	bool whole = got_order >= pageblock_order;

	lmm_count(&lmm_pageblock_policy, whole ? COUNT_CLAIMED : COUNT_MIXED, 1);
	if (!whole)
		pageblock_remember(page);
	else if (zone_is_short(page_zone(page)))
		pageblock_worker_ask();
}

/**
 * pageblock_filter_start() - forget all searches, and who has tried
 *
 * A search that is under way when the hook is armed is not judged, since the kernel relies on the
 * answers that the search has had.
 *
 * Context: process, the hooks not armed.
 */
void pageblock_filter_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&searches, cpu), 0, sizeof(struct pageblock_search));
	memset(pageblock.tried, 0, sizeof(pageblock.tried));
}
