/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the cma policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_CMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_CMA_TRACE_H

#include <linux/tracepoint.h>

#include "policy/cma/core_ratio.h"

/*
 * Mode ratio: a list of movable pages is about to be refilled with so many pages in a zone with CMA
 * memory: the zone in pages; the share (CMA_SHARE_ONE: all); enum cma_source.
 */
TRACE_EVENT(cma_refill,
	TP_PROTO(int nid, int zone, long pages, const struct cma_view *view, unsigned int share,
		 enum cma_source source),
	TP_ARGS(nid, zone, pages, view, share, source),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(long, pages)
		__field(long, free)
		__field(long, free_cma)
		__field(long, high)
		__field(long, kept)
		__field(bool, allocating)
		__field(unsigned int, share)
		__field(unsigned int, source)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->pages = pages;
		__entry->free = view->free;
		__entry->free_cma = view->free_cma;
		__entry->high = view->high;
		__entry->kept = view->kept;
		__entry->allocating = view->allocating;
		__entry->share = share;
		__entry->source = source;
	),
	TP_printk("nid=%d zone=%d pages=%ld free=%ld free_cma=%ld high=%ld kept=%ld allocating=%d share=%u source=%u",
		  __entry->nid, __entry->zone, __entry->pages, __entry->free,
		  __entry->free_cma, __entry->high, __entry->kept, __entry->allocating,
		  __entry->share, __entry->source)
);

/* Pages were moved out of the regular memory of a zone to CMA memory; pages still to be moved. */
TRACE_EVENT(cma_balance,
	TP_PROTO(int nid, int zone, int target, unsigned long moved, unsigned long left),
	TP_ARGS(nid, zone, target, moved, left),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(int, target)
		__field(unsigned long, moved)
		__field(unsigned long, left)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->target = target;
		__entry->moved = moved;
		__entry->left = left;
	),
	TP_printk("nid=%d zone=%d target=%d moved=%lu left=%lu", __entry->nid, __entry->zone,
		  __entry->target, __entry->moved, __entry->left)
);

#endif /* LIVEMM_POLICY_CMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/cma
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
