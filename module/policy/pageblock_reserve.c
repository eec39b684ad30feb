// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_reserve.c - wholly free blocks are made before they are wanted
 *
 * Who finds one claims it and mixes nothing, so there shall always be some.  They are
 * made by asking for them, as a thread that faults a huge page does, and giving them
 * back: so reclaim and compaction are the kernel's own, at a time when nobody waits.
 * Waking the daemons does not do: kswapd is content with one block in any zone of its
 * node, and kcompactd with one block, and it does not begin while memory is short.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../compat/compat.h"
#include "pageblock_state.h"
#include "zones.h"

/* A zone keeps at most one block in so many. */
#define RESERVE_PART	16

/* At most so many are made at once. */
#define MAKE_MAX	8

/**
 * pageblock_free_blocks() - wholly free blocks of a zone
 * @zone: the zone
 *
 * Context: any; a racy look.
 * Return: how many, those of all types.
 */
unsigned long pageblock_free_blocks(const struct zone *zone)
{
	unsigned long blocks = 0;
	unsigned int order;

	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++)
		blocks += READ_ONCE(zone->free_area[order].nr_free) << (order - pageblock_order);
	return blocks;
}

/* Have some blocks free at once, which then are the zone's, or one that is as good. */
static void blocks_make(struct zone *zone, unsigned long nr)
{
	gfp_t gfp = GFP_TRANSHUGE | __GFP_THISNODE;
	struct page *page, *next;
	unsigned long made = 0;
	LIST_HEAD(pages);

	for (; made < nr; made++) {
		page = alloc_pages_node(zone_to_nid(zone), gfp, pageblock_order);
		if (!page)
			break;
		list_add(&page->lru, &pages);
	}
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	list_for_each_entry_safe(page, next, &pages, lru) {
		list_del(&page->lru);
		__free_pages(page, pageblock_order);
	}
}

static void reserve_worker(struct work_struct *work)
{
	struct zone *zone;

	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		struct pageblock_zone *pz = &pageblock.zones[lmm_zone_slot(zone)];
		unsigned long most = zone_managed_pages(zone) / pageblock_nr_pages / RESERVE_PART;
		unsigned long blocks = pageblock_free_blocks(zone);

		pz->want = min_t(unsigned long, READ_ONCE(pageblock.reserve_blocks), most);
		if (!pageblock_reserve_tick(&pz->reserve, blocks, pz->want))
			continue;
		lmm_count(&lmm_pageblock_policy, COUNT_ATTEMPTS, 1);
		blocks_make(zone, min_t(unsigned long, pz->want - blocks, MAKE_MAX));
	}
	queue_delayed_work(system_unbound_wq, &pageblock.work, READ_ONCE(pageblock.tick));
}

/**
 * pageblock_reserve_configure() - the knobs have changed
 *
 * Context: process.
 */
void pageblock_reserve_configure(void)
{
	mod_delayed_work(system_unbound_wq, &pageblock.work, pageblock.tick);
}

/**
 * pageblock_reserve_start() - begin to look after the reserve
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int pageblock_reserve_start(void)
{
	pageblock.zones = kvcalloc(lmm_zone_slots(), sizeof(*pageblock.zones), GFP_KERNEL);
	if (!pageblock.zones)
		return -ENOMEM;
	INIT_DELAYED_WORK(&pageblock.work, reserve_worker);
	queue_delayed_work(system_unbound_wq, &pageblock.work, 0);
	return 0;
}

/**
 * pageblock_reserve_stop() - no longer
 *
 * Context: process, the policy's hooks not armed.
 */
void pageblock_reserve_stop(void)
{
	/* It queues itself again; only this cancels it for good. */
	cancel_delayed_work_sync(&pageblock.work);
	kvfree(pageblock.zones);
	pageblock.zones = NULL;
}
