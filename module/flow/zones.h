/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zones.h - what a zone has free, and what the kernel wants of it
 */
#ifndef LIVEMM_FLOW_ZONES_H
#define LIVEMM_FLOW_ZONES_H

#include <linux/mm.h>
#include <linux/mmzone.h>

#include "compat/compat.h"

/* As high_wmark_pages(), without zone->lock: sysctls and boosts write both members. */
static inline unsigned long lmm_zone_high_mark(const struct zone *zone)
{
	return READ_ONCE(zone->_watermark[WMARK_HIGH]) + READ_ONCE(zone->watermark_boost);
}

/*
 * Free pages at which kswapd leaves the zone alone, whatever the request: the high watermark with
 * its boost, the pages promised to requests that have no other zone (as
 * calculate_totalreserve_pages() has them), and what a request that is neither movable nor atomic
 * cannot use (__zone_watermark_unusable_free()).
 */
static inline unsigned long lmm_zone_mark(const struct zone *zone)
{
	unsigned long unusable = lmm_zone_highatomic(zone);
	long promised = 0;
	int i;

	if (IS_ENABLED(CONFIG_CMA))
		unusable += zone_page_state((struct zone *)zone, NR_FREE_CMA_PAGES);
	for (i = 0; i < MAX_NR_ZONES; i++)
		promised = max(promised, READ_ONCE(zone->lowmem_reserve[i]));
	return lmm_zone_high_mark(zone) + promised + unusable;
}

/* Has the buddy no block of @order for any request, as __zone_watermark_ok() looks for one? */
static inline bool lmm_zone_lacks_order(const struct zone *zone, unsigned int order)
{
	unsigned int type;

	for (; order < ARRAY_SIZE(zone->free_area); order++)
		for (type = 0; type < MIGRATE_PCPTYPES; type++)
			if (!list_empty(&zone->free_area[order].free_list[type]))
				return false;
	return true;
}

/*
 * The node from which this CPU's requests are served first: of a CPU on a node without memory, the
 * nearest node that has memory.
 */
static inline struct pglist_data *lmm_node_here(void)
{
	struct pglist_data *node = NODE_DATA(numa_node_id());
	const struct zone *first =
		READ_ONCE(node->node_zonelists[ZONELIST_FALLBACK]._zonerefs[0].zone);

	return first ? first->zone_pgdat : node;
}

/* A huge page is wanted where fewer free blocks are left: pages that are held may be missing. */
#define LMM_SPARE_BLOCKS	8

/* Wholly free pageblocks, each of which a huge page fits in; those of CMA memory count too. */
static inline unsigned long lmm_zone_huge_blocks(const struct zone *zone)
{
	unsigned long blocks = 0;
	unsigned int order;

	for (order = pageblock_order; order < ARRAY_SIZE(zone->free_area); order++)
		blocks += READ_ONCE(zone->free_area[order].nr_free) << (order - pageblock_order);
	return blocks;
}

/*
 * Are few free blocks left in a zone for huge pages?  A zone that never has as many blocks, as
 * ZONE_DMA, is no sign of that: huge pages come from larger zones.
 */
static inline bool lmm_zone_huge_scarce(const struct zone *zone)
{
	return zone_managed_pages((struct zone *)zone) >= LMM_SPARE_BLOCKS * pageblock_nr_pages &&
	       lmm_zone_huge_blocks(zone) < LMM_SPARE_BLOCKS;
}

#endif /* LIVEMM_FLOW_ZONES_H */
