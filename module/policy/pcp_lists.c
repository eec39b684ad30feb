// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_lists.c - the actuator of the pcp policy: the only code that writes the
 * bound of a per-CPU page list, and what puts it back
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "../compat/pageset.h"
#include "../livemm.h"
#include "../trace.h"
#include "pcp_lists.h"

DEFINE_STATIC_CALL_NULL(drain_list, void (struct zone *, struct per_cpu_pages *));

static const char *const reason_words[PCP_NR_REASONS] = {
	[PCP_BY_DEFAULT] = "default",
	[PCP_BY_DEPTH] = "depth",
	[PCP_BY_MAX] = "max",
	[PCP_BY_DECAY] = "decay",
	[PCP_BY_ROOM] = "room",
	[PCP_BY_IDLE] = "idle",
	[PCP_BY_RECLAIM] = "reclaim",
	[PCP_BY_SYSCTL] = "sysctl",
	[PCP_BY_OFFLINE] = "offline",
	[PCP_BY_KERNEL] = "disabled",
};

/**
 * pcp_reason_word() - a reason in one word, as `state` and the trace show it
 * @reason: of a decision
 *
 * Context: any.
 * Return: the word.
 */
const char *pcp_reason_word(enum pcp_reason reason)
{
	return reason_words[reason];
}

/**
 * pcp_lists_init() - say how a list is drained
 * @drain_zone_pages: address of that function, verified
 *
 * Context: process.
 */
void pcp_lists_init(unsigned long drain_zone_pages)
{
	static_call_update(drain_list, (void (*)(struct zone *, struct per_cpu_pages *))
			   drain_zone_pages);
}

/* Give back what a list holds above @high; it may be in use all the while. */
static void list_drain_excess(struct zone *zone, struct per_cpu_pages *pages, int high)
{
	int count = READ_ONCE(pages->count);

	while (count > high) {
		int before = count;

		static_call(drain_list)(zone, pages);
		cond_resched();
		count = READ_ONCE(pages->count);
		/* An owner that frees as fast as we drain will drain itself. */
		if (count >= before)
			break;
		lmm_count(&lmm_pcp_policy, COUNT_EXCESS_PAGES, before - count);
	}
}

/**
 * pcp_list_set() - bound a list, and give back what it holds above that
 * @zone: its zone
 * @cpu: its CPU
 * @list: what is known of it
 * @high: the bound, in pages
 *
 * Does nothing where the kernel stores its own bound at the same moment.
 *
 * Context: process, may sleep; the caller serialises.
 */
void pcp_list_set(struct zone *zone, int cpu, struct pcp_list *list, int high)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	struct lmm_pageset_bound want = { .low = high, .high = high };
	struct lmm_pageset_bound seen = lmm_pageset_read(pages);
	int old = seen.high;

	if (seen.low == high && seen.high == high && list->written.high == high)
		return;
	if (!list->written.high)
		list->tuned = lmm_pageset_tuned(pages);
	if (!lmm_pageset_swap(pages, seen, want)) {
		lmm_count(&lmm_pcp_policy, COUNT_KERNEL_WON, 1);
		return;
	}
	list->written = want;
	if (high > old)
		lmm_count(&lmm_pcp_policy, COUNT_RAISED, 1);
	else if (high < old)
		lmm_count(&lmm_pcp_policy, COUNT_LOWERED, 1);
	trace_pcp_decision(zone_to_nid(zone), zone_idx(zone), cpu, list->depth.alloc,
			   list->depth.free, list->limits.def, list->limits.max, old, high,
			   pcp_reason_word(list->decision.reason));
	if (high < old)
		list_drain_excess(zone, pages, high);
}

/**
 * pcp_list_restore() - put the kernel's own bound back, if ours still stands
 * @zone: the list's zone
 * @cpu: its CPU
 * @list: what is known of it
 *
 * Should the kernel work out a new default in between, it stores that in the zone
 * before it stores it in the lists: look at the zone again until both agree.
 *
 * Context: process, may sleep; the caller serialises.
 */
void pcp_list_restore(struct zone *zone, int cpu, struct pcp_list *list)
{
	struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	struct lmm_pageset_bound def;
	bool restored = false;

	if (!list->written.high)
		return;
	for (;;) {
		def = lmm_pageset_default(zone);
		if (!lmm_pageset_restore(pages, list->written, def))
			break;
		restored = true;
		list->written = def;
		if (def.low == lmm_pageset_default(zone).low &&
		    def.high == lmm_pageset_default(zone).high)
			break;
	}
	list->written.high = 0;
	lmm_pageset_retune(pages, list->tuned);
	if (restored)
		lmm_count(&lmm_pcp_policy, COUNT_RESTORED, 1);
	if (def.high)
		list_drain_excess(zone, pages,
				  lmm_pageset_tuned(pages) ?: def.high);
}
