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

#endif /* LIVEMM_COMPAT_RELEASE_H */
