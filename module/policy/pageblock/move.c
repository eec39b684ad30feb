// SPDX-License-Identifier: GPL-2.0-only
/*
 * move.c - move pages out of a block without waiting
 *
 * The steps are those of compaction: take pages off their LRU lists, have the kernel migrate them,
 * put back what was not moved.  Migration is asynchronous, so no lock of a page or of a buffer is
 * waited for, and no I/O.  Pages to move to are taken beforehand and without reclaim.  What is
 * left to wait for are spinlocks, the locks of reverse mapping, which nobody holds during I/O,
 * and the users of MMU notifiers, which reclaim and the kernel's own compaction wait for as well.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/kcall.h"
#include "core_move.h"
#include "inspect.h"
#include "state.h"

/*
 * For the pages to move others to.  Their allocation does not mix blocks (struct
 * pageblock_request, cleans) nor complain, and wakes kswapd rather than reclaim, because reclaim
 * may wait.  A move gives back as many pages as it takes, so a boost of the watermarks, with which
 * the filter answers each mix that it refuses, does not stop moves.  Since 6.3 the same flag opens
 * half of the min watermark as well: at most PAGEBLOCK_BATCH such pages are out at a time.
 */
#define TARGET_GFP \
	((GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM) | __GFP_THISNODE | __GFP_NOMEMALLOC | \
	 __GFP_NOWARN | LMM_GFP_PAST_BOOST)

/**
 * struct move - pages on their way out of a block
 * @from: first page frame number of the block
 * @end: page frame number after the block
 * @at: page to look at next
 * @stranger: the block is of another type than the pages
 * @gfp: for the pages to move to
 * @pages: pages that were taken off their LRU lists
 * @targets: free pages to move to
 * @aside: free pages of the block itself, which could not be moved to
 * @taken: number of @pages
 * @stays: a page stays in the block that may go later
 * @full: there was no page to move to
 * @price: what the pages cost that were looked at
 */
struct move {
	unsigned long from;
	unsigned long end;
	unsigned long at;
	bool stranger;
	gfp_t gfp;
	struct list_head pages;
	struct list_head targets;
	struct list_head aside;
	unsigned int taken;
	bool stays;
	bool full;
	u64 price;
};

static struct lmm_moved *target_get(struct lmm_moved *unused, unsigned long private)
{
	struct move *move = (struct move *)private;
	struct page *page = list_first_entry_or_null(&move->targets, struct page, lru);

	if (page)
		list_del(&page->lru);
	return (struct lmm_moved *)page;
}

static void target_put(struct lmm_moved *target, unsigned long private)
{
	struct move *move = (struct move *)private;

	list_add(&((struct page *)target)->lru, &move->targets);
}

/* Have a page to move to; lists of free pages may still hold pages of the block itself. */
static bool target_add(struct move *move)
{
	struct page *page;
	bool inside = true;

	while (inside) {
		page = alloc_pages_node(page_to_nid(pfn_to_page(move->from)), move->gfp, 0);
		if (!page)
			return false;
		inside = page_to_pfn(page) - move->from < move->end - move->from;
		list_add(&page->lru, inside ? &move->aside : &move->targets);
	}
	return true;
}

static void pages_free(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru)
		__free_page(page);
	INIT_LIST_HEAD(pages);
}

/*
 * Where a mapping may not have movable pages.  Out of a block of another type, pages go to movable
 * blocks, where metadata of file systems do not belong: buffers, and what some keep in inodes of
 * their own.  Within movable blocks, only addresses matter.
 */
static bool mapping_binds(struct address_space *mapping, bool stranger)
{
	gfp_t zones = mapping_gfp_mask(mapping) & GFP_ZONEMASK;

	if (stranger)
		return zones != (GFP_HIGHUSER_MOVABLE & GFP_ZONEMASK);
	return zones & (__GFP_DMA | __GFP_DMA32);
}

