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

/*
 * A huge page is wanted: with fewer free blocks than LMM_SPARE_BLOCKS the depot is closed and a
 * pass gives back; with none, up to HUGE_BATCHES batches go back before the request is served.  A
 * pass comes within some milliseconds, in which a CPU faults in a few huge pages.  The batches
 * hold 4032 pages at most, as many as eight huge pages.
 */
#define HUGE_BATCHES	8

/**
 * zonelock_on_zone_lacks() - event: pages, or a block of an order, are wanted in a zone
 * @zone: the zone
 * @order: order of the block, or 0
 * @huge: the block is for a huge page
 *
 * The request may be one that can wait for nothing: it takes less than one batch, which goes back
 * at once.  Interrupts may be off, so no more goes.  No depot closes: while pages are short, the
 * watermark and reclaim keep depots from storing.
 *
 * Context: any, preemption off, no lock of the allocator held by the caller.
 */
void zonelock_on_zone_lacks(struct zone *zone, unsigned int order, bool huge)
{
	struct zonelock_zone *zz = zonelock_of(zone);

	if (!depot_stocked(&zz->depot) && (huge || !READ_ONCE(zz->took)))
		return;
	if (huge) {
		lmm_count(&lmm_zonelock_policy, COUNT_HUGE, 1);
		zonelock_give_soon(zone);
		if (!lmm_zone_huge_blocks(zone))
			zonelock_return_now(zone, HUGE_BATCHES);
	} else {
		unsigned long now = jiffies;

		/* For lists that give back, too: see list_pass_on(). */
		lmm_set(zz->asked_at, now);
		zonelock_want(zone);
		zonelock_return_now(zone, 1);
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
