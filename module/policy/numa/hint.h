/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hint.h - what NUMA balancing asks and tells: scans and hint faults
 */
#ifndef LIVEMM_POLICY_NUMA_HINT_H
#define LIVEMM_POLICY_NUMA_HINT_H

#include <linux/cpuset.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "compat/compat.h"

/**
 * lmm_hint_is_private() - did the same thread have the last hint fault on the page?
 * @task: the thread that faults
 * @last_cpupid: CPU and thread of the fault before on the page
 *
 * The kernel's own rule: the first fault on a page is private.
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool lmm_hint_is_private(const struct task_struct *task, int last_cpupid)
{
	return last_cpupid == (-1 & LAST_CPUPID_MASK) ||
	       (task->pid & LAST__PID_MASK) == cpupid_to_pid(last_cpupid);
}

/**
 * lmm_memory_is_pinned() - does cpuset.mems bind the memory of current to one node?
 *
 * NUMA balancing cannot move the memory of such a process.
 *
 * Context: process; a racy look, as the kernel's own.
 * Return: true if so.
 */
static inline bool lmm_memory_is_pinned(void)
{
	return nodes_weight(cpuset_current_mems_allowed) == 1;
}

/**
 * lmm_scan_asked() - does the kernel let a thread scan its address space now?
 * @task: current, in task_numa_work()
 *
 * The kernel's own conditions.  A thread without a period gets its first one there.
 *
 * Context: process.
 * Return: mm->numa_next_scan, the time in jiffies from which on a scan is due; 0 if there is none.
 */
static inline unsigned long lmm_scan_asked(const struct task_struct *task)
{
	unsigned long asked;

	if (task->flags & PF_EXITING || !task->mm || !READ_ONCE(task->numa_scan_period))
		return 0;
	if (LMM_SKIPS_PINNED_SCANS && lmm_memory_is_pinned())
		return 0;
	asked = READ_ONCE(task->mm->numa_next_scan);
	return asked && !time_before(jiffies, asked) ? asked : 0;
}

#endif /* LIVEMM_POLICY_NUMA_HINT_H */
