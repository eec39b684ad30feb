/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the cma policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_CMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_CMA_TRACE_H

#include <linux/tracepoint.h>

#include "hook/klp_port.h"
#include "policy/cma/core.h"

/*
 * A list of movable pages is about to be refilled in a zone with CMA memory: the zone in pages;
 * blocks asked for; how many of them may be CMA memory; whether regular memory is asked first;
 * the share (CMA_SHARE_ONE: all) if judged by the ratio, else 0; enum cma_verdict.
 */
TRACE_EVENT(cma_refill,
	TP_PROTO(int nid, int zone, unsigned int order, const struct cma_view *view,
		 const struct lmm_klp_plan *plan, enum cma_verdict verdict),
	TP_ARGS(nid, zone, order, view, plan, verdict),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone)
		__field(unsigned int, order)
		__field(long, free)
		__field(long, free_cma)
		__field(long, high)
		__field(long, kept)
		__field(bool, allocating)
		__field(unsigned long, asked)
		__field(unsigned long, cma_blocks)
		__field(bool, regular)
		__field(unsigned int, share)
		__field(unsigned int, verdict)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->order = order;
		__entry->free = view->free;
		__entry->free_cma = view->free_cma;
		__entry->high = view->high;
		__entry->kept = view->kept;
		__entry->allocating = view->allocating;
		__entry->asked = plan->blocks;
		__entry->cma_blocks = plan->cma_blocks;
		__entry->regular = plan->regular;
		__entry->share = plan->share;
		__entry->verdict = verdict;
	),
	TP_printk("nid=%d zone=%d order=%u free=%ld free_cma=%ld high=%ld kept=%ld allocating=%d asked=%lu cma_blocks=%lu regular=%d share=%u verdict=%u",
		  __entry->nid, __entry->zone, __entry->order, __entry->free,
		  __entry->free_cma, __entry->high, __entry->kept, __entry->allocating,
		  __entry->asked, __entry->cma_blocks, __entry->regular, __entry->share,
		  __entry->verdict)
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
