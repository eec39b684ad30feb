/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_sample.h - arithmetic of a sampling scan: has the use of memory changed?
 *
 * After a scan each page in use faults once, and not again before the next scan.  With
 * a long period a change would be noticed late.  A sampling scan arms a part of the memory;
 * the faults on that part tell whether a full scan is worth while.  A sampling scan costs a
 * part of a full scan and notices a change as soon.
 *
 * The kernel scans range by range: a VMA, or scan_size_mb of a VMA.  Each range costs one TLB
 * flush on every CPU that runs the process, and one round of mmu notifiers.  So a sampling scan
 * takes one slice of a range: neighbouring pages, 1/stride of those that page tables map.  Each
 * sampling scan takes the next slice, and after `stride` of them all memory was sampled.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_SAMPLE_H
#define LIVEMM_POLICY_NUMA_CORE_SAMPLE_H

#include <linux/minmax.h>
#include <linux/types.h>

/* log2 of the pages of a region: 2 MiB, the memory of one page table. */
#define NUMA_REGION_SHIFT	9

/* A sampling scan takes one page in this many. */
#define NUMA_SAMPLING_STRIDE	16

/*
 * Milliseconds from a scan to the next sampling scan, and the percent by which this
 * gap grows each time.  The kernel's own period grows by 30 percent a scan at most, from 1000, so
 * sampling scans are no later than the kernel's scans.  The gap is not the kernel's period, because
 * that period doubles after a scan in which a thread has seen nothing, or nothing local.  In the
 * long run there are four sampling scans for each scan of the kernel's, with a quarter of the
 * faults of the kernel's scan.
 */
#define NUMA_GAP_MIN_MS		500
#define NUMA_GAP_MAX_MS		15000
#define NUMA_GAP_GROWTH_PCT	15

/*
 * Bounds of the number of faults that a sample is judged by.  A sample is one sampling scan, or
 * several in a row until twice the least number of entries was armed.
 */
#define NUMA_RESAMPLE_FAULTS_MIN	64
#define NUMA_RESAMPLE_FAULTS_MAX	400

/*
 * Least pages of a slice.  A small range has fewer slices than there are turns, and has no
 * slice in the other turns: the flush is then worth some pages.
 */
#define NUMA_SLICE_PAGES	32

/**
 * struct numa_range - pages
 * @start: first page
 * @end: page after the last page
 */
struct numa_range {
	u64 start;
	u64 end;
};

/**
 * enum numa_backing - what maps a region of 1 << NUMA_REGION_SHIFT pages
 * @NUMA_UNMAPPED: nothing: no page has been used
 * @NUMA_SMALL: a page table
 * @NUMA_HUGE: a huge page, or an entry that must not be split
 */
enum numa_backing {
	NUMA_UNMAPPED,
	NUMA_SMALL,
	NUMA_HUGE,
};

/**
 * typedef numa_backing_of - look what maps a region
 * @arg: the caller's
 * @region: number of the region, counted from address 0
 *
 * Return: what maps the region.
 */
typedef enum numa_backing (*numa_backing_of)(void *arg, u64 region);

/**
 * struct numa_sampling - what a sampling scan takes
 * @stride: one page in this many, at least 1: NUMA_SAMPLING_STRIDE
 * @turn: which of them; grows by one for each pass of sampling scans
 */
struct numa_sampling {
	u32 stride;
	u32 turn;
};

bool numa_sampling_slice(const struct numa_sampling *sampling, const struct numa_range *range,
			 numa_backing_of backing_of, void *arg, struct numa_range *run);

/**
 * numa_sampling_faults() - by how many faults is a sample judged?
 * @pages: pages that a scan comes to: those of the address space, or of one scan
 * @stride: one page in this many is armed
 *
 * Half of the pages that are armed, because not all memory is in use.
 *
 * Return: the number.
 */
static inline u32 numa_sampling_faults(u64 pages, u32 stride)
{
	u64 most = pages / stride / 2;

	return clamp_t(u64, most, NUMA_RESAMPLE_FAULTS_MIN, NUMA_RESAMPLE_FAULTS_MAX);
}

/**
 * numa_sampling_gap() - how long until the next sampling scan?
 * @gap_ms: the last gap; 0 for the first
 *
 * Return: milliseconds.
 */
static inline u32 numa_sampling_gap(u32 gap_ms)
{
	u32 next = (u64)gap_ms * (100 + NUMA_GAP_GROWTH_PCT) / 100;

	return clamp_t(u32, next, NUMA_GAP_MIN_MS, NUMA_GAP_MAX_MS);
}

#endif /* LIVEMM_POLICY_NUMA_CORE_SAMPLE_H */
