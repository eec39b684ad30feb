// SPDX-License-Identifier: GPL-2.0-only
/*
 * giveback.c - actuator of the zonelock policy: gives pages back to the buddy
 *
 * The kernel's own drain does the work: a batch is added to the tail of one of this CPU's lists,
 * and as many pages are drained from there, both under the list's pcp->lock.  The buddy therefore
 * merges the pages and respects isolated pageblocks and changed migratetypes as usual.  This file
 * touches none of the buddy's structures.
 *
 * KCALL(drain) calls the drain behind its ftrace site, so that no wrapper keeps a page of it.
 */
#include <linux/bitops.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "hook/kcall.h"
#include "hook/klp_port.h"
#include "compat/pageset.h"
#include "trace.h"
#include "hook/entry.h"
#include "runs.h"
#include "state.h"

static_assert(COUNT_RETURNED_OFF - COUNT_RETURNED_AGE == DEPOT_BY_OFF);

static const char *const reason_words[DEPOT_NR_REASONS] = {
	[DEPOT_BY_AGE] = "age",
	[DEPOT_BY_SIZE] = "size",
	[DEPOT_BY_RECLAIM] = "reclaim",
	[DEPOT_BY_WATERMARK] = "watermark",
	[DEPOT_BY_ORDER] = "order",
	[DEPOT_BY_COMPACTION] = "compaction",
	[DEPOT_BY_DRAIN] = "drain",
	[DEPOT_BY_OOM] = "oom",
	[DEPOT_BY_OFF] = "off",
};

/*
 * How often interrupts were off for at least 2^(n-1) and less than 2^n ns while a batch went back;
 * the last one counts all from 4 ms on.
 */
#define IRQ_OFF_BUCKETS	24

static DEFINE_PER_CPU(unsigned long [IRQ_OFF_BUCKETS], irq_off);

static void note_irq_off(u64 since)
{
	u64 ns = ktime_get_mono_fast_ns() - since;

	this_cpu_inc(irq_off[min(fls64(ns), IRQ_OFF_BUCKETS - 1)]);
}

/* Give blocks back by a list of this CPU.  The caller holds the list's lock. */
static void list_drain(struct zone *zone, struct per_cpu_pages *pages, unsigned int kind,
		       struct list_head *blocks, unsigned int count)
{
	list_splice_tail(blocks, &pages->lists[kind]);
	pages->count += count;
	KCALL(drain)(zone, count, pages, kind);
}

/*
 * Most blocks that go back under one hold of zone->lock: about as many as a batch of the kernel's
 * has (pcp->batch is 63 in all but small zones).
 */
#define HOLD_BLOCKS	64

static unsigned long pfn_of(const struct list_head *page)
{
	return page_to_pfn(list_entry(page, struct page, lru));
}

/* Cut up to HOLD_BLOCKS blocks off the head of a list; returns how many were cut. */
static unsigned int cut_head(struct list_head *list, struct list_head *to)
{
	struct list_head *last = list;
	unsigned int cut = 0;

	while (cut < HOLD_BLOCKS && last->next != list) {
		last = last->next;
		cut++;
	}
	list_cut_position(to, list, last);
	return cut;
}

/* Give blocks of one kind back, HOLD_BLOCKS at a time; empties the list. */
static void blocks_drain(struct zone *zone, unsigned int kind, struct list_head *blocks)
{
	unsigned int order = lmm_pindex_order(kind);
	/* Any CPU's list will do; this CPU's lock is the least contended. */
	struct per_cpu_pages *pages = this_cpu_ptr(zone->per_cpu_pageset);
	unsigned long flags;
	unsigned int cut;
	u64 since;

	while (!list_empty(blocks)) {
		LIST_HEAD(some);

		cut = cut_head(blocks, &some);
		since = ktime_get_mono_fast_ns();
		spin_lock_irqsave(&pages->lock, flags);
		list_drain(zone, pages, kind, &some, cut << order);
		spin_unlock_irqrestore(&pages->lock, flags);
		note_irq_off(since);
	}
}

/* The same for a caller that holds the lock of this CPU's list. */
static void blocks_drain_locked(struct zone *zone, unsigned int kind, struct list_head *blocks)
{
	struct per_cpu_pages *pages = this_cpu_ptr(zone->per_cpu_pageset);

	while (!list_empty(blocks)) {
		unsigned int cut;
		LIST_HEAD(some);

		cut = cut_head(blocks, &some);
		list_drain(zone, pages, kind, &some, cut << lmm_pindex_order(kind));
	}
}

