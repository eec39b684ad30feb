// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_sample.c - arithmetic of a sampling scan; see core_sample.h
 */
#include <linux/bits.h>
#include <linux/math64.h>

#include "core_sample.h"

#define REGION_PAGES	BIT_ULL(NUMA_REGION_SHIFT)

/**
 * numa_sampling_region() - which pages of a region does a sampling scan take?
 * @sampling: the sampling scan
 * @region: number of the region, counted from address 0
 * @huge: mapped by a huge page, which must not be split: all pages or none
 * @run: receives the pages, counted from address 0
 *
 * Neighbouring regions have different parts, so that a pattern in the addresses is not
 * sampled all at once.
 *
 * Return: false if the scan takes no page of the region.
 */
bool numa_sampling_region(const struct numa_sampling *sampling, u64 region, bool huge,
			  struct numa_range *run)
{
	u64 first = region << NUMA_REGION_SHIFT;
	u64 pages = REGION_PAGES / sampling->stride;
	u32 part;

	div_u64_rem(region + sampling->turn, sampling->stride, &part);
	run->start = first;
	run->end = first + REGION_PAGES;
	if (huge)
		return !part;
	run->start += part * pages;
	/* The last part also takes the remainder. */
	if (part + 1 < sampling->stride)
		run->end = run->start + pages;
	return true;
}
