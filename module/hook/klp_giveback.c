// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_giveback.ko - livepatch wrappers around the functions that want pages in the buddy
 */
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/swap.h>

#include "compat/compat.h"

#define KLP_IN_giveback(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

/* Parts that are given back at a stretch where preemption is off, a batch each. */
#define BRIEF_PARTS	8

/*
 * Inlined, as is give_back(): a task that sleeps there must have the wrapper on its stack, where
 * the kernel looks before the livepatch may go (klp_check_stack_func()).
 */
static __always_inline bool give_back_part(struct lmm_klp_return *part)
{
	bool more = false;

	preempt_disable();
	if (static_key_enabled(&lmm_klp_armed[part->by]))
		more = lmm_on_give_back(part);
	preempt_enable();
	return more;
}

/* Not with interrupts off. */
static __always_inline void give_back(struct zone *zone, enum lmm_klp_function by)
{
	struct lmm_klp_return part = { .zone = zone, .by = by };

	while (give_back_part(&part))
		cond_resched();
}

/*
 * Replaces drain_pages_zone(): all pages on the lists of a CPU go to the buddy.
 *
 * Compaction drains this CPU's lists with preemption off, after each block that it has emptied, and
 * wants more free pages, not all of them, so a few parts are given back.  Who isolates blocks, or
 * takes memory or a CPU away, may be preempted, and needs all.  Hibernation has interrupts off and
 * nobody else at work.  It drains twice and counts the pages of its image in between
 * (swsusp_save()), so the first drain must leave nothing for the second.
 */
static void wrap_drain_zone(unsigned int cpu, struct zone *zone)
{
	struct lmm_klp_return part = {
		.zone = zone,
		.by = LMM_KLP_DRAIN_ZONE,
		/* Without the count a caller that must not sleep looks like any other. */
		.brief = IS_ENABLED(CONFIG_PREEMPT_COUNT) && preempt_count() && !irqs_disabled(),
	};
	unsigned int parts = 0;

	static_call(lmm_orig_drain_zone)(cpu, zone);
	if (!static_branch_unlikely(&lmm_klp_armed[LMM_KLP_DRAIN_ZONE]))
		return;
	while (give_back_part(&part)) {
		if (part.brief && ++parts == BRIEF_PARTS)
			break;
		if (preemptible())
			cond_resched();
	}
}

/*
 * Replaces __drain_all_pages(): all pages on the lists of every CPU go to the buddy.  The
 * kernel skips a CPU whose lists are empty unless @force is set.
 */
static void wrap_drain_all(struct zone *zone, bool force)
{
	static_call(lmm_orig_drain_all)(zone, force);
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_DRAIN_ALL]))
		give_back(zone, LMM_KLP_DRAIN_ALL);
}

/*
 * Replaces drain_all_pages() where __drain_all_pages() cannot be wrapped.  Who forces a drain of
 * every CPU is seen by wrap_drain_zone().  Callers in the kernel's own file, which are direct
 * reclaim and the allocation of contiguous memory, call a part of the function that the compiler
 * made, and are seen if a CPU's list of the zone has a page.
 */
static void wrap_drain_lists(struct zone *zone)
{
	static_call(lmm_orig_drain_lists)(zone);
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_DRAIN_ALL]))
		give_back(zone, LMM_KLP_DRAIN_ALL);
}

/* Replaces compact_zone(): the kernel needs contiguous pages of a zone. */
static enum compact_result wrap_compact(struct compact_control *cc,
					struct capture_control *capc)
{
	if (static_branch_unlikely(&lmm_klp_armed[LMM_KLP_COMPACT]))
		give_back(cc->zone, LMM_KLP_COMPACT);
	return static_call(lmm_orig_compact)(cc, capc);
}

KLP_MODULE("the functions that want pages in the buddy");
