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
 * Context: any; a racy look.
 * Return: number of blocks; not those of CMA memory, which only some requests may use.
 */
unsigned long pageblock_free_blocks(struct zone *zone)
{
	unsigned long blocks = 0, cma;
	unsigned int order;

	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++)
		blocks += READ_ONCE(zone->free_area[order].nr_free) << (order - pageblock_order);
	/* An upper limit: free CMA memory may be in pieces. */
	cma = zone_page_state(zone, NR_FREE_CMA_PAGES) / pageblock_nr_pages;
	return blocks - min(blocks, cma);
}

/* Keep memory from going on- or offline; does not wait, and is held for one look only. */
static bool hotplug_stop(void)
{
	return pageblock.hotplug && percpu_down_read_trylock(pageblock.hotplug);
}

/* Make wholly free blocks up to the number that the zone should have. */
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
		/* A lower knob, or switching off, stops the work early. */
		nr = min_t(unsigned long, nr, READ_ONCE(pageblock.reserve_blocks));
	} while (some && made < nr && hotplug_stop());
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	/* No progress if the moved pages broke up as many free blocks as were made. */
	pageblock_reserve_made(&pz->reserve, pageblock_free_blocks(zone) > had ? made : 0);
}

/* Clean remembered blocks of a zone, if it is time. */
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
	queue_delayed_work(lmm_unbound_wq, &pageblock.work, READ_ONCE(pageblock.tick));
}

/**
 * pageblock_reserve_configure() - apply changed knobs
 *
 * Context: process.
 */
void pageblock_reserve_configure(void)
{
	mod_delayed_work(lmm_unbound_wq, &pageblock.work, pageblock.tick);
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
 * pageblock_reserve_start() - start the worker
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
	queue_delayed_work(lmm_unbound_wq, &pageblock.work, 0);
	return 0;
}

/**
 * pageblock_reserve_stop() - stop the worker
 *
 * Context: process, the policy's hooks not armed.
 */
void pageblock_reserve_stop(void)
{
	WRITE_ONCE(pageblock.reserve_blocks, 0);
	/* The work queues itself; only the sync variant cancels for good. */
	cancel_delayed_work_sync(&pageblock.work);
	zones_free();
}
