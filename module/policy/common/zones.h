/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zones.h - the zones, and the pages of them that are kept from the buddy
 *
 * Lists and depots hold pages that are free, but that the kernel does not count as free.  The
 * account of both is therefore the zone's free pages: what either holds is missing there.  Both may
 * hold more while as many pages are free as make kswapd sleep (lmm_zone_mark()), and both give back
 * when fewer are.  kswapd is woken further down, at the low watermark, so pages that are held go
 * back before kswapd works in their place.
 */
#ifndef LIVEMM_POLICY_COMMON_ZONES_H
#define LIVEMM_POLICY_COMMON_ZONES_H

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/vmstat.h>

#include "flow/slot.h"
#include "flow/zones.h"

/* Store a value that many CPUs read, and seldom changes. */
#define lmm_set(place, value)			\
do {						\
	typeof(place) *place_ = &(place);	\
	typeof(place) value_ = (value);		\
						\
	if (READ_ONCE(*place_) != value_)	\
		WRITE_ONCE(*place_, value_);	\
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

#endif /* LIVEMM_POLICY_COMMON_ZONES_H */
