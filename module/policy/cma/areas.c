// SPDX-License-Identifier: GPL-2.0-only
/*
 * areas.c - what the owners of CMA memory do, and what is kept for them
 *
 * To allocate a range, the kernel moves the pages in it away: this takes the time of an
 * allocation, and fails if a page cannot be moved.  The kernel takes the first range that no
 * owner has, so the next allocation is most likely where the last one was.  So the range that an
 * owner has released last, or that could not be emptied, is kept for a while.
 *
 * The kernel's lists of free pages know no ranges.  So free pages of a kept range do not count as
 * free, and their blocks are moved, under zone->lock, to the tail of their list, where
 * they are the last of their order to be taken.  Where the rest of the area is free in larger
 * blocks, a small range is still taken first.  Nobody relies on the order of those lists, so
 * nothing needs moving back.
 *
 * Areas exist from boot on.  Their memory is boot memory and is not taken offline.
 */
#include <linux/cma.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/page-flags.h>
#include <linux/pageblock-flags.h>
#include <linux/slab.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "state.h"

/* Time between two passes over the kept ranges. */
#define KEEP_TICK	(HZ / 10)

/* An area keeps one part of so many at most. */
#define KEPT_PARTS	4

/* Limit of the kernel's number of areas; Debian's kernel has 20. */
#define MAX_AREAS	64

static void keep_worker(struct work_struct *work);

static DECLARE_DELAYED_WORK(keep_work, keep_worker);

/* A pass will begin within a jiffy, which sees what was remembered before this was set. */
static atomic_t keep_soon;

/* Time before which no pass begins, in jiffies. */
static unsigned long keep_rest;

/*
 * A pass looks at each page of what is kept that is in use, so a pass over many GiB is followed by
 * a rest: 1 ms for so many pages.  A page is taken to cost 25 ns, which was not measured: then a
 * pass takes a fifth of its rest.
 */
#define KEEP_PAGES_PER_MS	8192UL

/*
 * Have a pass begin within a jiffy, or at the end of the rest, whether or not one is due later.
 * The first who wants that sets the time; later ones do not put the pass off.
 */
static void pass_soon(void)
{
	unsigned long now = jiffies, rest = READ_ONCE(keep_rest);

	if (!atomic_xchg(&keep_soon, 1))
		mod_delayed_work(lmm_unbound_wq, &keep_work,
				 time_before(now, rest) ? rest - now : 1);
}

/* The area's lock is held. */
static void area_count_kept(struct cma_area *area)
{
	unsigned long kept = cma_forget(&area->range, jiffies);

	atomic_long_add((long)(kept - area->kept), &cma_zone_of(area->zone)->kept);
	area->kept = kept;
}

static void area_failed(struct cma_area *area)
{
	unsigned long flags;

	lmm_count(&lmm_cma_policy, COUNT_FAILURES, 1);
	raw_spin_lock_irqsave(&area->lock, flags);
	area->failures++;
	raw_spin_unlock_irqrestore(&area->lock, flags);
}

/* The area of that name, NULL if there is none. */
static struct cma_area *area_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < cma.nr_areas; i++)
		if (cma.areas[i].name == name)
			return &cma.areas[i];
	return NULL;
}

/* Keep a range with so many free pages. */
static void area_keep(struct cma_area *area, unsigned long pfn, unsigned long count,
		      unsigned long free)
{
	unsigned long flags;
	struct cma_range range = {
		.start = pfn,
		.end = pfn + count,
		.until = jiffies + READ_ONCE(cma.keep),
		.free = free,
	};

	raw_spin_lock_irqsave(&area->lock, flags);
	cma_remember(&area->range, &range, jiffies, area->pages / KEPT_PARTS);
	area_count_kept(area);
	raw_spin_unlock_irqrestore(&area->lock, flags);
	/* Not at once: the worker must not delay an owner that tries range after range. */
	pass_soon();
}

/**
 * cma_on_start() - an owner starts an allocation
 * @name: name of the area
 * @count: pages wanted; if the area has fewer, the kernel may not report the end
 *
 * Context: process, preemption off.
 */
void cma_on_start(const char *name, unsigned long count)
{
	struct cma_area *area = area_named(name);

	if (!area)
		return;
	if (LMM_CMA_ENDS_ALWAYS || count <= area->pages)
		atomic_inc(&cma_zone_of(area->zone)->allocating);
	else
		area_failed(area);
}

