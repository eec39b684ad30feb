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

/* Remembered blocks to look at between two ticks. */
#define LOOK_MAX	16

/* Time of the worker at a stretch, in ms. */
#define SLICE_MS	20

/**
 * pageblock_free_blocks() - wholly free blocks of a zone
 * @zone: the zone
 *
 * Context: any; a racy look.
 * Return: number of blocks; not those of CMA memory, which only some requests may use, nor those
 * that are isolated or kept for atomic requests.
 */
unsigned long pageblock_free_blocks(struct zone *zone)
{
	unsigned long blocks = 0, apart;
	unsigned int order;

	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++)
		blocks += READ_ONCE(zone->free_area[order].nr_free) << (order - pageblock_order);
	apart = zone_page_state(zone, NR_FREE_CMA_PAGES) + READ_ONCE(zone->nr_reserved_highatomic);
	return pageblock_usable_blocks(blocks, apart, READ_ONCE(zone->nr_isolate_pageblock),
				       pageblock_nr_pages);
}

/**
 * pageblock_slice_over() - shall the worker stop for now?
 *
 * Context: the worker.
 * Return: true if the time of the slice is over, or if the policy goes off.
 */
bool pageblock_slice_over(void)
{
	return READ_ONCE(pageblock.leaving) || time_after_eq(jiffies, pageblock.slice_end);
}

/* Keep memory from going on- or offline; does not wait, and is held for one step only. */
static bool hotplug_stop(void)
{
	return percpu_down_read_trylock(pageblock.hotplug);
}

/* Decide what is due in a zone. */
static void zone_begin(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long most = zone_managed_pages(zone) / pageblock_nr_pages / RESERVE_PART;

	pz->had = pageblock_free_blocks(zone);
	pz->made = 0;
	WRITE_ONCE(pz->want, min_t(unsigned long, READ_ONCE(pageblock.reserve_blocks), most));
	if (pageblock_vacate_possible())
		pz->left = pageblock_reserve_tick(&pz->reserve, pz->had, pz->want);
	if (pz->left) {
		lmm_count(&lmm_pageblock_policy, COUNT_ATTEMPTS, 1);
		pageblock_vacate_begin(pz);
	}
	pz->unmixed = 0;
	if (pz->mixed && pageblock_reserve_tick(&pz->rest, 0, 1))
		pz->looks = LOOK_MAX;
}

/* Do a step towards the blocks that are to be made; note the result of the attempt at its end. */
static void reserve_step(struct zone *zone, struct pageblock_zone *pz)
{
	bool made, more = pageblock_vacate(zone, pz, &made);

	pz->made += made;
	pz->left -= made;
	lmm_count(&lmm_pageblock_policy, COUNT_MADE, made);
	/* A lower knob stops the work early. */
	pz->left = more ? min_t(unsigned long, pz->left, READ_ONCE(pageblock.reserve_blocks)) : 0;
	/* No progress if the moved pages broke up as many free blocks as were made. */
	if (!pz->left)
		pageblock_reserve_made(&pz->reserve,
				       pageblock_free_blocks(zone) > pz->had ? pz->made : 0);
}

/* Do a step of the clean-up; note the result of all steps at their end. */
static void unmix_step(struct zone *zone, struct pageblock_zone *pz)
{
	bool more = pageblock_unmix(zone, pz, &pz->unmixed);

	pz->looks = more && pz->unmixed < pageblock_nr_pages ? pz->looks - 1 : 0;
	if (!pz->looks)
		pageblock_reserve_made(&pz->rest, pz->unmixed);
}

/* Do what is due in a zone; false if the slice was too short. */
static bool zone_work(struct zone *zone, struct pageblock_zone *pz)
{
	while (pz->left || pz->looks) {
		if (pageblock_slice_over())
			return false;
		if (!hotplug_stop()) {
			/* Memory goes or comes, which takes a while: the next tick begins anew. */
			pz->left = 0;
			pz->looks = 0;
			break;
		}
		if (pz->left)
			reserve_step(zone, pz);
		else
			unmix_step(zone, pz);
		percpu_up_read(pageblock.hotplug);
		cond_resched();
	}
	return true;
}

/* Decide what is due in all zones. */
static void zones_begin(void)
{
	struct zone *zone;

	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		zone_begin(zone, &pageblock.zones[lmm_zone_slot(zone)]);
}

/* Do what is due in all zones; false if the slice was too short. */
static bool zones_work(void)
{
	struct zone *zone;

	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		if (!zone_work(zone, &pageblock.zones[lmm_zone_slot(zone)]))
			return false;
	return true;
}

/*
 * Runs for a slice at a time.  No step waits for I/O, for a page or for memory hotplug, so whoever
 * waits for the worker waits for the rest of a slice and a step.
 */
static void reserve_worker(struct work_struct *work)
{
	pageblock.slice_end = jiffies + max(msecs_to_jiffies(SLICE_MS), 1UL);
	WRITE_ONCE(pageblock.cleaner, current);
	if (!pageblock.unfinished)
		zones_begin();
	pageblock.unfinished = !zones_work();
	WRITE_ONCE(pageblock.cleaner, NULL);
	queue_delayed_work(lmm_unbound_wq, &pageblock.work,
			   pageblock.unfinished ? 1 : READ_ONCE(pageblock.tick));
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

	pageblock.leaving = false;
	pageblock.unfinished = false;
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
 * Waits for a worker that runs, for one step at most: the choice of blocks among 128, or a batch of
 * 32 pages to move.  No step waits for I/O, for the lock of a page, or for memory.  A block that
 * the worker has isolated is given back before the worker ends.
 *
 * Context: process, control mutex held, the policy's hooks not armed.
 */
void pageblock_reserve_stop(void)
{
	WRITE_ONCE(pageblock.leaving, true);
	/* The work queues itself; only the sync variant cancels for good. */
	cancel_delayed_work_sync(&pageblock.work);
	zones_free();
}
