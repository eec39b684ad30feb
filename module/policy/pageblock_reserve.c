// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_reserve.c - wholly free blocks are made before they are wanted
 *
 * Who finds one claims it and mixes nothing, so there shall always be some.  They are
 * made by the kernel's own kcompactd, which has its own rules for when that is of use;
 * here is decided when to wake it.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/static_call.h>

#include "../compat/compat.h"
#include "../hook/hook.h"
#include "pageblock_state.h"
#include "zones.h"

/* A zone keeps at most one block in so many. */
#define RESERVE_PART	16

DEFINE_STATIC_CALL_NULL(wake_compaction, void (pg_data_t *, int, int));

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

static void reserve_worker(struct work_struct *work)
{
	unsigned int slot;

	for (slot = 0; slot < lmm_zone_slots(); slot++) {
		struct pageblock_zone *pz = &pageblock.zones[slot];
		struct zone *zone = lmm_zone_at(slot);
		unsigned long most;

		if (!zone)
			continue;
		most = zone_managed_pages(zone) / pageblock_nr_pages / RESERVE_PART;
		pz->want = min_t(unsigned long, READ_ONCE(pageblock.reserve_blocks), most);
		pz->blocks = pageblock_free_blocks(zone);
		if (!pageblock_reserve_tick(&pz->reserve, pz->blocks, pz->want))
			continue;
		lmm_count(&lmm_pageblock_policy, COUNT_WAKEUPS, 1);
		static_call(wake_compaction)(zone->zone_pgdat, pageblock_order, zone_idx(zone));
	}
	queue_delayed_work(system_unbound_wq, &pageblock.work, READ_ONCE(pageblock.tick));
}

/**
 * lmm_pageblock_mixed() - event: a request got pages of another type
 * @page: unused
 * @got_order: order of what it was taken from
 *
 * Context: under zone->lock, interrupts off.
 */
void lmm_pageblock_mixed(const struct page *page, int got_order)
{
	bool whole = got_order >= pageblock_order;

	lmm_count(&lmm_pageblock_policy, whole ? COUNT_CLAIMED : COUNT_MIXED, 1);
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
	static_call_update(wake_compaction, (void (*)(pg_data_t *, int, int))
			   lmm_hook_address(LMM_HOOK_WAKE_COMPACTION));
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
