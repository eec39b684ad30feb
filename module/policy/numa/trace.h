/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - decisions of the numa policy with their inputs
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_POLICY_NUMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_POLICY_NUMA_TRACE_H

#include <linux/tracepoint.h>

#include "policy/numa/core.h"

/*
 * The kernel would scan an address space: pages of hint faults so far, the kernel's period and the
 * policy's in ms, and the time since the last scan (0 before the first).  A scan that is not due is
 * put off.
 */
TRACE_EVENT(numa_decision,
	TP_PROTO(const struct task_struct *task, const struct numa_counts *sum, u32 own_ms,
		 u32 period_ms, u64 since_ms, bool due),
	TP_ARGS(task, sum, own_ms, period_ms, since_ms, due),
	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(pid_t, pid)
		__array(u64, pages, NUMA_NR_CLASSES)
		__field(u64, moved)
		__field(u64, since_ms)
		__field(u32, own_ms)
		__field(u32, period_ms)
		__field(bool, due)
	),
	TP_fast_assign(
		__entry->tgid = task->tgid;
		__entry->pid = task->pid;
		memcpy(__entry->pages, sum->pages, sizeof(sum->pages));
		__entry->moved = sum->moved;
		__entry->since_ms = since_ms;
		__entry->own_ms = own_ms;
		__entry->period_ms = period_ms;
		__entry->due = due;
	),
	TP_printk("tgid=%d pid=%d local_private=%llu local_shared=%llu remote_private=%llu remote_shared=%llu moved=%llu own_ms=%u period_ms=%u since_ms=%llu due=%d",
		  __entry->tgid, __entry->pid, __entry->pages[NUMA_LOCAL_PRIVATE],
		  __entry->pages[NUMA_LOCAL_SHARED], __entry->pages[NUMA_REMOTE_PRIVATE],
		  __entry->pages[NUMA_REMOTE_SHARED], __entry->moved, __entry->own_ms,
		  __entry->period_ms, __entry->since_ms, __entry->due)
);

#endif /* LIVEMM_POLICY_NUMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH policy/numa
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
