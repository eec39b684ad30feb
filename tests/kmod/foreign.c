// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_foreign.ko - somebody else's livepatch on a function that livemm wraps
 *
 * Patches free_pcppages_bulk() or find_suitable_fallback() with a wrapper that counts and
 * then goes on in the original.  "replace" makes it cumulative, which disables every other
 * livepatch.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/livepatch.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/static_call.h>

#include "../../module/compat/compat.h"
#include "../../module/hook/symbols.h"

static bool replace;
module_param(replace, bool, 0400);
MODULE_PARM_DESC(replace, "replace all livepatches that are loaded");

static char *function = "free_pcppages_bulk";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "which of the two is patched");

static atomic_t hits;
module_param_named(hits, hits.counter, int, 0400);
MODULE_PARM_DESC(hits, "how often the patched function ran");

static atomic_t unanswerable;
module_param_named(unanswerable, unanswerable.counter, int, 0400);
MODULE_PARM_DESC(unanswerable, "how often it was asked for a type that it has no row for");

DEFINE_STATIC_CALL_NULL(foreign_lookup, unsigned long (const char *));
DEFINE_STATIC_CALL_NULL(foreign_location, unsigned long (unsigned long));
DEFINE_STATIC_CALL_NULL(original_drain,
			void (struct zone *, int, struct per_cpu_pages *, int));

static void foreign_drain(struct zone *zone, int count, struct per_cpu_pages *pcp,
			  int pindex)
{
	atomic_inc(&hits);
	static_call(original_drain)(zone, count, pcp, pindex);
}

DEFINE_STATIC_CALL_NULL(original_fallback, lmm_fallback_t (struct free_area *, unsigned int,
							   int, bool,
							   lmm_fallback_detail_t *));

static lmm_fallback_t foreign_fallback(struct free_area *area, unsigned int order,
				       int migratetype, bool claimable,
				       lmm_fallback_detail_t *detail)
{
	atomic_inc(&hits);
	if (migratetype >= MIGRATE_PCPTYPES) {
		atomic_inc(&unanswerable);
		return LMM_FALLBACK_NONE;
	}
	return static_call(original_fallback)(area, order, migratetype, claimable, detail);
}

static struct klp_func funcs[] = { { }, { } };

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
	addr = static_call(foreign_location)(static_call(foreign_lookup)(function));
	if (!addr)
		return -ENOENT;
	addr += MCOUNT_INSN_SIZE;
	funcs[0].old_name = function;
	if (!strcmp(function, "free_pcppages_bulk")) {
		funcs[0].new_func = foreign_drain;
		static_call_update(original_drain,
				   (void (*)(struct zone *, int, struct per_cpu_pages *, int))
				   addr);
	} else if (!strcmp(function, "find_suitable_fallback")) {
		funcs[0].new_func = foreign_fallback;
		static_call_update(original_fallback,
				   (lmm_fallback_t (*)(struct free_area *, unsigned int, int,
						       bool, lmm_fallback_detail_t *))addr);
	} else {
		return -EINVAL;
	}
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
