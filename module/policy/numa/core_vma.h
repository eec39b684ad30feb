/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_vma.h - arithmetic of NUMA balancing: which part of a range to scan
 *
 * From the review of the series that core.h names: a scan leaves out VMAs that the scanning
 * thread has not used recently, and memory without recent use.  Every full_pass_interval
 * passes a pass leaves out nothing.
 *
 * The kernel scans range by range: a VMA, or scan_size_mb of a VMA.  Each range costs one TLB
 * flush on every CPU that runs the process, and one round of mmu notifiers.  A scan of ours
 * therefore takes one run of pages of each range, or none.
 *
 * Hint faults tell which threads use a VMA.  Page tables tell which memory was used since the
 * last scan: an armed entry was not.  A look at some entries of a region is enough, and no
 * record of a region is kept, so no mapping inherits what was known of the mapping before.
 *
 * Leaving a region out is safe because its pages stay armed: the first touch of a page
 * faults, is counted, and may migrate the page, without another scan.  Lost are the second
 * fault on a page, and pages that were not armed in a region where all the entries that were
 * looked at are.  Both wait for the next pass that leaves out nothing, or for a look at other
 * entries.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_VMA_H
#define LIVEMM_POLICY_NUMA_CORE_VMA_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "core.h"

/* log2 of the pages of the smallest region: 2 MiB, the memory of one page table. */
#define NUMA_REGION_SHIFT	9

/*
 * Most regions of a range, and entries of a region that are looked at.  Preemption is off
 * meanwhile: 1024 entries, of which most are in different cache lines, take some 50 us.
 */
#define NUMA_REGIONS		64
#define NUMA_LOOKS		16

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
 * struct numa_vma - use of a VMA
 * @now: slots of the threads that faulted in the VMA in this pass, a bit each
 * @before: slots of the threads that faulted in the pass before
 * @pass: pass of the last visit
 *
 * Faults set bits of @now without a lock; a lost bit comes back with the next fault.  Only
 * scans change the other members, one scan at a time.
 */
struct numa_vma {
	u64 now;
	u64 before;
	u32 pass;
};

/**
 * typedef numa_look - look at a range of pages
 * @arg: the caller's
 * @range: the pages
 *
 * Return: true if a scan would arm some of the pages.
 */
typedef bool (*numa_look)(void *arg, const struct numa_range *range);

void numa_vma_visit(struct numa_vma *vma, u32 pass);
bool numa_range_trim(struct numa_range *range, numa_look look, void *arg);

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
	if (!(READ_ONCE(vma->now) & thread))
		WRITE_ONCE(vma->now, vma->now | thread);
}

/**
 * numa_vma_left_to_others() - is a VMA left to the threads that use the VMA?
 * @vma: the VMA
 * @slot: slot of the scanning thread
 *
 * A VMA in which no thread has faulted is left to nobody: it may be new, or mapped anew at
 * the place of another.
 *
 * Return: true if other threads have faulted in this pass or in the pass before, and a thread
 * of @slot has not.
 */
static inline bool numa_vma_left_to_others(const struct numa_vma *vma, unsigned int slot)
{
	u64 users = READ_ONCE(vma->now) | vma->before;

	return users && !(users >> slot & 1);
}

/**
 * numa_pass_leaves_out() - may a pass leave anything out?
 * @pass: passes over the whole address space so far
 * @settings: the policy's
 *
 * Return: false once in full_pass_interval passes.
 */
static inline bool numa_pass_leaves_out(u32 pass, const struct numa_settings *settings)
{
	return pass % settings->full_pass_interval != 0;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_VMA_H */
