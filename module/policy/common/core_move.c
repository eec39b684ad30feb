// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_move.c - which pages the worker leaves where they are; see core_move.h
 */
#include <linux/bits.h>

#include "core_move.h"

/* Reasons that time may remove.  Other pages stay as they are until their owners free them. */
#define PASSING \
	(BIT(LMM_SKIP_OFF_LIST) | BIT(LMM_SKIP_LOCKED) |		\
	 BIT(LMM_SKIP_WRITEBACK) | BIT(LMM_SKIP_NOT_READ) |		\
	 BIT(LMM_SKIP_FILESYSTEM) | BIT(LMM_SKIP_PINNED))

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
 * Return: the reason, or LMM_SKIP_NONE.
 */
enum lmm_skip lmm_page_skip(const struct lmm_page_facts *page)
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
	if (page->refs > 1L + page->cached + page->private + page->mapped)
		return LMM_SKIP_PINNED;
	return LMM_SKIP_NONE;
}

/**
 * lmm_skip_passes() - may a page that is skipped now be moved later?
 * @why: why the page is skipped
 *
 * Return: true if another look at the block is worth while.
 */
bool lmm_skip_passes(enum lmm_skip why)
{
	return PASSING & BIT(why);
}
