// SPDX-License-Identifier: GPL-2.0-only
/*
 * node.c - would a refused request get a page of another node?
 *
 * A refused request goes on along its zonelist: first to the lower zones of the node that was
 * asked, then to other nodes.  Zones that were asked before had nothing for the request, so all
 * zones of other nodes can be looked at, whatever the order of the zonelist.  No lock of these
 * zones is held: a page that comes or goes meanwhile makes one verdict wrong, once.  A node's zones
 * stay when the node goes offline.
 */
#include <linux/cpuset.h>
#include <linux/gfp.h>
#include <linux/mempolicy.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "core.h"
#include "state.h"

/* ZONE_DMA is small and for devices: rather mix a block than take pages there. */
#define LOWEST_ZONE	IS_ENABLED(CONFIG_ZONE_DMA)

static bool area_has(const struct free_area *area, int migratetype)
{
	/* Not under the lock of the zone. */
	return migratetype >= 0 && !data_race(list_empty(&area->free_list[migratetype]));
}

/* Has the buddy pages that the request may take without mixing a block? */
static bool zone_has_type(struct zone *zone, const struct pageblock_ask *ask)
{
	bool cma = ask->migratetype == MIGRATE_MOVABLE;
	unsigned int order;
	int type;

	for (order = ask->order; order <= LMM_MAX_ORDER; order++) {
		const struct free_area *area = &zone->free_area[order];

		if (area_has(area, ask->migratetype) || (cma && area_has(area, LMM_MIGRATE_CMA)))
			return true;
		/* Blocks of CMA, atomic and isolated ones are no fallback. */
		for (type = 0; type < MIGRATE_PCPTYPES && order >= pageblock_order; type++)
			if (area_has(area, type))
				return true;
	}
	return false;
}

/* As __zone_watermark_ok() counts; the few pages kept for atomic requests apart. */
static unsigned long zone_pages(struct zone *zone, const struct pageblock_ask *ask)
{
	unsigned long pages = zone_page_state(zone, NR_FREE_PAGES);

	if (ask->flags & LMM_ALLOC_CMA)
		return pages;
	return pageblock_pages_but_cma(pages, zone_page_state(zone, NR_FREE_CMA_PAGES));
}

/* Would the zone serve the request without mixing a block? */
static bool zone_serves(struct zone *zone, const struct pageblock_ask *ask)
{
	unsigned long mark = READ_ONCE(zone->_watermark[ask->flags & LMM_ALLOC_WMARK_MASK]) +
			     READ_ONCE(zone->watermark_boost) +
			     READ_ONCE(zone->lowmem_reserve[gfp_zone(ask->gfp)]);

	return managed_zone(zone) && zone_pages(zone, ask) > mark && zone_has_type(zone, ask);
}

/* Would a zone of these, from zone number @top down to @bottom, serve the request? */
static bool zones_serve(struct zone *zones, int top, int bottom, const struct pageblock_ask *ask)
{
	int i;

	for (i = top; i >= bottom; i--)
		if (zone_serves(&zones[i], ask))
			return true;
	return false;
}

/*
 * May the node serve the request?  The noted request may be an older one, whose mask is gone
 * (filter.c).  So only the masks of current are followed.  With another mask, as mbind() makes one,
 * every node may.
 */
static bool node_may_serve(int nid, const struct pageblock_ask *ask)
{
	if (!in_task())
		return true;
	if (!node_isset(nid, cpuset_current_mems_allowed)) {
		if (ask->nodemask == &cpuset_current_mems_allowed)
			return false;
		if (ask->flags & LMM_ALLOC_CPUSET && ask->gfp & __GFP_HARDWALL)
			return false;
	}
#ifdef CONFIG_NUMA
	if (current->mempolicy && ask->nodemask == &current->mempolicy->nodes)
		return node_isset(nid, current->mempolicy->nodes);
#endif
	return true;
}

/**
 * pageblock_leaves_node() - would a refused request get a page of another node?
 * @zone: the zone that was asked
 * @ask: the request
 *
 * Context: under the lock of @zone, interrupts off.
 * Return: true if so.
 */
bool pageblock_leaves_node(struct zone *zone, const struct pageblock_ask *ask)
{
	int nid;

	if (num_online_nodes() == 1 || ask->gfp & __GFP_THISNODE)
		return false;
	/* Lower zones of the same node come first. */
	if (zones_serve(zone->zone_pgdat->node_zones, (int)zone_idx(zone) - 1, LOWEST_ZONE, ask))
		return false;
	for_each_online_node(nid)
		if (nid != zone_to_nid(zone) && node_may_serve(nid, ask) &&
		    zones_serve(NODE_DATA(nid)->node_zones, gfp_zone(ask->gfp), 0, ask))
			return true;
	/* With nothing to be had anywhere, a refusal leads to the slow path. */
	return false;
}
