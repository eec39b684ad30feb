/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * move.h - move pages out of a range of page frames without waiting
 */
#ifndef LIVEMM_POLICY_COMMON_MOVE_H
#define LIVEMM_POLICY_COMMON_MOVE_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/types.h>

#include "compat/compat.h"
#include "hook/table.h"
#include "core_move.h"

struct lmm_move;
struct page;

/* Pages to take off their LRU lists at once; compaction takes as many. */
#define LMM_MOVE_BATCH	32

/**
 * struct lmm_mover - how a policy moves pages
 * @order: larger folios up to this order are moved as a whole; 0: none is moved
 * @goes: may a page with these facts be moved?  Sets @stays of the move if the page may go later
 * @target_add: have lmm_move_spares() true for an order, by lmm_move_add(), or return false; pages
 *	that must not be moved to go to @aside of the move
 */
struct lmm_mover {
	unsigned int order;
	bool (*goes)(struct lmm_move *move, const struct lmm_page_facts *facts);
	bool (*target_add)(struct lmm_move *move, unsigned int order);
};

/**
 * struct lmm_move - pages on their way out of a range
 * @mover: the policy's part
 * @from: first page frame number of the range
 * @end: page frame number after the range
 * @at: page to look at next
 * @stranger: the pages go to a block of another type than the block they are in
 * @pages: folios that were taken off their LRU lists
 * @targets: free pages and folios to move to
 * @have: number of @targets, by order
 * @need: number of @pages, by order
 * @aside: free pages that must not be moved to
 * @taken: pages of @pages
 * @stays: a page stays in the range that may go later
 * @full: there was no page to move to
 */
struct lmm_move {
	const struct lmm_mover *mover;
	unsigned long from;
	unsigned long end;
	unsigned long at;
	bool stranger;
	struct list_head pages;
	struct list_head targets;
	unsigned int have[LMM_MAX_ORDER + 1];
	unsigned int need[LMM_MAX_ORDER + 1];
	struct list_head aside;
	unsigned int taken;
	bool stays;
	bool full;
};

bool lmm_move_possible(void);
void lmm_move_begin(struct lmm_move *move, const struct lmm_mover *mover, unsigned long from,
		    unsigned long end, bool stranger);
void lmm_move_go_on(struct lmm_move *move, unsigned long from, unsigned long end);
bool lmm_move_spares(const struct lmm_move *move, unsigned int order);
void lmm_move_add(struct lmm_move *move, struct page *page, unsigned int order);
bool lmm_move_visit(struct lmm_move *move, struct page *page, bool take);
void lmm_move_take(struct lmm_move *move, unsigned int most);
unsigned int lmm_move_taken(struct lmm_move *move);
void lmm_move_end(struct lmm_move *move);
unsigned long lmm_free_end(struct page *page, unsigned long pfn);

/**
 * lmm_page_glance() - facts about a page to which nobody here has a reference
 * @page: the page
 * @order: a folio up to this order that begins with the page is moved as a whole
 *
 * Costs a fraction of a look with a reference.  Nothing is followed, so the facts about the mapping
 * are missing, and count as if there were nothing against a move.  Only the flags are tested, and
 * those as they were at one moment: the kernel's own tests may panic on a page that has become the
 * tail of a folio meanwhile.
 *
 * Inline, so that the facts stay in registers.
 *
 * Context: any, memory does not go offline; does not wait.
 * Return: the facts.
 */
static __always_inline struct lmm_page_facts lmm_page_glance(const struct page *page,
							     unsigned int order)
{
	unsigned long flags = READ_ONCE(*lmm_page_flags(page));
	unsigned int folio = flags & BIT(PG_head) ? compound_order((struct page *)page) : 0;
	bool whole = folio && folio <= order && LMM_MOVES_LARGE;
	unsigned long mapping = (unsigned long)READ_ONCE(page->mapping);
	bool swapped = flags & BIT(PG_swapcache) && flags & BIT(PG_swapbacked);
	unsigned int pages = whole ? 1U << folio : 1;

	return (struct lmm_page_facts){
		.listed = flags & BIT(PG_lru),
		.large = flags & BIT(PG_head) && !whole,
		.pages = pages,
		.unevictable = flags & (BIT(PG_unevictable) | BIT(PG_mlocked)),
		.locked = flags & BIT(PG_locked),
		.writeback = flags & BIT(PG_writeback),
		.uptodate = flags & BIT(PG_uptodate),
		.dirty = flags & BIT(PG_dirty),
		.active = flags & (BIT(PG_active) | BIT(PG_referenced)),
		.private = flags & BIT(PG_private),
		.cached = swapped || (mapping && !(mapping & LMM_MAPPING_FLAGS)),
		.migrates = true,
		/* As if all pages of a larger folio were mapped as often as the first. */
		.mapped = (atomic_read(&page->_mapcount) + 1L) * pages,
		/* With the reference of a longer look, which itself counts those to a folio. */
		.refs = whole ? 0 : page_ref_count(page) + 1,
	};
}

#endif /* LIVEMM_POLICY_COMMON_MOVE_H */
