// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - which of the kernel's scans are left out
 *
 * The kernel asks for a scan when the address space may be scanned again (mm->numa_next_scan) and a
 * thread has run for its own period (p->numa_scan_period).  Mode quiet leaves the asking alone, and
 * writes nothing but mm->numa_next_scan: a scan that is not due is put off by NUMA_LOOK_MS, or by a
 * period of the kernel's if that is less.  So a thread for which the kernel has a short period
 * asks again soon, whoever asked before; and when the policy goes off, nothing is to be put back.
 * Mode period gives the thread that asks the period of the process, which the kernel adapts with
 * each pass; numa_mm_remove() ends that.
 */
#include <linux/cgroup.h>
#include <linux/cpuset.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>
#include <linux/sched/sysctl.h>
#include <linux/string.h>

#include "comm.h"
#include "trace.h"
#include "state.h"

/* Milliseconds by which a scan is put off at most. */
#define NUMA_LOOK_MS	1000

/*
 * By which a thread whose memory is bound puts off the scan of a process, of which other threads
 * may not be bound.  The kernel may read jiffies one tick after us.
 */
#define NUMA_PINNED_JIFFIES	2

/* Is the cgroup in the list, or below a cgroup of the list? */
static bool cgroup_listed(struct cgroup *cgroup, const char *cgroups)
{
	bool found = false;
	size_t len;

	spin_lock(&numa.lock);
	if (cgroup_path(cgroup, numa.path, PATH_MAX) < 0)
		numa.path[0] = '\0';
	for (; *cgroups && !found; cgroups += len + (cgroups[len] == ':')) {
		len = strcspn(cgroups, ":");
		/* A path of one character is the root, and every cgroup is below the root. */
		found = len == 1 || (!strncmp(numa.path, cgroups, len) &&
				     (!numa.path[len] || numa.path[len] == '/'));
	}
	spin_unlock(&numa.lock);
	return found;
}

/* Does the knob cgroups take in the process?  The cgroup of the first thread decides. */
static bool in_scope(const struct task_struct *task, const struct numa_rules *rules)
{
	if (!rules->cgroups[0])
		return true;
	if (!cgroup_listed(task_dfl_cgroup(task->group_leader), rules->cgroups))
		return false;
	WRITE_ONCE(numa.scope_met, true);
	return true;
}

/* Put the scan off, unless mm->numa_next_scan is no longer @asked. */
static void put_off(struct mm_struct *mm, unsigned long asked, unsigned long by,
		    enum numa_counter counter)
{
	unsigned long next = jiffies + by;

	if (cmpxchg(&mm->numa_next_scan, asked, next ?: 1) == asked)
		lmm_count(&lmm_numa_policy, counter, 1);
}

/* The window so far: has it ended, and what does it say? */
static void window_look(struct numa_mm *entry, int seq)
{
	bool ends = numa.mode == NUMA_MODE_PERIOD || seq != entry->window_seq;
	struct numa_counts sum, window;

	numa_mm_sum(entry, &sum);
	numa_mm_count(entry, &sum);
	if (!numa_counts_since(&entry->closed, &sum, &window))
		return;
	if (numa.mode == NUMA_MODE_PERIOD)
		numa_trend_window(&entry->trend, &window, seq);
	else if (numa_quiet_look(&entry->quiet, &window, ends))
		lmm_count(&lmm_numa_policy, COUNT_CHANGES, 1);
	if (!ends)
		return;
	entry->remote = numa_remote_share(&window);
	entry->closed = sum;
	entry->window_seq = seq;
	entry->windows++;
}

