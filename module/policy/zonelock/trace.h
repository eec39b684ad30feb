/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the zonelock policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_ZONELOCK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_ZONELOCK_TRACE_H

#include <linux/tracepoint.h>

#include "compat/compat.h"
/* Pages of a depot went back to the buddy.  The reasons are those of zonelock/counters. */
TRACE_EVENT(zonelock_return,
	TP_PROTO(int nid, int zone, long pages, long left, const char *reason),
	TP_ARGS(nid, zone, pages, left, reason),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(long, pages)
		__field(long, left)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->pages = pages;
		__entry->left = left;
		lmm_assign_str(reason, reason);
	),
	TP_printk("nid=%d zone=%d pages=%ld left=%ld reason=%s", __entry->nid, __entry->zone,
		  __entry->pages, __entry->left, __get_str(reason))
);

#endif /* LIVEMM_POLICY_ZONELOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/zonelock
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
