/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the pcp policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_PCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_PCP_TRACE_H

#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "policy/pcp/core.h"

struct pcp_list;

/*
 * A list's bound changed.  Sizes are in pages, the reasons those of pcp/state.  The depths are of
 * mode `depth`; `least`, the fewest pages that the list held lately, is of mode `event`.
 */
TRACE_EVENT(pcp_decision,
	TP_PROTO(struct zone *zone, int cpu, const struct pcp_list *list, int old, int new,
		 enum pcp_reason reason),
	TP_ARGS(zone, cpu, list, old, new, reason),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(int, cpu)
		__field(int, count)
		__field(int, least)
		__field(long, alloc_depth)
		__field(long, free_depth)
		__field(int, def)
		__field(int, max)
		__field(int, old)
		__field(int, new)
		__string(reason, pcp_reason_words[reason])
	),
	TP_fast_assign(
		__entry->nid = zone_to_nid(zone);
		__entry->zone = zone_idx(zone);
		__entry->cpu = cpu;
		__entry->count = READ_ONCE(per_cpu_ptr(zone->per_cpu_pageset, cpu)->count);
		__entry->least = list->event.least;
		__entry->alloc_depth = list->depth.alloc;
		__entry->free_depth = list->depth.free;
		__entry->def = list->limits.def;
		__entry->max = list->limits.max;
		__entry->old = old;
		__entry->new = new;
		lmm_assign_str(reason, pcp_reason_words[reason]);
	),
	TP_printk("nid=%d zone=%d cpu=%d count=%d least=%d alloc_depth=%ld free_depth=%ld default=%d max=%d old=%d new=%d reason=%s",
		  __entry->nid, __entry->zone, __entry->cpu, __entry->count,
		  __entry->least, __entry->alloc_depth, __entry->free_depth,
		  __entry->def, __entry->max, __entry->old, __entry->new,
		  __get_str(reason))
);

#endif /* LIVEMM_POLICY_PCP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/pcp
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
