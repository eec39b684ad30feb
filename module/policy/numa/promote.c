// SPDX-License-Identifier: GPL-2.0-only
/*
 * promote.c - mode promote: a worker arms slow memory that the kernel's scan leaves out
 *
 * The kernel's scan goes on as without the policy.  The worker takes the address spaces in turn,
 * some pages a second in all, and has the kernel arm each VMA in which promotion can help.  While
 * kernel.numa_balancing is 2, the kernel arms only pages of a lower tier, so memory of the top
 * tier has no more hint faults.  Armed pages fault, and the kernel promotes the hot ones, by the
 * kernel's own rules and rate limit.
 *
 * An entry, and the worker, hold a reference of the mm_struct, so that an address space that has
 * ended is seen as ended.  The worker is no user of the address space: the last user tears it down
 * itself, and meanwhile waits for mmap_lock before anything goes that the worker walks.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/sysctl.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "hook/kcall.h"
#include "state.h"
#include "suits.h"

/* What may be armed is renewed so often. */
#define PROMOTE_TICK_MS	1000

/* Arm a part of the address space from @at on; return where the next part begins, or 0. */
static unsigned long part_arm(struct mm_struct *mm, unsigned long at, u32 *left)
{
	struct vm_area_struct *vma = find_vma(mm, at);
	unsigned long start, end, armed;

	while (vma && !numa_suits_vma(vma))
		vma = find_vma(mm, vma->vm_end);
	if (!vma)
		return 0;
	start = max(at, vma->vm_start);
	/* A huge page is armed as a whole, or would be split. */
	end = ALIGN(start + ((unsigned long)min(*left, NUMA_PROMOTE_CALL) << PAGE_SHIFT), PMD_SIZE);
	end = min(end, vma->vm_end);
	armed = KCALL(arm)(vma, start, end);
	*left = numa_promote_charge(*left, (end - start) >> PAGE_SHIFT, armed);
	lmm_count(&lmm_numa_policy, COUNT_UPDATED_ENTRIES, armed);
	if (armed)
		lmm_count(&lmm_numa_policy, COUNT_SCAN_FLUSHES, 1);
	return end;
}

/* A pass begins: was the pass before worth its faults? */
static void pass_begin(struct numa_mm *entry, u64 resident)
{
	unsigned long late = jiffies - entry->promote_due;
	struct numa_counts sum;
	u32 next;

	spin_lock(&entry->lock);
	numa_mm_sum(entry, &sum);
	/* All pages that fault are of a lower tier: those that moved were promoted. */
	next = numa_promote_next(&entry->promote, numa_pages_of(&sum), sum.moved, resident,
				 entry->promote.period_ms + jiffies64_to_msecs(late));
	entry->promote_due = jiffies + msecs_to_jiffies(next);
	numa_mm_count(entry, &sum);
	spin_unlock(&entry->lock);
}

/* The worker goes on at an address, or is due again; the entry may be gone. */
static void entry_note(struct mm_struct *mm, unsigned long at, bool begins)
{
	struct numa_mm *entry;

	preempt_disable();
	entry = numa_mm_find(mm);
	if (entry) {
		if (begins)
			pass_begin(entry, get_mm_rss(mm));
		entry->promote_at = at;
	}
	preempt_enable();
}

/* Go on with the pass over an address space, for as long as something may be armed. */
static void mm_serve(struct mm_struct *mm, unsigned long at, u32 *left)
{
	bool lives;

	do {
		/*
		 * The process changes its address space, and shall not wait.  A pass that cannot
		 * begin stays due: nothing was armed by which it could be judged.
		 */
		if (!down_read_trylock(&mm->mmap_lock))
			break;
		/* From here on nothing goes that belongs to a process that still lives. */
		lives = atomic_read(&mm->mm_users);
		if (lives && !at)
			entry_note(mm, 0, true);
		at = lives ? part_arm(mm, at, left) : 0;
		up_read(&mm->mmap_lock);
		cond_resched();
	} while (at && *left >= NUMA_PROMOTE_LEAST);
	entry_note(mm, at, false);
}

