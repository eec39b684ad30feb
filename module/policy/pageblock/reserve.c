// SPDX-License-Identifier: GPL-2.0-only
/*
 * reserve.c - make wholly free blocks before a request needs them
 *
 * A request that finds a wholly free block claims the block and mixes nothing.
 *
 * Two ways to have the kernel make such blocks were tried and do not work.  Waking its daemons:
 * kswapd is content with one block in any zone of its node; kcompactd is content with one block,
 * and does not start while memory is short.  Asking as a huge page fault does: compaction gives
 * up on a block if a single page does not move now, and is then deferred for everybody.  So the
 * worker chooses blocks and empties them; see vacate.c.
 *
 * A pass makes one block in each zone where one is due, by the pace of the zone and the budget of
 * pages.  If nothing will be due later, no timer is set: the worker rests.  Events of the filter
 * wake the worker.
 *
 * Lifetimes: events come while hooks are armed; pageblock_reserve_stop() runs when no handler of an
 * event runs any more, and when nobody changes settings.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "state.h"
#include "policy/common/move.h"
#include "policy/common/zones.h"

/* Times of budgets and paces. */
static u64 now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/**
 * pageblock_free_blocks() - wholly free blocks of a zone
 * @zone: the zone
 *
 * Context: any; a racy look.
 * Return: number of blocks; not those of CMA memory, which only some requests may use, nor those
 * that are isolated or kept for atomic requests.
 */
unsigned long pageblock_free_blocks(const struct zone *zone)
{
	unsigned long apart = zone_page_state((struct zone *)zone, NR_FREE_CMA_PAGES) +
			      lmm_zone_highatomic(zone);

	return pageblock_usable_blocks(lmm_zone_huge_blocks(zone), apart,
				       READ_ONCE(zone->nr_isolate_pageblock), pageblock_nr_pages);
}

/**
 * pageblock_wanted_blocks() - wholly free blocks that a zone should have
 * @zone: the zone
 *
 * Context: any.
 * Return: number of blocks.
 */
unsigned long pageblock_wanted_blocks(const struct zone *zone)
{
	unsigned long blocks = zone_managed_pages((struct zone *)zone) / pageblock_nr_pages;

	return pageblock_reserve_want(READ_ONCE(pageblock.reserve_blocks), blocks,
				      zone_idx(zone) == ZONE_MOVABLE);
}

/**
 * pageblock_is_short() - has a zone fewer free blocks than the worker should see to?
 * @zone: the zone
 *
 * Context: any.
 * Return: true if so.
 */
bool pageblock_is_short(const struct zone *zone)
{
	return pageblock.vacates && READ_ONCE(pageblock.move_rate) &&
	       pageblock_free_blocks(zone) < pageblock_wanted_blocks(zone);
}

/**
 * pageblock_is_worker() - does the worker itself ask the allocator?
 *
 * Context: any.
 * Return: true if so.
 */
bool pageblock_is_worker(void)
{
	return in_task() && current == READ_ONCE(pageblock.cleaner);
}

/**
 * pageblock_worker_ask() - something has happened that the worker should see to
 *
 * The worker's own requests do not keep it from resting: it knows what its zones lack.
 *
 * Context: an event, so any context; also under zone->lock, interrupts off.
 */
void pageblock_worker_ask(void)
{
	/* Pairs with the worker: either the pass sees what has happened, or nobody has asked. */
	smp_mb();
	if (READ_ONCE(pageblock.asked) || pageblock_is_worker() || lmm_worker_deaf())
		return;
	WRITE_ONCE(pageblock.asked, true);
	lmm_worker_kick(&pageblock.worker);
}

/* Make a block in a zone that lacks one; return when to do so again, U64_MAX: after an event. */
static u64 zone_work(struct zone *zone, struct pageblock_zone *pz, bool asked)
{
	u64 now = now_ms(), wait;
	unsigned long had = pageblock_free_blocks(zone);
	bool made;

	if (asked)
		pageblock_pace_wake(&pz->pace, now);
	if (!pageblock_is_short(zone)) {
		pz->pace = (struct pageblock_pace){ };
		return U64_MAX;
	}
	if (now < pageblock_pace_due(&pz->pace))
		return pageblock_pace_due(&pz->pace);
	lmm_budget_fill(&pageblock.pages, READ_ONCE(pageblock.move_rate), now);
	wait = lmm_budget_wait(&pageblock.pages, max(READ_ONCE(pageblock.move_rate), 1U),
			       4 * LMM_MOVE_BATCH);
	if (wait) {
		lmm_count(&lmm_pageblock_policy, COUNT_OVER_BUDGET, 1);
		return now + wait;
	}
	made = pageblock_vacate(zone, pz);
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	/* No progress if the moved pages broke up as many free blocks as were made. */
	pageblock_pace_note(&pz->pace, made && pageblock_free_blocks(zone) > had, now_ms());
	return pageblock_pace_due(&pz->pace);
}

