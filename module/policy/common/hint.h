/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hint.h - what a NUMA hint fault tells
 */
#ifndef LIVEMM_POLICY_COMMON_HINT_H
#define LIVEMM_POLICY_COMMON_HINT_H

#include <linux/mm.h>
#include <linux/sched.h>

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

#endif /* LIVEMM_POLICY_COMMON_HINT_H */
