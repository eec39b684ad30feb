// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_vma.c - arithmetic of NUMA balancing; see core_vma.h
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core_vma.h"

/* The last region stands for all that has been added since numa_vma_fit(). */
static unsigned int region_of(const struct numa_vma *vma, u64 page)
{
	return min_t(u64, page >> vma->shift, NUMA_REGIONS - 1);
}

/* The regions @first to @last. */
static u64 regions_mask(unsigned int first, unsigned int last)
{
	return first > last ? 0 : GENMASK_ULL(last, first);
}

static u64 regions_in(const struct numa_vma *vma, const struct numa_range *range)
{
	return regions_mask(region_of(vma, range->start), region_of(vma, range->end - 1));
}

/**
 * numa_vma_begin() - nothing is known of a VMA
 * @vma: to know of it
 * @pages: its size
 * @pass: how often the address space has been scanned as a whole
 *
 * Context: any; pure.
 */
void numa_vma_begin(struct numa_vma *vma, u64 pages, u32 pass)
{
	*vma = (struct numa_vma){ .shift = NUMA_REGION_SHIFT, .pass = pass };
	numa_vma_fit(vma, pages);
}

/* Regions become twice as large: one has what one of its halves had. */
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
 * numa_vma_fit() - a VMA may have another size than when it was last visited
 * @vma: the VMA
 * @pages: its size
 *
 * What it had before keeps what is known of it; what is new is due, and taken for used,
 * as its first look arms whatever is there and tells nothing.
 *
 * Context: any; pure.
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

/* A look at some of them has ended. */
static void recent_age(struct numa_recent *recent, u64 seen, u64 which)
{
	u64 now = READ_ONCE(recent->now);

	recent->before = (recent->before & ~which) | (now & which);
	WRITE_ONCE(recent->now, (now & ~which) | (seen & which));
}

/**
 * numa_vma_visit() - a scan comes to a VMA
 * @vma: the VMA
 * @pass: how often the address space has been scanned as a whole
 * @settings: the policy's
 *
 * Time, here, is passes that came by: one that did not could cause no fault, so
 * nothing may be concluded from there being none.
 *
 * Context: any; pure.
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
 * numa_vma_next() - what of a VMA is to be scanned?
 * @vma: the VMA
 * @slot: of the thread that scans
 * @left: the range to choose from, within the VMA and not empty
 * @run: gets the first part of @left that is to be scanned
 * @settings: the policy's
 *
 * With skip_by_region it is within one region, so that what is armed can be told apart; a
 * region is left out when nobody had used it in either of the last two looks.
 *
 * Context: any; pure.
 * Return: false if there is none.
 */
bool numa_vma_next(const struct numa_vma *vma, unsigned int slot,
		   const struct numa_range *left, struct numa_range *run,
		   const struct numa_settings *settings)
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
 * @updated: entries that were armed; if that does not tell whether the part is used, any
 *	other than 0.  A single thread's pages on its own node, for one, are never armed.
 *
 * A scan may end within a region, and the next one begin there: it is done, and no
 * longer due, when all of it was scanned without a gap.
 *
 * Context: any; pure.
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