static void reserve_worker(struct work_struct *work)
{
	ktime_t begun = ktime_get();
	u64 due = U64_MAX, now;
	unsigned long delay;
	struct zone *zone;
	bool asked;

	WRITE_ONCE(pageblock.passed, jiffies);
	/* A full barrier, which pairs with pageblock_worker_ask(). */
	asked = xchg(&pageblock.asked, false);
	WRITE_ONCE(pageblock.resting, false);
	WRITE_ONCE(pageblock.cleaner, current);
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		due = min(due, zone_work(zone, &pageblock.zones[lmm_zone_slot(zone)], asked));
		cond_resched();
	}
	WRITE_ONCE(pageblock.cleaner, NULL);
	lmm_count(&lmm_pageblock_policy, COUNT_PASSES, 1);
	lmm_count(&lmm_pageblock_policy, COUNT_WORK_TIME, ktime_us_delta(ktime_get(), begun));
	WRITE_ONCE(pageblock.resting, due == U64_MAX);
	/* Pairs with kick_delay(): the next pass is queued there, or here for who has asked. */
	smp_mb();
	now = now_ms();
	if (READ_ONCE(pageblock.asked))
		due = min(due, now + PAGEBLOCK_PERIOD_MS);
	if (due == U64_MAX)
		return;
	delay = max(msecs_to_jiffies(due - min(due, now)), 1UL);
	WRITE_ONCE(pageblock.next, jiffies + delay);
	queue_delayed_work(pageblock.worker.wq, &pageblock.worker.pass, delay);
}

/* A pass that was asked for begins a period after the last, unless one is on its way sooner. */
static unsigned long kick_delay(void)
{
	unsigned long now = jiffies;
	unsigned long at = READ_ONCE(pageblock.passed) + msecs_to_jiffies(PAGEBLOCK_PERIOD_MS);

	if (!READ_ONCE(pageblock.resting) && time_before(READ_ONCE(pageblock.next), at))
		return MAX_JIFFY_OFFSET;
	return time_before(now, at) ? at - now : 0;
}

/**
 * pageblock_reserve_configure() - apply changed knobs, as an event
 *
 * Context: process, the policy's lock held.
 */
void pageblock_reserve_configure(void)
{
	WRITE_ONCE(pageblock.asked, true);
	lmm_worker_kick(&pageblock.worker);
}

/**
 * pageblock_reserve_start() - start the worker
 *
 * The first pass finds an empty budget.
 *
 * Context: process, the policy's lock held, the policy's hooks not armed.
 * Return: 0 or -ENOMEM.
 */
int pageblock_reserve_start(void)
{
	pageblock.leaving = false;
	pageblock.emptied = jiffies - msecs_to_jiffies(pageblock_lists_gap(num_online_cpus()));
	pageblock.vacates = pageblock_vacate_possible();
	pageblock.asked = true;
	pageblock.resting = false;
	pageblock.passed = jiffies - msecs_to_jiffies(PAGEBLOCK_PERIOD_MS);
	lmm_budget_start(&pageblock.pages, now_ms(), PAGEBLOCK_SAVE_MS);
	pageblock.zones = kvcalloc(lmm_zone_slots(), sizeof(*pageblock.zones), GFP_KERNEL);
	if (!pageblock.zones)
		return -ENOMEM;
	lmm_worker_init_shared(&pageblock.worker, reserve_worker, kick_delay);
	lmm_worker_pass_after(&pageblock.worker, 0);
	return 0;
}

/**
 * pageblock_reserve_stop() - stop the worker
 *
 * Waits for a worker that runs, for one step at most: a look at some blocks, a move of 63 pages at
 * most, or the lists of all CPUs being emptied.  No step waits for I/O, for the lock of a page, or
 * for memory.  A block that the worker has isolated is given back before the worker ends.
 *
 * Context: process, the policy's lock held, the policy's hooks not armed.
 */
void pageblock_reserve_stop(void)
{
	WRITE_ONCE(pageblock.leaving, true);
	lmm_worker_stop(&pageblock.worker);
	kvfree(pageblock.zones);
	pageblock.zones = NULL;
}

/**
 * pageblock_reserve_show() - print what the worker does
 * @m: file to print to
 *
 * Context: process, the policy's lock held, the policy is on.
 */
void pageblock_reserve_show(struct seq_file *m)
{
	u32 rate = READ_ONCE(pageblock.move_rate);
	struct lmm_budget pages = {
		.level = READ_ONCE(pageblock.pages.level),
		.stamp = READ_ONCE(pageblock.pages.stamp),
		.depth = PAGEBLOCK_SAVE_MS,
	};
	const char *what = READ_ONCE(pageblock.resting) ? "resting" : "waiting";

	lmm_budget_fill(&pages, rate, now_ms());
	seq_printf(m, "worker: %s, may move %llu of %llu pages\n",
		   READ_ONCE(pageblock.cleaner) ? "working" : what, lmm_budget_left(&pages),
		   div_u64((u64)rate * PAGEBLOCK_SAVE_MS, MSEC_PER_SEC));
}
