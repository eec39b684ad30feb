// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - counting hint faults
 *
 * This code runs at hint faults of every process.  Work that can wait for a scan is in scan.c.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/numa_balancing.h>
#include <linux/smp.h>

#include "hook/entry.h"
#include "state.h"

/* The kernel's own rule: the first fault on a page is private. */
static bool is_private(const struct task_struct *task, int last_cpupid)
{
	return last_cpupid == (-1 & LAST_CPUPID_MASK) ||
	       (task->pid & LAST__PID_MASK) == cpupid_to_pid(last_cpupid);
}

/**
 * numa_on_hint_fault() - event: a thread has had a hint fault
 * @last_cpupid: CPU and thread of the fault before on the page
 * @pages: number of pages of the fault
 * @flags: TNF_*
 *
 * The hook delivers one fault in LMM_ENTRY_EVERY, so each counts for LMM_ENTRY_EVERY.
 *
 * Context: process, preemption off.
 */
void numa_on_hint_fault(int last_cpupid, int pages, int flags)
{
	struct task_struct *task = current;
	struct numa_slot *slot;
	struct numa_mm *entry;
	enum numa_class class;

	/* A kernel thread such as ksmd may fault in another address space. */
	if (!task->mm)
		return;
	entry = numa_mm_find(task->mm);
	if (!entry)
		return;
	class = numa_class(flags & TNF_FAULT_LOCAL, is_private(task, last_cpupid));
	slot = &entry->slot[smp_processor_id() % NUMA_SLOTS];
	atomic64_add(pages * LMM_ENTRY_EVERY, &slot->pages[class]);
	atomic64_add(LMM_ENTRY_EVERY, &slot->faults);
	if (flags & TNF_MIGRATED)
		atomic64_add(pages * LMM_ENTRY_EVERY, &slot->moved);
}
