/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the numa policy's glue share
 *
 * policy.c switches on and off, mm.c keeps an entry for each address space,
 * fault.c counts hint faults, scan.c decides when and what to scan, look.c reads page tables,
 * promote.c arms slow memory (mode promote).
 *
 * Entries are found by mm->context.ctx_id, which the architecture never reuses, so no
 * address space is mistaken for another or pinned.  An entry is made at the first scan,
 * unhashed when the address space ends, and freed after a grace period: code that has found
 * an entry may use the entry while preemption is off.
 */
#ifndef LIVEMM_POLICY_NUMA_STATE_H
#define LIVEMM_POLICY_NUMA_STATE_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "livemm.h"
#include "core.h"
#include "knobs.h"
#include "core_alarm.h"
#include "core_credit.h"
#include "core_sample.h"
#include "core_promote.h"
#include "policy/common/worker.h"

struct lmm_klp_part;

#define NUMA_HASH_BITS	10

/* Milliseconds after which a scan is asked for again that mmap_lock was in the way of. */
#define NUMA_RETRY_MS	10

/* Slots of an address space of several threads. */
#define NUMA_SLOT_BITS	6
#define NUMA_SLOTS	BIT(NUMA_SLOT_BITS)

/* Cgroups for which the answer of the knob cgroups is cached. */
#define NUMA_SCOPE_BITS	6
#define NUMA_SCOPES	BIT(NUMA_SCOPE_BITS)

/**
 * struct numa_slot - counts of a CPU, and the lowered period of a thread
 * @pages: pages of hint faults, by enum numa_class
 * @faults: number of hint faults
 * @moved: pages of these faults that the kernel moved; mode promote: that were promoted
 * @lowered_pid: the thread whose scan period has been lowered, or 0
 * @lowered_ms: the lowered period
 * @own_ms: the period before, put back unless the kernel has changed the period since
 *
 * The first three members are of the CPUs that share the slot, the last three of the threads that
 * do.  Faults are added atomically; counts are never reset.  A thread lowers its own period; the
 * policy puts the period back before the policy drops the address space.  The last three members
 * are under the entry's lock.
 */
struct numa_slot {
	atomic64_t pages[NUMA_NR_CLASSES];
	atomic64_t faults;
	atomic64_t moved;
	pid_t lowered_pid;
	u32 lowered_ms;
	u32 own_ms;
} __aligned(64);

/**
 * struct numa_slots - the slots of an address space of several threads
 * @slot: by the CPU, and by the hash of the thread
 */
struct numa_slots {
	struct numa_slot slot[NUMA_SLOTS];
};

/**
 * enum numa_scan_kind - kind of a scan; all scans of a pass are of one kind
 * @NUMA_SCAN_FULL: all pages
 * @NUMA_SCAN_SAMPLING: a slice of every range, to see whether the use has changed
 */
enum numa_scan_kind {
	NUMA_SCAN_FULL,
	NUMA_SCAN_SAMPLING,
};

/* Bits of numa_mm.notice: work for the next hint faults besides counting. */
#define NUMA_NOTICE_SAMPLE	0	/* count the faults of a sampling scan */
#define NUMA_NOTICE_EXPEDITE	1	/* bring the next scan forward */
#define NUMA_NOTICE_KEEP	2	/* the next scan was brought forward, and stays so */