/* The next address space in turn, if it is due: referenced; @at: where to go on. */
static struct mm_struct *mm_next(unsigned long *at)
{
	struct mm_struct *mm = NULL;
	struct numa_mm *entry;

	spin_lock(&numa.lock);
	entry = list_first_entry_or_null(&numa.turns, struct numa_mm, turn);
	if (entry) {
		list_move_tail(&entry->turn, &numa.turns);
		*at = entry->promote_at;
		/* A pass that has begun goes on. */
		if (*at || !time_before(jiffies, entry->promote_due)) {
			mm = entry->mm;
			mmgrab(mm);
		}
	}
	spin_unlock(&numa.lock);
	return mm;
}

static u32 pages_allowed(void)
{
	u32 mib;

	rcu_read_lock();
	mib = rcu_dereference(numa.rules)->promote_rate_mb;
	rcu_read_unlock();
	return mib << (20 - PAGE_SHIFT);
}

static void promote_worker(struct work_struct *work)
{
	unsigned int turns = READ_ONCE(numa.nr_mms);
	u32 left = pages_allowed();
	struct mm_struct *mm;
	unsigned long at;

	for (; turns && left >= NUMA_PROMOTE_LEAST; turns--) {
		if (READ_ONCE(*numa.balancing_mode) != NUMA_BALANCING_MEMORY_TIERING)
			break;
		mm = mm_next(&at);
		if (!mm)
			continue;
		mm_serve(mm, at, &left);
		mmdrop(mm);
	}
	if (READ_ONCE(numa.nr_mms) &&
	    READ_ONCE(*numa.balancing_mode) == NUMA_BALANCING_MEMORY_TIERING)
		lmm_worker_pass_after(&numa.promoter, msecs_to_jiffies(PROMOTE_TICK_MS));
}

/* A kick has a worker that rests work again, and leaves one alone that is due. */
static unsigned long promote_delay(void)
{
	return delayed_work_pending(&numa.promoter.pass) ? MAX_JIFFY_OFFSET :
	       msecs_to_jiffies(PROMOTE_TICK_MS);
}

/**
 * numa_promote_start() - set the worker up, which rests until a process is seen
 *
 * Context: process; the mode is promote, and the rules are there.
 */
void numa_promote_start(void)
{
	lmm_worker_init_shared(&numa.promoter, promote_worker, promote_delay);
}

/**
 * numa_promote_stop() - stop the worker, and wait for the part that it arms
 *
 * Context: process, may sleep; the mode is promote.
 */
void numa_promote_stop(void)
{
	lmm_worker_stop(&numa.promoter);
}

/**
 * numa_promote_allowed() - does the memory policy of a thread leave promotion to the kernel?
 * @task: current
 *
 * Context: any.
 * Return: false if the thread's memory is bound.
 */
bool numa_promote_allowed(const struct task_struct *task)
{
	return numa_suits_policy(task->mempolicy);
}

/**
 * numa_promote_kick() - the kernel would scan an address space, so there is work
 *
 * Context: process, preemption off.
 */
void numa_promote_kick(void)
{
	lmm_worker_kick(&numa.promoter);
}

/**
 * numa_promote_show() - print an address space
 * @m: the file `state`
 * @entry: the entry; NULL for the head of the table
 *
 * Context: process, the entry's lock held.
 */
void numa_promote_show(struct seq_file *m, const struct numa_mm *entry)
{
	if (!entry)
		seq_printf(m, "%-8s%-16s%10s%9s%12s%12s\n", "pid", "comm", "period_ms", "passes",
			   "faults", "promoted");
	else if (entry->tgid)
		seq_printf(m, "%-8d%-16s%10u%9llu%12llu%12llu\n", entry->tgid, entry->comm,
			   entry->promote.period_ms, entry->promote.passes,
			   entry->promote.faults, entry->promote.promoted);
}
