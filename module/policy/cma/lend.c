// SPDX-License-Identifier: GPL-2.0-only
/*
 * lend.c - where a list of movable pages is refilled from
 *
 * Context: under the list's pcp->lock, preemption off, any context that the allocator may be
 * called from.  No sleeping, no printk, no allocation, no lock.
 *
 * The kernel's own function refills: with MIGRATE_CMA from CMA memory, without ALLOC_CMA from
 * regular memory.  If the request that found the list empty may use CMA memory, either will do:
 * the kernel itself puts CMA pages in movable lists, and requests that may not use CMA memory
 * bypass those lists.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/vmstat.h>

#include "compat/compat.h"
#include "hook/klp_guard.h"
#include "hook/hook.h"
#include "hook/symbols.h"
#include "trace.h"
#include "state.h"

/* Calls of find_suitable_fallback() in the source of rmqueue_bulk(), through a helper. */
#define FALLBACK_CALLS	2

/* Limit of a CPU's pending change of a page count (calculate_normal_threshold()). */
#define VMSTAT_SLACK	125

/* Time within which every CPU adds its pending changes to the counts (sysctl_stat_interval). */
#define VMSTAT_PERIOD	HZ

static_assert(COUNT_STOCK_LIVEPATCH - COUNT_LEND_RATIO == CMA_AS_STOCK_LIVEPATCH);

/**
 * cma_lend_possible() - can a refill be split here?
 * @why: the reason in words if not
 * @len: size of @why
 *
 * Asked for CMA memory when none is left, the kernel would run off the end of its table of
 * fallbacks.  Our wrapper of find_suitable_fallback() prevents this if the compiler did not
 * inline the calls of that function.
 *
 * Context: process.
 * Return: true if a refill can be split.
 */
bool cma_lend_possible(char *why, size_t len)
{
	if (!lmm_hook_usable(LMM_HOOK_REFILL) || !lmm_hook_usable(LMM_HOOK_FALLBACK)) {
		scnprintf(why, len,
			  "refills of the lists cannot be hooked on this kernel; mode=keep does without");
		return false;
	}
	if (lmm_symbol_calls(lmm_hook_address(LMM_HOOK_REFILL),
			     lmm_hook_address(LMM_HOOK_FALLBACK)) < FALLBACK_CALLS) {
		scnprintf(why, len,
			  "a refill's search for a fallback cannot be stopped; mode=keep does without");
		return false;
	}
	return true;
}

/**
 * cma_view_zone() - read the state of a zone
 * @zone: the zone
 * @view: gets the state
 *
 * Context: any.
 */
void cma_view_zone(struct zone *zone, struct cma_view *view)
{
	struct cma_zone *cz = cma_zone_of(zone);

	*view = (struct cma_view){
		.free = zone_page_state(zone, NR_FREE_PAGES),
		.free_cma = zone_page_state(zone, NR_FREE_CMA_PAGES),
		.high = lmm_zone_high_mark(zone),
		.managed = zone_managed_pages(zone),
		.cma = zone_cma_pages(zone),
		.kept = atomic_long_read(&cz->kept),
		.slack = num_online_cpus() * VMSTAT_SLACK,
		.allocating = cma_zone_is_taken(zone),
		.unguarded = !lmm_guard_stands(),
		.dry = READ_ONCE(cz->dry) && time_before(jiffies, READ_ONCE(cz->dry_until)),
	};
}

/**
 * cma_on_refill_plan() - event: a list is about to be refilled
 * @zone: the list's zone
 * @order: order of the blocks
 * @migratetype: migratetype of the list
 * @source: the kernel's request; gets the plan: how much of CMA memory, and what first
 *
 * Context: see the top of the file.
 */
void cma_on_refill_plan(struct zone *zone, unsigned int order, int migratetype,
			struct lmm_klp_plan *source)
{
	struct cma_settings settings = {
		.mode = READ_ONCE(cma.settings.mode),
		.cap_pct = READ_ONCE(cma.settings.cap_pct),
	};
	enum cma_verdict verdict;
	struct cma_view view;

	if (migratetype != MIGRATE_MOVABLE || !(source->alloc_flags & LMM_ALLOC_CMA) ||
	    !zone_cma_pages(zone))
		return;
	cma_view_zone(zone, &view);
	view.pins = in_task() && current->mm && lmm_mm_has_pinned(current->mm);
	verdict = cma_judge(&view, &settings, &cma_zone_of(zone)->ratio);
	lmm_count(&lmm_cma_policy, COUNT_LEND_RATIO + verdict, 1);
	source->judged = true;
	source->by_ratio = cma_by_ratio(verdict);
	/* Only the ratio needs the share, which costs a division. */
	source->share = source->by_ratio ? cma_share(&view) : 0;
	source->regular = cma_wants_regular(verdict);
	source->tops_up = cma_tops_up(&view, verdict);
	/* By the ratio, pages that one kind does not have come from the other kind. */
	if (cma_lends(verdict) || source->by_ratio)
		source->cma_blocks = min_t(unsigned long, source->blocks,
					   max(view.free_cma - view.kept, 0L) >> order);
	trace_cma_refill(zone_to_nid(zone), zone_idx(zone), order, &view, source, verdict);
}

/**
 * cma_on_refill_done() - event: a planned refill has been made
 * @zone: the list's zone
 * @order: order of the blocks
 * @source: the plan, with the blocks got from each kind
 *
 * Context: see the top of the file.
 */
void cma_on_refill_done(struct zone *zone, unsigned int order, const struct lmm_klp_plan *source)
{
	struct cma_zone *cz = cma_zone_of(zone);
	long regular = (long)source->regular_got << order;
	long lent = (long)source->cma_got << order;

	if (!source->judged)
		return;
	lmm_count(&lmm_cma_policy, COUNT_REGULAR_PAGES, regular);
	lmm_count(&lmm_cma_policy, COUNT_LENT_PAGES, lent);
	if (source->regular && !regular)
		lmm_count(&lmm_cma_policy, COUNT_REGULAR_NONE, 1);
	if (lent && regular)
		lmm_count(&lmm_cma_policy, COUNT_TOPPED_UP_PAGES, regular);
	if (!source->regular && source->cma_blocks && !lent) {
		lmm_count(&lmm_cma_policy, COUNT_LENT_NONE, 1);
		WRITE_ONCE(cz->dry_until, jiffies + VMSTAT_PERIOD);
		WRITE_ONCE(cz->dry, true);
	}
	if (source->by_ratio)
		cma_charge(&cz->ratio, source->share, regular, lent,
			   pageblock_nr_pages);
}

/**
 * cma_zone_is_taken() - is an owner allocating CMA memory of a zone?
 * @zone: the zone
 *
 * Context: any.
 * Return: true if an owner is.
 */
bool cma_zone_is_taken(const struct zone *zone)
{
	return atomic_read(&cma_zone_of(zone)->allocating) > 0;
}
