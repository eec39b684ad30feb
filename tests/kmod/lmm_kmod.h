/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lmm_kmod.h - parameters of test modules, and functions that the kernel does not export
 */
#ifndef LMM_TESTS_KMOD_H
#define LMM_TESTS_KMOD_H

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/static_call.h>
#include <linux/sysfs.h>
#include <linux/types.h>

#include "../../module/hook/symbols.h"

/* A variable that is a parameter, to be set when the module is loaded and read later. */
#define LMM_PARAM(type, name, value, words)	\
	static type name = value;		\
	module_param(name, type, 0400);		\
	MODULE_PARM_DESC(name, words)

/* A parameter whose reading calls a function, or whose writing does. */
#define LMM_PARAM_GET(name, func, words)	\
	LMM_PARAM_CALL(name, get, func, 0400, words)
#define LMM_PARAM_SET(name, func, words)	\
	LMM_PARAM_CALL(name, set, func, 0200, words)
#define LMM_PARAM_CALL(name, op, func, mode, words)			\
	static const struct kernel_param_ops name##_ops = { .op = func };	\
	module_param_cb(name, &name##_ops, NULL, mode);			\
	MODULE_PARM_DESC(name, words)

/* A parameter that shows the first @nr counts of an array, with commas between. */
#define LMM_PARAM_COUNTS(name, counts, nr, words)			\
	static int name##_get(char *buffer, const struct kernel_param *kp)	\
	{								\
		return lmm_counts_print(buffer, counts, nr);		\
	}								\
	LMM_PARAM_GET(name, name##_get, words)

static inline int lmm_counts_print(char *buffer, const atomic_long_t counts[], unsigned int nr)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < nr; i++)
		len += sysfs_emit_at(buffer, len, "%s%ld", i ? "," : "",
				     atomic_long_read(&counts[i]));
	return len + sysfs_emit_at(buffer, len, "\n");
}

DEFINE_STATIC_CALL_NULL(lmm_lookup, kallsyms_lookup_name);

/* Address of a function of the kernel, or NULL. */
static inline void *lmm_find(const char *name)
{
	unsigned long lookup;

	if (lmm_function_address("kallsyms_lookup_name", &lookup))
		return NULL;
	static_call_update(lmm_lookup, (void *)lookup);
	return (void *)static_call(lmm_lookup)(name);
}

/* Point a static call at a function of the kernel; false when there is no such function. */
#define lmm_bind(call, name)				\
({							\
	void *_func = lmm_find(name);			\
							\
	if (_func)					\
		static_call_update(call, _func);	\
	!!_func;					\
})

#endif /* LMM_TESTS_KMOD_H */
