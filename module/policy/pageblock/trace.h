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
		__field(bool, compact_deferred)
		__field(bool, above_high)
		__field(bool, much_free)
		__field(bool, away)
		__field(unsigned int, rounds)
		__field(bool, allowed)
		__field(unsigned int, verdict)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->migratetype = migratetype;
		__entry->gfp = (__force unsigned long)gfp;
		__entry->slow = request->slow;
		__entry->compact_deferred = request->compact_deferred;
		__entry->above_high = request->above_high;
		__entry->much_free = request->much_free;
		__entry->away = request->away;
		__entry->rounds = request->rounds;
		__entry->allowed = pageblock_allows(verdict);
		__entry->verdict = verdict;
	),
	TP_printk("nid=%d zone=%d migratetype=%d gfp=%#lx slow=%d compact_deferred=%d above_high=%d much_free=%d away=%d rounds=%u allowed=%d verdict=%u",
		  __entry->nid, __entry->zone, __entry->migratetype, __entry->gfp,
		  __entry->slow, __entry->compact_deferred, __entry->above_high,
		  __entry->much_free, __entry->away, __entry->rounds, __entry->allowed,
		  __entry->verdict)
);

#endif /* LIVEMM_POLICY_PAGEBLOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/pageblock
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
