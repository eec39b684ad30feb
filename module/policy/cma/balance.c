// SPDX-License-Identifier: GPL-2.0-only
/*
 * balance.c - move pages from regular memory to CMA memory before reclaim begins
 *
 * A worker looks at the page counts of zones, at least once a second.  When regular memory falls
 * below its goal, the worker searches blocks of that memory, moves what can be moved to free CMA
 * memory of the same node, and stops at the goal (core_balance.h).  A wake-up of kswapd has
 * the worker look at once, and so does the OOM killer before the choice of a task.
 *
 * A moved page leaves its old page in a list of this CPU, as a movable page.  Requests that may not
 * use CMA memory do not find the page there, so the list is drained.
 *
 * The worker takes the locks that compaction in direct reclaim takes, and waits for no I/O, so the
 * OOM killer's caller may wait for the worker.
 *
 * Lifetimes: cma_balance_start() before any hook is armed, cma_balance_stop() when no handler runs
 * any more.
 */
#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "core_balance.h"
#include "trace.h"
#include "state.h"
#include "policy/common/core_budget.h"
#include "policy/common/move.h"
#include "policy/common/worker.h"

/* Time of the worker at a stretch, in ms. */
#define SLICE_MS	20

/* Time between two passes for kswapd, in ms. */
#define WOKEN_MS	20

/**
 * struct balance_zone - the worker's view of a zone
 * @search: what the search has come to
 * @cursor: page frame number at which the search goes on
 * @vain: time until which the zone is left alone after a search in vain, in jiffies
 * @moving: pages are being moved out
 * @pressed: regular memory is at its high watermark, so that reclaim is at work or will soon be
 */
struct balance_zone {
	struct cma_search search;
	unsigned long cursor;
	unsigned long vain;
	bool moving;
	bool pressed;
};

/**
 * struct balance_state - the worker
 * @worker: queues the passes
 * @zones: array by slot of the zone; NULL: this kernel lacks what movement needs
 * @hotplug: the kernel's lock of memory hotplug
 * @rate: pages that may be moved in a second; 0: none
 * @leaving: the policy goes off: stop at the next step
 * @oom: the OOM killer waits for the pass, which may move CMA_OOM_PAGES whatever the rate
 * @slice_end: time at which the worker stops for a while, in jiffies
 * @woken: time before which kswapd has no pass begin, in jiffies
 * @planned: time at which the next pass begins, in jiffies
 * @heard: kswapd was woken since the last pass began, and a pass will begin for that
 * @pages: budget of pages to move
 * @blocks: budget of blocks to search
 * @searched: blocks searched in this pass
 * @first: slot of the zone that the next pass begins with, so that no zone takes the time and the
 *	budget of all others
 * @moved: pages moved so far
 * @moved_near: the part of them that left a node in @oom_nodes, while @oom was set
 * @oom_nodes: nodes that the request may use for which the OOM killer waits, as far as is known
 * @oom_reports: what was reported to the OOM killer
 */
static struct balance_state {
	struct lmm_worker worker;
	struct balance_zone *zones;
	struct percpu_rw_semaphore *hotplug;
	u32 rate;
	bool leaving;
	bool oom;
	unsigned long slice_end;
	unsigned long woken;
	unsigned long planned;
	atomic_t heard;
	struct lmm_budget pages;
	struct lmm_budget blocks;
	unsigned int searched;
	unsigned int first;
	u64 moved;
	u64 moved_near;
	nodemask_t oom_nodes;
	struct cma_oom oom_reports;
} balance;

/**
 * struct balance_move - pages on their way from a block to CMA memory
 * @move: the move
 * @source: zone of the block
 * @target: zone of the CMA memory
 * @warm: take pages that were used lately, too
 * @poor: the budget does not suffice for a larger folio
 * @none: orders of larger folios for which this block found no folio to move to, a bit each
 */
struct balance_move {
	struct lmm_move move;
	struct zone *source;
	struct zone *target;
	bool warm;
	bool poor;
	unsigned int none;
};

static u64 now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

static bool slice_over(void)
{
	return READ_ONCE(balance.leaving) ||
	       (!READ_ONCE(balance.oom) && time_after_eq(jiffies, balance.slice_end));
}