/*
 * Batches that a pass gives back at a time, with preemption off: 4032 pages, as many as eight
 * blocks of order 9.
 */
#define PASS_BATCHES	8

/* All struct pages of a zone's memory lie in one array. */
static int by_address(void *unused, const struct list_head *a, const struct list_head *b)
{
	return a > b ? 1 : -1;
}

/*
 * Give a batch back.  Neighbours among single pages are joined first, without zone->lock, to blocks
 * of order 3: the buddy merges one block where it would merge eight pages.  What is not joined goes
 * back page by page.
 */
static void batch_drain(struct zone *zone, unsigned int kind, struct list_head *batch,
			void (*drain)(struct zone *zone, unsigned int kind,
				      struct list_head *blocks))
{
	LIST_HEAD(blocks);

	if (!lmm_pindex_order(kind) &&
	    runs_join(batch, PAGE_ALLOC_COSTLY_ORDER, pfn_of, &blocks))
		drain(zone, lmm_pindex(PAGE_ALLOC_COSTLY_ORDER, kind), &blocks);
	drain(zone, kind, batch);
}

/* Give the single pages of several batches back, as the largest blocks that lists have. */
static void pages_drain(struct zone *zone, unsigned int kind, struct list_head *pages)
{
	LIST_HEAD(blocks);

	list_sort(NULL, pages, by_address);
	if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) &&
	    runs_join(pages, pageblock_order, pfn_of, &blocks))
		blocks_drain(zone, NR_LOWORDER_PCP_LISTS, &blocks);
	batch_drain(zone, kind, pages, blocks_drain);
}

/**
 * zonelock_show_irq_off() - how long interrupts were off, as a line of `state`
 * @m: the file
 *
 * Context: process.
 */
void zonelock_show_irq_off(struct seq_file *m)
{
	unsigned int bucket, cpu;
	unsigned long times;

	seq_puts(m, "# irq_off_ns");
	for (bucket = 0; bucket < IRQ_OFF_BUCKETS; bucket++) {
		times = 0;
		for_each_possible_cpu(cpu)
			times += READ_ONCE(per_cpu(irq_off, cpu)[bucket]);
		if (times)
			seq_printf(m, " %s%llu:%lu", bucket < IRQ_OFF_BUCKETS - 1 ? "<" : ">=",
				   BIT_ULL(bucket - (bucket == IRQ_OFF_BUCKETS - 1)), times);
	}
	seq_putc(m, '\n');
}

/*
 * Give back up to @most batches that were stored at @before or earlier; returns their pages, or 0.
 * Single pages of several batches make larger blocks.
 */
static unsigned int return_batches(struct zone *zone, unsigned long before, unsigned int most)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	struct list_head pages[MIGRATE_PCPTYPES];
	unsigned int count, kind, sum = 0;
	bool single = most == 1;
	LIST_HEAD(batch);

	/* The kernel drains the lists of each CPU in turn: most find nothing. */
	if (!depot_stocked(&zz->depot)) {
		/* The sum drops inside the section below: return_part() must see that section. */
		smp_rmb();
		return 0;
	}
	/* return_part() waits for this section when it finds the depot empty. */
	preempt_disable();
	atomic_inc(&zz->returning);
	/* return_part() looks for a batch first and at the count next, so count first here. */
	smp_mb__after_atomic();
	for (kind = 0; kind < MIGRATE_PCPTYPES; kind++)
		INIT_LIST_HEAD(&pages[kind]);
	while (most--) {
		count = depot_return(&zz->depot, before, &kind, &batch);
		if (!count)
			break;
		sum += count;
		if (single || lmm_pindex_order(kind))
			batch_drain(zone, kind, &batch, blocks_drain);
		else
			list_splice_tail_init(&batch, &pages[kind]);
	}
	for (kind = 0; sum && kind < MIGRATE_PCPTYPES; kind++)
		if (!list_empty(&pages[kind]))
			pages_drain(zone, kind, &pages[kind]);
	/* The pages are in the buddy before the count drops. */
	smp_mb__before_atomic();
	atomic_dec(&zz->returning);
	preempt_enable();
	return sum;
}

/*
 * Give back the oldest batch of a ring of @kinds, unless a shard's lock is held.  The caller holds
 * the lock of this CPU's list.
 */
