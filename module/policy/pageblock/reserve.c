// SPDX-License-Identifier: GPL-2.0-only
/*
 * reserve.c - wholly free blocks are made before they are wanted
 *
 * Who finds one claims it and mixes nothing, so there shall always be some.  Two ways to
 * have the kernel make them were tried and do not do: waking its daemons (kswapd is
 * content with one block in any zone of its node, and kcompactd with one block, and it
 * does not begin while memory is short), and asking for them as a huge fault does
 * (compaction gives up at a block that has one page in it which does not move now, and
 * is then put off for everybody).  So they are chosen and emptied; see vacate.c.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "state.h"
#include "policy/common/zones.h"

/* A zone keeps at most one block in so many. */
#define RESERVE_PART	16

/**
 * pageblock_free_blocks() - wholly free blocks of a zone
 * @zone: the zone
 *
 * Those of CMA memory are for some requests only, and are left out.
 *
 * Context: any; a racy look.
 * Return: how many, those of all other types.
 */
unsigned long pageblock_free_blocks(struct zone *zone)
{
	unsigned long blocks = 0, cma;
	unsigned int order;

	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++)
		blocks += READ_ONCE(zone->free_area[order].nr_free) << (order - pageblock_order);
	/* At most: what is free of it may be in pieces as well. */
	cma = zone_page_state(zone, NR_FREE_CMA_PAGES) / pageblock_nr_pages;
	return blocks - min(blocks, cma);
}

/* Memory must not come or go meanwhile; not waited for, and held for no longer than a look. */
static bool hotplug_stop(void)
{
	return pageblock.hotplug && percpu_down_read_trylock(pageblock.hotplug);
}

/* Keep as many blocks of a zone free as there are to be. */
static void reserve_fill(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long most = zone_managed_pages(zone) / pageblock_nr_pages / RESERVE_PART;
	unsigned long had = pageblock_free_blocks(zone), made = 0, nr;
	unsigned int some;

	pz->want = min_t(unsigned long, READ_ONCE(pageblock.reserve_blocks), most);
	nr = pageblock_reserve_tick(&pz->reserve, had, pz->want);
	if (!nr || !hotplug_stop())
		return;
	lmm_count(&lmm_pageblock_policy, COUNT_ATTEMPTS, 1);
	do {
		some = pageblock_vacate(zone, pz, nr - made);
		percpu_up_read(pageblock.hotplug);
		made += some;
		/* Who lowers it, or switches off, does not wait for the rest. */
		nr = min_t(unsigned long, nr, READ_ONCE(pageblock.reserve_blocks));
	} while (some && made < nr && hotplug_stop());
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	/* Where pages are moved to blocks that were free, as many are broken as are made. */
	pageblock_reserve_made(&pz->reserve, pageblock_free_blocks(zone) > had ? made : 0);
}

/* Put remembered blocks of a zone in order, if it is time. */
static void mixed_clean(struct zone *zone, struct pageblock_zone *pz)
{
	if (!pz->mixed || !pageblock_reserve_tick(&pz->rest, 0, 1) || !hotplug_stop())
		return;
	pageblock_reserve_made(&pz->rest, pageblock_unmix(zone, pz));
	percpu_up_read(pageblock.hotplug);
}

static void reserve_worker(struct work_struct *work)
{
	struct pageblock_zone *pz;
	struct zone *zone = NULL;

	WRITE_ONCE(pageblock.cleaner, current);
	while ((zone = lmm_zone_after(zone))) {
		pz = &pageblock.zones[lmm_zone_slot(zone)];
		reserve_fill(zone, pz);
		mixed_clean(zone, pz);
	}
	WRITE_ONCE(pageblock.cleaner, NULL);
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

static void zones_free(void)
{
	unsigned int slot;

	for (slot = 0; slot < lmm_zone_slots(); slot++)
		kvfree(pageblock.zones[slot].mixed);
	kvfree(pageblock.zones);
	pageblock.zones = NULL;
}

/**
 * pageblock_reserve_start() - begin to look after the reserve
 *
 * Context: process, control mutex held.
 * Return: 0 or -ENOMEM.
 */
int pageblock_reserve_start(void)
{
	bool cleans = pageblock_unmix_possible();
	struct zone *zone;

	pageblock.zones = kvcalloc(lmm_zone_slots(), sizeof(*pageblock.zones), GFP_KERNEL);
	if (!pageblock.zones)
		return -ENOMEM;
	for (zone = lmm_zone_after(NULL); zone && cleans; zone = lmm_zone_after(zone)) {
		if (!pageblock_unmix_start(zone, &pageblock.zones[lmm_zone_slot(zone)])) {
			zones_free();
			return -ENOMEM;
		}
	}
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
	WRITE_ONCE(pageblock.reserve_blocks, 0);
	/* It queues itself again; only this cancels it for good. */
	cancel_delayed_work_sync(&pageblock.work);
	zones_free();
}
