// SPDX-License-Identifier: GPL-2.0-only
/*
 * keep.c - the guarded reserve: free blocks that are of type unmovable
 *
 * Page cache takes any movable page that is free, and would use up the reserve within a moment.  A
 * free block of type unmovable is found by a search for another type only, which the filter judges.
 *
 * The type is changed by isolating a block and by ending the isolation with another type; since
 * 6.17 that type is set before the isolation ends.  Blocks are isolated and released one by one: on
 * 6.1 a free part of two blocks that is released as a whole is on a list before its second block
 * has a type, and a page taken meanwhile is counted twice.
 *
 * An isolation may end early: alloc_contig_range() that fails ends the isolation of its whole
 * range, also of blocks that it has not isolated.  The kernel isolates a block under zone->lock,
 * which it drops before the worker can take the lock and set the type.  So a block that is to be
 * kept may stay movable, and is forgotten by the next pass; a block that is to be restored may stay
 * unmovable, and is isolated once more.
 *
 * The buddy joins two free blocks to one part, which is on the list of one type.  On 6.1 each block
 * keeps its own type, so pages of a part get into blocks of another type without any search.  From
 * 6.12 on both blocks get the type of the block that was freed last.  So the worker makes no part
 * of two types, and sets those right that come about when the neighbour of a kept block is freed.
 */
#include <linux/align.h>
#include <linux/bitmap.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "inspect.h"
#include "state.h"

/* Free parts to look at under zone->lock. */
#define PARTS	64U

/* The type of a block; -1 if the block is not online. */
static int type_at(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);

	return page ? (int)lmm_block_type(KCALL(block_flags), page, pfn) : -1;
}

/*
 * The free part that a block is in; return the page frame number after the part, or 0 if not all of
 * the block is free.
 */
static unsigned long part_of(struct zone *zone, unsigned long pfn, unsigned long *first)
{
	unsigned long flags, end = 0;
	unsigned int order;
	struct page *page;

	spin_lock_irqsave(&zone->lock, flags);
	for (order = pageblock_order; order <= LMM_MAX_ORDER && !end; order++) {
		*first = ALIGN_DOWN(pfn, 1UL << order);
		page = pfn_to_online_page(*first);
		if (page && PageBuddy(page) && page->private == order)
			end = *first + (1UL << order);
	}
	spin_unlock_irqrestore(&zone->lock, flags);
	return end;
}

/**
 * pageblock_block_is_free() - is a block wholly free?
 * @zone: zone of the block
 * @pfn: first page frame number
 *
 * Context: process, memory does not go offline; takes zone->lock.
 * Return: true if so.
 */
bool pageblock_block_is_free(struct zone *zone, unsigned long pfn)
{
	unsigned long first;

	return part_of(zone, pfn, &first);
}

static unsigned long bit_of(const struct pageblock_zone *pz, unsigned long pfn)
{
	return (pfn >> pageblock_order) - pz->first;
}

static bool is_kept(const struct pageblock_zone *pz, unsigned long pfn)
{
	unsigned long at = bit_of(pz, pfn);

	return at < pz->blocks && test_bit(at, pz->kept);
}

static void keep_note(struct pageblock_zone *pz, unsigned long pfn)
{
	if (bit_of(pz, pfn) < pz->blocks)
		set_bit(bit_of(pz, pfn), pz->kept);
}

/* @before: type of the neighbour of a block that has just become unmovable, before that. */
static void neighbour_note(struct pageblock_zone *pz, unsigned long pfn, int before)
{
	/* The neighbour was freed meanwhile, and has got the type of the block. */
	if (before == MIGRATE_MOVABLE && type_at(pfn) == MIGRATE_UNMOVABLE)
		keep_note(pz, pfn);
}

/* May the type of a free block be changed, and restored later? */
static bool may_keep(const struct pageblock_zone *pz, unsigned long pfn)
{
	return bit_of(pz, pfn) < pz->blocks &&
	       (type_at(pfn) == MIGRATE_MOVABLE || is_kept(pz, pfn));
}

/*
 * Set the type that an isolated block has once its isolation ends.  Isolations begin and end under
 * zone->lock, and whoever reads the type of the block sees an isolated block all the time.  A block
 * that is isolated no longer is left alone: its free pages are on other lists.
 */
#ifdef lmm_block_retype
static void block_retype(unsigned long pfn, int type)
{
	struct zone *zone = page_zone(pfn_to_page(pfn));
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	if (type_at(pfn) == LMM_MIGRATE_ISOLATE)
		lmm_block_retype(KCALL(block_retype), pfn, type);
	spin_unlock_irqrestore(&zone->lock, flags);
}
#else
static void block_retype(unsigned long pfn, int type)
{
}
#endif

