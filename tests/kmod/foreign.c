// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_foreign.ko - somebody else's livepatch on a function that livemm wraps
 *
 * Patches free_pcppages_bulk() with a wrapper that counts and then goes on in the
 * original.  "replace" makes it cumulative, which disables every other livepatch.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/livepatch.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/static_call.h>

#include "../../module/hook/symbols.h"

static bool replace;
module_param(replace, bool, 0400);
MODULE_PARM_DESC(replace, "replace all livepatches that are loaded");

static atomic_t hits;
module_param_named(hits, hits.counter, int, 0400);
MODULE_PARM_DESC(hits, "how often the patched function ran");

DEFINE_STATIC_CALL_NULL(foreign_lookup, unsigned long (const char *));
DEFINE_STATIC_CALL_NULL(foreign_location, unsigned long (unsigned long));
DEFINE_STATIC_CALL_NULL(foreign_original,
			void (struct zone *, int, struct per_cpu_pages *, int));

static void foreign_drain(struct zone *zone, int count, struct per_cpu_pages *pcp,
			  int pindex)
{
	atomic_inc(&hits);
	static_call(foreign_original)(zone, count, pcp, pindex);
}

static struct klp_func funcs[] = {
	{ .old_name = "free_pcppages_bulk", .new_func = foreign_drain },
	{ }
};

static struct klp_object objs[] = { { .funcs = funcs }, { } };

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objs };

static int __init lmm_foreign_init(void)
{
	unsigned long addr = lmm_kallsyms_address();

	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(foreign_lookup, (unsigned long (*)(const char *))addr);
	addr = static_call(foreign_lookup)("ftrace_location");
	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(foreign_location, (unsigned long (*)(unsigned long))addr);
	addr = static_call(foreign_location)
		(static_call(foreign_lookup)("free_pcppages_bulk"));
	if (!addr)
		return -ENOENT;
	static_call_update(foreign_original,
			   (void (*)(struct zone *, int, struct per_cpu_pages *, int))
			   (addr + MCOUNT_INSN_SIZE));
	patch.replace = replace;
	return klp_enable_patch(&patch);
}

static void __exit lmm_foreign_exit(void)
{
}

module_init(lmm_foreign_init);
module_exit(lmm_foreign_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: a foreign livepatch");
MODULE_INFO(livepatch, "Y");
