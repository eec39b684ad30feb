// SPDX-License-Identifier: GPL-2.0-only
/*
 * urgent.c - requests that cannot wait for a pass of the worker, and pages that break
 *
 * A pass gives back soon.  Three callers need the pages of a depot sooner: a request that may not
 * sleep, and wakes kswapd; a huge page for a program without MADV_HUGEPAGE, which neither wakes
 * kswapd nor compacts (GFP_TRANSHUGE_LIGHT); and the kernel's search for a page that breaks.
 */
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/topology.h>

#include "compat/compat.h"
#include "state.h"

/* Batches given back to a request that wakes kswapd: a request takes less than one batch. */
#define URGENT_BATCHES	2

/*
 * A huge page is wanted: with fewer free blocks than LMM_SPARE_BLOCKS the depot is closed and a
 * pass gives back; with none, up to HUGE_BATCHES batches go back before the request is served.  A
 * pass comes within some milliseconds, in which a CPU faults in a few huge pages.  The batches
 * hold 4032 pages at most, as many as eight huge pages.
 */
#define HUGE_BATCHES	8

/**
 * zonelock_on_kswapd_woken() - event: a slow path wakes kswapd
 * @zone: the first zone of a node that the request may use
 * @order: order of the block
 *
 * The request may be one that can wait for nothing: a batch or two go back at once, of zones that
 * lack what the request needs.
 *
 * Context: any, preemption off, no lock of the allocator held by the caller.
 */
void zonelock_on_kswapd_woken(struct zone *zone, unsigned int order)
{
	unsigned int left = URGENT_BATCHES;
	struct zone *lower = zone;

	if (!zonelock_ask_back(zone, order))
		return;
	/* The request may use lower zones of the node too. */
	for (; left && lower >= zone->zone_pgdat->node_zones; lower--)
		if (READ_ONCE(zonelock_of(lower)->wanted))
			left -= zonelock_return_now(lower, left);
}

/**
 * zonelock_on_huge_wanted() - event: this thread will allocate a huge page
 *
 * Asks for pages of the zones of this CPU's node that lack free blocks.  A memory policy may have
 * the page come from another node, whose depots stay as they are.
 *
 * Context: process, preemption off, no lock of the allocator held.
 */
void zonelock_on_huge_wanted(void)
{
	struct zone *zones = lmm_node_here()->node_zones;
	unsigned int i;

	for (i = 0; i < MAX_NR_ZONES; i++) {
		if (!depot_stocked(&zonelock_of(&zones[i])->depot) ||
		    !lmm_zone_huge_scarce(&zones[i]))
			continue;
		lmm_count(&lmm_zonelock_policy, COUNT_HUGE, 1);
		zonelock_give_soon(&zones[i]);
		if (!lmm_zone_huge_blocks(&zones[i]))
			zonelock_return_now(&zones[i], HUGE_BATCHES);
	}
}

/**
 * zonelock_on_page_breaks() - event: the kernel is about to mark a page as broken
 * @pfn: the page
 *
 * The kernel marks the page first, then drains lists, and looks for the page in the buddy, where
 * broken pages are kept from use.  A batch that left the depot between the mark and the drain
 * would bring the page to a user.  The zone's depot is therefore closed both ways, until the
 * policy goes off: a block with a broken page may be freed to a list at any later time.
 *
 * Context: process, preemption off, no lock of the allocator held.
 */
void zonelock_on_page_breaks(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);

	if (page)
		WRITE_ONCE(zonelock_of(page_zone(page))->broken, true);
}