/**
 * cma_on_busy() - a range could not be emptied; the kernel tries the next one
 * @name: name of the area
 * @pfn: first page frame number
 * @count: pages of the range
 *
 * Context: process, preemption off.
 */
void cma_on_busy(const char *name, unsigned long pfn, unsigned long count)
{
	struct cma_area *area = area_named(name);
	unsigned long flags;

	if (!area)
		return;
	lmm_count(&lmm_cma_policy, COUNT_RETRIES, 1);
	raw_spin_lock_irqsave(&area->lock, flags);
	area->retries++;
	raw_spin_unlock_irqrestore(&area->lock, flags);
	if (READ_ONCE(cma.keep))
		area_keep(area, pfn, count, 0);
}

/**
 * cma_on_finish() - an allocation has ended
 * @name: name of the area
 * @pfn: first page frame number, on success
 * @got: the allocation has succeeded
 * @count: pages wanted
 *
 * If the policy was switched on during the allocation, the start was not reported.
 *
 * Context: process, preemption off.
 */
void cma_on_finish(const char *name, unsigned long pfn, bool got, unsigned long count)
{
	struct cma_area *area = area_named(name);
	unsigned long flags;

	if (!area)
		return;
	atomic_dec_if_positive(&cma_zone_of(area->zone)->allocating);
	if (!got) {
		area_failed(area);
		return;
	}
	lmm_count(&lmm_cma_policy, COUNT_ALLOCS, 1);
	raw_spin_lock_irqsave(&area->lock, flags);
	area->allocs++;
	cma_taken(&area->range, pfn, pfn + count);
	area_count_kept(area);
	raw_spin_unlock_irqrestore(&area->lock, flags);
}

/**
 * cma_drain_lists() - give back pages in this CPU's lists of a zone
 * @zone: the zone
 * @most: number of pages; rounded up to batches
 *
 * Each call of the kernel's drains up to a batch, or finds that an earlier one has drained more.
 * Not in an interrupt, which may have interrupted a user of the lists; less than a batch is not
 * worthwhile.
 *
 * Context: any that pages may be freed in, preemption off; takes and drops pcp->lock.
 * Return: pages given back.
 */
unsigned int cma_drain_lists(struct zone *zone, int most)
{
	struct per_cpu_pages *pages = this_cpu_ptr(zone->per_cpu_pageset);
	int before = READ_ONCE(pages->count), left = before, calls;
	int batch = max(READ_ONCE(pages->batch), 1);

	if (!in_task() || irqs_disabled() || before < batch)
		return 0;
	for (calls = DIV_ROUND_UP(before, batch); calls && left > 0; calls--) {
		KCALL(drain_list)(zone, pages);
		left = READ_ONCE(pages->count);
		if (before - left >= most)
			break;
	}
	return max(before - left, 0);
}

/**
 * cma_on_release() - an owner has released pages
 * @name: name of the area
 * @pfn: first page frame number
 * @page: first page
 * @count: number of pages
 *
 * Context: any that pages may be freed in, preemption off; takes and drops pcp->lock.
 */
void cma_on_release(const char *name, unsigned long pfn, const struct page *page,
		    unsigned long count)
{
	struct cma_area *area = area_named(name);

	if (!area || !READ_ONCE(cma.keep))
		return;
	/* Released pages are on this CPU's lists, which are allocated from first. */
	cma_drain_lists(area->zone, INT_MAX);
	area_keep(area, pfn, count, count);
	/* Another policy may hold some of the released pages. */
	lmm_pages_wanted(page_zone(page));
}

/*
 * The free block of CMA memory that contains a page frame, or NULL; zone->lock is held.  The
 * pageblock of the head tells the list: of a block that spans two pageblocks, the first may be
 * isolated and the second not yet.
 */
static struct page *free_block(unsigned long pfn)
{
	unsigned int order;

	for (order = 0; order <= LMM_MAX_ORDER; order++) {
		unsigned long at = ALIGN_DOWN(pfn, 1UL << order);
		struct page *head = pfn_to_page(at);

		if (!PageBuddy(head))
			continue;
		if (page_private(head) < order ||
		    lmm_block_type(KCALL(block_flags), head, at) != LMM_MIGRATE_CMA)
			return NULL;
		return head;
	}
	return NULL;
}

