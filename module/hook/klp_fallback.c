// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_fallback.ko - livepatch wrapper around the search for a fallback
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mmzone.h>
#include <linux/preempt.h>

#include "compat/compat.h"

#define KLP_IN_fallback(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

KLP_HANDLER(fallback);

/*
 * Replaces find_suitable_fallback(), which finds the migratetype that lends free pages to a
 * migratetype without free pages.  Compaction calls the function with preemption on.
 */
static LMM_FALLBACK_RETURN wrap_fallback(struct free_area *area, unsigned int order,
					 int migratetype, bool claimable,
					 lmm_fallback_detail_t *detail)
{
	bool compacts = lmm_fallback_compacts(claimable, detail);
	bool whole = true;
	LMM_FALLBACK_RETURN ret;
	int found;

	/*
	 * Only a refill by livemm_klp_lists asks for CMA memory.  The row of CMA memory in the
	 * kernel's table of fallbacks is not terminated.
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

static void klp_set_handlers(const struct lmm_klp_handlers *handlers)
{
	KLP_TELL(fallback);
}

KLP_MODULE(fallback, "the search for a fallback");
