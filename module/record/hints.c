// SPDX-License-Identifier: GPL-2.0-only
/*
 * hints.c - while somebody records: hint faults of NUMA balancing, and scans
 *
 * An event for each hint fault would cost more than the fault's own bookkeeping.  Each CPU sums up
 * the faults of one thread, and reports the sum when another thread faults there, when the sum is
 * large or old, and when the thread is about to scan.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/numa_balancing.h>
#include <linux/sched/signal.h>

#include "hook/entry.h"
#include "policy/common/hint.h"
#include "hints.h"
#include "sample.h"
#include "trace.h"

/* Hint faults that are handed on, of which one sum is made. */
#define HINTS_MAX	16
/* Age of a sum at which the next fault ends the sum: as far apart as looks. */
#define HINTS_AGE	msecs_to_jiffies(50)

/**
 * struct hints - hint faults that a CPU has not reported yet
 * @sum: the sum, its times not set yet; no fault: nothing
 * @run: CPU time of the thread at the last of these faults, in ns
 * @stamp: the thread's node_stamp there, in ns
 * @begun: jiffies at the first of these faults
 * @last: jiffies at the last of these faults
 */
struct hints {
	struct record_hints sum;
	u64 run;
	u64 stamp;
	unsigned long begun;
	unsigned long last;
};

static DEFINE_PER_CPU(struct hints, hints);

static void report(struct hints *of_cpu)
{
	if (!of_cpu->sum.faults)
		return;
	of_cpu->sum.run_ms = div_u64(of_cpu->run, NSEC_PER_MSEC);
	of_cpu->sum.stamp_ms = div_u64(of_cpu->stamp, NSEC_PER_MSEC);
	of_cpu->sum.age_ms = jiffies_to_msecs(jiffies - of_cpu->last);
	trace_numa_hint_faults(&of_cpu->sum);
	of_cpu->sum.faults = 0;
}

/**
 * lmm_hints_on_fault() - event: a thread has had a hint fault
 * @last_cpupid: CPU and thread of the fault before on the page
 * @pages: number of pages of the fault
 * @flags: TNF_*
 *
 * The hook delivers one fault in LMM_ENTRY_EVERY, so each counts for LMM_ENTRY_EVERY.
 *
 * Context: process, preemption off.
 */
void lmm_hints_on_fault(int last_cpupid, int pages, int flags)
{
	struct hints *of_cpu = this_cpu_ptr(&hints);
	const struct task_struct *task = current;
	struct record_hints *sum = &of_cpu->sum;
	bool local = flags & TNF_FAULT_LOCAL;

	/* A kernel thread such as ksmd may fault in another address space. */
	if (!task->mm || !trace_numa_hint_faults_enabled())
		return;
	if (sum->faults && (sum->pid != task->pid || sum->mm != task->mm->context.ctx_id ||
			    sum->faults >= HINTS_MAX * LMM_ENTRY_EVERY ||
			    time_after(jiffies, of_cpu->begun + HINTS_AGE)))
		report(of_cpu);
	if (!sum->faults) {
		*sum = (struct record_hints){ .mm = task->mm->context.ctx_id, .pid = task->pid };
		of_cpu->begun = jiffies;
	}
	sum->faults += LMM_ENTRY_EVERY;
	sum->pages[2 * !local + !lmm_hint_is_private(task, last_cpupid)] +=
		pages * LMM_ENTRY_EVERY;
	sum->period = READ_ONCE(task->numa_scan_period);
	of_cpu->run = task->se.sum_exec_runtime;
	of_cpu->stamp = task->node_stamp;
	of_cpu->last = jiffies;
}

/**
 * lmm_hints_on_scan_begin() - event: a thread may be about to scan its address space
 *
 * Context: process, preemption off, no lock held.
 */
void lmm_hints_on_scan_begin(void)
{
	struct task_struct *task = current;
	struct mm_struct *mm = task->mm;
	struct record_scan scan;

	if (!trace_numa_scan_begin_enabled() || !lmm_scan_asked(task))
		return;
	report(this_cpu_ptr(&hints));
	scan = (struct record_scan){
		.mm = mm->context.ctx_id,
		.tgid = task->tgid,
		.pid = task->pid,
		.seq = READ_ONCE(mm->numa_scan_seq),
		.period = READ_ONCE(task->numa_scan_period),
		.resident = get_mm_rss(mm),
		.run_ms = div_u64(task->se.sum_exec_runtime, NSEC_PER_MSEC),
		.threads = get_nr_threads(task),
		.stamp_ms = div_u64(task->node_stamp, NSEC_PER_MSEC),
	};
	trace_numa_scan_begin(&scan);
}

/**
 * lmm_hints_flush() - report what every CPU has summed up
 *
 * Context: process; no event of the recorder's comes any more.
 */
void lmm_hints_flush(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		report(per_cpu_ptr(&hints, cpu));
}
