// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_vma.c - arithmetic of NUMA balancing; see core_vma.h
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core_vma.h"

/**
 * numa_vma_visit() - a scan comes to a VMA
 * @vma: the VMA
 * @pass: passes over the whole address space so far
 *
 * Only passes that visit the VMA count as time: a pass that does not visit the VMA causes
 * no fault, so the absence of faults says nothing.
 */
void numa_vma_visit(struct numa_vma *vma, u32 pass)
{
	if (pass == vma->pass)
		return;
	vma->pass = pass;
	vma->before = READ_ONCE(vma->now);
	WRITE_ONCE(vma->now, 0);
}

/**
 * numa_range_trim() - leave out what has nothing to arm at both ends of a range
 * @range: the pages; may become empty
 * @look: looks at the pages of one region
 * @arg: for @look
 *
 * One run remains, so that the range still costs one TLB flush.  Regions without use between
 * two used regions stay: their entries are armed, and the kernel changes none.
 *
 * Return: false if nothing is left.
 */
bool numa_range_trim(struct numa_range *range, numa_look look, void *arg)
{
	u64 size = BIT_ULL(NUMA_REGION_SHIFT);
	struct numa_range region;

	while ((range->end - range->start) / size >= NUMA_REGIONS)
		size <<= 1;
	while (range->start < range->end) {
		region.start = range->start;
		region.end = min((region.start & -size) + size, range->end);
		if (look(arg, &region))
			break;
		range->start = region.end;
	}
	while (range->start < range->end) {
		region.end = range->end;
		region.start = (region.end - 1) & -size;
		/* The first region was looked at. */
		if (region.start <= range->start || look(arg, &region))
			break;
		range->end = region.start;
	}
	return range->start < range->end;
}