/* Pages that may be moved now. */
static u64 pages_left(void)
{
	return READ_ONCE(balance.oom) ? CMA_OOM_PAGES : lmm_budget_left(&balance.pages);
}

/*
 * May another block be searched now?  A pass for the OOM killer searches as many as are searched in
 * a second: the budget may have been used up before.
 */
static bool blocks_left(void)
{
	return READ_ONCE(balance.oom) ? balance.searched < CMA_BLOCKS_PER_S :
					lmm_budget_left(&balance.blocks);
}

static bool target_add(struct lmm_move *move, unsigned int order)
{
	struct balance_move *balanced = container_of(move, struct balance_move, move);

	if (order) {
		balanced->poor = move->taken + (1UL << order) > pages_left();
		if (balanced->poor)
			return false;
	}
	if (lmm_move_spares(move, order))
		return true;
	if (!order)
		return cma_target_pages(move, balanced->target);
	/* A block has many small folios, and to ask in vain takes long. */
	if (balanced->none & BIT(order))
		return false;
	if (cma_target_folio(move, balanced->target, order))
		return true;
	balanced->none |= BIT(order);
	return false;
}

/* May a page with these facts be moved? */
static bool page_goes(struct lmm_move *move, const struct lmm_page_facts *facts)
{
	bool warm = container_of(move, struct balance_move, move)->warm;

	return lmm_page_skip(facts) == LMM_SKIP_NONE && (warm || !facts->active);
}

static const struct lmm_mover mover = {
	.order = LMM_MAX_ORDER, .goes = page_goes, .target_add = target_add,
};

/* Has the zone's regular memory pages at @pfn, and may these be moved? */
static bool block_is_source(struct zone *zone, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	unsigned long type;

	if (!page || page_zone(page) != zone)
		return false;
	type = lmm_block_type(KCALL(block_flags), page, pfn);
	return type == MIGRATE_MOVABLE || type == MIGRATE_UNMOVABLE || type == MIGRATE_RECLAIMABLE;
}

/* Take up to a batch of pages out of a block, and move them; return the number moved. */
static unsigned int batch_move(struct balance_move *balanced, unsigned long most)
{
	struct lmm_move *move = &balanced->move;
	unsigned int moved;

	lmm_move_take(move, min3(pages_left(), (u64)LMM_MOVE_BATCH, (u64)most));
	/* A page that the kernel does not move in the end has cost as much. */
	lmm_budget_take(&balance.pages, move->taken);
	moved = lmm_move_taken(move);
	lmm_count(&lmm_cma_policy, COUNT_BALANCED, moved);
	/* Only this worker writes; balance_oom() reads meanwhile. */
	WRITE_ONCE(balance.moved, balance.moved + moved);
	/* Pairs with the release in balance_oom(): @oom_nodes are those of this request. */
	if (smp_load_acquire(&balance.oom) &&
	    node_isset(zone_to_nid(balanced->source), balance.oom_nodes))
		WRITE_ONCE(balance.moved_near, balance.moved_near + moved);
	if (moved) {
		preempt_disable();
		cma_drain_lists(balanced->source, moved);
		preempt_enable();
	}
	return moved;
}

/* Move up to @most pages out of the rest of a block, from @pfn on; return their number. */
static unsigned long block_move(struct balance_move *balanced, unsigned long *pfn,
				unsigned long most)
{
	struct lmm_move *move = &balanced->move;
	unsigned long moved = 0;

	lmm_move_go_on(move, *pfn, ALIGN(*pfn + 1, pageblock_nr_pages));
	balanced->poor = false;
	balanced->none = 0;
	while (move->at < move->end && !move->full && !balanced->poor && moved < most &&
	       !slice_over() && pages_left() && !cma_zone_is_taken(balanced->target)) {
		moved += batch_move(balanced, most - moved);
		cond_resched();
	}
	*pfn = move->at;
	if (move->full)
		lmm_count(&lmm_cma_policy, COUNT_BALANCE_NO_ROOM, 1);
	return moved;
}

/*
 * The zone of the node whose CMA memory can take most; NULL if none can.  While an owner allocates
 * none may, but that is over soon.
 */
