/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the parts of the numa policy's glue share
 *
 * policy.c switches on and off, mm.c keeps an entry for each address entry,
 * fault.c counts, scan.c decides when and what to scan.
 *
 * An entry is found by the number that the architecture gives an address space and
 * never uses again, so no entry is ever taken for another's, and no address space is
 * pinned.  It is made at the first scan, goes when the address space does, and is
 * freed after a grace period: who has found it may use it with preemption off.
 */
#ifndef LIVEMM_POLICY_NUMA_STATE_H
#define LIVEMM_POLICY_NUMA_STATE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "livemm.h"
#include "core.h"
#include "core_vma.h"
#include "core_sample.h"

struct lmm_klp_part;
struct mm_struct;
struct vm_area_struct;

/**
 * enum numa_mode - what of scanning is decided: values of knob `mode`
 * @NUMA_MODE_PERIOD: when an address space is scanned
 * @NUMA_MODE_VMA: when an address space is scanned, and which parts of its VMAs
 */
enum numa_mode {
	NUMA_MODE_PERIOD,
	NUMA_MODE_VMA,
};

#define NUMA_HASH_BITS	10

/* VMAs of an address space that are kept track of; the others are scanned whole. */
#define NUMA_AREA_BITS	4
#define NUMA_AREAS	BIT(NUMA_AREA_BITS)

/* Cgroups of which it is known whether they are in scope. */
#define NUMA_SCOPE_BITS	6
#define NUMA_SCOPES	BIT(NUMA_SCOPE_BITS)

enum numa_counter {
	COUNT_FAULTS,
	COUNT_LOCAL_PRIVATE,	/* the classes in the order of enum numa_class */
	COUNT_LOCAL_SHARED,
	COUNT_REMOTE_PRIVATE,
	COUNT_REMOTE_SHARED,
	COUNT_WINDOWS,
	COUNT_FEW_FAULTS,
	COUNT_WAITED,
	COUNT_LENGTHENED,
	COUNT_SHORTENED,
	COUNT_LIMITED_FIRST_PASS,
	COUNT_LIMITED_THREAD,
	COUNT_LIMITED_SCAN_DELAY,
	COUNT_LIMITED_KERNEL,
	COUNT_LIMITED_CALM,
	COUNT_SCANS,
	COUNT_SAMPLING_SCANS,
	COUNT_POSTPONED,
	COUNT_EXPEDITED,
	COUNT_RESAMPLED,
	COUNT_SCANNED_PAGES,
	COUNT_UPDATED_ENTRIES,
	COUNT_SKIPPED_BY_SAMPLING,
	COUNT_SKIPPED_BY_THREAD,
	COUNT_SKIPPED_BY_REGION,
	COUNT_MMS,
	COUNT_MMS_GONE,
	COUNT_MMS_REFUSED,
	COUNT_OUT_OF_SCOPE,
	NR_COUNTERS
};

/**
 * struct numa_slot - a thread, or those that meet in a slot
 * @pages: hint faults by enum numa_class
 * @faults: number of hint faults
 * @lowered_pid: the thread whose own period has been lowered, or 0
 * @lowered_ms: to this
 * @own_ms: from this, to be put back if nobody else has changed it
 *
 * Faults are added by its threads, atomically, so that nothing is lost; never reset.
 * The period is lowered by the thread itself, and put back when the policy lets go of
 * the address space.
 */
struct numa_slot {
	atomic64_t pages[NUMA_NR_CLASSES];
	atomic64_t faults;
	pid_t lowered_pid;
	u32 lowered_ms;
	u32 own_ms;
} __aligned(64);

/**
 * struct numa_threads - what is known of the threads of an address space
 * @slot: their faults
 * @thread: their windows; under the entry's lock
 */
struct numa_threads {
	struct numa_slot slot[NUMA_THREADS];
	struct numa_thread thread[NUMA_THREADS];
};

/**
 * struct numa_area - what is known of a VMA
 * @start: its first address, which names it; 0 for none
 * @vma: of its use
 */
struct numa_area {
	unsigned long start;
	struct numa_vma vma;
};

/**
 * struct numa_areas - what is known of the VMAs of an address space
 * @area: by the hash of their first address
 */
struct numa_areas {
	struct numa_area area[NUMA_AREAS];
};

/**
 * enum numa_scan_kind - what a scan takes; the same for all scans of a pass
 * @NUMA_SCAN_FULL: all, or what of it is in use
 * @NUMA_SCAN_SAMPLING: a part of every region, to see whether anything has changed
 */
enum numa_scan_kind {
	NUMA_SCAN_FULL,
	NUMA_SCAN_SAMPLING,
};

/* Bits of numa_mm.notice: the next faults have more to do than to count. */
#define NUMA_NOTICE_SAMPLE	0	/* see whether they are remote more than before */
#define NUMA_NOTICE_EXPEDITE	1	/* bring the next scan forward */

