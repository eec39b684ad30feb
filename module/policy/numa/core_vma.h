/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_vma.h - arithmetic of NUMA balancing: which parts of a VMA to scan
 *
 * From the review of the series that core.h names: a scan leaves out address ranges that no
 * thread, or not the scanning thread, has used recently.  Every full_pass_interval passes a
 * pass leaves out nothing.
 *
 * Hint faults tell which threads use a VMA.  The scan tells which regions are in use: the
 * kernel does not arm an entry that is still armed, so the entries that a second scan arms
 * are those of pages that were touched in between.
 *
 * Leaving a region out is safe because its pages stay armed: the first touch of a page
 * faults, is counted, and may migrate the page, without another scan.  Lost are the second
 * fault on a page, and pages that were not armed: new pages, which are on the node of their
 * first use, and pages that the kernel spares, such as shared copy-on-write pages.  Both
 * wait for the next full pass.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_VMA_H
#define LIVEMM_POLICY_NUMA_CORE_VMA_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "core.h"

/*
 * Regions of a VMA, and log2 of the pages of the smallest region: 2 MiB, the range of one
 * page table.
 */
#define NUMA_REGIONS		64
#define NUMA_REGION_SHIFT	9

/**
 * struct numa_recent - threads or regions seen recently, a bit each
 * @now: seen in the present look, or in the last one
 * @before: seen in the look before
 */
struct numa_recent {
	u64 now;
	u64 before;
};

/**
 * struct numa_range - part of a VMA
 * @start: first page, counted from the beginning of the VMA
 * @end: page after the last page
 */
struct numa_range {
	u64 start;
	u64 end;
};

/**
 * struct numa_vma - use of a VMA
 * @threads: slots of the threads that faulted in the VMA; a look is a pass
 * @regions: regions in use; a look is a scan of the whole region
 * @found: regions in which this pass has armed entries
 * @looked: regions that this pass has scanned as a whole
 * @due: regions to scan, used or not; a bit stays until the region was scanned, so no
 *	region is left out for ever
 * @done: the range scanned last without a gap
 * @pages: size of the VMA
 * @pass: pass of the last visit
 * @age: passes that visited the VMA since all regions were made due
 * @shift: log2 of the pages of a region
 *
 * A look at a region is not a pass: a pass may leave the region out, and then tells nothing
 * about the region.
 *
 * Faults set bits of threads without a lock; a lost bit comes back with the next fault, or
 * when all regions are due.  Only scans change the other members, one scan at a time.
 */
struct numa_vma {
	struct numa_recent threads;
	struct numa_recent regions;
	u64 found;
	u64 looked;
	u64 due;
	struct numa_range done;
	u64 pages;
	u32 pass;
	u32 age;
	u8 shift;
};

void numa_vma_begin(struct numa_vma *vma, u64 pages, u32 pass);
void numa_vma_fit(struct numa_vma *vma, u64 pages);
void numa_vma_visit(struct numa_vma *vma, u32 pass, const struct numa_settings *settings);
bool numa_vma_next(const struct numa_vma *vma, unsigned int slot, const struct numa_range *left,
		   struct numa_range *run, const struct numa_settings *settings);
void numa_vma_scanned(struct numa_vma *vma, const struct numa_range *run, u64 updated);

/**
 * numa_vma_fault() - a thread had a hint fault in a VMA
 * @vma: the VMA
 * @slot: slot of the thread
 *
 * Context: any.
 */
static inline void numa_vma_fault(struct numa_vma *vma, unsigned int slot)
{
	u64 thread = 1ULL << slot;

	/* The bit is mostly set: a cache line that is only read stays shared between CPUs. */
	if (!(READ_ONCE(vma->threads.now) & thread))
		WRITE_ONCE(vma->threads.now, vma->threads.now | thread);
}

/**
 * numa_vma_uses() - has a thread used a VMA recently?
 * @vma: the VMA
 * @slot: slot of the thread
 *
 * Return: true if a thread of @slot has faulted in the VMA in this look or the last.
 */
static inline bool numa_vma_uses(const struct numa_vma *vma, unsigned int slot)
{
	return (READ_ONCE(vma->threads.now) | vma->threads.before) >> slot & 1;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_VMA_H */
