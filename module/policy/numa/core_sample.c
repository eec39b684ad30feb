// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_sample.c - arithmetic of a sampling scan; see core_sample.h
 */
#include <linux/bits.h>
#include <linux/math64.h>

#include "core_sample.h"

/* The pages of a region that are in the range. */
static struct numa_range region_in(const struct numa_range *range, u64 region)
{
	return (struct numa_range){
		.start = max(range->start, region << NUMA_REGION_SHIFT),
		.end = min(range->end, (region + 1) << NUMA_REGION_SHIFT),
	};
}

/* First region after the range. */
static u64 region_after(const struct numa_range *range)
{
	return (range->end + BIT_ULL(NUMA_REGION_SHIFT) - 1) >> NUMA_REGION_SHIFT;
}

static u64 mapped_pages(const struct numa_range *range, numa_backing_of backing_of, void *arg)
{
	u64 region = range->start >> NUMA_REGION_SHIFT, pages = 0;

	for (; region < region_after(range); region++) {
		struct numa_range own = region_in(range, region);

		if (backing_of(arg, region) != NUMA_UNMAPPED)
			pages += own.end - own.start;
	}
	return pages;
}

/*
 * The pages of @own that the slice takes, of which @at mapped pages lie before.  A huge page
 * belongs as a whole to the slice that has its first page.
 */
static bool slice_part(const struct numa_range *slice, u64 at, bool huge, struct numa_range *own)
{
	u64 first = max(slice->start, at);
	u64 after = min(slice->end, at + own->end - own->start);

	if (huge)
		return slice->start <= at && at < slice->end;
	own->end = own->start + after - at;
	own->start += first - at;
	return first < after;
}

/**
 * numa_sampling_slice() - which pages of a range does a sampling scan take?
 * @sampling: the sampling scan
 * @range: the range, in pages from address 0
 * @backing_of: looks what maps a region
 * @arg: for @backing_of
 * @run: receives the pages, one run
 *
 * Slices are equal shares of the pages that page tables map, so a range that is mostly unused
 * has slices of used memory.  A slice may span unmapped regions, which cost nothing.  Ranges
 * have their turns at different times, so that small ranges are not sampled all at once.
 *
 * Return: false if the scan takes no page of the range.
 */
bool numa_sampling_slice(const struct numa_sampling *sampling, const struct numa_range *range,
			 numa_backing_of backing_of, void *arg, struct numa_range *run)
{
	u64 mapped = mapped_pages(range, backing_of, arg);
	u64 region = range->start >> NUMA_REGION_SHIFT, at = 0;
	struct numa_range slice;
	bool found = false;
	u32 slices, nr;

	slices = clamp_t(u64, mapped / NUMA_SLICE_PAGES, 1, sampling->stride);
	div_u64_rem(region + sampling->turn, sampling->stride, &nr);
	if (!mapped || nr >= slices)
		return false;
	slice.start = div_u64(mapped * nr, slices);
	slice.end = div_u64(mapped * (nr + 1), slices);
	for (; region < region_after(range) && at < slice.end; region++) {
		enum numa_backing backing = backing_of(arg, region);
		struct numa_range own = region_in(range, region);
		u64 pages = own.end - own.start;

		if (backing == NUMA_UNMAPPED)
			continue;
		if (slice_part(&slice, at, backing == NUMA_HUGE, &own)) {
			if (!found)
				run->start = own.start;
			run->end = own.end;
			found = true;
		}
		at += pages;
	}
	return found;
}
