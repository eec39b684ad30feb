// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_vma.c - arithmetic of NUMA balancing; see core_vma.h
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core_vma.h"

/* Pages added since numa_vma_fit() belong to the last region. */
static unsigned int region_of(const struct numa_vma *vma, u64 page)
{
	return min_t(u64, page >> vma->shift, NUMA_REGIONS - 1);
}

static u64 regions_mask(unsigned int first, unsigned int last)
{
	return first > last ? 0 : GENMASK_ULL(last, first);
}

static u64 regions_in(const struct numa_vma *vma, const struct numa_range *range)
{
	return regions_mask(region_of(vma, range->start), region_of(vma, range->end - 1));
}

/**
 * numa_vma_begin() - begin the record of a VMA
 * @vma: set up here
 * @pages: size of the VMA
 * @pass: passes over the whole address space so far
 */
void numa_vma_begin(struct numa_vma *vma, u64 pages, u32 pass)
{
	*vma = (struct numa_vma){ .shift = NUMA_REGION_SHIFT, .pass = pass };
	numa_vma_fit(vma, pages);
}

/* Double the size of regions: a region has the bit when one of its halves had. */
static u64 fold(u64 regions)
{
	u64 folded = 0;
	int i;

	for (i = 0; i < NUMA_REGIONS; i += 2)
		if (regions >> i & 3)
			folded |= 1ULL << (i / 2);
	return folded;
}

/**
 * numa_vma_fit() - fit the record to the present size of the VMA
 * @vma: the VMA
 * @pages: present size
 *
 * Old regions keep their bits.  New regions are due and count as used: their first look
 * arms every page and tells nothing about their use.
 */
void numa_vma_fit(struct numa_vma *vma, u64 pages)
{
	u64 new;

	while (pages && (pages - 1) >> vma->shift >= NUMA_REGIONS) {
		vma->regions.now = fold(vma->regions.now);
		vma->regions.before = fold(vma->regions.before);
		vma->found = fold(vma->found);
		vma->looked = ~fold(~vma->looked);
		vma->due = fold(vma->due);
		vma->shift++;
	}
	if (pages > vma->pages) {
		new = regions_mask(region_of(vma, vma->pages), NUMA_REGIONS - 1);
		vma->regions.now |= new;
		vma->looked &= ~new;
		vma->due |= new;
	}
	vma->pages = pages;
}

/* End the look at the bits @which, of which the bits @seen were seen. */
static void recent_age(struct numa_recent *recent, u64 seen, u64 which)
{
	u64 now = READ_ONCE(recent->now);

	recent->before = (recent->before & ~which) | (now & which);
	WRITE_ONCE(recent->now, (now & ~which) | (seen & which));
}

/**
 * numa_vma_visit() - a scan comes to a VMA
 * @vma: the VMA
 * @pass: passes over the whole address space so far
 * @settings: the policy's
 *
 * Only passes that visit the VMA count as time: a pass that does not visit the VMA causes
 * no fault, so the absence of faults says nothing.
 */
void numa_vma_visit(struct numa_vma *vma, u32 pass, const struct numa_settings *settings)
{
	if (pass == vma->pass)
		return;
	vma->pass = pass;
	vma->done = (struct numa_range){ };
	recent_age(&vma->threads, 0, ~0ULL);
	recent_age(&vma->regions, vma->found, vma->looked);
	vma->found &= ~vma->looked;
	vma->looked = 0;
	if (++vma->age >= settings->full_pass_interval) {
		vma->age = 0;
		vma->due = ~0ULL;
	}
}

/**
 * numa_vma_next() - the next part of a VMA to scan
 * @vma: the VMA
 * @slot: slot of the scanning thread
 * @left: the range to choose from, within the VMA and not empty
 * @run: receives the first part of @left that is to be scanned
 * @settings: the policy's
 *
 * With skip_by_region a part lies within one region, so that the armed entries can be told
 * apart by region.  A region is left out when the last two looks found no use.
 *
 * Return: false if no part of @left is to be scanned.
 */
bool numa_vma_next(const struct numa_vma *vma, unsigned int slot, const struct numa_range *left,
		   struct numa_range *run, const struct numa_settings *settings)
{
	u64 wanted = ~0ULL;
	unsigned int first, after;

	if (settings->skip_by_region)
		wanted = vma->regions.now | vma->regions.before;
	if (settings->skip_by_thread && !numa_vma_uses(vma, slot))
		wanted = 0;
	wanted |= vma->due;
	wanted &= regions_in(vma, left);
	if (!wanted)
		return false;
	first = __ffs64(wanted);
	wanted = ~(wanted >> first);
	after = wanted ? first + __ffs64(wanted) : NUMA_REGIONS;
	if (settings->skip_by_region)
		after = first + 1;
	run->start = max(left->start, (u64)first << vma->shift);
	run->end = left->end;
	if (after < NUMA_REGIONS)
		run->end = min(left->end, (u64)after << vma->shift);
	return true;
}

/**
 * numa_vma_scanned() - a part of a VMA has been scanned
 * @vma: the VMA
 * @run: the part, not empty
 * @updated: entries that were armed; not 0 where the number does not tell the use, as for
 *	pages of a single thread on its own node, which are never armed
 *
 * A scan may end within a region, and the next scan may begin there.  The region is no
 * longer due when the whole region was scanned without a gap.
 */
void numa_vma_scanned(struct numa_vma *vma, const struct numa_range *run, u64 updated)
{
	u64 size = 1ULL << vma->shift;
	u64 first, after, all;

	if (updated)
		vma->found |= regions_in(vma, run);
	if (run->start != vma->done.end)
		vma->done.start = run->start;
	vma->done.end = run->end;
	first = (vma->done.start >> vma->shift) + !!(vma->done.start & (size - 1));
	after = run->end >= vma->pages ? NUMA_REGIONS : run->end >> vma->shift;
	after = min_t(u64, after, NUMA_REGIONS);
	if (first >= after)
		return;
	all = regions_mask(first, after - 1);
	vma->looked |= all;
	vma->due &= ~all;
}
