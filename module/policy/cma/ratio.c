// SPDX-License-Identifier: GPL-2.0-only
/*
 * ratio.c - mode ratio: where a list of movable pages is refilled from
 *
 * The kernel's own function refills: with MIGRATE_CMA from CMA memory, without ALLOC_CMA from
 * regular memory.  If the request that found the list empty may use CMA memory, either will do:
 * the kernel itself puts CMA pages in movable lists, and requests that may not use CMA memory
 * bypass those lists.  A refill that gets nothing so is the kernel's own.
 */
#include <linux/mm.h>
#include <linux/mmzone.h>

#include "compat/compat.h"
#include "flow/refill.h"
#include "hook/hook.h"
#include "hook/symbols.h"
#include "trace.h"
#include "state.h"

/* Calls of find_suitable_fallback() in the source of rmqueue_bulk(), through a helper. */
#define FALLBACK_CALLS	2

/**
 * cma_ratio_possible() - can a refill be asked of CMA memory here?
 * @why: the reason in words if not
 * @len: size of @why
 *
 * Asked for CMA memory when none is left, the kernel would run off the end of its table of
 * fallbacks.  Our wrapper of find_suitable_fallback() prevents this if the compiler did not
 * inline the calls of that function.
 *
 * Context: process.
 * Return: true if so.
 */
bool cma_ratio_possible(char *why, size_t len)
{
	if (!lmm_hook_usable(LMM_HOOK_REFILL) || !lmm_hook_usable(LMM_HOOK_FALLBACK)) {
		scnprintf(why, len, "refills of the lists cannot be hooked on this kernel");
		return false;
	}
	if (lmm_symbol_calls(lmm_hook_address(LMM_HOOK_REFILL),
			     lmm_hook_address(LMM_HOOK_FALLBACK)) < FALLBACK_CALLS) {
		scnprintf(why, len, "a refill's search for a fallback cannot be stopped");
		return false;
	}
	return true;
}

/**
 * cma_on_refill_from() - event: a list is about to be refilled
 * @refill: the refill
 *
 * Context: under the list's pcp->lock, preemption off, any context that the allocator may be
 * called from.  No sleeping, no printk, no allocation, no lock.
 */
void cma_on_refill_from(struct lmm_refill *refill)
{
	struct cma_ratio *ratio = &cma.zones[refill->slot].ratio;
	long pages = refill->blocks << refill->order;
	struct zone *zone = refill->zone;
	enum cma_source source;
	struct cma_view view;
	unsigned int share;

	if (READ_ONCE(cma.mode) != CMA_MODE_RATIO || refill->migratetype != MIGRATE_MOVABLE ||
	    !(refill->alloc_flags & LMM_ALLOC_CMA) || !zone_cma_pages(zone) ||
	    !lmm_hook_only_ours(LMM_HOOK_FALLBACK))
		return;
	cma_view_zone(zone, &view);
	source = cma_source(&view, ratio);
	share = cma_share(&view);
	trace_cma_refill(zone_to_nid(zone), zone_idx(zone), pages, &view, share, source);
	if (source == CMA_AS_STOCK)
		return;
	cma_charge(ratio, share, source, pages, pageblock_nr_pages);
	if (source == CMA_LENT) {
		lmm_count(&lmm_cma_policy, COUNT_LENT_PAGES, pages);
		refill->from = LMM_MIGRATE_CMA;
		return;
	}
	lmm_count(&lmm_cma_policy, COUNT_REGULAR_PAGES, pages);
	/* No parts of blocks of other types either: CMA memory is better than that. */
	refill->from_flags = (refill->alloc_flags & ~LMM_ALLOC_CMA) | LMM_ALLOC_NOFRAGMENT;
}