static struct zone *target_for(const struct zone *source, unsigned long *can, bool *taken)
{
	unsigned int first = zone_to_nid((struct zone *)source) * MAX_NR_ZONES, i;
	struct zone *best = NULL, *zone;
	struct cma_view view;

	*can = 0;
	*taken = false;
	for (i = 0; i < MAX_NR_ZONES; i++) {
		unsigned long pages;

		zone = lmm_zone_at(first + i);
		if (!zone)
			continue;
		cma_view_zone(zone, &view);
		*taken |= view.allocating;
		pages = cma_balance_can(&view);
		if (pages > *can) {
			*can = pages;
			best = zone;
		}
	}
	return best;
}

/* Jiffies until the next look, far from the goal and near. */
static unsigned long look_after(bool near)
{
	return max_t(unsigned long, HZ / (near ? CMA_LOOKS_NEAR : CMA_LOOKS_FAR), 1);
}

/* How much to move out of a zone, and to which zone; 0 if nothing. */
static unsigned long zone_due(struct zone *zone, struct balance_zone *bz, struct zone **target,
			      bool *near)
{
	struct cma_view view;
	unsigned long want, can;
	bool taken;

	cma_view_zone(zone, &view);
	want = cma_balance_want(&view, bz->moving);
	bz->pressed = cma_room(&view) <= 0;
	if (!want)
		cma_search_ends(&bz->search);
	if (!cma_balance_near(&view))
		return 0;
	*target = target_for(zone, &can, &taken);
	*near |= *target || taken;
	if (bz->search.vain_ms && !READ_ONCE(balance.oom) && time_before(jiffies, bz->vain))
		return 0;
	return min(want, can);
}

/* Search the next block of a zone; return the number of pages moved. */
static unsigned long zone_step(struct zone *zone, struct balance_zone *bz,
			       struct balance_move *balanced, unsigned long most, bool *stop)
{
	unsigned long start = READ_ONCE(zone->zone_start_pfn);
	unsigned long end = start + READ_ONCE(zone->spanned_pages);
	unsigned long moved;

	if (bz->cursor < start || bz->cursor >= end)
		bz->cursor = start;
	if (!block_is_source(zone, bz->cursor)) {
		bz->cursor = ALIGN(bz->cursor + 1, pageblock_nr_pages);
		bz->search.seen++;
		return 0;
	}
	lmm_budget_take(&balance.blocks, 1);
	balance.searched++;
	balanced->warm = bz->search.warm || bz->pressed || READ_ONCE(balance.oom);
	moved = block_move(balanced, &bz->cursor, most);
	cma_search_moved(&bz->search, moved);
	bz->search.seen += IS_ALIGNED(bz->cursor, pageblock_nr_pages);
	*stop = balanced->move.full || balanced->poor;
	return moved;
}

/* Is a zone to be searched on?  If not, all of the zone was searched in vain. */
static bool zone_goes_on(struct zone *zone, struct balance_zone *bz)
{
	unsigned long blocks = DIV_ROUND_UP(READ_ONCE(zone->spanned_pages), pageblock_nr_pages);

	/* A zone may begin in the middle of a block. */
	if (cma_search_goes_on(&bz->search, blocks + 1))
		return true;
	lmm_count(&lmm_cma_policy, COUNT_BALANCE_VAIN, 1);
	cma_search_rests(&bz->search);
	bz->vain = jiffies + msecs_to_jiffies(bz->search.vain_ms);
	return false;
}

/*
 * Move what is due out of a zone; false if the slice was too short.  Without budget, or room, the
 * rest is left to a later pass.
 */
