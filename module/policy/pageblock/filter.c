// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - which requests may mix blocks
 *
 * The kernel asks for a fallback under zone->lock, interrupts off, and does not say for
 * whom.  hook/entry.S has noted, at the entry of get_page_from_freelist(), what it was
 * called with and where on the stack; if that is a little above us on our own stack, it
 * is our request.  Whatever comes in between, an interrupt or another task, has noted
 * its own and another stack, so that our request is not known: it counts as one in the
 * fast path if it is a task's, and as one that may not wait if it is an interrupt's.
 * (A task that moves to another CPU within those few instructions may be taken for what
 * it was there before; it is then refused or allowed wrongly, once.)
 *
 * Switched off, the filter leaves no trace in the kernel but watermarks that it may have
 * raised, which kswapd lowers again as it does those that the kernel raises.
 */
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/oom.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "hook/entry.h"
#include "hook/table.h"
#include "trace.h"
#include "state.h"

/* Bytes from the entry of get_page_from_freelist() to us; KASAN makes frames large. */
#define STACK_DEPTH	(THREAD_SIZE / 2)
/* A round that is this old belongs to a request that has ended. */
#define ROUND_LIFE	HZ

static DEFINE_PER_CPU(struct pageblock_search, searches);

static struct pageblock_task *task_slot(void)
{
	return &pageblock.tasks[hash_ptr(current, PAGEBLOCK_TASK_BITS)];
}

static bool task_slot_old(const struct pageblock_task *slot)
{
	return time_after(jiffies, READ_ONCE(slot->stamp) + ROUND_LIFE);
}

/* One more round for current; @made: it got somewhere.  Its slot, or NULL. */
static struct pageblock_task *round_end(bool made)
{
	struct pageblock_task *slot = task_slot();
	struct task_struct *owner = READ_ONCE(slot->task);

	if (owner != current) {
		if ((owner && !task_slot_old(slot)) ||
		    cmpxchg(&slot->task, owner, current) != owner)
			return NULL;
		slot->rounds = 0;
		slot->no_progress = 0;
		slot->vain = false;
	}
	slot->rounds++;
	slot->no_progress = made ? 0 : slot->no_progress + 1;
	WRITE_ONCE(slot->stamp, jiffies);
	lmm_count(&lmm_pageblock_policy, COUNT_ROUNDS, 1);
	return slot;
}

/**
 * pageblock_on_reclaim_end() - event: current has reclaimed for its request
 * @pages: how many
 *
 * Context: process, preemption off.
 */
void pageblock_on_reclaim_end(unsigned long pages)
{
	struct pageblock_task *slot = round_end(pages);

	if (slot)
		slot->vain = !pages;
}

/**
 * pageblock_on_compact_begin() - event: current is about to compact for its request
 *
 * Whether it gets somewhere is seen by whether it comes back.
 *
 * Context: process, preemption off.
 */
void pageblock_on_compact_begin(void)
{
	round_end(false);
}

/*
 * The right to mix is used, or the request is a new one.  But where there is nothing to
 * reclaim, the next page would be no better for trying that again: the right lasts until
 * the round is too old.
 */
static void rounds_forget(void)
{
	struct pageblock_task *slot = task_slot();

	if (READ_ONCE(slot->task) == current && (!slot->vain || task_slot_old(slot)))
		WRITE_ONCE(slot->task, NULL);
}

static bool rounds_read(struct pageblock_request *request)
{
	const struct pageblock_task *slot = task_slot();
	struct task_struct *owner = READ_ONCE(slot->task);

	if (owner == current && !task_slot_old(slot)) {
		request->rounds = slot->rounds;
		request->no_progress = slot->no_progress;
	}
	return owner && owner != current && !task_slot_old(slot);
}

/* Compaction has failed of late, and the kernel leaves it be for a while. */
static bool compaction_deferred_here(const struct zone *zone)
{
	unsigned int shift = READ_ONCE(zone->compact_defer_shift);

	return shift && READ_ONCE(zone->compact_considered) < 1U << shift;
}

static bool request_is_ours(void)
{
	unsigned long noted = this_cpu_read(lmm_request_stack);
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return noted - here < STACK_DEPTH;
}

/* What asks for a fallback in this zone? */
static struct pageblock_request request_read(const struct zone *zone, gfp_t *gfp)
{
	bool task = in_task();
	struct pageblock_request request = {
		.cleans = task && current == READ_ONCE(pageblock.cleaner),
		.grouped = !READ_ONCE(*pageblock.ungrouped),
		.slow = !task,
		.memalloc = task && current->flags & PF_MEMALLOC,
		.victim = task && tsk_is_oom_victim(current),
	};
	unsigned int flags;

	if (!request_is_ours()) {
		lmm_count(&lmm_pageblock_policy, COUNT_UNKNOWN, 1);
		return request;
	}
	lmm_hook_hit(LMM_HOOK_REQUEST);
	*gfp = (__force gfp_t)this_cpu_read(lmm_request_gfp);
	flags = this_cpu_read(lmm_request_flags);
	request.slow = (flags & LMM_ALLOC_WMARK_MASK) != WMARK_LOW;
	request.last = (flags & LMM_ALLOC_WMARK_MASK) == WMARK_HIGH || flags & LMM_ALLOC_OOM;
	request.waits = *gfp & __GFP_DIRECT_RECLAIM;
	request.high = *gfp & __GFP_HIGH;
	request.highatomic = flags & LMM_ALLOC_HIGHATOMIC;
	request.memalloc |= *gfp & __GFP_MEMALLOC || flags & LMM_ALLOC_NO_WATERMARKS;
	request.nofail = *gfp & __GFP_NOFAIL;
	request.has_fallback = *gfp & __GFP_NORETRY && this_cpu_read(lmm_request_order);
	request.compact_deferred = compaction_deferred_here(zone);
	if (task)
		request.untracked = rounds_read(&request);
	return request;
}