/* The kernel would scan now: return whether the scan is due. */
static bool scan_decide(struct numa_mm *entry, struct mm_struct *mm, struct task_struct *task,
			u32 own_ms)
{
	u32 longest = READ_ONCE(task->numa_scan_period_max);
	unsigned long offset = READ_ONCE(mm->numa_scan_offset);
	int seq = READ_ONCE(mm->numa_scan_seq);
	/* Not jiffies_to_msecs(): 32 bits are 49 days. */
	u64 since = entry->scans ? jiffies64_to_msecs(jiffies - entry->last_scan) : 0;
	/* The kernel gives a scan up when mmap_lock is taken, and a period with the scan. */
	bool lost = seq == entry->scan_seq && offset == entry->offset;
	bool due;

	entry->own_ms = own_ms;
	window_look(entry, seq);
	if (numa.mode == NUMA_MODE_PERIOD) {
		entry->period_ms = numa_trend_period(&entry->trend);
		due = true;
	} else {
		entry->period_ms = numa_quiet_period(&entry->quiet, own_ms, longest);
		due = lost || !entry->scans || numa_is_due(entry->period_ms, own_ms, since);
	}
	trace_numa_decision(task, &entry->counted, own_ms, entry->period_ms, since, due);
	if (!due)
		return false;
	/* The kernel takes the time of the next scan from here, and adapts from there on. */
	if (numa.mode == NUMA_MODE_PERIOD)
		WRITE_ONCE(task->numa_scan_period, entry->period_ms);
	entry->last_scan = jiffies;
	entry->scan_seq = seq;
	entry->offset = offset;
	entry->scans++;
	lmm_count(&lmm_numa_policy, COUNT_SCANS, 1);
	return true;
}

/**
 * numa_on_scan_begin() - event: a thread may be about to scan its address space
 *
 * Context: process, preemption off, no lock held.
 */
void numa_on_scan_begin(void)
{
	const struct numa_rules *rules = rcu_dereference_sched(numa.rules);
	bool promotes = numa.mode == NUMA_MODE_PROMOTE;
	int balancing = promotes ? NUMA_BALANCING_MEMORY_TIERING : NUMA_BALANCING_NORMAL;
	/* NUMA balancing cannot move the memory of such a process. */
	bool pinned = nodes_weight(cpuset_current_mems_allowed) == 1;
	struct task_struct *task = current;
	struct mm_struct *mm = task->mm;
	unsigned long asked;
	struct numa_mm *entry;
	u32 own_ms;
	bool due;

	if (task->flags & PF_EXITING || !mm)
		return;
	/* Also where no scan is asked for: 7.2 asks for none of a process that was bound. */
	if (promotes && pinned) {
		numa_mm_leave(mm);
		return;
	}
	asked = READ_ONCE(mm->numa_next_scan);
	own_ms = READ_ONCE(task->numa_scan_period);
	/* A thread without a period gets its first one in the kernel. */
	if (!asked || time_before(jiffies, asked) || !own_ms)
		return;
	/* Memory tiering needs every hint fault: other modes than promote would take some away. */
	if (READ_ONCE(*numa.balancing_mode) != balancing || !in_scope(task, rules) ||
	    (promotes && !numa_promote_allowed(task))) {
		lmm_count(&lmm_numa_policy, COUNT_OUT_OF_SCOPE, 1);
		numa_mm_leave(mm);
		return;
	}
	if (pinned) {
		put_off(mm, asked, NUMA_PINNED_JIFFIES, COUNT_PINNED);
		return;
	}
	entry = numa_mm_get(mm);
	if (!entry)
		return;
	spin_lock(&entry->lock);
	entry->tgid = task->tgid;
	lmm_comm(entry->comm, task->group_leader);
	/* Another thread may have come for the same scan. */
	due = promotes || (entry->scans && !time_after(jiffies, entry->last_scan)) ||
	      scan_decide(entry, mm, task, own_ms);
	spin_unlock(&entry->lock);
	if (promotes)
		numa_promote_kick();
	else if (!due)
		put_off(mm, asked, msecs_to_jiffies(min_t(u32, own_ms, NUMA_LOOK_MS)),
			COUNT_POSTPONED);
}