static bool zone_work(struct zone *zone, struct balance_zone *bz, bool *near)
{
	struct zone *target = NULL;
	unsigned long left = zone_due(zone, bz, &target, near), moved = 0;
	struct balance_move balanced = { .source = zone, .target = target };
	bool stop = false, done = true;

	bz->moving = left;
	lmm_move_begin(&balanced.move, &mover, 0, 0, true);
	while (moved < left && !stop && pages_left() && blocks_left()) {
		done = !slice_over();
		if (!done || cma_zone_is_taken(target) ||
		    !percpu_down_read_trylock(balance.hotplug))
			break;
		moved += zone_step(zone, bz, &balanced, left - moved, &stop);
		percpu_up_read(balance.hotplug);
		cond_resched();
		if (READ_ONCE(balance.oom) && moved >= CMA_OOM_PAGES)
			break;
		stop |= !zone_goes_on(zone, bz);
	}
	lmm_move_end(&balanced.move);
	if (!moved)
		return done;
	/* Another policy may hold some of the old pages. */
	preempt_disable();
	lmm_pages_wanted(zone);
	preempt_enable();
	trace_cma_balance(zone_to_nid(zone), zone_idx(zone), zone_idx(target), moved,
			  left - min(left, moved));
	return done;
}

/* Move what is due out of each zone; false if the slice was too short. */
static bool zones_work(bool *near)
{
	unsigned int slots = lmm_zone_slots(), first = balance.first, i;
	bool done = true;

	for (i = 0; i < slots && done; i++) {
		unsigned int slot = (first + i) % slots;
		struct zone *zone = lmm_zone_at(slot);
		u64 before = lmm_budget_left(&balance.blocks);

		if (!zone)
			continue;
		done = zone_work(zone, &balance.zones[slot], near);
		/* Whoever has searched is the last to search next time. */
		if (!done || lmm_budget_left(&balance.blocks) != before)
			balance.first = slot + 1;
	}
	return done;
}

static void balance_pass(struct work_struct *work)
{
	u32 rate = READ_ONCE(balance.rate);
	bool near = false, done;
	u64 now = now_ms();
	unsigned long next;

	/* A full barrier: what a wake-up that is not heard any more was about is seen below. */
	atomic_xchg(&balance.heard, 0);
	if (!rate || READ_ONCE(balance.leaving))
		return;
	balance.slice_end = jiffies + max(msecs_to_jiffies(SLICE_MS), 1UL);
	lmm_budget_fill(&balance.pages, rate, now);
	lmm_budget_fill(&balance.blocks, CMA_BLOCKS_PER_S, now);
	balance.searched = 0;
	done = zones_work(&near);
	/* Reclaim does not pause either; the budget does that. */
	next = done ? look_after(near) : 0;
	/* A pass that was asked for meanwhile begins at once. */
	if (delayed_work_pending(&balance.worker.pass))
		next = 0;
	WRITE_ONCE(balance.planned, jiffies + next);
	WRITE_ONCE(balance.woken, jiffies + msecs_to_jiffies(WOKEN_MS));
	if (!READ_ONCE(balance.leaving))
		queue_delayed_work(balance.worker.wq, &balance.worker.pass, next);
}

/*
 * Jiffies from a kick to the pass.  The time is planned, so that a later kick does not put the pass
 * off.  In hard interrupt context.
 */
static unsigned long kick_delay(void)
{
	unsigned long now = jiffies;
	unsigned long delay = cma_woken_after(now, READ_ONCE(balance.woken),
					      READ_ONCE(balance.planned));

	WRITE_ONCE(balance.planned, now + delay);
	return delay;
}

/**
 * cma_on_kswapd_woken() - event: a slow path wakes kswapd
 * @zone: the zone
 * @order: order of the block that the request wants
 *
 * Context: any, preemption off, no lock of the allocator held.
 */
void cma_on_kswapd_woken(struct zone *zone, unsigned int order)
{
	if (!balance.zones || !READ_ONCE(balance.rate))
		return;
	/*
	 * Under pressure every CPU comes here, and most find the flag set: reading leaves its
	 * cache line shared.  What the wake-up is about comes before, as the worker clears the
	 * flag first.
	 */
	smp_mb();
	if (!atomic_read(&balance.heard) && !atomic_xchg(&balance.heard, 1))
		lmm_worker_kick(&balance.worker);
}

/*
 * The kernel kills nobody if anything was freed, even if that does not help the request.  Movement
 * ends at the goal, and with the CMA memory; cma_oom_report() does the rest, so that the kernel is
 * not kept from its choice for long.  Calls come one after the other, under the kernel's oom_lock.
 */