/* End the isolation of blocks that were movable before. */
static void range_release(unsigned long pfn, unsigned long end)
{
	for (; pfn < end; pfn += pageblock_nr_pages)
		lmm_block_release(KCALL(block_release), pfn, pfn + pageblock_nr_pages,
				  MIGRATE_MOVABLE);
}

/* End the isolation of blocks, which are of another type from then on. */
static void range_retype(unsigned long pfn, unsigned long end, int type)
{
	for (; pfn < end; pfn += pageblock_nr_pages) {
		block_retype(pfn, type);
		lmm_block_release(KCALL(block_release), pfn, pfn + pageblock_nr_pages, type);
	}
}

/* Isolate blocks, all or none. */
static bool range_isolate(unsigned long pfn, unsigned long end)
{
	unsigned long at;

	for (at = pfn; at < end; at += pageblock_nr_pages) {
		if (lmm_block_isolate(KCALL(block_isolate), at, at + pageblock_nr_pages)) {
			range_release(pfn, at);
			return false;
		}
	}
	return true;
}

/* The first free movable blocks of a list; return the page frame number after them, or 0. */
static unsigned long free_find(struct zone *zone, const struct pageblock_zone *pz,
			       unsigned long *first)
{
	unsigned long flags, end = 0, pfn;
	unsigned int order, parts = 0;
	struct page *page;

	spin_lock_irqsave(&zone->lock, flags);
	for (order = pageblock_order; order <= LMM_MAX_ORDER; order++) {
		list_for_each_entry(page, &zone->free_area[order].free_list[MIGRATE_MOVABLE], lru) {
			*first = page_to_pfn(page);
			end = *first + (1UL << order);
			for (pfn = *first; pfn < end && may_keep(pz, pfn); )
				pfn += pageblock_nr_pages;
			if (pfn == end)
				goto out;
			end = 0;
			if (++parts == PARTS)
				goto out;
		}
	}
out:
	spin_unlock_irqrestore(&zone->lock, flags);
	return end;
}

/**
 * pageblock_keep() - put wholly free movable blocks into the reserve
 * @zone: the zone
 * @pz: the zone's state
 *
 * While memory is free, that moves no page.  A free part of the buddy is kept as a whole, since
 * one part is on the list of one type.
 *
 * Context: process, the worker, memory does not go offline; does not wait.
 * Return: number of blocks; 0 if there are none, or if they were taken meanwhile.
 */
unsigned int pageblock_keep(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long pfn, end = free_find(zone, pz, &pfn), at, neighbour;
	unsigned int kept = 0;
	int type;

	if (!end || !pageblock_may_look(1) || !range_isolate(pfn, end))
		return 0;
	for (at = pfn; at < end && pageblock_block_is_free(zone, at); at += pageblock_nr_pages)
		kept++;
	if (at < end) {
		range_release(pfn, end);
		return 0;
	}
	for (at = pfn; at < end; at += pageblock_nr_pages)
		set_bit(bit_of(pz, at), pz->kept);
	neighbour = pfn ^ pageblock_nr_pages;
	type = type_at(neighbour);
	range_retype(pfn, end, MIGRATE_UNMOVABLE);
	if (end - pfn == pageblock_nr_pages)
		neighbour_note(pz, neighbour, type);
	return kept;
}

/**
 * pageblock_release() - end the isolation of a block that was to be emptied
 * @zone: the zone
 * @pz: the zone's state
 * @pfn: first page frame number of the block
 * @whole: the block is wholly free
 *
 * A whole block is kept, unless its neighbour is free and movable: the two are then joined on the
 * list of movable parts, where pageblock_keep() finds both.
 *
 * Context: process, the worker, memory does not go offline; does not wait.
 */
void pageblock_release(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn, bool whole)
{
	unsigned long end = pfn + pageblock_nr_pages, neighbour = pfn ^ pageblock_nr_pages;
	bool joins = pageblock_block_is_free(zone, neighbour);
	int type = type_at(neighbour);

	if (!pageblock.guards || bit_of(pz, pfn) >= pz->blocks ||
	    !pageblock_may_guard(whole, joins, type == MIGRATE_UNMOVABLE)) {
		range_release(pfn, end);
		return;
	}
	keep_note(pz, pfn);
	range_retype(pfn, end, MIGRATE_UNMOVABLE);
	neighbour_note(pz, neighbour, type);
}