static unsigned int return_oldest(struct zone *zone, unsigned int kinds)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int count, kind;
	LIST_HEAD(batch);

	atomic_inc(&zz->returning);
	/* As return_batches(): count first, for return_part(). */
	smp_mb__after_atomic();
	count = depot_try_return(&zz->depot, kinds, &kind, &batch);
	if (count)
		batch_drain(zone, kind, &batch, blocks_drain_locked);
	/* As return_batches(): the pages are in the buddy. */
	smp_mb__before_atomic();
	atomic_dec(&zz->returning);
	return count;
}

/* The same for a caller that may have interrupted a holder of the list's lock. */
static unsigned int try_return_batch(struct zone *zone)
{
	struct per_cpu_pages *pcp = this_cpu_ptr(zone->per_cpu_pageset);
	u64 since = ktime_get_mono_fast_ns();
	unsigned int count = 0;
	unsigned long flags;

	if (spin_trylock_irqsave(&pcp->lock, flags)) {
		count = return_oldest(zone, DEPOT_ALL_KINDS);
		spin_unlock_irqrestore(&pcp->lock, flags);
		note_irq_off(since);
	}
	return count;
}

static void returned(struct zone *zone, enum depot_reason reason, long pages)
{
	if (!pages)
		return;
	lmm_count(&lmm_zonelock_policy, COUNT_RETURNED_AGE + reason, pages);
	trace_zonelock_return(zone_to_nid(zone), zone_idx(zone), pages,
			      atomic_long_read(&zonelock_of(zone)->depot.pages),
			      reason_words[reason]);
}

/**
 * zonelock_return_zone() - give back what a depot holds
 * @zone: zone of the depot
 * @reason: DEPOT_BY_AGE gives old batches back, DEPOT_BY_SIZE down to the bound, any other reason
 *	everything
 *
 * Batches that are stored meanwhile are not given back.
 *
 * Context: process; takes and drops pcp->lock.
 * Return: pages given back.
 */
long zonelock_return_zone(struct zone *zone, enum depot_reason reason)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned int most = reason == DEPOT_BY_SIZE ? 1 : PASS_BATCHES;
	unsigned long before = jiffies;
	struct depot_view view;
	unsigned int count;
	long sum = 0;

	if (reason == DEPOT_BY_AGE)
		before -= READ_ONCE(zonelock.max_age) / 2;
	zonelock_view(zone, &view);
	while (depot_stocked(&zz->depot)) {
		/* No more than must go. */
		if (reason == DEPOT_BY_SIZE && atomic_long_read(&zz->depot.pages) <= view.max)
			break;
		count = return_batches(zone, before, most);
		if (!count)
			break;
		sum += count;
		cond_resched();
	}
	returned(zone, reason, sum);
	if (reason == DEPOT_BY_AGE)
		zz->aged += sum;
	return sum;
}

/**
 * zonelock_return_now() - give back a few batches of a depot without waiting
 * @zone: zone of the depot
 * @most: batches to give back at most
 *
 * Context: any but NMI, preemption off, no lock of the allocator held by the caller.
 * Return: number of batches given back.
 */
unsigned int zonelock_return_now(struct zone *zone, unsigned int most)
{
	unsigned int count, batches = 0;
	long sum = 0;

	if (in_nmi() || !depot_stocked(&zonelock_of(zone)->depot))
		return 0;
	while (batches < most) {
		count = try_return_batch(zone);
		if (!count)
			break;
		sum += count;
		batches++;
	}
	returned(zone, DEPOT_BY_ORDER, sum);
	return batches;
}

/**
 * zonelock_make_room() - a full depot gives the oldest batch of a kind back
 * @zone: zone of the depot
 * @kind: kind of the batch that is to be stored: batches of other kinds have takers of their own
 *
 * Processes that end free more pages than a depot holds.  Their pages pass through the depot:
 * joined, they are fewer blocks to merge under zone->lock, and fewer holds.
 *
 * Context: as zonelock_on_depot_put(); the caller holds the lock of this CPU's list.
 * Return: pages given back.
 */
unsigned int zonelock_make_room(struct zone *zone, unsigned int kind)
{
	unsigned int count = return_oldest(zone, BIT(kind));

	returned(zone, DEPOT_BY_SIZE, count);
	return count;
}