static int balance_oom(struct notifier_block *nb, unsigned long unused, void *parm)
{
	unsigned long *freed = parm;
	u64 before, before_near, moved, near;

	if (!READ_ONCE(balance.rate))
		return NOTIFY_OK;
	balance.oom_nodes = lmm_oom_nodes();
	before = READ_ONCE(balance.moved);
	before_near = READ_ONCE(balance.moved_near);
	/* Whoever sees @oom set sees @oom_nodes. */
	smp_store_release(&balance.oom, true);
	lmm_worker_pass_after(&balance.worker, 0);
	flush_delayed_work(&balance.worker.pass);
	WRITE_ONCE(balance.oom, false);
	moved = READ_ONCE(balance.moved) - before;
	near = min(READ_ONCE(balance.moved_near) - before_near, moved);
	lmm_count(&lmm_cma_policy, COUNT_BALANCE_OOM, moved);
	*freed += cma_oom_report(&balance.oom_reports, now_ms(), near, moved - near);
	return NOTIFY_OK;
}

/**
 * cma_balance_rate() - how many pages may be moved?
 *
 * Context: any.
 * Return: pages a second; 0 if none, or if this kernel lacks what movement needs.
 */
u32 cma_balance_rate(void)
{
	return balance.zones ? READ_ONCE(balance.rate) : 0;
}

/**
 * cma_balance_configure() - take the knobs
 * @rate: pages that may be moved in a second; 0: none
 *
 * Context: process.
 */
void cma_balance_configure(u32 rate)
{
	WRITE_ONCE(balance.rate, rate);
	if (balance.zones)
		lmm_worker_pass_after(&balance.worker, 0);
}

/**
 * cma_balance_start() - start the worker
 *
 * Context: process, the policy's lock held, the policy's hooks not armed.
 * Return: 0 or -errno.
 */
int cma_balance_start(void)
{
	int err;

	if (!lmm_hook_available(LMM_HOOK_MEM_HOTPLUG) || !lmm_move_possible())
		return 0;
	balance.hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	balance.leaving = false;
	balance.oom = false;
	balance.first = 0;
	balance.oom_reports = (struct cma_oom){ };
	balance.woken = jiffies;
	balance.planned = jiffies;
	atomic_set(&balance.heard, 0);
	lmm_budget_start(&balance.pages, now_ms(), LMM_BUDGET_MS);
	lmm_budget_start(&balance.blocks, now_ms(), LMM_BUDGET_MS);
	err = lmm_worker_init(&balance.worker, "livemm_cma", balance_pass, kick_delay, balance_oom);
	if (err)
		return err;
	balance.zones = kvcalloc(lmm_zone_slots(), sizeof(*balance.zones), GFP_KERNEL);
	err = balance.zones ? lmm_worker_hear_oom(&balance.worker) : -ENOMEM;
	if (err) {
		cma_balance_stop();
		return err;
	}
	lmm_worker_pass_after(&balance.worker, 0);
	return 0;
}

/**
 * cma_balance_stop() - stop the worker
 *
 * Waits for a worker that runs, for one batch of pages at most.
 *
 * Context: process, the policy's lock held, the policy's hooks not armed.
 */
void cma_balance_stop(void)
{
	if (!balance.worker.wq)
		return;
	WRITE_ONCE(balance.leaving, true);
	lmm_worker_stop(&balance.worker);
	lmm_worker_free(&balance.worker);
	kvfree(balance.zones);
	balance.zones = NULL;
}

/**
 * cma_balance_show() - print what the worker does
 * @m: file to print to
 *
 * Context: process, the policy on.
 */
void cma_balance_show(struct seq_file *m)
{
	struct zone *zone, *target;
	struct cma_view view;
	unsigned long can;
	bool taken;

	if (!balance.zones || !READ_ONCE(balance.rate)) {
		seq_printf(m, "movement: %s\n",
			   balance.zones ? "off" : "not possible on this kernel");
		return;
	}
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		cma_view_zone(zone, &view);
		target = target_for(zone, &can, &taken);
		seq_printf(m, "movement: node %d %s: room %ld of %ld pages, may move %lu to %s\n",
			   zone_to_nid(zone), zone->name, cma_room(&view),
			   cma_balance_goal(&view), can, target ? target->name : "nowhere");
	}
}
