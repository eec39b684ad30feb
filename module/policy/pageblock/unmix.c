// SPDX-License-Identifier: GPL-2.0-only
/*
 * unmix.c - clean blocks that were mixed
 *
 * A bit for each block notes that the block was mixed.  Movable pages in an unmovable block are
 * moved out, as compaction moves pages.  If the block is wholly free then, the next claim sets
 * its type.  An unmovable page in a movable block stays until its owner frees it.
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

/* Remembered blocks to look at in one run. */
#define LOOK_MAX	16

/* Pages to take off their LRU lists at once; compaction takes as many. */
#define BATCH		32

static struct lmm_moved *target(struct lmm_moved *from, unsigned long nid)
{
	return (struct lmm_moved *)alloc_pages_node(nid, PAGEBLOCK_TARGET_GFP, 0);
}

/*
 * May the folio be anywhere?  Metadata of file systems belong in unmovable blocks: buffers, and
 * what some keep in inodes of their own.  The mapping can be read under a reference to the folio
 * and RCU, which delays the freeing of the inode.
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

/* Take a page off its LRU list, if the page is on one and is a folio of order 0. */
static bool page_take(struct page *page, struct list_head *pages)
{
	struct folio *folio;
	bool taken = false;

	if (!PageLRU(page) || !get_page_unless_zero(page))
		return false;
	/* The page may have changed hands before we had the reference. */
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

/* Move movable pages out of a block; set *@all if no move failed.  Return the number moved. */
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

/* Clean a block; set *@done if nothing is left to do.  Return the number of pages moved. */
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
 * pageblock_unmix() - clean some remembered blocks of a zone
 * @zone: the zone
 * @pz: the zone's state
 *
 * Context: process, may sleep, memory does not go offline; may reclaim.
 * Return: number of pages that were moved.
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
		/* Cleared before the look, so that a new mix is not forgotten. */
		clear_bit(at, pz->mixed);
		moved += block_clean(zone, (pz->first + at) << pageblock_order, &done);
		if (!done)
			set_bit(at, pz->mixed);
	}
	lmm_count(&lmm_pageblock_policy, COUNT_MOVED, moved);
	return moved;
}

/**
 * pageblock_remember() - remember a mixed block
 * @page: a page of the block
 *
 * Context: under zone->lock, interrupts off.
 */
void pageblock_remember(const struct page *page)
{
	struct pageblock_zone *pz = &pageblock.zones[lmm_zone_slot(page_zone(page))];
	unsigned long at = (page_to_pfn(page) >> pageblock_order) - pz->first;

	/* Memory that came online later has no bit. */
	if (pz->mixed && at < pz->blocks)
		set_bit(at, pz->mixed);
}

/**
 * pageblock_unmix_possible() - make sure that blocks can be cleaned
 *
 * Context: process, control mutex held.
 * Return: false if a hook is missing.
 */
bool pageblock_unmix_possible(void)
{
	return pageblock.hotplug && lmm_hook_available(LMM_HOOK_ISOLATE) &&
	       lmm_hook_available(LMM_HOOK_MIGRATE) && lmm_hook_available(LMM_HOOK_PUTBACK);
}

/**
 * pageblock_unmix_start() - allocate the bits of a zone's blocks
 * @zone: the zone
 * @pz: the zone's state
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