/* Give back one batch of a zone.  With none left, wait for batches that others are giving back. */
static unsigned int return_part(struct zone *zone, const struct lmm_klp_return *part)
{
	unsigned int count = return_batches(zone, part->before, 1);

	returned(zone, part->by == LMM_KLP_COMPACT ? DEPOT_BY_COMPACTION : DEPOT_BY_DRAIN, count);
	while (!count && atomic_read(&zonelock_of(zone)->returning))
		cpu_relax();
	return count;
}

/**
 * zonelock_on_give_back() - event: the buddy needs the pages that a depot holds
 * @part: who needs the pages, and the progress so far
 *
 * The kernel is about to compact, or has just drained lists to get their pages into the buddy.
 * Each call gives back one batch, so that preemption is off only briefly.  Batches that are stored
 * after the first call are left alone.
 *
 * Context: preemption off, no lock of the allocator held.
 * Return: true if there may be more to do.
 */
bool zonelock_on_give_back(struct lmm_klp_return *part)
{
	struct zone *zone = NULL;
	unsigned int count = 0;

	if (!part->started) {
		part->started = true;
		part->before = jiffies;
		if (part->by == LMM_KLP_COMPACT)
			zonelock_close(part->zone);
	}
	if (part->zone)
		return return_part(part->zone, part);
	/*
	 * Of tasks that want every zone drained, as direct reclaim does, the kernel has one work,
	 * and the others go on.
	 */
	while (!count && (zone = lmm_zone_after(zone)))
		if (!atomic_read(&zonelock_of(zone)->returning))
			count = return_part(zone, part);
	return count;
}

static bool any_stocked(void)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone)))
		if (depot_stocked(&zonelock_of(zone)->depot))
			return true;
	return false;
}

static void zone_pass(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	bool wanted = xchg(&zz->wanted, false);
	struct depot_view view;
	enum depot_reason reason;

	WRITE_ONCE(zz->worth, depot_worth(zz->worth, atomic_long_xchg(&zz->depot.taken, 0),
					  zz->aged));
	zz->aged = 0;
	if (!depot_stocked(&zz->depot))
		return;
	zonelock_view(zone, &view);
	view.closed |= wanted;
	reason = depot_duty(&view);
	if (reason == DEPOT_BY_AGE && zonelock.mode == ZONELOCK_MODE_NOMERGE)
		return;
	zonelock_return_zone(zone, reason);
	if (reason == DEPOT_BY_SIZE)
		zonelock_return_zone(zone, DEPOT_BY_AGE);
}

/**
 * zonelock_pass() - check the depots, periodically while any holds pages
 * @work: the pass of the policy's worker
 *
 * Context: process.
 */
void zonelock_pass(struct work_struct *work)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone))) {
		zone_pass(zone);
		cond_resched();
	}
	if (!any_stocked()) {
		WRITE_ONCE(lmm_request_wanted, 0);
		atomic_set(&zonelock.ticking, 0);
		/* A CPU that stored before both were cleared has kicked no pass: look again. */
		smp_mb();
		if (!any_stocked())
			return;
		WRITE_ONCE(lmm_request_wanted, zonelock.topup);
		if (atomic_xchg(&zonelock.ticking, 1))
			return;
	}
	/* A batch is old at half of max_age: two passes fall into the other half. */
	queue_delayed_work(zonelock.worker.wq, &zonelock.worker.pass,
			   max(READ_ONCE(zonelock.max_age) / 4, 1UL));
}

/**
 * zonelock_oom() - give everything back before the kernel chooses a task to kill
 * @nb: OOM notifier of the policy's worker
 * @unused: event number, always 0
 * @parm: number of pages freed so far, to be added to
 *
 * The kernel kills nobody if anything was freed, even if that does not help the request.  Only
 * pages of zones that are short therefore count.
 *
 * Context: process, may sleep.
 * Return: NOTIFY_OK.
 */
int zonelock_oom(struct notifier_block *nb, unsigned long unused, void *parm)
{
	unsigned long *freed = parm;
	struct zone *zone = NULL;
	struct depot_view view;
	long pages;

	while ((zone = lmm_zone_after(zone))) {
		zonelock_close(zone);
		zonelock_view(zone, &view);
		pages = zonelock_return_zone(zone, DEPOT_BY_OOM);
		if (view.free < view.mark)
			*freed += pages;
	}
	return NOTIFY_OK;
}
