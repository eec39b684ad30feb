// SPDX-License-Identifier: GPL-2.0-only
/*
 * hooks.c - the handlers of hooks that several policies use, but for refills and drains
 *
 * A handler counts the hit of its hook, and delivers the event.  A hook that no policy uses is not
 * armed.
 *
 * Context: see struct lmm_events.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "deliver.h"
#include "events.h"
#include "hook/entry.h"
#include "slot.h"
#include "zones.h"

/**
 * lmm_on_give_back() - somebody wants pages in the buddy that are kept from the buddy
 * @part: the request; called until the answer is false
 *
 * Context: process, preemption off, no lock of the allocator held.
 * Return: true if there is more to give back.
 */
bool lmm_on_give_back(struct lmm_klp_return *part)
{
	static const enum lmm_hook_id hooks[LMM_KLP_NR] = {
		[LMM_KLP_DRAIN_ZONE] = LMM_HOOK_DRAIN_ZONE,
		[LMM_KLP_DRAIN_ALL] = LMM_HOOK_DRAIN_ALL,
		[LMM_KLP_COMPACT] = LMM_HOOK_COMPACT,
	};

	/* Called again for every batch. */
	if (!part->started)
		lmm_hook_hit(hooks[part->by]);
	return TOLD(give_back) && static_call(lmm_give_back)(part);
}
EXPORT_SYMBOL_LMM(lmm_on_give_back);

/**
 * lmm_pages_wanted() - have free pages of a zone that are kept from the buddy go back soon
 * @zone: the zone
 *
 * Context: any, preemption off.
 */
void lmm_pages_wanted(struct zone *zone)
{
	struct lmm_klp_return part = { .zone = zone, .soon = true };

	TELL(give_back, &part);
}

/**
 * lmm_on_fallback() - a migratetype has no free pages, and the kernel has looked for another one
 * @fallback: the search
 *
 * Context: under zone->lock, interrupts off; if compaction asks, under no lock, preemption off.
 */
void lmm_on_fallback(struct lmm_klp_fallback *fallback)
{
	lmm_hook_hit(LMM_HOOK_FALLBACK);
	TELL(fallback, fallback);
}
EXPORT_SYMBOL_LMM(lmm_on_fallback);

/* Entries of functions: direct calls. */
static void notrace on_hint_fault(int last_cpupid, int nid, int pages, int flags)
{
	preempt_disable_notrace();
	this_cpu_add(lmm_hook_hits[LMM_HOOK_HINT_FAULT], LMM_ENTRY_EVERY);
	TELL(hint_fault, last_cpupid, pages, flags);
	preempt_enable_notrace();
}

/*
 * The zone that a request will get its pages from: the first of the node with more free pages than
 * the low watermark, as get_page_from_freelist() looks for one; else the one that it prefers.
 */
static struct zone *zone_of_request(const struct zoneref *preferred, gfp_t gfp)
{
	const enum zone_type highest = gfp_zone(gfp);
	const struct zoneref *ref = preferred;

	for (; ref->zone && zone_to_nid(ref->zone) == zone_to_nid(preferred->zone); ref++) {
		const struct zone *zone = ref->zone;
		unsigned long mark = READ_ONCE(zone->_watermark[WMARK_LOW]) +
				     READ_ONCE(zone->watermark_boost) +
				     READ_ONCE(zone->lowmem_reserve[highest]);

		if (zone_page_state(ref->zone, NR_FREE_PAGES) > mark)
			return ref->zone;
	}
	return preferred->zone;
}

static void notrace on_request(gfp_t gfp, unsigned int order, int flags,
			       const struct alloc_context *context)
{
	struct zone *zone;

	preempt_disable_notrace();
	zone = zone_of_request(context->preferred_zoneref, gfp);
	lmm_hook_hit(LMM_HOOK_REQUEST);
	if (zone && !lmm_zone_is_taken(lmm_zone_slot(zone)))
		TELL(request, zone, order, context->migratetype);
	preempt_enable_notrace();
}

static const struct lmm_entry_handlers entry_handlers = {
	.hint_fault = on_hint_fault,
	.request = on_request,
};

/* A kprobe of a hook whose event says which policies are told. */
#define ON_KPROBE(id, name, ...)					\
static int on_##name(struct kprobe *kp, struct pt_regs *regs)		\
{									\
	lmm_hook_hit(LMM_HOOK_##id);					\
	__VA_ARGS__;							\
	return 0;							\
}

/* @zone is the highest of its node that the request may use. */
static void tell_woken(struct zone *zone, unsigned int order)
{
	const struct zone *lowest = zone->zone_pgdat->node_zones;

	TELL(kswapd_woken, zone, order);
	for (; zone >= lowest; zone--) {
		if (!populated_zone(zone))
			continue;
		if (order && lmm_zone_lacks_order(zone, order))
			TELL_ALL(zone_lacks, zone, order, false);
		else if (zone_page_state(zone, NR_FREE_PAGES) < lmm_zone_mark(zone))
			TELL_ALL(zone_lacks, zone, 0, false);
	}
}

/*
 * A page fault without MADV_HUGEPAGE neither wakes kswapd nor compacts (GFP_TRANSHUGE_LIGHT).  A
 * memory policy may have the page come from another node, of which nobody is told.
 */
static void tell_huge(void)
{
	struct zone *zone = lmm_node_here()->node_zones;
	const struct zone *end = zone + MAX_NR_ZONES;

	for (; zone < end; zone++)
		if (lmm_zone_huge_scarce(zone))
			TELL_ALL(zone_lacks, zone, pageblock_order, true);
}

ON_KPROBE(WAKE_KSWAPD, wake_kswapd, tell_woken((struct zone *)LMM_PROBED(0), LMM_PROBED(2)))
ON_KPROBE(HUGE_WANTED, huge_wanted, tell_huge())

/**
 * lmm_flow_init() - name the handlers of hooks
 *
 * Context: process, before any row is armed.
 */
void lmm_flow_init(void)
{
	lmm_entry_init(&entry_handlers);
	lmm_hooks[LMM_HOOK_WAKE_KSWAPD].handler = on_wake_kswapd;
	lmm_hooks[LMM_HOOK_HUGE_WANTED].handler = on_huge_wanted;
}