/*
 * What the kernel does at a mix, 1c30844d2dfe ("mm: reclaim small amounts of memory when
 * an external fragmentation event occurs", 5.0), is as right where it is refused: the
 * watermarks are raised by a block, until kswapd has reclaimed as much.  It is woken
 * when the lock is released, by whoever comes next: that may be this very request, so,
 * as in the kernel, not for one that may not wake it, whose locks kswapd's waking takes.
 */
static void zone_boost(struct zone *zone, gfp_t gfp)
{
	unsigned long boost = zone->watermark_boost;
	unsigned long raised = pageblock_boost(boost, zone->_watermark[WMARK_HIGH],
					       READ_ONCE(*pageblock.boost_factor),
					       zone_managed_pages(zone), pageblock_nr_pages);

	if (raised == boost)
		return;
	WRITE_ONCE(zone->watermark_boost, raised);
	if (gfp & __GFP_KSWAPD_RECLAIM)
		set_bit(ZONE_BOOSTED_WATERMARK, &zone->flags);
}

/* Judge the request behind a search, once. */
static enum pageblock_verdict search_judge(struct zone *zone, int migratetype)
{
	struct pageblock_settings settings = {
		.mode = READ_ONCE(pageblock.settings.mode),
		.max_attempts = READ_ONCE(pageblock.settings.max_attempts),
	};
	gfp_t gfp = 0;
	struct pageblock_request request = request_read(zone, &gfp);
	enum pageblock_verdict verdict;

	request.above_high = migratetype == MIGRATE_MOVABLE &&
			 zone_page_state(zone, NR_FREE_PAGES) > high_wmark_pages(zone);
	verdict = pageblock_judge(&request, &settings);
	lmm_count(&lmm_pageblock_policy, COUNT_REFUSED_FAST + verdict, 1);
	if (verdict == PAGEBLOCK_REFUSE_FAST || verdict == PAGEBLOCK_ALLOW_TRIED)
		if (in_task())
			rounds_forget();
	trace_pageblock_verdict(zone_to_nid(zone), zone_idx(zone), migratetype, gfp, &request,
				verdict);
	/* @gfp is 0 where the request is not known. */
	if (!pageblock_allows(verdict))
		zone_boost(zone, gfp);
	return verdict;
}

/**
 * pageblock_on_fallback() - event: the kernel has looked for pages of another type
 * @area: free blocks of one order, of all types
 * @order: that order
 * @migratetype: the type for which there is nothing
 * @stealable_only: it is compaction that asks, whether it can stop
 * @found: the type it has found, or -1
 * @whole: cleared where a block may be taken from, but not claimed
 *
 * Context: under zone->lock, interrupts off; where @stealable_only is set under no lock,
 * preemption off.
 * Return: @found, or -1 where that is refused.
 */
int pageblock_on_fallback(struct free_area *area, unsigned int order, int migratetype,
			  bool stealable_only, int found, bool *whole)
{
	enum pageblock_verdict verdict = PAGEBLOCK_REFUSE_FAST;
	struct pageblock_search *search;
	struct zone *zone;

	/*
	 * Only what is wholly free is no mix.  In mode claim, who has compacted may mix, so
	 * compaction may stop where it can.
	 */
	if (stealable_only) {
		if (found < 0 || order >= pageblock_order ||
		    READ_ONCE(pageblock.settings.mode) != PAGEBLOCK_MODE_STRICT)
			return found;
		lmm_count(&lmm_pageblock_policy, COUNT_COMPACTION_KEPT, 1);
		return -1;
	}
	search = this_cpu_ptr(&searches);
	if (!pageblock_search_asks(search, order, LMM_MAX_ORDER, found >= 0) ||
	    order >= pageblock_order)
		return found;
	if (search->pass == PAGEBLOCK_PASS_BEGUN) {
		lmm_count(&lmm_pageblock_policy, COUNT_SEARCHES, 1);
		zone = container_of(area - order, struct zone, free_area[0]);
		verdict = search_judge(zone, migratetype);
	}
	if (!pageblock_search_answer(search, order, verdict))
		return -1;
	*whole = !search->parts;
	return found;
}

/**
 * pageblock_on_mixed() - event: a request got pages of another type
 * @page: the first of them
 * @got_order: order of what they were taken from
 *
 * Context: under zone->lock, interrupts off.
 */
void pageblock_on_mixed(const struct page *page, int got_order)
{
	bool whole = got_order >= pageblock_order;

	lmm_count(&lmm_pageblock_policy, whole ? COUNT_CLAIMED : COUNT_MIXED, 1);
	if (!whole)
		pageblock_remember(page);
}

/**
 * pageblock_filter_start() - begin anew
 *
 * A search that is under way when the hook is armed is let be, since the kernel relies
 * on the answers it has had.
 *
 * Context: process, the hooks not armed.
 */
void pageblock_filter_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&searches, cpu), 0, sizeof(struct pageblock_search));
	memset(pageblock.tasks, 0, sizeof(pageblock.tasks));
}