/*
 * Facts about a folio to which we have a reference.  A mapping can be read under the reference and
 * RCU, which delays the freeing of the inode and of the file system's module.
 */
static struct pageblock_page facts_of(struct folio *folio, bool stranger)
{
	struct pageblock_page facts = { .listed = folio_test_lru(folio) };
	struct address_space *mapping;

	/* The members of other pages have other meanings. */
	if (!facts.listed)
		return facts;
	facts.large = folio_test_large(folio);
	facts.unevictable = folio_test_unevictable(folio) || folio_test_mlocked(folio);
	facts.locked = folio_test_locked(folio);
	facts.writeback = folio_test_writeback(folio);
	facts.uptodate = folio_test_uptodate(folio);
	facts.dirty = folio_test_dirty(folio);
	facts.active = folio_test_active(folio) || folio_test_referenced(folio);
	facts.private = folio_test_private(folio);
	facts.cached = folio_test_swapcache(folio);
	facts.migrates = true;
	facts.mapped = atomic_read(&folio->_mapcount) + 1;
	facts.refs = folio_ref_count(folio);
	rcu_read_lock();
	mapping = READ_ONCE(folio->mapping);
	if (mapping && !((unsigned long)mapping & LMM_MAPPING_FLAGS)) {
		facts.cached = true;
		facts.bound = mapping_binds(mapping, stranger);
		facts.migrates = mapping->a_ops->migrate_folio;
		facts.asks = lmm_mapping_asks(mapping);
	}
	rcu_read_unlock();
	return facts;
}

/* May a page with these facts be moved?  Counts why not. */
static bool page_goes(const struct pageblock_page *facts, struct move *move)
{
	enum pageblock_skip why = pageblock_page_skip(facts);

	if (why == PAGEBLOCK_SKIP_NONE) {
		move->price += pageblock_page_price(facts);
		return true;
	}
	lmm_count(&lmm_pageblock_policy, COUNT_SKIPPED_OFF_LIST + why - PAGEBLOCK_SKIP_OFF_LIST, 1);
	move->stays |= pageblock_skip_passes(why);
	return false;
}

/* Take a folio off its LRU list, if there is a page to move to. */
static bool folio_take(struct folio *folio, struct move *move)
{
	move->full = !target_add(move);
	if (move->full || !lmm_isolated(KCALL(isolate)(folio))) {
		move->stays = true;
		return false;
	}
	list_add(&folio->lru, &move->pages);
	node_stat_mod_folio(folio, NR_ISOLATED_ANON + folio_is_file_lru(folio), 1);
	move->taken++;
	return true;
}

/*
 * Look at a page, and take the page with @take; false if the page cannot be moved now.  As
 * compaction does, get a reference to pages on LRU lists only: owners of other pages may take a
 * reference that is not theirs for somebody else's use, as page pools of network drivers do.
 */
static bool page_visit(struct page *page, struct move *move, bool take)
{
	struct pageblock_page facts = { };
	struct folio *folio;
	bool goes;

	if (!PageLRU(page))
		return page_goes(&facts, move);
	if (!get_page_unless_zero(page))
		return false;
	/* The page may have changed hands before we had the reference. */
	folio = page_folio(page);
	facts = facts_of(folio, move->stranger);
	goes = page_goes(&facts, move) && (!take || folio_take(folio, move));
	put_page(page);
	return goes;
}

/* Take up to a batch of pages, not more than the budget has left. */
static void batch_take(struct move *move)
{
	u64 most = min_t(u64, pageblock_budget_left(&pageblock.pages), PAGEBLOCK_BATCH);
	struct page *page;
	unsigned long end;

	for (move->taken = 0; move->at < move->end && move->taken < most && !move->full;) {
		page = pfn_to_page(move->at);
		end = pageblock_free_end(page, move->at);
		if (end == move->at && PageLRU(page))
			page_visit(page, move, true);
		move->at = max(end, move->at + 1);
	}
}

