/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between the kernels that livemm runs on
 *
 * The only place that knows kernel versions.  Everywhere else asks for a
 * capability by name.  Differences that show at run time (a function that is
 * inlined away, a changed prototype) are not here: the hook table finds those
 * on the running kernel.
 */
#ifndef LIVEMM_COMPAT_H
#define LIVEMM_COMPAT_H

#include <linux/version.h>

/*
 * The kernel tunes pcp->high itself, between high_min and high_max; before,
 * pcp->high was set once from zone->pageset_high.
 * Upstream 90b41691b988 ("mm: add framework for PCP high auto-tuning"), 6.7.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define LMM_HAS_PCP_HIGH_MIN
#endif

/*
 * ZONE_BELOW_HIGH says that an allocation found the zone below its high watermark.
 * Upstream 57c0419c5f0e ("mm, pcp: decrease PCP high if free pages < high
 * watermark"), 6.7.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define LMM_HAS_ZONE_BELOW_HIGH
#endif

/*
 * Freeing one block of order 1 to 3 in a burst of frees empties the whole list.
 * Upstream ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit"), 6.7.
 */
#define LMM_DRAINS_LIST_AT_EXIT	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0))

/*
 * __assign_str() takes the destination only.
 * Upstream 2c92ca849fcc ("tracing/treewide: Remove second parameter of
 * __assign_str()"), 6.10.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define lmm_assign_str(dst, src)	__assign_str(dst)
#else
#define lmm_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif /* LIVEMM_COMPAT_H */
