// SPDX-License-Identifier: GPL-2.0-only
/*
 * move.c - move pages out of a range of page frames without waiting
 *
 * The steps are those of compaction: take pages off their LRU lists, have the kernel migrate them,
 * put back what was not moved.  Migration is asynchronous, so no lock of a page or of a buffer is
 * waited for, and no I/O.  Pages to move to are taken beforehand and without reclaim.  What is
 * left to wait for are spinlocks, the locks of reverse mapping, which nobody holds during I/O,
 * and the users of MMU notifiers, which reclaim and the kernel's own compaction wait for as well.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "move.h"

/* A folio to move to, as large as the folio to be moved. */
static struct lmm_moved *target_get(struct lmm_moved *moved, unsigned long private)
{
	struct lmm_move *move = (struct lmm_move *)private;
	unsigned int order = folio_order((struct folio *)moved);
	struct page *page;

	list_for_each_entry(page, &move->targets, lru) {
		if (compound_order(page) == order) {
			list_del(&page->lru);
			move->have[order]--;
			return (struct lmm_moved *)page;
		}
	}
	return NULL;
}

static void target_put(struct lmm_moved *target, unsigned long private)
{
	struct page *page = (struct page *)target;

	lmm_move_add((struct lmm_move *)private, page, compound_order(page));
}

static void pages_free(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru)
		__free_pages(page, compound_order(page));
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

/* Is a folio larger than a page, and moved as a whole? */
static bool moves_whole(struct folio *folio, const struct lmm_mover *mover)
{
	return LMM_MOVES_LARGE && folio_test_large(folio) && folio_order(folio) <= mover->order;
}

/*
 * Facts about a folio to which we have a reference.  A mapping can be read under the reference and
 * RCU, which delays the freeing of the inode and of the file system's module.
 */
static struct lmm_page_facts facts_of(struct folio *folio, const struct lmm_move *move)
{
	struct lmm_page_facts facts = { .listed = folio_test_lru(folio), .pages = 1 };
	struct address_space *mapping;
	bool whole;

	/* The members of other pages have other meanings. */
	if (!facts.listed)
		return facts;
	whole = moves_whole(folio, move->mover);
	facts.large = folio_test_large(folio) && !whole;
	facts.pages = whole ? folio_nr_pages(folio) : 1;
	facts.unevictable = folio_test_unevictable(folio) || folio_test_mlocked(folio);
	facts.locked = folio_test_locked(folio);
	facts.writeback = folio_test_writeback(folio);
	facts.uptodate = folio_test_uptodate(folio);
	facts.dirty = folio_test_dirty(folio);
	facts.active = folio_test_active(folio) || folio_test_referenced(folio);
	facts.private = folio_test_private(folio);
	facts.cached = folio_test_swapcache(folio);
	facts.migrates = true;
	facts.mapped = whole ? folio_mapcount(folio) : atomic_read(&folio->_mapcount) + 1;
	facts.refs = folio_ref_count(folio);
	rcu_read_lock();
	mapping = READ_ONCE(folio->mapping);
	if (mapping && !((unsigned long)mapping & LMM_MAPPING_FLAGS)) {
		facts.cached = true;
		facts.bound = mapping_binds(mapping, move->stranger);
		facts.migrates = mapping->a_ops->migrate_folio;
		facts.asks = mapping_release_always(mapping);
	}
	rcu_read_unlock();
	return facts;
}

/**
 * lmm_move_spares() - is there a folio to move to that no folio taken so far needs?
 * @move: the move
 * @order: order of the folio
 *
 * A folio that was not moved in the end leaves one.
 *
 * Context: process.
 * Return: true if so.
 */
bool lmm_move_spares(const struct lmm_move *move, unsigned int order)
{
	return move->have[order] > move->need[order];
}

/**
 * lmm_move_add() - add a free page or folio to move to
 * @move: the move
 * @page: the page, or the first page of the folio
 * @order: order of the folio
 *
 * Context: process.
 */
void lmm_move_add(struct lmm_move *move, struct page *page, unsigned int order)
{
	list_add(&page->lru, &move->targets);
	move->have[order]++;
}

/*
 * Take a folio off its LRU list, if there is a folio to move to.  Where there is none for a larger
 * folio, there may still be pages for others.
 */
static bool folio_take(struct folio *folio, struct lmm_move *move)
{
	unsigned int order = folio_order(folio);
	long pages = folio_nr_pages(folio);
	bool target = move->mover->target_add(move, order);

	move->full = !target && pages == 1;
	if (!target || !lmm_isolated(KCALL(isolate)(folio))) {
		move->stays = true;
		return false;
	}
	list_add(&folio->lru, &move->pages);
	node_stat_mod_folio(folio, NR_ISOLATED_ANON + folio_is_file_lru(folio), pages);
	move->taken += pages;
	move->need[order]++;
	return true;
}

