// SPDX-License-Identifier: GPL-2.0-only
/*
 * unmix.c - blocks that were mixed are put in order later
 *
 * Every block from which a part was taken for another type is remembered, a bit each.
 * What can be moved out of a block for what cannot is moved, as compaction moves it; if
 * nothing else was in it, it is wholly free then, and whoever claims it gives it its type.
 * A page in a movable block that cannot be moved stays until its owner frees it.
 */
#include <linux/bitmap.h>
#include <linux/gfp.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "inspect.h"
#include "state.h"
#include "policy/common/zones.h"

/* Remembered blocks that are looked at, at a time. */
#define LOOK_MAX	16

/* Pages that are taken off their LRU lists at once, as compaction does. */
#define BATCH		32

/* Where a page is moved to. */
static struct lmm_moved *target(struct lmm_moved *from, unsigned long nid)
{
	return (struct lmm_moved *)alloc_pages_node(nid, PAGEBLOCK_TARGET_GFP, 0);
}

/*
 * May its owner have it anywhere?  Metadata of file systems may not: buffers, and what
 * others keep in inodes of their own, are where they belong in a block for what cannot
 * be moved.  With a reference to the folio, and until the grace period ends after which
 * an inode is freed, what its mapping leads to can be read.
 */
static bool folio_may_go(struct folio *folio)
{
	struct address_space *mapping;
	gfp_t zones = GFP_HIGHUSER_MOVABLE & GFP_ZONEMASK;
	bool may = true;

	rcu_read_lock();
	mapping = READ_ONCE(folio->mapping);
	if (mapping && !((unsigned long)mapping & LMM_MAPPING_FLAGS))
		may = (mapping_gfp_mask(mapping) & GFP_ZONEMASK) == zones;
	rcu_read_unlock();
	return may;
}

/* Take a page off its LRU list, if it is on one and by itself. */
static bool page_take(struct page *page, struct list_head *pages)
{
	struct folio *folio;
	bool taken = false;

	if (!PageLRU(page) || !get_page_unless_zero(page))
		return false;
	/* It may have changed hands before we had the reference. */
	folio = page_folio(page);
	if (!folio_test_large(folio) && folio_test_lru(folio) &&
	    !folio_test_unevictable(folio) && folio_may_go(folio))
		taken = lmm_isolated(KCALL(isolate)(folio));
	put_page(page);
	if (!taken)
		return false;
	list_add(&folio->lru, pages);
	node_stat_mod_folio(folio, NR_ISOLATED_ANON + folio_is_file_lru(folio), 1);
	return true;
}

/* Move what can be moved out of a block; @all: it was all.  Return how many pages. */
static unsigned int block_move(unsigned long pfn, bool *all)
{
	unsigned long end = pfn + pageblock_nr_pages;
	int nid = page_to_nid(pfn_to_page(pfn));
	unsigned int moved = 0, tried = 0, some, taken;
	LIST_HEAD(pages);
	int err = 0;

	while (pfn < end && err >= 0) {
		for (taken = 0; pfn < end && taken < BATCH; pfn++)
			taken += page_take(pfn_to_page(pfn), &pages);
		if (!taken)
			break;
		some = 0;
		err = KCALL(migrate)(&pages, target, NULL, nid, MIGRATE_SYNC_LIGHT,
				     MR_COMPACTION, &some);
		tried += taken;
		moved += some;
		if (!list_empty(&pages))
			KCALL(putback)(&pages);
		cond_resched();
	}
	*all = moved >= tried && err >= 0;
	return moved;
}

/* Put a remembered block in order; @done: it is.  Return how many pages were moved. */
static unsigned int block_clean(struct zone *zone, unsigned long pfn, bool *done)
{
	struct census_block block = { };
	struct pageblock_run run = { };
	unsigned int moved;

	*done = true;
	if (!pageblock_inspect(zone, pfn, pfn + pageblock_nr_pages, &run, &block) ||
	    !pageblock_out_of_place(&block))
		return 0;
	moved = block_move(pfn, done);
	if (moved && *done)
		lmm_count(&lmm_pageblock_policy, COUNT_CLEANED, 1);
	return moved;
}

/**
 * pageblock_unmix() - put some remembered blocks of a zone in order
 * @zone: the zone
 * @pz: what is known of it
 *
 * Context: process, may sleep, memory does not go offline; may reclaim.
 * Return: pages that were moved.
 */
unsigned int pageblock_unmix(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned int looked, moved = 0;
	unsigned long at;
	bool done;

	for (looked = 0; looked < LOOK_MAX && moved < pageblock_nr_pages; looked++) {
		at = find_next_bit(pz->mixed, pz->blocks, pz->next);
		if (at >= pz->blocks) {
			pz->next = 0;
			break;
		}
		pz->next = at + 1;
		/* Before the look, so that what comes of another mix is not forgotten. */
		clear_bit(at, pz->mixed);
		moved += block_clean(zone, (pz->first + at) << pageblock_order, &done);
		if (!done)
			set_bit(at, pz->mixed);
	}
	lmm_count(&lmm_pageblock_policy, COUNT_MOVED, moved);
	return moved;
}

/**
 * pageblock_remember() - a block has been mixed
 * @page: in it
 *
 * Context: under zone->lock, interrupts off.
 */
void pageblock_remember(const struct page *page)
{
	struct pageblock_zone *pz = &pageblock.zones[lmm_zone_slot(page_zone(page))];
	unsigned long at = (page_to_pfn(page) >> pageblock_order) - pz->first;

	/* Memory that came online since is not remembered. */
	if (pz->mixed && at < pz->blocks)
		set_bit(at, pz->mixed);
}

/**
 * pageblock_unmix_possible() - make sure that blocks can be cleaned
 *
 * Context: process, control mutex held.
 * Return: false if not: a hook is not there.
 */
bool pageblock_unmix_possible(void)
{
	return pageblock.hotplug && lmm_hook_available(LMM_HOOK_ISOLATE) &&
	       lmm_hook_available(LMM_HOOK_MIGRATE) && lmm_hook_available(LMM_HOOK_PUTBACK);
}

/**
 * pageblock_unmix_start() - make room to remember a zone's blocks
 * @zone: the zone
 * @pz: what is known of it
 *
 * Context: process.
 * Return: false if there is no memory.
 */
bool pageblock_unmix_start(struct zone *zone, struct pageblock_zone *pz)
{
	pz->first = zone->zone_start_pfn >> pageblock_order;
	pz->blocks = DIV_ROUND_UP(zone_end_pfn(zone), pageblock_nr_pages) - pz->first;
	pz->mixed = kvcalloc(BITS_TO_LONGS(pz->blocks), sizeof(long), GFP_KERNEL);
	return pz->mixed;
}
