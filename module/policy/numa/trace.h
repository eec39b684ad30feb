/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the numa policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_NUMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_NUMA_TRACE_H

#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "policy/numa/core.h"

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
		__field(u32, rate)
		__field(u32, recent)
		__field(u32, private)
		__field(u32, slope)
		__field(u32, learnt_ms)
		__field(u32, period_ms)
		__field(bool, lengthening)
		__string(reason, numa_reason_words[decision->reason])
		__string(limit, numa_limit_words[decision->limit])
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
		__entry->rate = decision->rate;
		__entry->recent = decision->recent;
		__entry->private = decision->private * 10;
		__entry->slope = ((u64)decision->slope * 100) >> 16;
		__entry->learnt_ms = decision->learnt_ms;
		__entry->period_ms = decision->period_ms;
		__entry->lengthening = decision->lengthening;
		lmm_assign_str(reason, numa_reason_words[decision->reason]);
		lmm_assign_str(limit, numa_limit_words[decision->limit]);
	),
	TP_printk("tgid=%d pid=%d faults=%llu local_private=%llu local_shared=%llu remote_private=%llu remote_shared=%llu scanned=%llu resident=%llu lived_ms=%llu run_ms=%llu pass=%u kernel_ms=%u rate=%u recent=%u private=%u slope=%u trend=%s learnt_ms=%u period_ms=%u reason=%s limit=%s",
		  __entry->tgid, __entry->pid, __entry->faults,
		  __entry->pages[NUMA_LOCAL_PRIVATE], __entry->pages[NUMA_LOCAL_SHARED],
		  __entry->pages[NUMA_REMOTE_PRIVATE], __entry->pages[NUMA_REMOTE_SHARED],
		  __entry->scanned, __entry->resident, __entry->lived_ms, __entry->run_ms,
		  __entry->pass, __entry->kernel_ms, __entry->rate, __entry->recent,
		  __entry->private, __entry->slope,
		  __entry->lengthening ? "longer" : "shorter", __entry->learnt_ms,
		  __entry->period_ms, __get_str(reason), __get_str(limit))
);

#endif /* LIVEMM_POLICY_NUMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/numa
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
