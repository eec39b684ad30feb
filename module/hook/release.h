/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * release.h - refuse a kernel that we were not built for
 *
 * vermagic can match where the kernel does not: distributions build several kernels of one release
 * name.  Another build may have other structs, and compat.h knows the sources of one distribution
 * alone.
 */
#ifndef LIVEMM_HOOK_RELEASE_H
#define LIVEMM_HOOK_RELEASE_H

#include <generated/utsrelease.h>
#include <generated/utsversion.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/utsname.h>

/* Kbuild may set others, to test the refusals. */
#ifndef LMM_BUILT_FOR
#define LMM_BUILT_FOR		UTS_RELEASE
#endif
#ifndef LMM_BUILT_VERSION
#define LMM_BUILT_VERSION	UTS_VERSION
#endif

/* What the version of each known kernel says; "" with "make LMM_ANY_KERNEL=1". */
#ifndef LMM_VENDOR
#define LMM_VENDOR		"Debian"
#endif

/**
 * lmm_release_check() - is the running kernel the one we were built for, and a known one?
 *
 * Context: process.
 * Return: 0, or -ENOEXEC with the reason in the log.
 */
static inline int lmm_release_check(void)
{
	const struct new_utsname *running = &init_uts_ns.name;

	if (strcmp(running->release, LMM_BUILT_FOR) ||
	    strcmp(running->version, LMM_BUILT_VERSION)) {
		pr_err("built for kernel %s %s, this is %s %s: rebuild (dkms build, install --force)\n",
		       LMM_BUILT_FOR, LMM_BUILT_VERSION, running->release, running->version);
		return -ENOEXEC;
	}
	if (strstr(running->version, LMM_VENDOR))
		return 0;
	pr_err("kernel %s %s: livemm knows kernels of %s alone; your own: make LMM_ANY_KERNEL=1\n",
	       running->release, running->version, LMM_VENDOR);
	return -ENOEXEC;
}

#endif /* LIVEMM_HOOK_RELEASE_H */
