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
 * The worker works in passes, at least a period apart.  A pass decides what is due, by the pace of
 * each zone, and does that in slices, as far as the budget goes.  If nothing will be due later, no
 * timer is set: the worker rests.  Events of the filter wake the worker.
 *
 * Lifetimes: events come while hooks are armed; pageblock_reserve_stop() runs when no handler of an
 * event runs any more, and when nobody changes settings.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/percpu-rwsem.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "state.h"
#include "policy/common/move.h"
#include "flow/zones.h"

/* Remembered blocks to look at in a pass. */
#define LOOK_MAX	16

#define PERIOD		msecs_to_jiffies(PAGEBLOCK_PERIOD_MS)

/* Time of the worker at a stretch, in ms. */
#define SLICE_MS	20

/* Times of budgets and paces. */
static u64 now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/*
 * May pages be moved out of mixed blocks?  Not while the reserve lacks blocks and the worker makes
 * some, unless nothing more can be saved for a block.  While memory is short, requests mix blocks
 * faster than the worker could clean them.
 */
static bool may_clean(const struct pageblock_zone *pz, bool lacks)
{
	u32 rate = READ_ONCE(pageblock.move_rate);
	bool makes = lacks && !pageblock_pace_rests(&pz->pace);

	return rate && !(makes && lmm_budget_wait(&pageblock.pages, rate, U32_MAX));
}

/* Decide what is due in a zone. */
static void zone_begin(struct zone *zone, struct pageblock_zone *pz, u64 now, bool asked)
{
	bool lacks;

	if (asked) {
		pageblock_pace_wake(&pz->pace, now);
		pageblock_pace_wake(&pz->clean_pace, now);
	}
	pz->check = pageblock.guards;
	pz->had = pageblock_reserve_blocks(zone);
	pz->left = 0;
	lacks = pageblock_is_short(zone, pz->had);
	if (!lacks) {
		pz->pace = (struct pageblock_pace){ };
	} else if (pageblock_pace_due(&pz->pace, now)) {
		pz->left = pageblock_reserve_lacks(pz->had, pageblock_free_blocks(zone),
						   pageblock_wanted_blocks(zone));
		pageblock_vacate_begin(pz);
	}
	pz->unmixed = 0;
	pz->looks = 0;
	if (!pageblock_is_mixed(pz))
		pz->clean_pace = (struct pageblock_pace){ };
	else if (may_clean(pz, lacks) && pageblock_pace_due(&pz->clean_pace, now))
		pz->looks = LOOK_MAX;
}

static void budget_is_over(void)
{
	if (!pageblock.paused)
		lmm_count(&lmm_pageblock_policy, COUNT_OVER_BUDGET, 1);
	pageblock.paused = true;
}

/* Note the result of an attempt to make blocks. */
static void reserve_note(struct zone *zone, struct pageblock_zone *pz)
{
	/* No progress if the moved pages broke up as many free blocks as were made. */
	pageblock_pace_note(&pz->pace, pageblock_reserve_blocks(zone) > pz->had, now_ms());
}

/* Put free blocks into the reserve; false if blocks have to be made. */
static bool keep_step(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned int kept = pageblock_keep(zone, pz);

	pz->left -= min_t(unsigned long, pz->left, kept);
	/* To move pages is for nothing while there are free blocks, if none that can be kept. */
	if (!kept && pageblock_free_blocks(zone) >= pageblock_wanted_blocks(zone))
		pz->left = 0;
	if (!pz->left)
		reserve_note(zone, pz);
	return kept || !pz->left;
}

/* Do a step towards the blocks that are to be made; note the result of the attempt at its end. */
static void reserve_step(struct zone *zone, struct pageblock_zone *pz)
{
	enum pageblock_step step;
	bool made;

	if (pageblock.guards && keep_step(zone, pz))
		return;
	step = pageblock_vacate(zone, pz, &made);
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	if (step == PAGEBLOCK_STEP_PAUSE) {
		/* Nothing is known of the attempt yet. */
		budget_is_over();
		pz->left = 0;
		return;
	}
	if (step == PAGEBLOCK_STEP_LATER) {
		/* Not in vain. */
		pageblock_pace_put_off(&pz->pace, now_ms() + pageblock_lists_wait());
		pz->left = 0;
		return;
	}
	pz->left -= made;
	/* A lower knob stops the work early. */
	pz->left = min_t(unsigned long, pz->left, READ_ONCE(pageblock.reserve_blocks));
	if (step == PAGEBLOCK_STEP_OVER || step == PAGEBLOCK_STEP_DEAR)
		pz->left = 0;
	if (!pz->left)
		reserve_note(zone, pz);
}

/* Do a step of the clean-up; note the result of all steps at their end. */
static void unmix_step(struct zone *zone, struct pageblock_zone *pz)
{
	enum pageblock_step step = pageblock_unmix(zone, pz, &pz->unmixed);

	if (step == PAGEBLOCK_STEP_PAUSE) {
		budget_is_over();
		pz->looks = 0;
		return;
	}
	pz->looks = step == PAGEBLOCK_STEP_MORE ? pz->looks - 1 : 0;
	if (!pz->looks)
		pageblock_pace_note(&pz->clean_pace, pz->unmixed, now_ms());
}

