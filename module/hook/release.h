/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * release.h - refuse a kernel that we were not built for
 *
 * vermagic can match where the kernel does not (weak-modules links a module
 * into the folders of later kernels), and a hook into another kernel's
 * allocator corrupts memory.
 */
#ifndef LIVEMM_HOOK_RELEASE_H
#define LIVEMM_HOOK_RELEASE_H

#include <generated/utsrelease.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/utsname.h>

/* Kbuild may set another one, to test the refusal. */
#ifndef LMM_BUILT_FOR
#define LMM_BUILT_FOR UTS_RELEASE
#endif

/**
 * lmm_release_check() - is the running kernel the one we were built for?
 *
 * Context: process.
 * Return: 0, or -ENOEXEC with both releases in the log.
 */
static inline int lmm_release_check(void)
{
	const char *running = init_uts_ns.name.release;

	if (!strcmp(running, LMM_BUILT_FOR))
		return 0;
	pr_err("built for kernel %s, this is %s: rebuild (dkms autoinstall)\n",
	       LMM_BUILT_FOR, running);
	return -ENOEXEC;
}

#endif /* LIVEMM_HOOK_RELEASE_H */
