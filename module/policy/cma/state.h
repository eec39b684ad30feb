/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the cma policy share
 *
 * policy.c		knobs, counters, switching on and off, state for people
 * balance.c		the worker that moves pages from regular memory to CMA memory
 * core_balance.c	its arithmetic
 * target.c		CMA memory that the worker moves those pages to
 * areas.c		what the owners of CMA memory do, and what is kept for them
 * core.c		the arithmetic of that
 * ratio.c		mode ratio: where a refill comes from
 * core_ratio.c		its arithmetic
 */
#ifndef LIVEMM_POLICY_CMA_STATE_H
#define LIVEMM_POLICY_CMA_STATE_H

#include <linux/atomic.h>
#include <linux/cma.h>
#include <linux/mmzone.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>

#include "livemm.h"
#include "core.h"
#include "core_ratio.h"
#include "knobs.h"
#include "policy/common/zones.h"

/**
 * struct cma_zone - a zone
 * @ratio: present run of the zone
 * @kept: free pages that are kept for owners
 * @allocating: owners that are allocating
 */
struct cma_zone {
	struct cma_ratio ratio;
	atomic_long_t kept;
	atomic_t allocating;
};

/**
 * struct cma_area - an area of CMA memory, reserved at boot and never given up
 * @name: the kernel's copy of the name; events identify the area by its address
 * @zone: the zone; no area spans two
 * @pages: size of the area
 * @owners: what owners have, whether or not the policy was on when they got it.  The kernel reports
 *	a release when the pages are free already; by then nothing is to have been moved there.
 * @lock: protects the members below; nothing is taken under it.  Owners allocate and release in
 *	any context.
 * @range: what is kept
 * @kept: free pages in @range
 * @allocs: allocations that succeeded
 * @retries: ranges that could not be emptied
 * @failures: allocations that failed
 */
struct cma_area {
	const char *name;
	struct zone *zone;
	unsigned long pages;
	struct cma_owners owners;
	raw_spinlock_t lock;	/* what follows */
	struct cma_range range;
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
 * @mode: see enum cma_mode
 * @keep: jiffies that a range is kept; 0: no range is kept
 *
 * Hooks read the knobs without a lock.
 */
struct cma_state {
	struct cma_zone *zones;
	struct cma_area *areas;
	unsigned int nr_areas;
	enum cma_mode mode;
	unsigned long keep;
};

extern struct cma_state cma;

struct lmm_move;
struct lmm_refill;

static inline struct cma_zone *cma_zone_of(const struct zone *zone)
{
	return &cma.zones[lmm_zone_slot(zone)];
}

/* Is an owner allocating CMA memory of the zone of a slot, or of a zone?  Any context. */
static inline bool cma_slot_is_taken(unsigned int slot)
{
	return atomic_read(&cma.zones[slot].allocating) > 0;
}

static inline bool cma_zone_is_taken(const struct zone *zone)
{
	return cma_slot_is_taken(lmm_zone_slot(zone));
}

/* ratio.c */
bool cma_ratio_possible(char *why, size_t len);
void cma_on_refill_from(struct lmm_refill *refill);

/* areas.c */
int cma_areas_find(char *why, size_t len);
void cma_areas_forget(void);
void cma_areas_stop(void);
void cma_areas_show(struct seq_file *m);
void cma_view_zone(struct zone *zone, struct cma_view *view);
unsigned int cma_drain_lists(struct zone *zone, int most);
bool cma_range_is_kept(const struct zone *zone, unsigned long pfn, unsigned long count);
void cma_on_start(const char *name, unsigned long count);
void cma_on_busy(const char *name, unsigned long pfn, unsigned long count);
void cma_on_finish(const char *name, unsigned long pfn, bool got, unsigned long count);
void cma_on_release(const char *name, unsigned long pfn, const struct page *page,
		    unsigned long count);

/* target.c */
bool cma_target_pages(struct lmm_move *move, struct zone *zone);
bool cma_target_folio(struct lmm_move *move, struct zone *zone, unsigned int order);

/* balance.c */
u32 cma_balance_rate(void);
int cma_balance_start(void);
void cma_balance_stop(void);
void cma_balance_configure(u32 rate);
void cma_balance_show(struct seq_file *m);
void cma_on_kswapd_woken(struct zone *zone, unsigned int order);

#endif /* LIVEMM_POLICY_CMA_STATE_H */
