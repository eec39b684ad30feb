// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - hint faults are counted, and noticed
 *
 * Everything here runs at every hint fault of every process: what can be done at a
 * scan is done there.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/numa_balancing.h>

#include "hook/entry.h"
#include "state.h"

/* As the kernel decides it: was this thread the last, too, or the first ever? */
static bool fault_is_private(const struct task_struct *task, int last_cpupid)
{
	return last_cpupid == (-1 & LAST_CPUPID_MASK) ||
	       (task->pid & LAST__PID_MASK) == cpupid_to_pid(last_cpupid);
}

/* Is a thread no longer one of the address space?  Then it has nothing to be put back. */
static bool thread_gone(pid_t pid, const struct mm_struct *mm)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	gone = !task || READ_ONCE(task->mm) != mm;
	rcu_read_unlock();
	return gone;
}

/*
 * The kernel doubles a thread's period after a pass that showed it nothing, or nothing
 * local, and a sampling scan often does: so it can become longer than the thread has ever run,
 * and no time stamp brings its end nearer.
 */
static bool period_lower(struct numa_slot *slot, struct task_struct *task, u32 ms)
{
	u32 own = READ_ONCE(task->numa_scan_period);
	pid_t pid = cmpxchg(&slot->lowered_pid, 0, task->pid);

	/* Another thread that meets this one here has its period to be put back. */
	if (pid && pid != task->pid) {
		if (!thread_gone(pid, task->mm) ||
		    cmpxchg(&slot->lowered_pid, pid, task->pid) != pid)
			return false;
		pid = 0;
	}
	if (!pid || slot->lowered_ms != own)
		WRITE_ONCE(slot->own_ms, own);
	WRITE_ONCE(slot->lowered_ms, ms);
	WRITE_ONCE(task->numa_scan_period, ms);
	return true;
}

/*
 * Let current, which is running, ask for a scan in @delay_ms of its running time
 * rather than in a period of its own, and no sooner than the address space may be
 * scanned.  task_tick_numa() reads what is written here, and adds to it; that one of
 * the two is lost costs a period.
 */
static void ask_for_scan(struct numa_mm *entry, struct mm_struct *mm, u32 delay_ms)
{
	struct task_struct *task = current;
	unsigned long next = READ_ONCE(mm->numa_next_scan);
	unsigned long want = jiffies + msecs_to_jiffies(delay_ms);
	u64 own = (u64)READ_ONCE(task->numa_scan_period) * NSEC_PER_MSEC;
	u64 run = task->se.sum_exec_runtime + (u64)delay_ms * NSEC_PER_MSEC;
	/* Zero would have the thread begin anew. */
	u64 stamp = run > own ? run - own : 1;

	/* So would a period of zero. */
	if (run < own && !period_lower(numa_mm_slot(entry, task->pid), task,
				       max_t(u32, div_u64(run, NSEC_PER_MSEC), 1)))
		return;
	if (time_after(next, want))
		cmpxchg(&mm->numa_next_scan, next, want ?: 1);
	if (task->node_stamp > stamp)
		task->node_stamp = stamp;
}

static void sample_fault(struct numa_mm *entry, struct mm_struct *mm, enum numa_class class)
{
	int left;

	if (class >= NUMA_REMOTE_PRIVATE)
		atomic_add(LMM_ENTRY_EVERY, &entry->sample_remote);
	left = atomic_sub_return(LMM_ENTRY_EVERY, &entry->sample_left);
	/* The one that is the last judges. */
	if (left > 0 || left + LMM_ENTRY_EVERY <= 0)
		return;
	clear_bit(NUMA_NOTICE_SAMPLE, &entry->notice);
	if (!numa_sampling_differs(atomic_read(&entry->sample_remote), entry->sample_faults,
				   entry->sample_rate))
		return;
	lmm_count(&lmm_numa_policy, COUNT_RESAMPLED, 1);
	/* The rest of this pass, and what it takes to move a page. */
	WRITE_ONCE(entry->resample_passes, NUMA_STUCK_PASSES + 1);
	ask_for_scan(entry, mm, 0);
}

static noinline void fault_notice(struct numa_mm *entry, struct mm_struct *mm,
				  enum numa_class class)
{
	if (test_bit(NUMA_NOTICE_SAMPLE, &entry->notice))
		sample_fault(entry, mm, class);
	/* Not by a fault of the scan before, when the kernel has yet to begin this one. */
	if (test_bit(NUMA_NOTICE_EXPEDITE, &entry->notice) &&
	    time_after(READ_ONCE(mm->numa_next_scan), jiffies) &&
	    test_and_clear_bit(NUMA_NOTICE_EXPEDITE, &entry->notice)) {
		lmm_count(&lmm_numa_policy, COUNT_EXPEDITED, 1);
		ask_for_scan(entry, mm, READ_ONCE(entry->expedite_ms));
	}
}

/**
 * numa_on_hint_fault() - event: a thread has had a hint fault
 * @last_cpupid: who faulted on the page before
 * @pages: how many the fault was for
 * @flags: TNF_*
 *
 * Each stands for LMM_ENTRY_EVERY of them.
 *
 * Context: process, preemption off.
 */
void numa_on_hint_fault(int last_cpupid, int pages, int flags)
{
	struct task_struct *task = current;
	struct numa_slot *slot;
	struct numa_mm *entry;
	enum numa_class class;

	/* Another may fault in it, as ksmd does. */
	if (!task->mm)
		return;
	entry = numa_mm_find(task->mm);
	if (!entry)
		return;
	class = numa_class(flags & TNF_FAULT_LOCAL, fault_is_private(task, last_cpupid));
	slot = numa_mm_slot(entry, task->pid);
	atomic64_add(pages * LMM_ENTRY_EVERY, &slot->pages[class]);
	atomic64_add(LMM_ENTRY_EVERY, &slot->faults);
	if (unlikely(READ_ONCE(entry->notice)))
		fault_notice(entry, task->mm, class);
}

/**
 * numa_on_hint_vma() - event: a thread has had a hint fault in this VMA
 * @vma: the VMA
 *
 * Context: under the lock of a page table.
 */
void numa_on_hint_vma(const struct vm_area_struct *vma)
{
	struct numa_areas *areas;
	struct numa_area *area;
	struct numa_mm *entry;

	/* As in numa_on_hint_fault(). */
	if (vma->vm_mm != current->mm)
		return;
	entry = numa_mm_find(vma->vm_mm);
	if (!entry)
		return;
	/* Pairs with numa_mm_attach(): they are zeroed. */
	areas = smp_load_acquire(&entry->areas);
	if (!areas)
		return;
	area = &areas->area[hash_long(vma->vm_start >> PAGE_SHIFT, NUMA_AREA_BITS)];
	if (READ_ONCE(area->start) == vma->vm_start)
		numa_vma_fault(&area->vma, numa_thread_slot(current->pid));
}
