/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zonelock.h - the zonelock policy as the hook table and dispatch.c see it; see policy.c
 */
#ifndef LIVEMM_POLICY_ZONELOCK_ZONELOCK_H
#define LIVEMM_POLICY_ZONELOCK_ZONELOCK_H

#include <linux/types.h>

struct list_head;
struct lmm_klp_return;
struct per_cpu_pages;
struct zone;

/**
 * enum zonelock_mode - what the depot is for: values of knob `mode`
 * @ZONELOCK_MODE_DEPOT: to hand pages over; what nobody takes goes back
 * @ZONELOCK_MODE_NOMERGE: to keep freed pages from being merged until somebody wants
 *	them in one piece; bounded by the watermarks alone, for comparison
 */
enum zonelock_mode {
	ZONELOCK_MODE_DEPOT,
	ZONELOCK_MODE_NOMERGE,
};

/* handlers.c */
int lmm_zonelock_take(struct zone *zone, unsigned int order, unsigned long asked,
		      struct list_head *list, int migratetype);
int lmm_zonelock_store(struct zone *zone, int count, struct per_cpu_pages *pages, int pindex,
		       unsigned long caller);
void lmm_zonelock_topup(struct zone *zone, unsigned int order, int migratetype);
void lmm_zonelock_wanted(struct zone *zone);

/* giveback.c */
bool lmm_zonelock_return(struct lmm_klp_return *part);

/* entry.S looks here before it calls anybody: any depot holds pages. */
extern unsigned char lmm_depot_stocked;

#endif /* LIVEMM_POLICY_ZONELOCK_ZONELOCK_H */
