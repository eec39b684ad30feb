/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linkage.h - how a function in assembly begins
 *
 * A function whose address is taken begins with ENDBR on a kernel with IBT.  SYM_FUNC_START()
 * added ENDBR until 582077c94052 ("x86/cfi: Clean up linkage"), 6.15.
 */
#ifndef LIVEMM_COMPAT_LINKAGE_H
#define LIVEMM_COMPAT_LINKAGE_H

#include <linux/linkage.h>
#include <linux/version.h>
#include <asm/ibt.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define LMM_ENDBR	ENDBR
#else
#define LMM_ENDBR
#endif

#endif /* LIVEMM_COMPAT_LINKAGE_H */
