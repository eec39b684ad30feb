/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_reserve.h - how many free blocks a zone should have, and when the worker makes some
 *
 * Pure: no kernel state, lock, clock or struct page.  Times are in ms since any moment, and do not
 * go back.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H

#include <linux/types.h>

/*
 * The worker saves what it may move in so many ms.  Blocks become short when memory becomes full,
 * all at once, and are short for some seconds then.
 */
#define PAGEBLOCK_SAVE_MS	5000U

/*
 * The largest folio that is moved as a whole has 1 << PAGEBLOCK_FOLIO_ORDER pages, as many as a
 * batch (LMM_MOVE_BATCH), so a step moves fewer pages than two batches have.
 */
#define PAGEBLOCK_FOLIO_ORDER	5U

/* Shortest time from an event to the next pass of the worker that the event asks for, in ms. */
#define PAGEBLOCK_PERIOD_MS	100U

/* Time to the next attempt after one in vain, in ms: the least, and the most. */
#define PAGEBLOCK_GAP_MS	25U
#define PAGEBLOCK_MAX_GAP_MS	1600U

/*
 * After so many attempts in vain in a row nobody tries again until something happens.  That is
 * after 1.6 minutes, in which 8,192 blocks (16 GiB) are looked at.
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

u64 pageblock_pace_due(const struct pageblock_pace *pace);
void pageblock_pace_note(struct pageblock_pace *pace, bool progress, u64 now);
void pageblock_pace_wake(struct pageblock_pace *pace, u64 now);

unsigned int pageblock_lists_gap(unsigned int cpus);
unsigned long pageblock_reserve_want(unsigned long knob, unsigned long blocks, bool movable);
unsigned long pageblock_usable_blocks(unsigned long blocks, unsigned long pages,
				      unsigned long isolated, unsigned long block);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_RESERVE_H */
