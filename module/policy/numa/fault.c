// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - counting hint faults, and acting on those of a sampling scan
 *
 * This code runs at hint faults of every process.  Work that can wait for a scan is in
 * scan.c.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/numa_balancing.h>

#include "hook/entry.h"
#include "hint.h"
#include "state.h"

/* Has the thread left the address space?  Then its period need not be put back. */
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
 * Lower the scan period of current.  The kernel doubles the period after a pass without
 * faults, or without local faults, as a sampling scan often is.  The period can become
 * longer than the thread has ever run; then no time stamp can end the period sooner.
 *
 * The lock keeps the period from being put back meanwhile.
 */
static bool period_lower(struct numa_mm *entry, struct task_struct *task, u32 ms)
{
	struct numa_slot *slot;
	bool lowers;
	u32 own;

	spin_lock(&entry->lock);
	slot = numa_mm_slot(entry, task->pid);
	own = READ_ONCE(task->numa_scan_period);
	/* The slot may still hold the own period of another thread. */
	lowers = !numa_mm_dropped(entry) &&
		 (!slot->lowered_pid || slot->lowered_pid == task->pid ||
		  thread_gone(slot->lowered_pid, task->mm));
	if (lowers) {
		if (slot->lowered_pid != task->pid || slot->lowered_ms != own)
			slot->own_ms = own;
		slot->lowered_pid = task->pid;
		slot->lowered_ms = ms;
		WRITE_ONCE(task->numa_scan_period, ms);
	}
	spin_unlock(&entry->lock);
	return lowers;
}

/*
 * Let current ask for a scan after @delay_ms of CPU time instead of its own period, and not
 * before the address space may be scanned.  task_tick_numa() also writes node_stamp; when
 * one of the two writes is lost, the scan comes one period later.
 */
static void ask_for_scan(struct numa_mm *entry, struct mm_struct *mm, u32 delay_ms)
{
	struct task_struct *task = current;
	unsigned long next = READ_ONCE(mm->numa_next_scan);
	unsigned long want = jiffies + msecs_to_jiffies(delay_ms);
	u64 own = (u64)READ_ONCE(task->numa_scan_period) * NSEC_PER_MSEC;
	u64 run = task->se.sum_exec_runtime + (u64)delay_ms * NSEC_PER_MSEC;
	/* With a stamp of 0 the kernel would start the thread's first period again. */
	u64 stamp = run > own ? run - own : 1;

	/* A period of 0 would do the same. */
	if (run < own && !period_lower(entry, task, max_t(u32, div_u64(run, NSEC_PER_MSEC), 1)))
		return;
	WRITE_ONCE(entry->brought_run, task->se.sum_exec_runtime);
	WRITE_ONCE(entry->brought_pid, task->pid);
	WRITE_ONCE(entry->brought_to, want ?: 1);
	/* Before the scan may begin, which clears the bit. */
	set_bit(NUMA_NOTICE_KEEP, &entry->notice);
	if (time_after(next, want))
		cmpxchg(&mm->numa_next_scan, next, want ?: 1);
	if (task->node_stamp > stamp)
		task->node_stamp = stamp;
}

/*
 * Each thread whose first faults after a scan were all remote has the kernel put mm->numa_next_scan
 * off.  The thread that was let ask sooner would then ask in vain, and again a whole period later.
 */
static void keep_brought(struct numa_mm *entry, struct mm_struct *mm)
{
	unsigned long next = READ_ONCE(mm->numa_next_scan);
	unsigned long want = READ_ONCE(entry->brought_to);

	if (time_after(next, want))
		cmpxchg(&mm->numa_next_scan, next, want);
}

/*
 * Will this fault have the kernel judge the last scan, once we return?  The kernel then changes the
 * thread's period, and mm->numa_next_scan: who asks before that asks a whole period late.
 */
static bool period_may_change(const struct task_struct *task, const struct mm_struct *mm)
{
	return task->numa_scan_seq != READ_ONCE(mm->numa_scan_seq) &&
	       time_after(jiffies, task->numa_migrate_retry);
}

