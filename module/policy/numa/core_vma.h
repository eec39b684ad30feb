/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_vma.h - arithmetic of NUMA balancing: what of a VMA to scan
 *
 * From the review of the series that core.h names: address ranges that nobody, or
 * not this thread, has used of late are left out, but now and then.
 *
 * Who uses a VMA is seen by hint faults.  Which regions of it are used is seen by the
 * scan itself: an entry that nobody has touched since it was armed is not armed again,
 * so that entries which a second scan arms are those of pages in use.
 *
 * Leaving a region out is safe because its pages stay armed: the first touch of each
 * faults, is counted, and may migrate the page, with no scan in between.  What is lost
 * is the second fault on a page, and pages that were not armed: those that came
 * later, which were put where they were first used, and those that the kernel spares
 * (shared copy-on-write, say).  They wait for the scan of all, every full_pass_interval passes.
 *
 * Pure: no kernel state, no lock, no clock.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_VMA_H
#define LIVEMM_POLICY_NUMA_CORE_VMA_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "core.h"

/*
 * Regions of a VMA, and the log2 of pages in the smallest.  Protection is changed by
 * whole page tables, 2 MiB, where nothing stands against it.
 */
#define NUMA_REGIONS		64
#define NUMA_REGION_SHIFT	9

/**
 * struct numa_recent - who or what was seen of late, a bit each
 * @now: in the last look, or in the one that goes on
 * @before: in the look before it
 */
struct numa_recent {
	u64 now;
	u64 before;
};

/**
 * struct numa_range - part of a VMA
 * @start: first page, counted from the beginning of the VMA
 * @end: the one after the last
 */
struct numa_range {
	u64 start;
	u64 end;
};

/**
 * struct numa_vma - what is known of the use of a VMA
 * @threads: slots of the threads that faulted in it; a look is a pass
 * @regions: regions that were used; a look is a scan of all of the region
 * @found: regions in which this pass has armed entries
 * @looked: regions of which this pass has scanned all
 * @due: regions to scan whether used or not; a bit stays until that has been done, so
 *	nothing is left out for ever, however a pass went
 * @done: what was scanned last without a gap
 * @pages: its size
 * @pass: the pass in which it was last visited
 * @age: passes that visited it since all of it was made due
 * @shift: log2 of pages in a region
 *
 * Looks at regions are not passes, for a region that was left out was not looked at,
 * and nothing can be concluded: the scan may have been another thread's.
 *
 * Faults set bits of threads without a lock; a bit that is lost comes back with the
 * next fault, or when all is due.  The rest is for scans, one at a time.
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
bool numa_vma_next(const struct numa_vma *vma, unsigned int slot,
		   const struct numa_range *left, struct numa_range *run,
		   const struct numa_settings *settings);
void numa_vma_scanned(struct numa_vma *vma, const struct numa_range *run, u64 updated);

/**
 * numa_vma_fault() - a thread had a hint fault in a VMA
 * @vma: where
 * @slot: of the thread
 *
 * Context: any.
 */
static inline void numa_vma_fault(struct numa_vma *vma, unsigned int slot)
{
	u64 thread = 1ULL << slot;

	/* Most often it is set: a line that is only read stays with every CPU. */
	if (!(READ_ONCE(vma->threads.now) & thread))
		WRITE_ONCE(vma->threads.now, vma->threads.now | thread);
}

/**
 * numa_vma_uses() - has a thread used a VMA of late?
 * @vma: the VMA
 * @slot: of the thread
 *
 * Context: any; pure.
 * Return: true if it, or one that meets it in its slot, has faulted there.
 */
static inline bool numa_vma_uses(const struct numa_vma *vma, unsigned int slot)
{
	return (READ_ONCE(vma->threads.now) | vma->threads.before) >> slot & 1;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_VMA_H */
