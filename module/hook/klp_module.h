/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_module.h - the part that every livepatch module shares: all but the wrappers
 *
 * The functions of a module are the rows of rows.h that klp_lists.c and the others select, by
 * defining KLP_IN_<module> as KLP_ROW.  A function has a wrapper, wrap_<name>().  livemm.ko says
 * which of the functions are wrapped on this kernel: see lmm_klp_enable().
 */
#ifndef LIVEMM_HOOK_KLP_MODULE_H
#define LIVEMM_HOOK_KLP_MODULE_H

#include <linux/livepatch.h>
#include <linux/module.h>

#include "compat/export.h"
#include "klp_link.h"

#ifndef KLP_IN_lists
#define KLP_IN_lists(...)
#endif
#ifndef KLP_IN_giveback
#define KLP_IN_giveback(...)
#endif
#ifndef KLP_IN_fallback
#define KLP_IN_fallback(...)
#endif

#define KLP_ROW(id, what, ...)		static lmm_orig_##what##_fn wrap_##what;
#define LIVEPATCH(module, ...)		KLP_IN_##module(__VA_ARGS__)
#define LIVEPATCH_OR(module, ...)	KLP_IN_##module(__VA_ARGS__)
#include "rows.h"
#undef KLP_ROW

#define KLP_ROW(id, what, symbol, ...)	{ .old_name = #symbol, .new_func = wrap_##what },
static struct klp_func funcs[] = {
#define LIVEPATCH(module, ...)		KLP_IN_##module(__VA_ARGS__)
#define LIVEPATCH_OR(module, ...)	KLP_IN_##module(__VA_ARGS__)
#include "rows.h"
	{ }
};

/* No name stands for vmlinux. */
static struct klp_object objs[] = { { .funcs = funcs }, { } };
static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objs };

static int __init klp_init(void)
{
	return lmm_klp_enable(&patch);
}

/* Reached only once the patch is disabled and no task runs a wrapper. */
static void __exit klp_exit(void)
{
	lmm_klp_forget(&patch);
}

/* What every module ends with. */
#define KLP_MODULE(wraps)						\
	module_init(klp_init);						\
	module_exit(klp_exit);						\
	MODULE_LICENSE("GPL");						\
	MODULE_DESCRIPTION("livemm: livepatch wrappers around " wraps);	\
	MODULE_IMPORT_NS(LMM_NS);					\
	MODULE_INFO(livepatch, "Y")

#endif /* LIVEMM_HOOK_KLP_MODULE_H */
