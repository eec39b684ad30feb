/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * release.h - capabilities of the kernel that pure code may ask for
 *
 * Includes nothing but <linux/version.h>, so that tables of knobs also build in user space, for
 * any release.
 */
#ifndef LIVEMM_COMPAT_RELEASE_H
#define LIVEMM_COMPAT_RELEASE_H

#include <linux/version.h>

/*
 * A scan of NUMA balancing skips VMAs in which the scanning thread had no recent hint fault.
 * Upstream fc137c0ddab2 ("sched/numa: enhance vma scanning logic"), 6.4.
 */
#define LMM_SKIPS_VMA_BY_THREAD	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0))

/*
 * NUMA balancing does not scan for a thread whose memory cpuset.mems binds to one node.  L. Chen,
 * "sched/numa: skip VMA scanning on memory pinned to one NUMA node via cpuset.mems" (linux-kernel,
 * March 2025).  Read in Debian's sources: 7.2 has the test, and 6.12 has not.  Releases between are
 * taken to have none.
 */
#define LMM_SKIPS_PINNED_SCANS	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0))

#endif /* LIVEMM_COMPAT_RELEASE_H */