/**
 * struct numa_mm - the entry of an address space
 * @node: in numa.mms; under numa.lock
 * @turn: in numa.turns, in mode promote; under numa.lock
 * @mm: the address space, which mode promote holds a reference of; NULL in other modes
 * @promote_at: where the worker of mode promote goes on; 0: a new pass begins
 * @promote_due: jiffies when that pass may begin; both are the worker's alone
 * @rcu: frees the entry
 * @id: mm->context.ctx_id, never reused
 * @slot: faults while the process has a single thread
 * @slots: the slots since the process had more than one thread; NULL before
 * @notice: BIT(NUMA_NOTICE_...): work for the next hint faults besides counting
 * @sample_faults: faults that the sample is judged by
 * @sample_left: faults of the sample that are still to come
 * @sample_remote: remote faults of the sample
 * @expedite_ms: time from the decision to the next scan; 0: an alarm asks for the scan
 * @brought_to: time in jiffies that the next scan was last brought forward to
 * @brought_run: CPU time of that thread then, in ns
 * @brought_pid: thread that was last let ask sooner, since the last decision; 0: none
 * @lock: protects the members that follow, and the periods of slots; taken in process context
 *	only; the lock of the pools, and those of the kernel's workqueue, are taken under the lock
 * @period: what the core has learnt of its scan period
 * @decision: the last decision
 * @counted: faults already added to the policy's counters
 * @sampling: the part that a sampling scan takes
 * @alarm: what to expect of samples
 * @credit: scans that the policy may bring forward; mode vma only
 * @promote: passes of mode promote
 * @sample_area: area of the sample
 * @sample_armed: entries armed for the sample
 * @kind: kind of the present scan, or of the last
 * @decided: value of mm->numa_next_scan at the last decision
 * @begun: jiffies when the entry was made
 * @last_full: jiffies when the last full pass began
 * @last_ask: jiffies at the last decision
 * @last_window: jiffies when the last window ended, or was too small to end; earlier when the
 *	settings were written since
 * @scans: scans of a pass, by resident pages
 * @seq: mm->numa_scan_seq when the last scan began: the kernel's count of passes
 * @pass_scans: scans that this pass has had so far
 * @full_scans: scans that the last full pass had
 * @postponed: value that we wrote to mm->numa_next_scan, or 0
 * @kernel_next: value that the kernel had written there before
 * @scanned: pages looked at since the entry was made
 * @windows: number of windows that ended
 * @resident: resident pages at the last window
 * @own_ms: the kernel's own period for the last scanning thread; 0 before a decision
 * @pass: number of full passes that ended
 * @resample_passes: passes, this one included, that are to be full and soon, because a
 *	sampling scan found a change
 * @gap_ms: time from the last scan to the next sampling scan
 * @past_delay: both scan delays are over
 * @tgid: process id
 * @comm: name of the process
 */
struct numa_mm {
	struct hlist_node node;
	struct list_head turn;
	struct mm_struct *mm;
	unsigned long promote_at;
	unsigned long promote_due;
	struct rcu_head rcu;
	u64 id;
	struct numa_slot slot;
	struct numa_slots *slots;
	unsigned long notice;
	u32 sample_faults;
	atomic_t sample_left;
	atomic_t sample_remote;
	u32 expedite_ms;
	unsigned long brought_to;
	u64 brought_run;
	pid_t brought_pid;