/**
 * lmm_move_visit() - look at a page
 * @move: the move
 * @page: the page, which is not free
 * @take: take the page off its LRU list if the page may be moved
 *
 * As compaction does, get a reference to pages on LRU lists only: owners of other pages may take a
 * reference that is not theirs for somebody else's use, as page pools of network drivers do.
 *
 * Context: process, memory does not go offline; does not wait.
 * Return: false if the page cannot be moved now.
 */
bool lmm_move_visit(struct lmm_move *move, struct page *page, bool take)
{
	struct lmm_page_facts facts = { };
	struct folio *folio;
	bool goes;

	if (!PageLRU(page))
		return move->mover->goes(move, &facts);
	if (!get_page_unless_zero(page))
		return false;
	/* The page may have changed hands before we had the reference. */
	folio = page_folio(page);
	facts = facts_of(folio, move);
	/* The rest of a larger folio need not be looked at. */
	if (page_to_pfn(page) == move->at)
		move->at = max(move->at, folio_pfn(folio) + folio_nr_pages(folio) - 1);
	goes = move->mover->goes(move, &facts) && (!take || folio_take(folio, move));
	put_page(page);
	return goes;
}

/**
 * lmm_move_take() - take up to a batch of pages off their LRU lists
 * @move: the move; goes on at @at
 * @most: number of pages to take at most, LMM_MOVE_BATCH for a whole batch
 *
 * Context: process, memory does not go offline; does not wait.
 */
void lmm_move_take(struct lmm_move *move, unsigned int most)
{
	struct page *page;
	unsigned long end;

	memset(move->need, 0, sizeof(move->need));
	for (move->taken = 0; move->at < move->end && move->taken < most && !move->full;) {
		page = pfn_to_page(move->at);
		end = lmm_free_end(page, move->at);
		if (end == move->at && PageLRU(page))
			lmm_move_visit(move, page, true);
		move->at = max(end, move->at + 1);
	}
}

/**
 * lmm_move_taken() - move the pages that were taken
 * @move: the move; a page that was not moved goes back to its LRU list
 *
 * Context: process, may sleep, memory does not go offline; waits for no I/O and no page.
 * Return: number of pages that were moved.
 */
unsigned int lmm_move_taken(struct lmm_move *move)
{
	unsigned int moved = 0;

	if (!move->taken)
		return 0;
	KCALL(migrate)(&move->pages, target_get, target_put, (unsigned long)move, MIGRATE_ASYNC,
		       MR_COMPACTION, &moved);
	if (!list_empty(&move->pages))
		KCALL(putback)(&move->pages);
	if (moved < move->taken)
		move->stays = true;
	return moved;
}

/**
 * lmm_move_possible() - does this kernel have what moving pages needs?
 *
 * Context: process.
 * Return: false if a hook is missing.
 */
bool lmm_move_possible(void)
{
	return lmm_hook_available(LMM_HOOK_ISOLATE) && lmm_hook_available(LMM_HOOK_MIGRATE) &&
	       lmm_hook_available(LMM_HOOK_PUTBACK);
}

/**
 * lmm_move_begin() - begin a move
 * @move: the move
 * @mover: the policy's part
 * @from: first page frame number of the range
 * @end: page frame number after the range
 * @stranger: the pages go to a block of another type than the block they are in
 *
 * Context: process.
 */
void lmm_move_begin(struct lmm_move *move, const struct lmm_mover *mover, unsigned long from,
		    unsigned long end, bool stranger)
{
	*move = (struct lmm_move){
		.mover = mover, .from = from, .end = end, .at = from, .stranger = stranger,
	};
	INIT_LIST_HEAD(&move->pages);
	INIT_LIST_HEAD(&move->targets);
	INIT_LIST_HEAD(&move->aside);
}

/**
 * lmm_move_go_on() - go on with another range; pages to move to that are left serve that range
 * @move: the move; no page is taken
 * @from: first page frame number of the range
 * @end: page frame number after the range
 *
 * Context: process.
 */
void lmm_move_go_on(struct lmm_move *move, unsigned long from, unsigned long end)
{
	move->from = from;
	move->end = end;
	move->at = from;
	move->taken = 0;
	move->stays = false;
	move->full = false;
}

/**
 * lmm_move_end() - free the pages that were not moved to
 * @move: the move
 *
 * Context: process.
 */
void lmm_move_end(struct lmm_move *move)
{
	pages_free(&move->targets);
	pages_free(&move->aside);
}

/**
 * lmm_free_end() - where a free page ends
 * @page: a page
 * @pfn: its page frame number
 *
 * Context: process, memory does not go offline; a racy look.
 * Return: page frame number after the free page; @pfn if @page is not the first page of one.
 */
unsigned long lmm_free_end(struct page *page, unsigned long pfn)
{
	unsigned long order;

	if (!PageBuddy(page))
		return pfn;
	order = READ_ONCE(page->private);
	if (order > LMM_MAX_ORDER || !IS_ALIGNED(pfn, 1UL << order))
		order = 0;
	return pfn + (1UL << order);
}