/**
 * struct numa_mm - an address space
 * @node: in numa.mms; under numa.lock
 * @rcu: frees it
 * @id: its number, never used twice
 * @slot: faults of its threads while there is but one
 * @threads: the threads, once there have been more; NULL before
 * @notice: BIT(NUMA_NOTICE_...): what the next faults do besides counting
 * @sample_faults: faults that a sampling scan is judged by
 * @sample_left: those that are still to come
 * @sample_remote: those that were remote
 * @sample_rate: percent of remote faults that were to be expected
 * @expedite_ms: from when it was set to the next scan
 * @lock: protects what follows; taken in process context alone, and nothing but the
 *	lock of the pools under it
 * @areas: its VMAs; mode vma only, and NULL if there was no memory
 * @period: what the core has learnt of its scan period
 * @decision: the last one
 * @counted: faults that the policy's counters know of
 * @sampling: what a sampling scan takes
 * @kind: what the scan takes that is, or was last
 * @ptes_left: page-table entries that it may still touch
 * @decided: value of mm->numa_next_scan that was decided on last
 * @begun: jiffies when the entry was made
 * @last_full: jiffies when the last full scan, or pass of them, began
 * @seq: mm->numa_scan_seq when the last scan began: the kernel's count of passes
 * @pass_scans: scans that this pass has had so far
 * @full_scans: scans that the last full pass had
 * @postponed: mm->numa_next_scan as we set it, or 0
 * @kernel_next: as the kernel had set it
 * @scanned: pages looked at since the entry was made
 * @windows: windows that ended
 * @resident: pages it had when it was last looked at
 * @own_ms: the kernel's own period for the thread that came to scan last; 0 before a
 *	decision
 * @pass: full passes that have ended
 * @worst: percent of remote faults of its worst thread
 * @resample_passes: passes, this one included, that are to be full and soon, because a
 *	sampling scan found a change
 * @gap_ms: from the last scan to the next sampling scan
 * @past_delay: it has lived and run long enough to be worth a closer look
 * @tgid: of its owner
 * @comm: of its owner
 */
struct numa_mm {
	struct hlist_node node;
	struct rcu_head rcu;
	u64 id;
	struct numa_slot slot;
	struct numa_threads *threads;
	unsigned long notice;
	u32 sample_faults;
	atomic_t sample_left;
	atomic_t sample_remote;
	unsigned int sample_rate;
	u32 expedite_ms;

	spinlock_t lock;	/* all below, but what @own_ms and @resample_passes read */
	struct numa_areas *areas;
	struct numa_period period;
	struct numa_decision decision;
	struct numa_counts counted;
	struct numa_sampling sampling;
	enum numa_scan_kind kind;
	long ptes_left;
	unsigned long decided;
	unsigned long begun;
	unsigned long last_full;
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
	unsigned int worst;
	unsigned int resample_passes;
	u32 gap_ms;
	bool past_delay;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct numa_rules - the settings, as the hooks read them
 * @rcu: frees them
 * @settings: for the core
 * @sampling_stride: a sampling scan takes one page in this many; 0: no sampling scans
 * @charge_ptes: a scan is charged for entries, not for addresses
 * @cgroups: paths with ':' between; empty for all processes
 * @scope: what is known of cgroups, by the hash of their number: that, and in the
 *	lowest bit whether they are in scope; 0 for none
 */
struct numa_rules {
	struct rcu_head rcu;
	struct numa_settings settings;
	u32 sampling_stride;
	bool charge_ptes;
	char cgroups[LMM_TEXT_LEN];
	u64 scope[NUMA_SCOPES];
};

/**
 * struct numa_state - everything
 * @lock: adding and removing entries, and @path
 * @mms: the entries, by number
 * @nr_mms: how many
 * @rules: the settings; replaced by configure
 * @mode: what was enabled
 * @balancing_mode: sysctl kernel.numa_balancing
 * @scan_size: MiB that one scan takes
 * @path: room for the path of a cgroup
 * @refill: keeps the pools filled
 */
struct numa_state {
	spinlock_t lock;	/* adding, removing, @path */
	DECLARE_HASHTABLE(mms, NUMA_HASH_BITS);
	unsigned int nr_mms;
	struct numa_rules __rcu *rules;
	enum numa_mode mode;
	const int *balancing_mode;
	const unsigned int *scan_size;
	char *path;
	struct work_struct refill;
};

extern struct numa_state numa;

/* mm.c */
int numa_mms_start(void);
void numa_mms_stop(void);
void numa_mms_release(void);
struct numa_mm *numa_mm_get(struct mm_struct *mm);
void numa_mm_forget(struct numa_mm *entry, struct mm_struct *mm);
void numa_mm_attach(struct numa_mm *entry);
void numa_mm_sum(const struct numa_mm *entry, struct numa_counts *sum);
void numa_mm_count(struct numa_mm *entry, const struct numa_counts *sum);

/**
 * numa_mm_find() - the entry of an address space
 * @mm: the address space
 *
 * Context: preemption off, and so while the entry is used.
 * Return: the entry, or NULL.
 */
static inline struct numa_mm *numa_mm_find(const struct mm_struct *mm)
{
	u64 id = mm->context.ctx_id;
	struct numa_mm *entry;

	hlist_for_each_entry_rcu(entry, &numa.mms[id % HASH_SIZE(numa.mms)], node,
				 !preemptible())
		if (entry->id == id)
			return entry;
	return NULL;
}

/**
 * numa_mm_slot() - where a thread of an address space is counted
 * @entry: the entry
 * @pid: of the thread
 *
 * Context: preemption off.
 * Return: the slot.
 */
static inline struct numa_slot *numa_mm_slot(struct numa_mm *entry, pid_t pid)
{
	/* Pairs with numa_mm_attach(): they are zeroed. */
	struct numa_threads *threads = smp_load_acquire(&entry->threads);

	return threads ? &threads->slot[numa_thread_slot(pid)] : &entry->slot;
}

/* fault.c */
void numa_on_hint_fault(int last_cpupid, int pages, int flags);
void numa_on_hint_vma(const struct vm_area_struct *vma);

/* scan.c */
void numa_on_scan_begin(void);
bool numa_on_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part);
unsigned long numa_on_scan_charge(struct vm_area_struct *vma, unsigned long total);

/* mm.c */
void numa_on_mm_exit(struct mm_struct *mm);

#endif /* LIVEMM_POLICY_NUMA_STATE_H */
