/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_promote.h - arithmetic of mode promote: when to arm the slow memory of an address space
 *
 * Memory of a lower tier is promoted at a hint fault, so memory that no scan arms is never
 * promoted.  The kernel's scan leaves out file mappings that may only be read, VMAs in which the
 * scanning thread had no recent fault, and processes whose period has grown to a minute.  The
 * policy arms the slow pages of such memory, too, in passes over the address space.
 *
 * A pass costs a walk over page tables, and a hint fault for each armed page that is used.  The
 * gain is promoted pages.  Passes that pay follow each other soon; others come less often.  No
 * time passes between two looks but that of the passes, so the figures of a pass are the hint
 * faults from its beginning to the beginning of the next.
 *
 * A page that is promoted twice was demoted between.  So where more pages were promoted than the
 * process has, promotion and demotion go in circles: what is hot has no room.  Such passes do not
 * pay, and come ever less often.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_PROMOTE_H
#define LIVEMM_POLICY_NUMA_CORE_PROMOTE_H

#include <linux/types.h>

/*
 * Milliseconds from the beginning of a pass to the next.  The least is the kernel's own shortest
 * period; with the most, a change of what is hot is found in a third of a minute.
 */
#define NUMA_PROMOTE_MIN_MS	1000
#define NUMA_PROMOTE_MAX_MS	16000

/*
 * The most while pages go in circles, and the time after which a page that was promoted is
 * forgotten: so many circles go on as promote all pages once in that time.
 */
#define NUMA_PROMOTE_CIRCLES_MS	256000
#define NUMA_PROMOTE_FORGET_MS	512000ULL

/*
 * A pass pays when the kernel promoted one page in so many that faulted, and a MiB or more: a
 * promoted page saves every later access to slow memory, a hint fault costs once.
 */
#define NUMA_PROMOTE_SHARE	8
#define NUMA_PROMOTE_PAGES	256

/* Age in ms from which on a process is taken: it may end soon. */
#define NUMA_PROMOTE_AGE_MS	4000

/* Pages in one call: 64 MiB, less than a millisecond under mmap_lock. */
#define NUMA_PROMOTE_CALL	16384U
/* With fewer pages left to arm there is no call: each may be a TLB flush. */
#define NUMA_PROMOTE_LEAST	512U

/* Address range that counts as one armed page: the kernel's own scan has the same allowance. */
#define NUMA_PROMOTE_VIRTUAL	8

/**
 * struct numa_promote - passes over an address space
 * @period_ms: time from the beginning of a pass to the next
 * @faults: pages of hint faults, up to the beginning of the last pass
 * @promoted: pages promoted, up to then
 * @recent: pages promoted of late, less what is forgotten
 * @passes: number of passes so far
 */
struct numa_promote {
	u32 period_ms;
	u64 faults;
	u64 promoted;
	u64 recent;
	u64 passes;
};

u32 numa_promote_next(struct numa_promote *promote, u64 faults, u64 promoted, u64 resident,
		      u64 since_ms);
u32 numa_promote_charge(u32 left, u64 pages, u64 armed);

#endif /* LIVEMM_POLICY_NUMA_CORE_PROMOTE_H */