	spinlock_t lock;	/* all below; @own_ms and @resample_passes are read without, too */
	struct numa_period period;
	struct numa_decision decision;
	struct numa_counts counted;
	struct numa_sampling sampling;
	struct numa_alarm alarm;
	struct numa_credit credit;
	struct numa_promote promote;
	unsigned int sample_area;
	u64 sample_armed;
	enum numa_scan_kind kind;
	unsigned long decided;
	unsigned long begun;
	unsigned long last_full;
	unsigned long last_ask;
	unsigned long last_window;
	u32 scans;
	int seq;
	unsigned int pass_scans;
	unsigned int full_scans;
	unsigned long postponed;
	unsigned long kernel_next;
	u64 scanned;
	u64 windows;
	u64 resident;
	u32 own_ms;
	u32 pass;
	unsigned int resample_passes;
	u32 gap_ms;
	bool past_delay;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct numa_rules - the knobs, as the hooks read them
 * @rcu: frees the rules
 * @promote_rate_mb: MiB a second that mode promote arms
 * @cgroups: paths with ':' between; empty: all processes
 * @scope: cached answers by the hash of the cgroup id: the id, and in the lowest bit
 *	whether the cgroup is in scope; 0: no answer
 */
struct numa_rules {
	struct rcu_head rcu;
	u32 promote_rate_mb;
	char cgroups[LMM_TEXT_LEN];
	u64 scope[NUMA_SCOPES];
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
 * @scan_size: sysctl scan_size_mb, the MiB of one scan
 * @path: buffer for the path of a cgroup
 * @scope_met: a process was scanned that the knob cgroups takes in, by the present settings; for
 *	people
 * @refill: worker that fills the pools
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
	const unsigned int *scan_size;
	char *path;
	bool scope_met;
	struct work_struct refill;
};

extern struct numa_state numa;

/* mm.c */
int numa_mms_start(void);
void numa_mms_forget(void);
void numa_mms_stop(void);
void numa_mms_release(void);
struct numa_mm *numa_mm_get(struct mm_struct *mm);
void numa_mm_forget(struct numa_mm *entry, struct mm_struct *mm);
void numa_mm_attach(struct numa_mm *entry);
u64 numa_mm_moved(const struct numa_mm *entry);
void numa_mm_alarm_expire(struct numa_mm *entry, u32 now_ms);
bool numa_mm_answers(const struct numa_mm *entry);
void numa_mm_sum(const struct numa_mm *entry, struct numa_counts *sum);
void numa_mm_count(struct numa_mm *entry, const struct numa_counts *sum);

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

/**
 * numa_mm_dropped() - was an entry dropped, that somebody has found before?
 * @entry: the entry
 *
 * What the policy has changed for the sake of the entry is put back under the entry's lock, after
 * the entry was dropped.  Under the lock nobody may therefore change more where this is true.
 *
 * Context: preemption off, the entry's lock held.
 * Return: true if so.
 */
static inline bool numa_mm_dropped(const struct numa_mm *entry)
{
	return hlist_unhashed_lockless(&entry->node);
}

/**
 * numa_mm_slot() - the slot that has the lowered period of a thread
 * @entry: the entry of the address space
 * @pid: the thread
 *
 * Context: preemption off.
 * Return: the slot.
 */
static inline struct numa_slot *numa_mm_slot(struct numa_mm *entry, pid_t pid)
{
	/* Pairs with numa_mm_attach(): the slots are zeroed. */
	struct numa_slots *slots = smp_load_acquire(&entry->slots);

	return slots ? &slots->slot[hash_32(pid, NUMA_SLOT_BITS)] : &entry->slot;
}

/**
 * numa_mm_counter() - the slot that counts a fault of current
 * @entry: the entry of the address space
 *
 * CPUs that fault at the same time write to different cache lines, unless there are more CPUs
 * than slots.
 *
 * Context: preemption off.
 * Return: the slot.
 */
static inline struct numa_slot *numa_mm_counter(struct numa_mm *entry)
{
	/* As in numa_mm_slot(). */
	struct numa_slots *slots = smp_load_acquire(&entry->slots);

	return slots ? &slots->slot[smp_processor_id() % NUMA_SLOTS] : &entry->slot;
}

/* fault.c */
void numa_on_hint_fault(int last_cpupid, int pages, int flags);

/* look.c */
enum numa_backing numa_look_backing(void *mm, u64 region);

/* promote.c */
void numa_promote_start(void);
void numa_promote_stop(void);
bool numa_promote_allowed(const struct task_struct *task);
void numa_promote_seen(struct numa_mm *entry, const struct task_struct *task);
void numa_promote_show(struct seq_file *m, const struct numa_mm *entry);

/* scan.c */
void numa_on_scan_begin(void);
bool numa_on_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part);

/* mm.c */
void numa_on_mm_exit(struct mm_struct *mm);

/**
 * numa_slot_own() - undo the lowering of a scan period
 * @slot: a slot of the thread
 * @task: the thread
 * @ms: the thread's scan period
 *
 * Context: preemption off, the entry's lock held.
 * Return: the period that the kernel had chosen, where @ms is what the policy has put in its place;
 * otherwise @ms.
 */
static inline u32 numa_slot_own(const struct numa_slot *slot, const struct task_struct *task,
				u32 ms)
{
	return slot->lowered_pid == task->pid && slot->lowered_ms == ms ? slot->own_ms : ms;
}

/**
 * numa_own_period() - the scan period that the kernel has chosen for a thread
 * @entry: the entry
 * @task: a thread of the process
 *
 * The policy may have lowered the period since; see ask_for_scan().
 *
 * Context: preemption off, the entry's lock held.
 * Return: the period, in ms.
 */
static inline u32 numa_own_period(struct numa_mm *entry, const struct task_struct *task)
{
	u32 ms = READ_ONCE(task->numa_scan_period);

	ms = numa_slot_own(numa_mm_slot(entry, task->pid), task, ms);
	/* The slot from before the process had threads was changed first. */
	return numa_slot_own(&entry->slot, task, ms);
}

#endif /* LIVEMM_POLICY_NUMA_STATE_H */
