// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_fallback.ko - livepatch wrapper around the search for a fallback
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mmzone.h>
#include <linux/preempt.h>

#include "compat/compat.h"
#include "klp_module.h"

typedef lmm_fallback_t fallback_fn(struct free_area *, unsigned int, int, bool,
				   lmm_fallback_detail_t *);
KLP_ORIGINAL(fallback);

DEFINE_STATIC_CALL_NULL(on_fallback, int (struct free_area *, unsigned int, int, bool, int,
					  bool *));

static DEFINE_STATIC_KEY_FALSE(fallback_armed);

/*
 * Stands in for find_suitable_fallback(): which migratetype can lend free pages when a type has
 * none?  Compaction calls the function with preemption on.
 */
static lmm_fallback_t wrap_fallback(struct free_area *area, unsigned int order, int migratetype,
				    bool claimable, lmm_fallback_detail_t *detail)
{
	bool compacts = lmm_fallback_compacts(claimable, detail);
	bool whole = true;
	lmm_fallback_t ret;
	int found;

	/*
	 * Only a refill by livemm_klp_lists asks for CMA memory, and the kernel's table has no
	 * end in the row for that.
	 */
	if (IS_ENABLED(CONFIG_CMA) && migratetype == LMM_MIGRATE_CMA)
		return LMM_FALLBACK_NONE;
	ret = static_call(orig_fallback)(area, order, migratetype, claimable, detail);
	if (static_branch_unlikely(&fallback_armed)) {
		found = lmm_fallback_type(ret, detail);
		preempt_disable();
		if (static_branch_likely(&fallback_armed) &&
		    static_call(on_fallback)(area, order, migratetype, compacts, found,
					     &whole) < 0 && found >= 0)
			ret = LMM_FALLBACK_NONE;
		else if (!whole)
			ret = lmm_fallback_part(ret, claimable, detail);
		preempt_enable();
	}
	return ret;
}

static void fallback_handlers(const struct lmm_klp_handlers *handlers)
{
	static_call_update(on_fallback, handlers->fallback);
}

static const struct klp_wrapped wrapped[] = {
	KLP_WRAPPED("find_suitable_fallback", LMM_KLP_FALLBACK, fallback, fallback),
};

const struct lmm_klp_port *const livemm_klp_fallback_port = &port;
EXPORT_SYMBOL_GPL(livemm_klp_fallback_port);

static int __init klp_init(void)
{
	return klp_begin(wrapped, ARRAY_SIZE(wrapped));
}

module_init(klp_init);
module_exit(klp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm: livepatch wrapper around the search for a fallback");
MODULE_INFO(livepatch, "Y");