/* Move the pages that were taken; return their number. */
static unsigned int batch_move(struct move *move)
{
	unsigned int moved = 0;

	if (!move->taken)
		return 0;
	/* A page that the kernel does not move in the end has cost as much. */
	pageblock_budget_take(&pageblock.pages, move->taken);
	KCALL(migrate)(&move->pages, target_get, target_put, (unsigned long)move, MIGRATE_ASYNC,
		       MR_COMPACTION, &moved);
	if (!list_empty(&move->pages))
		KCALL(putback)(&move->pages);
	if (moved < move->taken) {
		lmm_count(&lmm_pageblock_policy, COUNT_NOT_MOVED, move->taken - moved);
		move->stays = true;
	}
	lmm_count(&lmm_pageblock_policy, COUNT_MOVED, moved);
	return moved;
}

static void move_begin(struct move *move, struct zone *zone, unsigned long pfn, bool stranger)
{
	*move = (struct move){
		.from = pfn, .end = pfn + pageblock_nr_pages, .at = pfn,
		.stranger = stranger, .gfp = TARGET_GFP,
	};
	INIT_LIST_HEAD(&move->pages);
	INIT_LIST_HEAD(&move->targets);
	INIT_LIST_HEAD(&move->aside);
	/* A page that may not be in ZONE_MOVABLE does not get there. */
	if (!stranger && zone_idx(zone) != ZONE_MOVABLE)
		move->gfp &= ~__GFP_HIGHMEM;
}

/**
 * pageblock_price() - what would it cost to move every page of a block?
 * @zone: zone of the block
 * @pfn: first page frame number of the block; the block is movable
 * @limit: price from which on the block is of no use
 *
 * Looks only, so that a block with a page that stays is not moved in vain.  Passes over pages in
 * per-CPU lists.
 *
 * Context: process, memory does not go offline; does not wait.
 * Return: the price at the moment of the look, the sum of pageblock_page_price(); 0 if a page
 * cannot be moved now, if there is none, or if the price is not below @limit.
 */
u64 pageblock_price(struct zone *zone, unsigned long pfn, u64 limit)
{
	struct move move;
	struct page *page;
	unsigned long end;

	move_begin(&move, zone, pfn, false);
	while (move.at < move.end) {
		page = pfn_to_page(move.at);
		end = pageblock_free_end(page, move.at);
		if (end == move.at && page_ref_count(page) && !page_visit(page, &move, false))
			return 0;
		if (move.price >= limit)
			return 0;
		move.at = max(end, move.at + 1);
	}
	return move.price;
}

/**
 * pageblock_move_out() - move the movable pages out of a block
 * @zone: zone of the block
 * @pfn: first page frame number of the block
 * @stranger: the block is of another type than movable
 * @all: set to false if a page has stayed that may go later
 *
 * With @stranger false the block must be isolated.  Stops when the time of the slice is over, when
 * the budget is used up, when there is no page to move to and, with @stranger false, at the first
 * batch that leaves a page.
 *
 * Context: process, may sleep, memory does not go offline; waits for no I/O and no page.
 * Return: number of pages that were moved.
 */
unsigned int pageblock_move_out(struct zone *zone, unsigned long pfn, bool stranger, bool *all)
{
	struct move move;
	unsigned int moved = 0;

	move_begin(&move, zone, pfn, stranger);
	while (move.at < move.end && !move.full && (stranger || !move.stays)) {
		if (pageblock_slice_over() || !pageblock_budget_left(&pageblock.pages)) {
			move.stays = true;
			break;
		}
		batch_take(&move);
		moved += batch_move(&move);
		cond_resched();
	}
	if (move.full)
		lmm_count(&lmm_pageblock_policy, COUNT_NO_ROOM, 1);
	pages_free(&move.targets);
	pages_free(&move.aside);
	*all = !move.stays;
	return moved;
}