/* Does a free block begin at one of these pages? */
static bool free_begins(unsigned long pfn, unsigned long end)
{
	while (pfn < end)
		if (PageBuddy(pfn_to_page(pfn++)))
			return true;
	return false;
}

/*
 * Move free blocks from @pfn to the end of the pageblock, or to @end, to the tails of their
 * lists.  Add their pages to @free; return the next page frame number.  Only the first page may be
 * in the middle of a free block: a block that ends after a later page, and begins before, would
 * have been found with the page before.
 */
static unsigned long block_to_tail(struct zone *zone, unsigned long pfn, unsigned long end,
				   unsigned long *free)
{
	unsigned long stop = min(ALIGN(pfn + 1, pageblock_nr_pages), end);
	unsigned long first = pfn, flags;

	/* Where all pages are in use, others need zone->lock more. */
	if (!data_race(free_begins(pfn, stop) || free_block(pfn)))
		return stop;
	spin_lock_irqsave(&zone->lock, flags);
	while (pfn < stop) {
		bool begins = pfn == first || PageBuddy(pfn_to_page(pfn));
		struct page *head = begins ? free_block(pfn) : NULL;
		unsigned long next = pfn + 1;
		unsigned int order;

		if (head) {
			order = page_private(head);
			list_move_tail(&head->buddy_list,
				       &zone->free_area[order].free_list[LMM_MIGRATE_CMA]);
			next = min(page_to_pfn(head) + (1UL << order), end);
			*free += next - pfn;
		}
		pfn = next;
	}
	spin_unlock_irqrestore(&zone->lock, flags);
	return pfn;
}

static unsigned long range_to_tail(struct zone *zone, const struct cma_range *range)
{
	unsigned long pfn = range->start;
	unsigned long free = 0;

	while (pfn < range->end) {
		pfn = block_to_tail(zone, pfn, range->end, &free);
		cond_resched();
	}
	return free;
}

/* Make a pass over the kept range of an area; return its pages, 0 if there is none. */
static unsigned long area_pass(struct cma_area *area)
{
	struct cma_range range;
	unsigned long free;

	raw_spin_lock_irq(&area->lock);
	area_count_kept(area);
	range = area->range;
	raw_spin_unlock_irq(&area->lock);
	if (range.start == range.end)
		return 0;
	free = range_to_tail(area->zone, &range);
	raw_spin_lock_irq(&area->lock);
	if (area->range.start == range.start && area->range.end == range.end)
		area->range.free = free;
	area_count_kept(area);
	raw_spin_unlock_irq(&area->lock);
	return range.end - range.start;
}

/* Make a pass over the kept ranges; repeat while there are any. */
static void keep_worker(struct work_struct *work)
{
	unsigned long pages = 0, rest;
	unsigned int i;

	/* A full barrier: who finds the flag set has what was remembered seen below. */
	atomic_xchg(&keep_soon, 0);
	for (i = 0; i < cma.nr_areas; i++)
		pages += area_pass(&cma.areas[i]);
	rest = msecs_to_jiffies(pages / KEEP_PAGES_PER_MS);
	WRITE_ONCE(keep_rest, jiffies + rest);
	/* Whoever asked meanwhile knew of no rest. */
	if (atomic_read(&keep_soon))
		mod_delayed_work(lmm_unbound_wq, &keep_work, max(rest, 1UL));
	else if (pages)
		queue_delayed_work(lmm_unbound_wq, &keep_work, max(KEEP_TICK, rest));
}

static int area_add(struct cma *kernel_area, void *unused)
{
	struct cma_area *area = &cma.areas[cma.nr_areas];
	unsigned long pages = kernel_area->count;
	unsigned long start;

	/* An area that could not be set up at boot is empty; an area in pieces is left alone. */
	if (!pages || lmm_cma_pieces(kernel_area) != 1)
		return 0;
	start = lmm_cma_start(kernel_area);
	if (cma.nr_areas == MAX_AREAS || !pfn_valid(start))
		return -ERANGE;
	area->name = kernel_area->name;
	area->pages = pages;
	area->zone = page_zone(pfn_to_page(start));
	area->owners = (struct cma_owners){
		.bitmap = lmm_cma_bitmap(kernel_area),
		.start = start,
		.end = start + pages,
		.order = kernel_area->order_per_bit,
	};
	raw_spin_lock_init(&area->lock);
	cma.nr_areas++;
	return 0;
}

