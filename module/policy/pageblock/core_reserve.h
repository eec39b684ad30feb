/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_reserve.h - when the worker works, on which blocks, and how much it may spend
 *
 * The worker keeps wholly free blocks in each zone, and moves pages out of mixed blocks.  Both take
 * CPU time from the load: a budget bounds the pages that are moved and the blocks that are looked
 * at; the cheapest blocks come first; attempts in vain become rare, and end.
 *
 * Pure: no kernel state, lock, clock or struct page.  Times are in ms since any moment, and do not
 * go back.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "policy/common/core_budget.h"
#include "policy/common/core_move.h"
#include "core_census.h"

/*
 * Blocks that the worker may look at in a second.  A glance takes some 75 instructions for a page
 * in use on 6.1 (counted in the compiled loop), 38,000 for a block at most, so this is 10 million a
 * second.
 */
#define PAGEBLOCK_LOOKS_PER_S	256U

/*
 * The worker saves what it may move in so many ms.  Blocks become short when memory becomes full,
 * all at once, and are short for some seconds then.
 */
#define PAGEBLOCK_SAVE_MS	5000U

/* The price of a page that is cold, clean and mapped at most once. */
#define PAGEBLOCK_PRICE		4U

/*
 * The largest folio that is moved as a whole has 1 << PAGEBLOCK_FOLIO_ORDER pages, as many as a
 * batch (LMM_MOVE_BATCH), so a step moves fewer pages than two batches have.
 */
#define PAGEBLOCK_FOLIO_ORDER	5U

/* A block may cost at most a part of the budget that is left, one in so many. */
#define PAGEBLOCK_SHARE		2U

/**
 * pageblock_page_price() - what it costs to move a page, or a larger folio
 * @page: facts about the page
 *
 * A page that was used lately is likely to be used during the move, which makes its user wait or
 * the move fail.  A dirty page may be under writeback before its turn comes, and then keeps its
 * block from being emptied.  Each mapping more is a page table more to be found and changed, and a
 * TLB to be flushed; what that costs does not rise without limit, or shared libraries would have no
 * price.
 *
 * In the header, because a glance at a block calls this for each page.
 *
 * Return: the price; PAGEBLOCK_PRICE for each page that has nothing of these.
 */
static inline u64 pageblock_page_price(const struct lmm_page_facts *page)
{
	u64 price = PAGEBLOCK_PRICE + page->active + page->dirty;

	if (page->mapped > (long)page->pages)
		price += min((page->mapped - 1) / page->pages, 4L);
	return price * page->pages;
}

u64 pageblock_price_limit(u64 tokens, bool urgent);

/* Blocks to choose from. */
#define PAGEBLOCK_CANDIDATES	8

/**
 * struct pageblock_candidate - a block that could be emptied
 * @pfn: first page frame number
 * @price: sum of pageblock_page_price() over its pages
 */
struct pageblock_candidate {
	unsigned long pfn;
	u64 price;
};

/**
 * struct pageblock_choice - the cheapest of the blocks that were looked at
 * @best: the candidates, cheapest first
 * @found: number of @best
 * @seen: blocks that were looked at for this choice
 */
struct pageblock_choice {
	struct pageblock_candidate best[PAGEBLOCK_CANDIDATES];
	unsigned int found;
	unsigned int seen;
};

u64 pageblock_choice_limit(const struct pageblock_choice *choice);
void pageblock_choice_add(struct pageblock_choice *choice, unsigned long pfn, u64 price);
void pageblock_choice_drop(struct pageblock_choice *choice);

/* Blocks to look at before the cheapest is chosen; with few free blocks left. */
#define PAGEBLOCK_WINDOW	64U
#define PAGEBLOCK_WINDOW_LOW	32U

unsigned int pageblock_window(bool low);

/*
 * Shortest time in ms from one time that the lists of a zone are emptied to the next, of whatever
 * zone, and the same for each CPU: no more than 50 CPUs a second are made to empty their lists.
 */
#define PAGEBLOCK_LISTS_MS	1000U
#define PAGEBLOCK_LISTS_CPU_MS	20U

unsigned int pageblock_lists_gap(unsigned int cpus);

/* A zone keeps at most one block in so many. */
#define PAGEBLOCK_RESERVE_PART	16U

unsigned long pageblock_reserve_want(unsigned long knob, unsigned long blocks, bool movable);

/* Blocks of the reserve at most that are guarded: they are counted under zone->lock. */
#define PAGEBLOCK_GUARDED	64U

unsigned long pageblock_reserve_lacks(unsigned long guarded, unsigned long blocks,
				      unsigned long want);
bool pageblock_may_guard(bool whole, bool joins, bool unmovable);

/**
 * enum pageblock_fate - what is to be done about a block of the reserve
 * @PAGEBLOCK_FATE_KEEP: nothing
 * @PAGEBLOCK_FATE_RESTORE: the block becomes movable again
 * @PAGEBLOCK_FATE_MIXED: its movable pages are to be moved out; no longer the reserve's
 * @PAGEBLOCK_FATE_FORGET: nothing; no longer the reserve's
 */
enum pageblock_fate {
	PAGEBLOCK_FATE_KEEP,
	PAGEBLOCK_FATE_RESTORE,
	PAGEBLOCK_FATE_MIXED,
	PAGEBLOCK_FATE_FORGET,
};

/**
 * struct pageblock_kept_block - a block that was made unmovable for the reserve
 * @unmovable: the block is of that type still
 * @free: the block is wholly free
 * @joined: if @free, the buddy has joined the block with a movable block
 * @content: content of a block that is not free
 */
struct pageblock_kept_block {
	bool unmovable;
	bool free;
	bool joined;
	struct census_block content;
};

enum pageblock_fate pageblock_fate_of(const struct pageblock_kept_block *block, u64 whole);
bool pageblock_reserve_is_low(unsigned long blocks, unsigned long want);
unsigned long pageblock_usable_blocks(unsigned long blocks, unsigned long pages,
				      unsigned long isolated, unsigned long block);

/* Shortest time between two passes of the worker, in ms. */
#define PAGEBLOCK_PERIOD_MS	100U

/* Upper limit of the gap between attempts in vain, in periods. */
#define PAGEBLOCK_MAX_GAP	16U

/*
 * After so many attempts in vain in a row nobody tries again until something happens.  That is
 * after 1.6 minutes, in which 4,096 blocks (8 GiB) are looked at.
 */
#define PAGEBLOCK_MAX_VAIN	64U

/**
 * struct pageblock_pace - when to try again
 * @due: time of the next attempt, in ms
 * @gap: time between the last attempt and the next, in ms; 0: the last made progress
 * @vain: attempts in a row that made no progress
 */
struct pageblock_pace {
	u64 due;
	u32 gap;
	u32 vain;
};

bool pageblock_pace_rests(const struct pageblock_pace *pace);
bool pageblock_pace_due(const struct pageblock_pace *pace, u64 now);
void pageblock_pace_note(struct pageblock_pace *pace, bool progress, u64 now);
void pageblock_pace_put_off(struct pageblock_pace *pace, u64 due);
void pageblock_pace_wake(struct pageblock_pace *pace, u64 now);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H */