/* Do what is due in a zone; false if the slice was too short. */
static bool zone_work(struct zone *zone, struct pageblock_zone *pz)
{
	while (pz->check || pz->left || pz->looks) {
		if (pageblock_slice_over())
			return false;
		/* Held for one step only, so that memory can go on- and offline. */
		if (!percpu_down_read_trylock(pageblock.hotplug)) {
			/* Memory goes or comes, which takes a while: the next pass begins anew. */
			pz->check = false;
			pz->left = 0;
			pz->looks = 0;
			break;
		}
		if (pz->check) {
			pageblock_kept_check(zone, pz);
			pz->check = false;
		} else if (pz->left) {
			reserve_step(zone, pz);
		} else {
			unmix_step(zone, pz);
		}
		percpu_up_read(pageblock.hotplug);
		cond_resched();
	}
	return true;
}

/* Decide what is due in all zones. */
static void pass_begin(void)
{
	u64 now = now_ms();
	struct zone *zone;
	bool asked;

	lmm_count(&lmm_pageblock_policy, COUNT_PASSES, 1);
	WRITE_ONCE(pageblock.passed, jiffies);
	/*
	 * A full barrier, which pairs with pageblock_worker_ask(): either the pass sees what has
	 * happened, or the event sees that nobody has asked since.
	 */
	asked = xchg(&pageblock.asked, false);
	pageblock.paused = false;
	pageblock.turn = (pageblock.turn + 1) % lmm_zone_slots();
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		zone_begin(zone, &pageblock.zones[lmm_zone_slot(zone)], now, asked);
}

/* Do what is due in all zones, in turn another zone first; false if the slice was too short. */
static bool pass_work(void)
{
	unsigned int slots = lmm_zone_slots(), i;

	for (i = 0; i < slots; i++) {
		unsigned int slot = (pageblock.turn + i) % slots;
		struct zone *zone = lmm_zone_at(slot);

		if (zone && !zone_work(zone, &pageblock.zones[slot]))
			return false;
	}
	return true;
}

static void budgets_fill(void)
{
	u64 now = now_ms();

	lmm_budget_fill(&pageblock.pages, READ_ONCE(pageblock.move_rate), now);
	lmm_budget_fill(&pageblock.blocks, PAGEBLOCK_LOOKS_PER_S, now);
}

/* Time in ms until the budgets suffice for a pass that is worth while. */
static u64 budgets_wait(u32 rate)
{
	return max(lmm_budget_wait(&pageblock.pages, rate, LMM_MOVE_BATCH),
		   lmm_budget_wait(&pageblock.blocks, PAGEBLOCK_LOOKS_PER_S, LOOK_MAX));
}

/* When is something due in a zone?  U64_MAX: not before an event. */
static u64 zone_due(struct zone *zone, const struct pageblock_zone *pz)
{
	bool lacks = pageblock_is_short(zone, pageblock_reserve_blocks(zone));
	u64 due = U64_MAX;

	if (lacks && !pageblock_pace_rests(&pz->pace))
		due = pz->pace.due;
	if (pageblock_is_mixed(pz) && may_clean(pz, lacks) &&
	    !pageblock_pace_rests(&pz->clean_pace))
		due = min(due, pz->clean_pace.due);
	return due;
}

/* Jiffies until the next pass; MAX_JIFFY_OFFSET: none before an event. */
static unsigned long pass_next(void)
{
	u32 rate = READ_ONCE(pageblock.move_rate);
	u64 due = U64_MAX, now = now_ms();
	struct zone *zone;

	if (!rate)
		return MAX_JIFFY_OFFSET;
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		due = min(due, zone_due(zone, &pageblock.zones[lmm_zone_slot(zone)]));
	if (READ_ONCE(pageblock.asked))
		due = now;
	if (due == U64_MAX)
		return MAX_JIFFY_OFFSET;
	if (pageblock.paused)
		due = max(due, now + budgets_wait(rate));
	return max(msecs_to_jiffies(due - min(due, now)), PERIOD);
}

/*
 * Runs for a slice at a time.  No step waits for I/O, for a page or for memory hotplug, so whoever
 * waits for the worker waits for the rest of a slice and a step.
 */
static void reserve_worker(struct work_struct *work)
{
	ktime_t begun = ktime_get();
	unsigned long next;

	pageblock.slice_end = jiffies + max(msecs_to_jiffies(SLICE_MS), 1UL);
	WRITE_ONCE(pageblock.cleaner, current);
	budgets_fill();
	if (!pageblock.unfinished)
		pass_begin();
	WRITE_ONCE(pageblock.unfinished, !pass_work());
	WRITE_ONCE(pageblock.cleaner, NULL);
	lmm_count(&lmm_pageblock_policy, COUNT_WORK_TIME, ktime_us_delta(ktime_get(), begun));
	/*
	 * Pairs with lmm_worker_kick(), a full barrier: either pass_next() sees that somebody has
	 * asked, or kick_delay() sees that the pass has ended.
	 */
	smp_mb();
	next = pageblock.unfinished ? 1 : pass_next();
	WRITE_ONCE(pageblock.resting, next == MAX_JIFFY_OFFSET);
	/* An event of this slice may have queued the next pass, a period after this one. */
	if (pageblock.unfinished)
		lmm_worker_pass_after(&pageblock.worker, next);
	else if (next != MAX_JIFFY_OFFSET)
		queue_delayed_work(pageblock.worker.wq, &pageblock.worker.pass, next);
}