/**
 * cma_range_is_kept() - is one of these pages kept for its owner, or being released?
 * @zone: zone of the pages
 * @pfn: first page frame number
 * @count: number of pages
 *
 * The caller has just allocated the pages, or has seen them free: an owner that has them is about
 * to report the release, or is just taking them.  After the kernel has cleared the bitmap, the
 * report is some hundred instructions away.
 *
 * Context: process.
 * Return: true if so.
 */
bool cma_range_is_kept(const struct zone *zone, unsigned long pfn, unsigned long count)
{
	bool kept = false;
	unsigned int i;

	for (i = 0; i < cma.nr_areas && !kept; i++) {
		struct cma_area *area = &cma.areas[i];

		if (area->zone != zone)
			continue;
		if (cma_owned(&area->owners, pfn, pfn + count))
			return true;
		raw_spin_lock_irq(&area->lock);
		kept = cma_keeps(&area->range, pfn, pfn + count, jiffies);
		raw_spin_unlock_irq(&area->lock);
	}
	return kept;
}

/**
 * cma_view_zone() - read the state of a zone
 * @zone: the zone
 * @view: gets the state
 *
 * Context: any.
 */
void cma_view_zone(struct zone *zone, struct cma_view *view)
{
	const struct cma_zone *cz = cma_zone_of(zone);

	*view = (struct cma_view){
		.free = zone_page_state(zone, NR_FREE_PAGES),
		.free_cma = zone_page_state(zone, NR_FREE_CMA_PAGES),
		.high = lmm_zone_high_mark(zone),
		.managed = zone_managed_pages(zone),
		.cma = zone_cma_pages(zone),
		.kept = atomic_long_read(&cz->kept),
		.allocating = atomic_read(&cz->allocating) > 0,
	};
}

/**
 * cma_areas_find() - find the kernel's areas
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * Context: process, hooks not armed.
 * Return: 0, -ENOMEM, or -ERANGE if there are too many areas or one has no memory.
 */
int cma_areas_find(char *why, size_t len)
{
	int err;

	keep_rest = jiffies;
	cma.nr_areas = 0;
	cma.areas = kvcalloc(MAX_AREAS, sizeof(*cma.areas), GFP_KERNEL);
	if (!cma.areas) {
		scnprintf(why, len, "out of memory for the areas");
		return -ENOMEM;
	}
	err = KCALL(cma_areas)(area_add, NULL);
	if (err)
		scnprintf(why, len, "more CMA areas than %u, or one without memory", MAX_AREAS);
	return err;
}

/**
 * cma_areas_forget() - keep nothing of what is kept now
 *
 * Context: process.
 */
void cma_areas_forget(void)
{
	unsigned int i;

	for (i = 0; i < cma.nr_areas; i++) {
		struct cma_area *area = &cma.areas[i];

		raw_spin_lock_irq(&area->lock);
		area->range = (struct cma_range){ };
		area_count_kept(area);
		raw_spin_unlock_irq(&area->lock);
	}
}

/**
 * cma_areas_stop() - stop the worker and forget the areas
 *
 * Context: process, hooks disarmed and no handler running.
 */
void cma_areas_stop(void)
{
	cancel_delayed_work_sync(&keep_work);
	atomic_set(&keep_soon, 0);
	kvfree(cma.areas);
	cma.areas = NULL;
	cma.nr_areas = 0;
}

/**
 * cma_areas_show() - print the areas
 * @m: file to print to
 *
 * Context: process, the policy on.
 */
void cma_areas_show(struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "%-16s%5s %-9s%9s%9s%9s%9s%9s\n", "area", "node", "zone", "pages",
		   "kept", "allocs", "retries", "failures");
	for (i = 0; i < cma.nr_areas; i++) {
		struct cma_area copy;

		raw_spin_lock_irq(&cma.areas[i].lock);
		copy = cma.areas[i];
		raw_spin_unlock_irq(&cma.areas[i].lock);
		seq_printf(m, "%-16s%5d %-9s%9lu%9lu%9llu%9llu%9llu\n", copy.name,
			   zone_to_nid(copy.zone), copy.zone->name, copy.pages, copy.kept,
			   copy.allocs, copy.retries, copy.failures);
	}
}
