/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the cma policy share
 *
 * policy.c		knobs, counters, switching on and off, state for people
 * lend.c		where a refill comes from; runs under the kernel's pcp->lock
 * areas.c		what the owners of CMA memory do, and what is kept for them
 * core.c		the arithmetic of both
 * balance.c		the worker that moves pages from regular memory to CMA memory
 * core_balance.c	its arithmetic
 * target.c		CMA memory that the worker moves those pages to
 * ahead.c		the worker empties a range just before its owner asks, and holds the range
 * core_ahead.c		when that is
 */
#ifndef LIVEMM_POLICY_CMA_STATE_H
#define LIVEMM_POLICY_CMA_STATE_H

#include <linux/atomic.h>
#include <linux/cma.h>
#include <linux/mmzone.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>

#include "livemm.h"
#include "hook/klp_port.h"
#include "core.h"
#include "core_ahead.h"
#include "knobs.h"
#include "policy/common/core_budget.h"
#include "policy/common/zones.h"

/**
 * struct cma_zone - a zone
 * @ratio: present run of the zone
 * @kept: free pages that are kept for owners
 * @allocating: owners that are allocating
 * @dry: a refill has asked for CMA memory and got none
 * @dry_until: time at which that is forgotten, in jiffies
 */
struct cma_zone {
	struct cma_ratio ratio;
	atomic_long_t kept;
	atomic_t allocating;
	bool dry;
	unsigned long dry_until;
};

/**
 * struct cma_hold - pages that nobody gets until their owner asks
 * @listed: time at which the lists of CPUs were emptied for a first range, in ms; the worker's own
 * @lock: protects the members below; zone->lock is taken under it
 * @start: first page frame number
 * @end: page frame number after the last; 0: nothing is held
 * @until: time at which the hold ends, in ms
 * @begins: the worker isolates the blocks at this moment, without the lock
 * @unwanted: since then somebody wanted no hold: the worker releases the blocks at once
 */
struct cma_hold {
	u64 listed;
	spinlock_t lock;	/* what follows */
	unsigned long start;
	unsigned long end;
	u64 until;
	bool begins;
	bool unwanted;
};

/**
 * struct cma_area - an area of CMA memory, reserved at boot and never given up
 * @cma: the kernel's area, which lives for ever
 * @name: the kernel's copy of the name; events identify the area by its address
 * @zone: the zone; no area spans two
 * @pages: size of the area
 * @owners: what owners have, whether or not the policy was on when they got it.  The kernel reports
 *	a release when the pages are free already; by then nothing is to have been moved there.
 * @holds: the part of the area that may be held; only the ends differ from @owners
 * @hold: what is held for the owner that is expected
 * @lock: protects the members below; nothing is taken under it.  Owners allocate and release in
 *	any context.
 * @ranges: ranges that are not lent
 * @first: what an owner would get first is kept; neither an owner nor the OOM killer was heard of
 *	since the policy went on.  Read without the lock, too: goes off once
 * @rhythm: when its owners ask for memory
 * @kept: free pages in @ranges
 * @allocs: allocations that succeeded
 * @retries: ranges that could not be emptied
 * @failures: allocations that failed
 */
struct cma_area {
	struct cma *cma;
	const char *name;
	struct zone *zone;
	unsigned long pages;
	struct cma_owners owners;
	struct cma_owners holds;
	struct cma_hold hold;
	raw_spinlock_t lock;	/* what follows */
	struct cma_range ranges[CMA_RANGES];
	bool first;
	struct cma_rhythm rhythm;
	unsigned long kept;
	u64 allocs;
	u64 retries;
	u64 failures;
};

/**
 * struct cma_state - the policy while it is on
 * @zones: array by slot of the zone
 * @areas: array of @nr_areas areas
 * @nr_areas: number of areas; set before any hook is armed
 * @settings: knobs of the verdicts
 * @keep: jiffies that a range is kept; 0: no range is kept
 * @keep_pct: share of an area that may be kept, in percent
 *
 * Hooks read the knobs without a lock.
 */
struct cma_state {
	struct cma_zone *zones;
	struct cma_area *areas;
	unsigned int nr_areas;
	struct cma_settings settings;
	unsigned long keep;
	u32 keep_pct;
};

extern struct cma_state cma;

struct lmm_move;

static inline struct cma_zone *cma_zone_of(const struct zone *zone)
{
	return &cma.zones[lmm_zone_slot(zone)];
}

/* lend.c */
bool cma_lend_possible(char *why, size_t len);
void cma_view_zone(struct zone *zone, struct cma_view *view);
void cma_on_refill_plan(struct zone *zone, unsigned int order, int migratetype,
			struct lmm_klp_plan *source);
bool cma_zone_is_taken(const struct zone *zone);
void cma_on_refill_done(struct zone *zone, unsigned int order, const struct lmm_klp_plan *source);

/* areas.c */
int cma_areas_find(char *why, size_t len);
void cma_areas_configure(void);
void cma_areas_look(void);
void cma_areas_keep_first(void);
void cma_areas_lend_first(void);
void cma_areas_stop(void);
void cma_areas_show(struct seq_file *m);
unsigned int cma_drain_lists(struct zone *zone, int most);
bool cma_range_is_kept(const struct zone *zone, unsigned long pfn, unsigned long count);
void cma_on_start(const char *name, unsigned long count);
void cma_on_busy(const char *name, unsigned long pfn, unsigned long count);
void cma_on_finish(const char *name, unsigned long pfn, bool got, unsigned long count);
void cma_on_release(const char *name, unsigned long pfn, const struct page *page,
		    unsigned long count);

/* ahead.c */
u64 cma_ahead_pass(struct lmm_budget *budget, u32 rate, bool (*over)(void));
bool cma_ahead_is_early(const struct cma_area *area);
bool cma_hold_end(struct cma_area *area);
void cma_ahead_leave(void);
unsigned long cma_ahead_stop(bool last);

/* target.c */
gfp_t cma_target_gfp(const struct zone *zone);
bool cma_target_pages(struct lmm_move *move, struct zone *zone);
bool cma_target_folio(struct lmm_move *move, struct zone *zone, unsigned int order);

/* balance.c */
void cma_balance_kick(void);
bool cma_hotplug_trylock(void);
void cma_hotplug_unlock(void);
u32 cma_balance_rate(void);
int cma_balance_start(void);
void cma_balance_leave(void);
void cma_balance_stop(void);
void cma_balance_configure(u32 rate, u32 free_pct, u32 cap_pct);
void cma_balance_show(struct seq_file *m);
void cma_on_kswapd_woken(struct zone *zone, unsigned int order);

#endif /* LIVEMM_POLICY_CMA_STATE_H */
