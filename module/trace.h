/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - tracepoints livemm:*, each a decision with its inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_TRACE_H

#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "hook/klp_port.h"
#include "policy/cma/core.h"
#include "policy/numa/core.h"
#include "policy/pageblock/core.h"

TRACE_EVENT(policy_switch,
	TP_PROTO(const char *policy, bool on),
	TP_ARGS(policy, on),
	TP_STRUCT__entry(
		__string(policy, policy)
		__field(bool, on)
	),
	TP_fast_assign(
		lmm_assign_str(policy, policy);
		__entry->on = on;
	),
	TP_printk("policy=%s on=%d", __get_str(policy), __entry->on)
);

/*
 * A list's bound changed; pages throughout, reason as in pcp/state.  The depths are
 * mode `depth`'s, the fewest pages that the list held of late mode `event`'s.
 */
TRACE_EVENT(pcp_decision,
	TP_PROTO(int nid, int zone, int cpu, int count, int least, long alloc_depth,
		 long free_depth, int def, int max, int old, int new, const char *reason),
	TP_ARGS(nid, zone, cpu, count, least, alloc_depth, free_depth, def, max, old, new, reason),
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
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->cpu = cpu;
		__entry->count = count;
		__entry->least = least;
		__entry->alloc_depth = alloc_depth;
		__entry->free_depth = free_depth;
		__entry->def = def;
		__entry->max = max;
		__entry->old = old;
		__entry->new = new;
		lmm_assign_str(reason, reason);
	),
	TP_printk("nid=%d zone=%d cpu=%d count=%d least=%d alloc_depth=%ld free_depth=%ld default=%d max=%d old=%d new=%d reason=%s",
		  __entry->nid, __entry->zone, __entry->cpu, __entry->count,
		  __entry->least, __entry->alloc_depth, __entry->free_depth,
		  __entry->def, __entry->max, __entry->old, __entry->new,
		  __get_str(reason))
);

/* Pages that a depot held went back to the buddy; reason as in zonelock/counters. */
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

/*
 * A request would mix a block of pages: what was known of it, and the verdict, a number
 * of enum pageblock_verdict.
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
		__field(bool, hopeless)
		__field(bool, plenty)
		__field(unsigned int, rounds)
		__field(unsigned int, stuck)
		__field(bool, allowed)
		__field(unsigned int, verdict)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone = zone;
		__entry->migratetype = migratetype;
		__entry->gfp = (__force unsigned long)gfp;
		__entry->slow = request->slow;
		__entry->hopeless = request->hopeless;
		__entry->plenty = request->plenty;
		__entry->rounds = request->rounds;
		__entry->stuck = request->stuck;
		__entry->allowed = pageblock_allows(verdict);
		__entry->verdict = verdict;
	),
	TP_printk("nid=%d zone=%d migratetype=%d gfp=%#lx slow=%d hopeless=%d plenty=%d rounds=%u stuck=%u allowed=%d verdict=%u",
		  __entry->nid, __entry->zone, __entry->migratetype, __entry->gfp,
		  __entry->slow, __entry->hopeless, __entry->plenty, __entry->rounds,
		  __entry->stuck, __entry->allowed, __entry->verdict)
);

/*
 * A list of movable pages is about to be refilled where there is CMA memory: the zone in
 * pages, blocks that are asked for, how many of them of CMA memory and whether regular
 * memory is asked first, the share of CMA_SHARE_ONE if it is by the ratio (else 0), and
 * enum cma_verdict.
 */
TRACE_EVENT(cma_refill,
	TP_PROTO(int nid, int zone, unsigned int order, const struct cma_view *view,
		 const struct lmm_klp_source *source, enum cma_verdict verdict),
	TP_ARGS(nid, zone, order, view, source, verdict),
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
		__entry->asked = source->blocks;
		__entry->cma_blocks = source->cma_blocks;
		__entry->regular = source->regular;
		__entry->share = source->share;
		__entry->verdict = verdict;
	),
	TP_printk("nid=%d zone=%d order=%u free=%ld free_cma=%ld high=%ld kept=%ld allocating=%d asked=%lu cma_blocks=%lu regular=%d share=%u verdict=%u",
		  __entry->nid, __entry->zone, __entry->order, __entry->free,
		  __entry->free_cma, __entry->high, __entry->kept, __entry->allocating,
		  __entry->asked, __entry->cma_blocks, __entry->regular, __entry->share,
		  __entry->verdict)
);

/*
 * The kernel would scan an address space: its period, and what it was made of.  Periods
 * in ms, pages throughout, rates in percent of remote faults, slope in percent.
 */
TRACE_EVENT(numa_decision,
	TP_PROTO(const struct task_struct *task, const struct numa_facts *facts,
		 const struct numa_counts *sum, const struct numa_decision *decision),
	TP_ARGS(task, facts, sum, decision),
	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(pid_t, pid)
		__field(u64, faults)
		__array(u64, pages, NUMA_NR_CLASSES)
		__field(u64, scanned)
		__field(u64, resident)
		__field(u64, lived_ms)
		__field(u64, run_ms)
		__field(u32, pass)
		__field(u32, kernel_ms)
		__field(u32, need)
		__field(u32, rate)
		__field(u32, recent)
		__field(u32, private)
		__field(u32, slope)
		__field(u32, learnt_ms)
		__field(u32, period_ms)
		__field(bool, lengthening)
		__string(reason, numa_reason_word(decision->reason))
		__string(limit, numa_limit_word(decision->limit))
	),
	TP_fast_assign(
		__entry->tgid = task->tgid;
		__entry->pid = task->pid;
		__entry->faults = sum->faults;
		memcpy(__entry->pages, sum->pages, sizeof(sum->pages));
		__entry->scanned = facts->scanned;
		__entry->resident = facts->resident;
		__entry->lived_ms = facts->lived_ms;
		__entry->run_ms = facts->run_ms;
		__entry->pass = facts->pass;
		__entry->kernel_ms = facts->kernel_ms;
		__entry->need = facts->need;
		__entry->rate = decision->rate;
		__entry->recent = decision->recent;
		__entry->private = decision->private * 10;
		__entry->slope = ((u64)decision->slope * 100) >> 16;
		__entry->learnt_ms = decision->learnt_ms;
		__entry->period_ms = decision->period_ms;
		__entry->lengthening = decision->lengthening;
		lmm_assign_str(reason, numa_reason_word(decision->reason));
		lmm_assign_str(limit, numa_limit_word(decision->limit));
	),
	TP_printk("tgid=%d pid=%d faults=%llu local_private=%llu local_shared=%llu remote_private=%llu remote_shared=%llu scanned=%llu resident=%llu lived_ms=%llu run_ms=%llu pass=%u kernel_ms=%u need=%u rate=%u recent=%u private=%u slope=%u trend=%s learnt_ms=%u period_ms=%u reason=%s limit=%s",
		  __entry->tgid, __entry->pid, __entry->faults,
		  __entry->pages[NUMA_LOCAL_PRIVATE], __entry->pages[NUMA_LOCAL_SHARED],
		  __entry->pages[NUMA_REMOTE_PRIVATE], __entry->pages[NUMA_REMOTE_SHARED],
		  __entry->scanned, __entry->resident, __entry->lived_ms, __entry->run_ms,
		  __entry->pass, __entry->kernel_ms, __entry->need, __entry->rate,
		  __entry->recent, __entry->private, __entry->slope,
		  __entry->lengthening ? "longer" : "shorter", __entry->learnt_ms,
		  __entry->period_ms, __get_str(reason), __get_str(limit))
);

#endif /* LIVEMM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
