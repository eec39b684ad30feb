/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lmm_kmod.h - functions that the kernel does not export, for test modules
 */
#ifndef LMM_TESTS_KMOD_H
#define LMM_TESTS_KMOD_H

#include <linux/static_call.h>

#include "../../module/hook/symbols.h"

DEFINE_STATIC_CALL_NULL(lmm_lookup, unsigned long (const char *));

/* Address of a function of the kernel, or NULL. */
static void *lmm_find(const char *name)
{
	unsigned long lookup = lmm_kallsyms_address();

	if (!lookup)
		return NULL;
	static_call_update(lmm_lookup, (unsigned long (*)(const char *))lookup);
	return (void *)static_call(lmm_lookup)(name);
}

/* Point a static call at a function of the kernel; false when there is no such function. */
#define lmm_bind(call, name)				\
({							\
	void *_func = lmm_find(name);			\
							\
	if (_func)					\
		static_call_update(call, _func);	\
	_func != NULL;					\
})

#endif /* LMM_TESTS_KMOD_H */
