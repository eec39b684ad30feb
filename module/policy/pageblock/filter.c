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
#include "core.h"
#include "trace.h"
#include "state.h"
#include "policy/common/zones.h"

/* Bytes from the entry of get_page_from_freelist() to us; KASAN makes frames large. */
#define STACK_DEPTH	(THREAD_SIZE / 2)
/* A round that is this old belongs to a request that has ended. */
#define ROUND_LIFE	HZ
/* Going up, the kernel relies on finding again what it has found going down. */
static_assert(PAGEBLOCK_REFILL >= 2 * ARRAY_SIZE(((struct zone *)NULL)->free_area));
/* log2 of the places for tasks that make room. */
#define PLACES_BITS	10

static DEFINE_PER_CPU(struct pageblock_search, searches);

/* What tasks have done to make room, by a hash of the task; two may share a place. */
static struct pageblock_tried places[BIT(PLACES_BITS)];

static struct pageblock_tried *task_tried(void)
{
	return &places[hash_ptr(current, PLACES_BITS)];
}

static bool task_has_tried(void)
{
	return pageblock_tried_has(task_tried(), current, jiffies, ROUND_LIFE);
}

/**
 * pageblock_on_reclaim_end() - event: current has reclaimed for its request
 * @pages: number of reclaimed pages
 *
 * Context: process, preemption off.
 */
void pageblock_on_reclaim_end(unsigned long pages)
{
	pageblock_tried_add(task_tried(), current, jiffies, !pages);
}

/**
 * pageblock_on_compact_begin() - event: current is about to compact for its request
 *
 * That says nothing of a reclaim in vain.
 *
 * Context: process, preemption off.
 */
void pageblock_on_compact_begin(void)
{
	bool vain = task_has_tried() && READ_ONCE(task_tried()->vain);
	struct zone *zone;

	pageblock_tried_add(task_tried(), current, jiffies, vain);
	/* Movable requests use up free blocks without a search for another type. */
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		if (pageblock_is_short(zone))
			pageblock_worker_ask();
}

static bool request_is_ours(void)
{
	unsigned long noted = this_cpu_read(lmm_request_stack);
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return noted - here < STACK_DEPTH;
}

/* The request that asks for a fallback; return whether the request is known, and *@ask written. */
static bool request_read(struct pageblock_request *request, struct pageblock_ask *ask)
{
	bool task = in_task();
	unsigned int flags;
	gfp_t gfp;

	*request = (struct pageblock_request){
		.cleans = pageblock_is_worker(),
		.slow = !task,
		.memalloc = task && current->flags & PF_MEMALLOC,
		.victim = task && tsk_is_oom_victim(current),
		.tried = task && task_has_tried(),
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
	/* With __GFP_NORETRY the kernel asks once more only where reclaim has found pages. */
	request->last = (flags & LMM_ALLOC_WMARK_MASK) == WMARK_HIGH || flags & LMM_ALLOC_OOM ||
			(gfp & __GFP_NORETRY && !ask->order);
	request->waits = gfp & __GFP_DIRECT_RECLAIM;
	request->highatomic = flags & LMM_ALLOC_HIGHATOMIC;
	request->memalloc |= gfp & __GFP_MEMALLOC || flags & LMM_ALLOC_NO_WATERMARKS;
	request->has_fallback = gfp & __GFP_NORETRY && ask->order;
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

/* Judge the request behind a search, once. */
static enum pageblock_verdict search_judge(struct zone *zone, int migratetype)
{
	struct pageblock_ask ask = { .migratetype = migratetype };
	/* kswapd does not count CMA memory either: pgdat_balanced(). */
	unsigned long pages = pageblock_pages_but_cma(zone_page_state(zone, NR_FREE_PAGES),
						      zone_page_state(zone, NR_FREE_CMA_PAGES));
	struct pageblock_request request;
	enum pageblock_verdict verdict;
	bool known = request_read(&request, &ask);
	bool movable = migratetype == MIGRATE_MOVABLE;

	request.free = pageblock_much_is_free(movable, pages, zone->_watermark[WMARK_HIGH]);
	verdict = pageblock_judge(&request);
	/* Looking at other zones takes a while, and matters to refusals alone. */
	request.away = known && !pageblock_allows(verdict) && pageblock_leaves_node(zone, &ask);
	if (request.away)
		verdict = pageblock_judge(&request);
	lmm_count(&lmm_pageblock_policy, pageblock_allows(verdict) ?
		  COUNT_ALLOWED_TRIED + verdict - PAGEBLOCK_ALLOW_TRIED : COUNT_REFUSED, 1);
	trace_pageblock_verdict(zone_to_nid(zone), zone_idx(zone), migratetype, ask.gfp, &request,
				verdict);
	/* The flags are 0 where the request is unknown. */
	if (in_task() && pageblock_tried_judged(task_tried(), current, verdict) &&
	    !(LMM_SMALL_STEALS && movable && ask.order < pageblock_order))
		zone_boost(zone, ask.gfp);
	return verdict;
}

/**
 * pageblock_on_fallback() - event: the kernel has looked for pages of another type
 * @fallback: the search; compaction may always stop, as a request may mix after compaction
 *
 * Context: under zone->lock, interrupts off; where compaction asks no lock, preemption off.
 */
void pageblock_on_fallback(struct lmm_klp_fallback *fallback)
{
	bool movable = fallback->migratetype == MIGRATE_MOVABLE;
	struct pageblock_search *search;
	struct zone *zone;

	if (fallback->claimable)
		return;
	search = this_cpu_ptr(&searches);
	if (fallback->order == LMM_MAX_ORDER)
		search->pass = PAGEBLOCK_PASS_BEGUN;
	if (fallback->found < 0 || fallback->order >= pageblock_order ||
	    search->pass == PAGEBLOCK_PASS_FREE)
		return;
	if (search->pass == PAGEBLOCK_PASS_BEGUN) {
		zone = container_of(fallback->area - fallback->order, struct zone, free_area[0]);
		lmm_count(&lmm_pageblock_policy, COUNT_SEARCHES, 1);
		pageblock_search_judged(search, search_judge(zone, fallback->migratetype), movable);
		if (pageblock_is_short(zone))
			pageblock_worker_ask();
	}
	if (!pageblock_search_may(search))
		fallback->found = -1;
	fallback->whole = !search->parts;
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
	if (whole && pageblock_is_short(page_zone(page)))
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
	memset(places, 0, sizeof(places));
}
