/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_walk.h - a walk over the blocks of all zones, some blocks at a time
 *
 * Between two steps memory may be added or removed: zones grow, shrink, vanish and appear.  A round
 * looks at no block of a zone twice, and misses no block that is in the zone for the whole round.
 * Memory that is added during a round may be missed in this round, never in the next.
 *
 * A block that two zones share is a block of each.  A hole of a zone counts as blocks.
 *
 * A round ends: the end of a zone is noted when the walk comes to the zone, so that a zone that
 * grows as fast as the walk goes cannot keep the walk.
 *
 * Pure: no kernel state, lock, clock or struct page.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_WALK_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_WALK_H

#include <linux/types.h>

/**
 * struct pageblock_span - page frame numbers of a zone, or of a block in a zone
 * @start: the first
 * @end: after the last; not above @start: there is no memory
 */
struct pageblock_span {
	u64 start;
	u64 end;
};

/**
 * struct pageblock_walk - where a round is; zeroed at the begin of a round
 * @slot: number of the zone that the round is at; the round has ended when no zone has the number
 * @next: page frame numbers of the zone below @next are done
 * @end: end of the zone as of when the round came to the zone; 0: the round comes now
 */
struct pageblock_walk {
	unsigned int slot;
	u64 next;
	u64 end;
};

bool pageblock_walk_next(struct pageblock_walk *walk, const struct pageblock_span *zone,
			 unsigned int order, struct pageblock_span *block);
u64 pageblock_walk_blocks(const struct pageblock_span *zone, unsigned int order);
u64 pageblock_walk_done(const struct pageblock_walk *walk, unsigned int slot,
			const struct pageblock_span *zone, unsigned int order);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_WALK_H */