/* What became of a block that was kept. */
static enum pageblock_fate fate_of(struct zone *zone, unsigned long pfn)
{
	struct pageblock_kept_block kept = { .unmovable = type_at(pfn) == MIGRATE_UNMOVABLE };
	unsigned long first, end = part_of(zone, pfn, &first), at;
	struct pageblock_run run = { };

	kept.free = end;
	for (at = first; at < end; at += pageblock_nr_pages)
		kept.joined |= type_at(at) == MIGRATE_MOVABLE;
	if (kept.unmovable && !kept.free)
		pageblock_inspect(zone, pfn, pfn + pageblock_nr_pages, &run, &kept.content);
	return pageblock_fate_of(&kept, pageblock_nr_pages);
}

/* Attempts to restore a block while somebody else ends the isolation of the block early. */
#define RESTORE_TRIES	3

/*
 * Give a block the type back that it had; a block with pages that cannot be moved stays.  Since
 * 6.17 a block whose isolation somebody else ends before the type is set comes back unmovable.
 * Such a block is isolated again, and stays noted if that does not help.
 *
 * Before 6.10 the first block of a free part of two is isolated, too: set_migratetype_isolate()
 * moves a free part by its first page only, and lets go of zone->lock before it splits the part.
 * A part of which the second block alone is isolated may be taken apart meanwhile, and its pages
 * would be counted twice.
 */
static void block_restore(struct zone *zone, struct pageblock_zone *pz, unsigned long pfn)
{
	unsigned long end = pfn + pageblock_nr_pages, neighbour = pfn ^ pageblock_nr_pages, first;
	unsigned int tries = RESTORE_TRIES;

	while (tries--) {
		int type = type_at(neighbour);
		bool pair = !LMM_FREE_LISTS_MATCH_BLOCKS && neighbour < pfn &&
			    part_of(zone, pfn, &first) && first == neighbour;

		if (!range_isolate(pair ? neighbour : pfn, end)) {
			/* The part may be none any more. */
			if (pair)
				continue;
			return;
		}
		/* A block of the reserve has its turn; another keeps its type. */
		if (pair)
			range_retype(neighbour, pfn,
				     is_kept(pz, neighbour) ? MIGRATE_MOVABLE : type);
		range_retype(pfn, end, MIGRATE_MOVABLE);
		if (type_at(pfn) != MIGRATE_UNMOVABLE) {
			clear_bit(bit_of(pz, pfn), pz->kept);
			return;
		}
	}
}

/**
 * pageblock_kept_check() - set right what the kernel has made of blocks of the reserve
 * @zone: the zone
 * @pz: the zone's state
 *
 * Context: process, the worker, memory does not go offline; does not wait.  Costs little for a
 * block that is free, and a look for one that is not.
 */
void pageblock_kept_check(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long at, pfn;

	for_each_set_bit(at, pz->kept, pz->blocks) {
		pfn = (pz->first + at) << pageblock_order;
		if (!pageblock_block_is_free(zone, pfn) && !pageblock_may_look(1))
			return;
		switch (fate_of(zone, pfn)) {
		case PAGEBLOCK_FATE_RESTORE:
			block_restore(zone, pz, pfn);
			break;
		case PAGEBLOCK_FATE_MIXED:
			set_bit(at, pz->mixed);
			fallthrough;
		case PAGEBLOCK_FATE_FORGET:
			clear_bit(at, pz->kept);
			break;
		case PAGEBLOCK_FATE_KEEP:
			break;
		}
	}
}

/**
 * pageblock_give_back() - make the blocks of the reserve movable, as they were
 * @zone: the zone
 * @pz: the zone's state
 *
 * Blocks that have pages by now which cannot be moved stay unmovable, as if such a request had
 * claimed a free block.
 *
 * Context: process, the worker has ended, memory does not go offline; does not wait.
 */
void pageblock_give_back(struct zone *zone, struct pageblock_zone *pz)
{
	unsigned long at, pfn;
	enum pageblock_fate fate;

	for_each_set_bit(at, pz->kept, pz->blocks) {
		pfn = (pz->first + at) << pageblock_order;
		fate = fate_of(zone, pfn);
		if (fate == PAGEBLOCK_FATE_RESTORE || fate == PAGEBLOCK_FATE_KEEP)
			block_restore(zone, pz, pfn);
		cond_resched();
	}
}

/**
 * pageblock_keep_possible() - make sure that the type of a block can be changed
 *
 * Context: process.
 * Return: false if a hook is missing.
 */
bool pageblock_keep_possible(void)
{
	return lmm_hook_available(LMM_HOOK_BLOCK_RETYPE);
}