/* A pass begins a period after the last. */
static unsigned long kick_delay(void)
{
	unsigned long now = jiffies, at = READ_ONCE(pageblock.passed) + PERIOD;

	/* At the end of an unfinished pass the worker sees what was asked meanwhile. */
	if (READ_ONCE(pageblock.unfinished))
		return MAX_JIFFY_OFFSET;
	return time_before(now, at) ? at - now : 0;
}

/**
 * pageblock_reserve_configure() - apply changed knobs
 *
 * As an event: a slice that is due is not put off.
 *
 * Context: process, the policy's lock held.
 */
void pageblock_reserve_configure(void)
{
	WRITE_ONCE(pageblock.asked, true);
	lmm_worker_kick(&pageblock.worker);
}

static void zones_free(void)
{
	unsigned int slot;

	for (slot = 0; slot < lmm_zone_slots(); slot++) {
		kvfree(pageblock.zones[slot].kept);
		kvfree(pageblock.zones[slot].mixed);
	}
	kvfree(pageblock.zones);
	pageblock.zones = NULL;
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
	bool cleans = pageblock_unmix_possible();
	struct zone *zone;

	pageblock.leaving = false;
	pageblock.emptied = jiffies - msecs_to_jiffies(pageblock_lists_gap(num_online_cpus()));
	pageblock.vacates = pageblock_vacate_possible();
	pageblock.guards = pageblock.vacates && pageblock_keep_possible();
	pageblock.asked = true;
	pageblock.unfinished = false;
	pageblock.resting = false;
	pageblock.passed = jiffies - PERIOD;
	lmm_budget_start(&pageblock.pages, now_ms(), PAGEBLOCK_SAVE_MS);
	lmm_budget_start(&pageblock.blocks, now_ms(), LMM_BUDGET_MS);
	pageblock.zones = kvcalloc(lmm_zone_slots(), sizeof(*pageblock.zones), GFP_KERNEL);
	if (!pageblock.zones)
		return -ENOMEM;
	for (zone = lmm_zone_after(NULL); zone && cleans; zone = lmm_zone_after(zone)) {
		if (!pageblock_unmix_start(zone, &pageblock.zones[lmm_zone_slot(zone)])) {
			zones_free();
			return -ENOMEM;
		}
	}
	lmm_worker_init_shared(&pageblock.worker, reserve_worker, kick_delay);
	lmm_worker_pass_after(&pageblock.worker, 0);
	return 0;
}

/* Switching off waits so long for memory that goes on- or offline. */
#define GIVE_BACK_MS	2000U
#define GIVE_BACK_POLL	20U

/*
 * Blocks of the reserve become movable again.  Memory that takes long to go offline would hold up
 * whoever switches off: the blocks then stay unmovable, until movable requests claim them.
 */
static void reserve_give_back(void)
{
	unsigned int tries = GIVE_BACK_MS / GIVE_BACK_POLL;
	struct zone *zone;

	while (!percpu_down_read_trylock(pageblock.hotplug)) {
		if (!tries--)
			return;
		msleep(GIVE_BACK_POLL);
	}
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		pageblock_give_back(zone, &pageblock.zones[lmm_zone_slot(zone)]);
	percpu_up_read(pageblock.hotplug);
}

/**
 * pageblock_reserve_stop() - stop the worker
 *
 * Waits for a worker that runs, for one step at most: the choice of blocks among 64, a move of 63
 * pages at most, or the lists of all CPUs being emptied.  No step waits for I/O, for the lock of a
 * page, or for memory.  A block that the worker has isolated is given back before the worker ends.
 *
 * Context: process, the policy's lock held, the policy's hooks not armed.
 */
void pageblock_reserve_stop(void)
{
	WRITE_ONCE(pageblock.leaving, true);
	lmm_worker_stop(&pageblock.worker);
	if (pageblock.guards)
		reserve_give_back();
	zones_free();
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
	const char *what = "waiting";

	lmm_budget_fill(&pages, rate, now_ms());
	if (READ_ONCE(pageblock.cleaner) || READ_ONCE(pageblock.unfinished))
		what = "working";
	else if (READ_ONCE(pageblock.resting))
		what = "resting";
	seq_printf(m, "worker: %s, may move %llu of %llu pages\n", what, lmm_budget_left(&pages),
		   div_u64((u64)rate * PAGEBLOCK_SAVE_MS, MSEC_PER_SEC));
}
