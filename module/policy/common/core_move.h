/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_move.h - which pages the worker leaves where they are
 *
 * The worker must never wait: for I/O, for a lock that is held during I/O, or for the holder of a
 * page.  So a page for which moving could mean waiting is skipped.
 *
 * Pure: no kernel state, lock, clock or struct page.
 */
#ifndef LIVEMM_POLICY_COMMON_CORE_MOVE_H
#define LIVEMM_POLICY_COMMON_CORE_MOVE_H

#include <linux/types.h>

/**
 * enum lmm_skip - why a page is not moved
 * @LMM_SKIP_NONE: the page may be moved
 * @LMM_SKIP_OFF_LIST: the page is on no LRU list: on its way there, taken by reclaim, or a
 *	driver's
 * @LMM_SKIP_LARGE: the page is part of a larger folio that is not moved as a whole
 * @LMM_SKIP_UNEVICTABLE: the page is mlocked, or its mapping is unevictable
 * @LMM_SKIP_LOCKED: somebody has locked the page, for instance a read under way
 * @LMM_SKIP_WRITEBACK: the page is being written
 * @LMM_SKIP_NOT_READ: the page was not read from its file yet
 * @LMM_SKIP_BOUND: the mapping of the page does not want the page where movable pages go
 * @LMM_SKIP_FILESYSTEM: the file system would have to write the page, or to give up private
 *	data, for which file systems wait
 * @LMM_SKIP_PINNED: somebody has a reference that unmapping the page does not drop
 * @LMM_NR_SKIPS: number of reasons, with LMM_SKIP_NONE
 */
enum lmm_skip {
	LMM_SKIP_NONE,
	LMM_SKIP_OFF_LIST,
	LMM_SKIP_LARGE,
	LMM_SKIP_UNEVICTABLE,
	LMM_SKIP_LOCKED,
	LMM_SKIP_WRITEBACK,
	LMM_SKIP_NOT_READ,
	LMM_SKIP_BOUND,
	LMM_SKIP_FILESYSTEM,
	LMM_SKIP_PINNED,
	LMM_NR_SKIPS
};

/**
 * struct lmm_page_facts - facts about a page to which the worker has a reference
 * @listed: on an LRU list; the other facts count only then
 * @large: part of a folio of more than a page that is not moved as a whole
 * @unevictable: reclaim leaves the page alone
 * @locked: somebody has the lock of the page
 * @writeback: being written
 * @uptodate: has the content of its file, or is anonymous
 * @dirty: newer than its file
 * @active: used lately, as reclaim sees it
 * @bound: see LMM_SKIP_BOUND
 * @migrates: the file system has a function of its own that moves pages; anonymous pages need none
 * @asks: the file system wants to be asked before a page goes, even without private data
 * @private: the file system has private data, and a reference for them
 * @cached: in the page cache or in the swap cache, which has a reference
 * @mapped: page-table entries that map the page or a page of the folio, each with a reference
 * @refs: references to the page or to the folio, with the worker's own
 * @pages: pages that are moved together: 1, or those of a larger folio; a cache has as many
 *	references
 *
 * The facts are read one by one while the page is in use, so any combination may occur.
 */
struct lmm_page_facts {
	bool listed;
	bool large;
	bool unevictable;
	bool locked;
	bool writeback;
	bool uptodate;
	bool dirty;
	bool active;
	bool bound;
	bool migrates;
	bool asks;
	bool private;
	bool cached;
	long mapped;
	long refs;
	unsigned int pages;
};

/**
 * lmm_page_skip() - must a page be left where it is?
 * @page: facts about the page
 *
 * A page in use is moved: a move drops nothing that would have to be read again.  How lately the
 * page was used only matters to its price, pageblock_page_price().
 *
 * Reasons that no time removes come first, so that a block which is full of such pages is not
 * looked at again and again.  Buffers of block devices are bound, and need not be up to date as
 * pages even though each buffer is.
 *
 * A page without private data may be moved for a file system without a function of its own.  With
 * private data, or where the file system has a local cache, the kernel would ask the file system to
 * release the page (filemap_release_folio()), and some then wait.
 *
 * In the header, because a glance at a block calls this for each page.
 *
 * Return: the reason, or LMM_SKIP_NONE.
 */
static inline enum lmm_skip lmm_page_skip(const struct lmm_page_facts *page)
{
	if (!page->listed)
		return LMM_SKIP_OFF_LIST;
	if (page->large)
		return LMM_SKIP_LARGE;
	if (page->unevictable)
		return LMM_SKIP_UNEVICTABLE;
	if (page->bound)
		return LMM_SKIP_BOUND;
	if (page->locked)
		return LMM_SKIP_LOCKED;
	if (page->writeback)
		return LMM_SKIP_WRITEBACK;
	if (!page->uptodate)
		return LMM_SKIP_NOT_READ;
	if (!page->migrates && (page->dirty || page->private || page->asks))
		return LMM_SKIP_FILESYSTEM;
	if (page->refs > 1L + (page->cached ? page->pages : 0L) + page->private + page->mapped)
		return LMM_SKIP_PINNED;
	return LMM_SKIP_NONE;
}

#endif /* LIVEMM_POLICY_COMMON_CORE_MOVE_H */
