/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zones.h - the zones, and their free pages
 *
 * Lists and depots hold pages that are free, but that the kernel does not count as free.  The
 * account of both is therefore the zone's free pages: what either holds is missing there.  Both may
 * hold more while as many pages are free as make kswapd sleep (lmm_zone_mark()), and both give back
 * when fewer are.  kswapd is woken further down, at the low watermark, so pages that are held go
 * back before kswapd works in their place.
 */
#ifndef LIVEMM_FLOW_ZONES_H
#define LIVEMM_FLOW_ZONES_H

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "compat/compat.h"
#include "flow/slot.h"
#include "hook/table.h"

/* Store a value that many CPUs read, and seldom changes. */
#define lmm_set(place, value)			\
do {						\
	if (READ_ONCE(place) != (value))	\
		WRITE_ONCE(place, value);	\
} while (0)

/* Pages that a CPU has allocated from zones of the kind of @zone, since boot; may wrap. */
static inline unsigned long lmm_cpu_allocated(const struct zone *zone, int cpu)
{
	return READ_ONCE(per_cpu(vm_event_states, cpu)
			 .event[PGALLOC_NORMAL - ZONE_NORMAL + zone_idx(zone)]);
}

/* Pages that a CPU has freed, of whatever zone, since boot; may wrap. */
static inline unsigned long lmm_cpu_freed(int cpu)
{
	return READ_ONCE(per_cpu(vm_event_states, cpu).event[PGFREE]);
}

/*
 * Pages that a CPU has allocated less pages that the CPU has freed, since boot.  The kernel counts
 * the pages that a CPU frees in one sum for all zones.
 */
static inline long lmm_cpu_net(int cpu)
{
	const unsigned long *event = per_cpu(vm_event_states, cpu).event;
	long net = -lmm_cpu_freed(cpu);
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		net += READ_ONCE(event[PGALLOC_NORMAL - ZONE_NORMAL + i]);
	return net;
}

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

/*
 * Pages between the watermark at which kswapd goes to sleep and the one at which it is woken.  The
 * kernel gives kswapd about as many for its answer, before requests have to reclaim themselves.
 */
static inline unsigned long lmm_zone_gap(const struct zone *zone)
{
	return READ_ONCE(zone->_watermark[WMARK_HIGH]) - READ_ONCE(zone->_watermark[WMARK_LOW]);
}

/*
 * Is a zone with @free free pages short?  kswapd stops some time after the zone has the free pages
 * that make it stop, so reclaim counts only as long as it is needed.
 */
static inline bool lmm_zone_is_short(const struct zone *zone, unsigned long free)
{
	unsigned long mark = lmm_zone_mark(zone);

	if (test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags))
		mark += lmm_zone_gap(zone);
	return free < mark;
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

/* A line of `state` that tools read: pages of a zone that are free, but not in MemFree. */
static inline void lmm_show_held(struct seq_file *m, const struct zone *zone, long pages)
{
	seq_printf(m, "# held %d %s %ld\n", zone_to_nid((struct zone *)zone), zone->name, pages);
}

#endif /* LIVEMM_FLOW_ZONES_H */