static bool thread_may_ask(const struct task_struct *task)
{
	return numa_thread_may_ask(div_u64(task->se.sum_exec_runtime, NSEC_PER_MSEC),
				   READ_ONCE(task->numa_scan_period));
}

static void sample_fault(struct numa_mm *entry, struct mm_struct *mm, enum numa_class class)
{
	enum numa_verdict verdict;
	u32 share, faults, now_ms;
	bool answers = false;
	int left;

	if (class >= NUMA_REMOTE_PRIVATE)
		atomic_add(LMM_ENTRY_EVERY, &entry->sample_remote);
	left = atomic_sub_return(LMM_ENTRY_EVERY, &entry->sample_left);
	/* The last fault of the sample judges the sample. */
	if (left > 0 || left + LMM_ENTRY_EVERY <= 0)
		return;
	clear_bit(NUMA_NOTICE_SAMPLE, &entry->notice);
	/* The next sample may begin meanwhile; never 0 once the bit was set. */
	faults = READ_ONCE(entry->sample_faults);
	share = min_t(u32, atomic_read(&entry->sample_remote) * 100ULL / faults, 100);
	now_ms = jiffies_to_msecs(jiffies);
	spin_lock(&entry->lock);
	numa_mm_alarm_expire(entry, now_ms);
	verdict = numa_alarm_judge(&entry->alarm, entry->sample_area, share, entry->decision.rate,
				   now_ms);
	if (verdict == NUMA_ALARM) {
		entry->alarm.moved = numa_mm_moved(entry);
		/* The rest of this pass, and the passes that the kernel needs to move a page. */
		WRITE_ONCE(entry->resample_passes, NUMA_STUCK_PASSES + 1);
		answers = numa_mm_answers(entry);
	}
	spin_unlock(&entry->lock);
	if (verdict != NUMA_ALARM)
		return;
	lmm_count(&lmm_numa_policy, COUNT_RESAMPLED, 1);
	/* With a full debt, the kernel's next scan is the first full one. */
	if (!answers)
		return;
	if (period_may_change(current, mm) || !thread_may_ask(current)) {
		WRITE_ONCE(entry->expedite_ms, 0);
		set_bit(NUMA_NOTICE_EXPEDITE, &entry->notice);
	} else {
		ask_for_scan(entry, mm, 0);
	}
}

static noinline void fault_notice(struct numa_mm *entry, struct mm_struct *mm,
				  enum numa_class class)
{
	if (test_bit(NUMA_NOTICE_SAMPLE, &entry->notice))
		sample_fault(entry, mm, class);
	if (test_bit(NUMA_NOTICE_KEEP, &entry->notice))
		keep_brought(entry, mm);
	/*
	 * Faults of the scan before do not count: wait until the kernel has begun this scan.  The
	 * scan that an alarm is of has begun, and the next scan may be due by now without a thread
	 * that asks.
	 */
	if (test_bit(NUMA_NOTICE_EXPEDITE, &entry->notice) &&
	    (!READ_ONCE(entry->expedite_ms) ||
	     time_after(READ_ONCE(mm->numa_next_scan), jiffies)) &&
	    !period_may_change(current, mm) && thread_may_ask(current) &&
	    test_and_clear_bit(NUMA_NOTICE_EXPEDITE, &entry->notice))
		ask_for_scan(entry, mm, READ_ONCE(entry->expedite_ms));
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
	class = numa_class(flags & TNF_FAULT_LOCAL, lmm_hint_is_private(task, last_cpupid));
	slot = numa_mm_counter(entry);
	atomic64_add(pages * LMM_ENTRY_EVERY, &slot->pages[class]);
	atomic64_add(LMM_ENTRY_EVERY, &slot->faults);
	if (flags & TNF_MIGRATED)
		atomic64_add(pages * LMM_ENTRY_EVERY, &slot->moved);
	if (unlikely(READ_ONCE(entry->notice)))
		fault_notice(entry, task->mm, class);
}
