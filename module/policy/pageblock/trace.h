/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the pageblock policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_PAGEBLOCK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_PAGEBLOCK_TRACE_H

#include <linux/tracepoint.h>

#include "policy/pageblock/core.h"

/*
 * A request would mix a block: what was known of the request, and the verdict (enum
 * pageblock_verdict).
 */
TRACE_EVENT(pageblock_verdict,
	TP_PROTO(int nid, int zone, int migratetype, gfp_t gfp,
		 const struct pageblock_request *request, enum pageblock_verdict verdict),
	TP_ARGS(nid, zone, migratetype, gfp, request, verdict),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(int, migratetype)
		__field(unsigned long, gfp)
		__field(bool, slow)
		__field(bool, free)
		__field(bool, away)
		__field(bool, tried)
		__field(bool, allowed)
		__field(unsigned int, verdict)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->migratetype = migratetype;
		__entry->gfp = (__force unsigned long)gfp;
		__entry->slow = request->slow;
		__entry->free = request->free;
		__entry->away = request->away;
		__entry->tried = request->tried;
		__entry->allowed = pageblock_allows(verdict);
		__entry->verdict = verdict;
	),
	TP_printk("nid=%d zone=%d migratetype=%d gfp=%#lx slow=%d free=%d away=%d tried=%d allowed=%d verdict=%u",
		  __entry->nid, __entry->zone, __entry->migratetype, __entry->gfp,
		  __entry->slow, __entry->free, __entry->away, __entry->tried,
		  __entry->allowed, __entry->verdict)
);

#endif /* LIVEMM_POLICY_PAGEBLOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/pageblock
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
