// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_fallback.ko - livepatch wrapper around the search for a fallback
 */
#include <linux/mmzone.h>
#include <linux/preempt.h>

#include "compat/compat.h"

#define KLP_IN_fallback(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

/*
 * Replaces find_suitable_fallback(), which finds the migratetype that lends free pages to a
 * migratetype without free pages.  Compaction calls the function with preemption on.
 */
static LMM_FALLBACK_RETURN wrap_fallback(struct free_area *area, unsigned int order,
					 int migratetype, bool claimable,
					 lmm_fallback_detail_t *detail)
{
	LMM_FALLBACK_RETURN ret;

	/*
	 * Only a refill by livemm_klp_lists asks for CMA memory.  The row of CMA memory in the
	 * kernel's table of fallbacks is not terminated.
	 */
	if (IS_ENABLED(CONFIG_CMA) && migratetype == LMM_MIGRATE_CMA)
		return LMM_FALLBACK_NONE;
	ret = static_call(lmm_orig_fallback)(area, order, migratetype, claimable, detail);
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_FALLBACK])) {
		int found = lmm_fallback_type(ret, detail);
		struct lmm_klp_fallback fallback = {
			.area = area,
			.order = order,
			.migratetype = migratetype,
			.claimable = lmm_fallback_compacts(claimable, detail),
			.found = found,
			.whole = true,
		};

		preempt_disable();
		if (static_branch_likely(&lmm_klp_armed[LMM_KLP_FALLBACK]))
			lmm_on_fallback(&fallback);
		preempt_enable();
		if (fallback.found != found)
			ret = LMM_FALLBACK_NONE;
		else if (!fallback.whole)
			ret = lmm_fallback_part(ret, claimable, detail);
	}
	return ret;
}

KLP_MODULE("the search for a fallback");
