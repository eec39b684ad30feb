/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zones.h - index of a zone in an array that covers each zone of each node
 */
#ifndef LIVEMM_POLICY_COMMON_ZONES_H
#define LIVEMM_POLICY_COMMON_ZONES_H

#include <linux/mmzone.h>
#include <linux/nodemask.h>

#include "hook/table.h"

/* Layouts used by a policy that walks zones and reads their sizes and watermarks. */
#define LMM_ZONE_LAYOUTS						\
	LMM_LAYOUT_SIZE(zone),						\
	LMM_LAYOUT(pglist_data, node_zones),				\
	LMM_LAYOUT(zone, _watermark),					\
	LMM_LAYOUT(zone, watermark_boost),				\
	LMM_LAYOUT(zone, node),						\
	LMM_LAYOUT(zone, zone_pgdat),					\
	LMM_LAYOUT(zone, managed_pages),				\
	LMM_LAYOUT(zone, present_pages),				\
	LMM_LAYOUT(zone, name)

static inline unsigned int lmm_zone_slots(void)
{
	return nr_node_ids * MAX_NR_ZONES;
}

static inline unsigned int lmm_zone_slot(const struct zone *zone)
{
	return zone_to_nid((struct zone *)zone) * MAX_NR_ZONES + zone_idx(zone);
}

/* As high_wmark_pages(), without zone->lock: sysctls and boosts write both members. */
static inline unsigned long lmm_zone_high_mark(const struct zone *zone)
{
	return READ_ONCE(zone->_watermark[WMARK_HIGH]) + READ_ONCE(zone->watermark_boost);
}

/* NULL where there is no memory.  The zone of a node whose memory was removed stays readable. */
static inline struct zone *lmm_zone_at(unsigned int slot)
{
	int nid = slot / MAX_NR_ZONES;
	struct zone *zone;

	if (!node_online(nid))
		return NULL;
	zone = &NODE_DATA(nid)->node_zones[slot % MAX_NR_ZONES];
	/* As populated_zone(), while memory may come and go. */
	return READ_ONCE(zone->present_pages) ? zone : NULL;
}

/* The next zone with memory, or the first for NULL; returns NULL after the last. */
static inline struct zone *lmm_zone_after(const struct zone *zone)
{
	unsigned int slot = zone ? lmm_zone_slot(zone) + 1 : 0;
	struct zone *next = NULL;

	for (; slot < lmm_zone_slots() && !next; slot++)
		next = lmm_zone_at(slot);
	return next;
}

#endif /* LIVEMM_POLICY_COMMON_ZONES_H */
