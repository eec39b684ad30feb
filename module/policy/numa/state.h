/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the numa policy's glue share
 *
 * policy.c switches on and off, mm.c keeps an entry for each address space, fault.c counts hint
 * faults, scan.c leaves scans out, promote.c arms slow memory (mode promote).
 *
 * Entries are found by mm->context.ctx_id, which the architecture never reuses, so no
 * address space is mistaken for another or pinned.  An entry is made at the first scan,
 * unhashed when the address space ends, and freed after a grace period: code that has found
 * an entry may use the entry while preemption is off.
 */
#ifndef LIVEMM_POLICY_NUMA_STATE_H
#define LIVEMM_POLICY_NUMA_STATE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "livemm.h"
#include "core.h"
#include "core_promote.h"
#include "core_trend.h"
#include "knobs.h"
#include "policy/common/worker.h"

#define NUMA_HASH_BITS	10

/* Slots of an address space. */
#define NUMA_SLOTS	16

/**
 * struct numa_slot - hint faults of some CPUs
 * @pages: pages of hint faults, by enum numa_class
 * @moved: those of them that the kernel moved; mode promote: promoted
 * @faults: hint faults
 *
 * CPUs that fault at the same time write to different cache lines, unless there are more CPUs than
 * slots.  Faults are added atomically; counts are never reset.
 */
struct numa_slot {
	atomic64_t pages[NUMA_NR_CLASSES];
	atomic64_t moved;
	atomic64_t faults;
} __aligned(64);

/**
 * struct numa_mm - the entry of an address space
 * @slot: hint faults, by CPU
 * @node: in numa.mms; under numa.lock
 * @turn: in numa.turns, in mode promote; under numa.lock
 * @mm: the address space, which mode promote holds a reference of; NULL in other modes
 * @promote_at: where the worker of mode promote goes on; 0: a new pass begins
 * @promote_due: jiffies when that pass may begin; both are the worker's alone
 * @rcu: frees the entry
 * @id: mm->context.ctx_id, never reused
 * @lock: protects the members that follow; taken in process context only
 * @counted: faults already added to the policy's counters
 * @closed: faults when the last window ended
 * @quiet: mode quiet: how quiet the process is
 * @trend: mode period: what was learnt
 * @promote: passes of mode promote
 * @last_scan: jiffies when the last scan was let through
 * @offset: mm->numa_scan_offset then
 * @scan_seq: mm->numa_scan_seq then
 * @window_seq: mm->numa_scan_seq when the last window ended
 * @windows: number of windows that ended
 * @scans: number of scans that were let through
 * @period_ms: the period, at the last ask
 * @own_ms: the kernel's period of the thread that asked; 0 before the first
 * @remote: percent of remote faults in the last window
 * @tgid: process id
 * @comm: name of the process
 */
struct numa_mm {
	struct numa_slot slot[NUMA_SLOTS];
	struct hlist_node node;
	struct list_head turn;
	struct mm_struct *mm;
	unsigned long promote_at;
	unsigned long promote_due;
	struct rcu_head rcu;
	u64 id;

	spinlock_t lock;	/* all below */
	struct numa_counts counted;
	struct numa_counts closed;
	struct numa_quiet quiet;
	struct numa_trend trend;
	struct numa_promote promote;
	unsigned long last_scan;
	unsigned long offset;
	int scan_seq;
	int window_seq;
	u32 windows;
	u32 scans;
	u32 period_ms;
	u32 own_ms;
	u32 remote;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct numa_rules - the knobs, as the hooks read them
 * @rcu: frees the rules
 * @promote_rate_mb: MiB a second that mode promote arms
 * @cgroups: paths with ':' between; empty: all processes
 */
struct numa_rules {
	struct rcu_head rcu;
	u32 promote_rate_mb;
	char cgroups[LMM_TEXT_LEN];
};

/**
 * struct numa_state - state of the policy
 * @lock: protects adding and removing entries, @turns and @path
 * @mms: the entries, by ctx_id
 * @nr_mms: number of entries
 * @turns: the entries in the order in which the worker of mode promote takes them
 * @promoter: the worker
 * @rules: the knobs; replaced by configure
 * @mode: the mode that is on
 * @balancing_mode: sysctl kernel.numa_balancing
 * @path: buffer for the path of a cgroup
 * @scope_met: a process was scanned that the knob cgroups takes in, by the present settings; for
 *	people
 * @refill: worker that fills the pool
 */
struct numa_state {
	spinlock_t lock;	/* adding, removing, @turns, @path */
	DECLARE_HASHTABLE(mms, NUMA_HASH_BITS);
	unsigned int nr_mms;
	struct list_head turns;
	struct lmm_worker promoter;
	struct numa_rules __rcu *rules;
	enum numa_mode mode;
	const int *balancing_mode;
	char *path;
	bool scope_met;
	struct work_struct refill;
};

extern struct numa_state numa;

/* mm.c */
int numa_mms_start(void);
void numa_mms_forget(void);
void numa_mms_stop(void);
struct numa_mm *numa_mm_get(struct mm_struct *mm);
void numa_mm_remove(struct numa_mm *entry);
void numa_mm_sum(const struct numa_mm *entry, struct numa_counts *sum);
void numa_mm_count(struct numa_mm *entry, const struct numa_counts *sum);
void numa_mm_leave(struct mm_struct *mm);

/**
 * numa_mm_find() - the entry of an address space
 * @mm: the address space
 *
 * Context: preemption off until the entry is no longer used.
 * Return: the entry, or NULL.
 */
static inline struct numa_mm *numa_mm_find(const struct mm_struct *mm)
{
	u64 id = mm->context.ctx_id;
	struct numa_mm *entry;

	hlist_for_each_entry_rcu(entry, &numa.mms[id % HASH_SIZE(numa.mms)], node, !preemptible())
		if (entry->id == id)
			return entry;
	return NULL;
}

/* fault.c */
void numa_on_hint_fault(int last_cpupid, int pages, int flags);

/* promote.c */
void numa_promote_start(void);
void numa_promote_stop(void);
bool numa_promote_allowed(const struct task_struct *task);
void numa_promote_kick(void);
void numa_promote_show(struct seq_file *m, const struct numa_mm *entry);

/* scan.c */
void numa_on_scan_begin(void);

#endif /* LIVEMM_POLICY_NUMA_STATE_H */
