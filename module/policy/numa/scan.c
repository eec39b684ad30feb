// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - when an address space is scanned, and which parts of it
 *
 * The kernel asks for a scan when the address space may be scanned again
 * (mm->numa_next_scan) and a thread has run for its own period (p->numa_scan_period).
 * The policy leaves the asking alone.  When the kernel asks, the last window ends if the
 * pass has ended or the window is old (NUMA_WINDOW_MS), and the core's period says whether
 * a full pass is due.  If due, the kernel makes the scan.  If not, the kernel makes a
 * sampling scan (mode vma), or the policy puts mm->numa_next_scan off (mode period).  For
 * a scan sooner than the kernel's the policy brings mm->numa_next_scan forward at the next
 * hint fault; see fault.c.  With sampling scans, core_credit.h says how many such scans there
 * may be.
 */
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/sysctl.h>
#include <linux/string.h>

#include "comm.h"
#include "hook/klp_port.h"
#include "hint.h"
#include "trace.h"
#include "state.h"

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
static bool in_scope(const struct task_struct *task, struct numa_rules *rules)
{
	struct cgroup *cgroup;
	u64 id, known;
	u64 *slot;

	if (!rules->cgroups[0])
		return true;
	cgroup = task_dfl_cgroup(task->group_leader);
	/* The answer can be kept: a cgroup (v2) keeps its path, and an id is never reused. */
	id = cgroup_id(cgroup) << 1;
	slot = &rules->scope[hash_64(id, NUMA_SCOPE_BITS)];
	known = READ_ONCE(*slot);
	if ((known & ~1ULL) != id) {
		known = id | cgroup_listed(cgroup, rules->cgroups);
		WRITE_ONCE(*slot, known);
		if (known & 1)
			WRITE_ONCE(numa.scope_met, true);
	}
	return known & 1;
}

/* End the window if the window has enough faults, and decide on the period. */
static void window_end(struct numa_mm *entry, struct mm_struct *mm, struct task_struct *task)
{
	u32 scan_mib = READ_ONCE(*numa.scan_size);
	struct numa_settings settings = {
		.period_min_ms = NUMA_PERIOD_MIN_MS,
		.period_max_ms = NUMA_PERIOD_MAX_MS,
		.step_max_pct = NUMA_STEP_MAX_PCT,
		.steady_pct = NUMA_STEADY_PCT,
	};
	bool fresh = !entry->own_ms;
	struct numa_counts sum;
	struct numa_facts facts;

	WRITE_ONCE(entry->own_ms, numa_own_period(entry, task));
	entry->resident = get_mm_rss(mm);
	entry->scans = numa_scans_of_pass(entry->resident, scan_mib << (20 - PAGE_SHIFT));
	entry->last_window = jiffies;
	numa_settings_per_scan(&settings, entry->scans, scan_mib);
	facts = (struct numa_facts){
		.pass = entry->pass,
		.scanned = entry->scanned,
		.resident = entry->resident,
		/* Not jiffies_to_msecs(): 32 bits are 49 days. */
		.lived_ms = jiffies64_to_msecs(jiffies - entry->begun),
		.run_ms = div_u64(task->se.sum_exec_runtime, NSEC_PER_MSEC),
		.kernel_ms = entry->own_ms,
	};
	entry->past_delay = numa_past_scan_delay(&facts);
	numa_mm_sum(entry, &sum);
	if (fresh)
		numa_period_begin(&entry->period, &sum, &facts, &settings);
	entry->decision = numa_period_window(&entry->period, &sum, &facts, &settings);
	numa_mm_count(entry, &sum);
	entry->windows += entry->decision.reason != NUMA_BY_FEW;
	entry->tgid = task->tgid;
	lmm_comm(entry->comm, task->group_leader);
	trace_numa_decision(task, &facts, &sum, &entry->decision);
}

/* Bring the next scan forward to @ms from now; done at the next hint fault. */
static void expedite(struct numa_mm *entry, u32 ms)
{
	if (ms >= entry->own_ms)
		return;
	WRITE_ONCE(entry->expedite_ms, ms);
	set_bit(NUMA_NOTICE_EXPEDITE, &entry->notice);
}

static bool sampling_is_on(void)
{
	return numa.mode == NUMA_MODE_VMA;
}

/*
 * Bring the next sampling scan forward, or the next full scan when one is due by then.  A scan that
 * arms no page has no fault to do so at, and the next scan comes at the kernel's own time.  Such a
 * process has NUMA_SAMPLING_STRIDE * NUMA_SLICE_PAGES pages in no range, of which no slice is
 * judged alone: the next full pass sees a change.
 */
static void expedite_sampling(struct numa_mm *entry)
{
	if (!entry->past_delay || !sampling_is_on() ||
	    !numa_credit_covers(&entry->credit, NUMA_SAMPLING_STRIDE))
		return;
	entry->gap_ms = numa_sampling_gap(entry->gap_ms);
	expedite(entry, entry->gap_ms);
}

/**
 * numa_mm_answers() - may the next scan after an alarm be full?
 * @entry: the entry of the address space
 *
 * Context: process, preemption off, the entry's lock held.
 * Return: true if so; otherwise the next scan at the kernel's own time is full.
 */
bool numa_mm_answers(const struct numa_mm *entry)
{
	return !sampling_is_on() || numa_credit_answers(&entry->credit, entry->scans);
}

/* Pages of one scan. */
static u64 scan_pages(void)
{
	return (u64)READ_ONCE(*numa.scan_size) << (20 - PAGE_SHIFT);
}

static void full_begin(struct numa_mm *entry)
{
	entry->kind = NUMA_SCAN_FULL;
	numa_credit_spend(&entry->credit, 1);
	/* Mode period sees no parts of a scan: count the whole budget as resident pages. */
	if (!sampling_is_on())
		entry->scanned += scan_pages();
	if (READ_ONCE(entry->resample_passes)) {
		entry->gap_ms = 0;
		if (!sampling_is_on() || numa_credit_alarm(&entry->credit, entry->scans))
			expedite(entry, NUMA_GAP_MIN_MS);
	} else if (entry->decision.period_ms < entry->own_ms &&
		   (!sampling_is_on() || numa_credit_covers(&entry->credit, 1))) {
		expedite(entry, entry->decision.period_ms);
	} else if (entry->full_scans == 1) {
		/* With more scans in a pass, the next scan belongs to the same pass. */
		expedite_sampling(entry);
	}
	lmm_count(&lmm_numa_policy, COUNT_SCANS, 1);
}

/* The last sample is judged, or had entries enough to be judged by; or it is of another pass. */
static bool sample_is_over(const struct numa_mm *entry)
{
	return !entry->pass_scans || entry->kind != NUMA_SCAN_SAMPLING ||
	       atomic_read(&entry->sample_left) <= 0 ||
	       entry->sample_armed >= 2 * NUMA_RESAMPLE_FAULTS_MIN;
}

static void sample_begin(struct numa_mm *entry)
{
	u32 faults;

	entry->sample_area = numa_sample_area(entry->sampling.turn, NUMA_SAMPLING_STRIDE,
					      entry->pass_scans, entry->scans);
	entry->sample_armed = 0;
	faults = numa_sampling_faults(min(entry->resident, scan_pages()), NUMA_SAMPLING_STRIDE);
	WRITE_ONCE(entry->sample_faults, faults);
	atomic_set(&entry->sample_remote, 0);
	atomic_set(&entry->sample_left, faults);
}

static void sampling_begin(struct numa_mm *entry)
{
	if (sample_is_over(entry))
		sample_begin(entry);
	entry->kind = NUMA_SCAN_SAMPLING;
	numa_credit_spend(&entry->credit, NUMA_SAMPLING_STRIDE);
	/* The bit comes after the figures that it announces. */
	smp_mb__before_atomic();
	set_bit(NUMA_NOTICE_SAMPLE, &entry->notice);
	expedite_sampling(entry);
	lmm_count(&lmm_numa_policy, COUNT_SAMPLING_SCANS, 1);
}

/* The kernel has begun a new pass over the address space since the last scan. */
static void pass_end(struct numa_mm *entry, struct mm_struct *mm)
{
	unsigned int left = READ_ONCE(entry->resample_passes);

	if (entry->kind == NUMA_SCAN_FULL && entry->pass_scans) {
		entry->pass++;
		entry->full_scans = entry->pass_scans;
	}
	entry->seq = READ_ONCE(mm->numa_scan_seq);
	entry->pass_scans = 0;
	/* After an alarm the same part is sampled again, to see whether the alarm helped. */
	if (entry->kind == NUMA_SCAN_SAMPLING && !left) {
		u32 now_ms = jiffies_to_msecs(jiffies);

		numa_mm_alarm_expire(entry, now_ms);
		numa_alarm_unanswered(&entry->alarm, now_ms);
		entry->sampling.turn++;
	}
	if (left)
		WRITE_ONCE(entry->resample_passes, left - 1);
}

/* A period lies between two full scans; full passes of @scans scans are @scans periods apart. */
static bool full_is_due(struct numa_mm *entry, unsigned int scans)
{
	unsigned long period = msecs_to_jiffies(entry->decision.period_ms) * scans;

	if (!entry->pass || READ_ONCE(entry->resample_passes))
		return true;
	return !time_before(jiffies, entry->last_full + period);
}

/* The kind of the next scan, in mode vma; @begins: the scan begins a pass. */
static enum numa_scan_kind kind_of(struct numa_mm *entry, bool begins)
{
	u64 period = (u64)entry->decision.period_ms * entry->scans;
	bool alarmed = READ_ONCE(entry->resample_passes) && numa_mm_answers(entry);

	/*
	 * Within a pass no scan has to be due: each is a scan that the kernel asks for in the
	 * kernel's own period, or that the account has covered.  From 6.4 on even a small process
	 * has passes of many scans, each of a VMA that the thread does not use.  The next full pass
	 * waits, counted from the first scan of this one.
	 */
	if (!begins)
		return alarmed ? NUMA_SCAN_FULL : entry->kind;
	/* The first pass is made whatever the account says. */
	if (!entry->pass || alarmed)
		return NUMA_SCAN_FULL;
	return full_is_due(entry, entry->scans) && numa_credit_full(&entry->credit, period) ?
	       NUMA_SCAN_FULL : NUMA_SCAN_SAMPLING;
}

/*
 * Tell the account who asks.  Mode period makes no scan besides those of the kernel's kind, and
 * nobody reads the account.
 */
static void credit_ask(struct numa_mm *entry, const struct task_struct *task)
{
	u32 own_ms = numa_own_period(entry, task);
	pid_t pid = READ_ONCE(entry->brought_pid);
	u64 run = task->se.sum_exec_runtime - READ_ONCE(entry->brought_run);
	struct numa_ask ask = {
		/* Another thread has run for a period of its own. */
		.ran_ms = pid == task->pid ? min_t(u64, div_u64(run, NSEC_PER_MSEC), U32_MAX) :
			  own_ms,
		.own_ms = own_ms,
		.elapsed_ms = min_t(u64, jiffies64_to_msecs(jiffies - entry->last_ask), U32_MAX),
		.brought = pid,
	};

	WRITE_ONCE(entry->brought_pid, 0);
	entry->last_ask = jiffies;
	if (sampling_is_on())
		numa_credit_ask(&entry->credit, &ask);
}

/*
 * Put the next scan off until a full scan is due, unless mm->numa_next_scan is no longer
 * @asked.  No sampling scan runs meanwhile.
 */
static void postpone(struct numa_mm *entry, struct mm_struct *mm, unsigned long asked)
{
	unsigned long next = entry->last_full + msecs_to_jiffies(entry->decision.period_ms);

	next = next ?: 1;
	if (cmpxchg(&mm->numa_next_scan, asked, next) != asked)
		return;
	entry->postponed = next;
	entry->kernel_next = asked;
	lmm_count(&lmm_numa_policy, COUNT_POSTPONED, 1);
}

/*
 * The kernel would give the scan up, and a whole period with the scan, because mmap_lock is
 * taken.  Let current ask again soon.
 */
static void scan_retry(struct mm_struct *mm, struct task_struct *task, unsigned long asked)
{
	unsigned long next = jiffies + msecs_to_jiffies(NUMA_RETRY_MS);
	u64 period = (u64)READ_ONCE(task->numa_scan_period) * NSEC_PER_MSEC;
	/* Some ticks later: the tick before would see that the scan is put off. */
	u64 run = task->se.sum_exec_runtime + 2 * NUMA_RETRY_MS * NSEC_PER_MSEC;

	if (cmpxchg(&mm->numa_next_scan, asked, next ?: 1) != asked)
		return;
	/* A stamp of 0 would begin the thread's first period again. */
	if (run > period)
		task->node_stamp = run - period;
	lmm_count(&lmm_numa_policy, COUNT_RETRIED, 1);
}

/* The kernel would scan now: full scan, sampling scan, or later. */
static void scan_decide(struct numa_mm *entry, struct mm_struct *mm, struct task_struct *task,
			unsigned long asked)
{
	bool begins = READ_ONCE(mm->numa_scan_seq) != entry->seq;
	enum numa_scan_kind kind = NUMA_SCAN_FULL;

	/* Two threads may come for the same scan: the decision of the first holds for both. */
	if (entry->decided == asked && entry->own_ms)
		return;
	entry->decided = asked;
	entry->postponed = 0;
	WRITE_ONCE(entry->notice, 0);
	credit_ask(entry, task);
	if (begins)
		pass_end(entry, mm);
	numa_mm_attach(entry);
	/*
	 * A window is a whole pass, as a difference between parts of the memory is no change; but
	 * not for ever.
	 */
	if (begins || !entry->own_ms ||
	    !time_before(jiffies, entry->last_window + msecs_to_jiffies(NUMA_WINDOW_MS)))
		window_end(entry, mm, task);
	if (sampling_is_on()) {
		kind = kind_of(entry, begins);
	} else if (!full_is_due(entry, 1)) {
		postpone(entry, mm, asked);
		return;
	}
	if (kind == NUMA_SCAN_SAMPLING)
		sampling_begin(entry);
	else
		full_begin(entry);
	if (kind == NUMA_SCAN_FULL && (begins || !sampling_is_on())) {
		entry->last_full = jiffies;
		numa_credit_pass(&entry->credit);
	}
	entry->pass_scans++;
}

/* Leave an address space to the kernel. */
static void mm_leave(struct mm_struct *mm)
{
	struct numa_mm *entry = numa_mm_find(mm);

	if (entry)
		numa_mm_forget(entry, mm);
}

/**
 * numa_on_scan_begin() - event: a thread may be about to scan its address space
 *
 * Context: process, preemption off, no lock held.
 */
void numa_on_scan_begin(void)
{
	struct numa_rules *rules = rcu_dereference_sched(numa.rules);
	bool promotes = numa.mode == NUMA_MODE_PROMOTE;
	int balancing = promotes ? NUMA_BALANCING_MEMORY_TIERING : NUMA_BALANCING_NORMAL;
	struct task_struct *task = current;
	struct mm_struct *mm = task->mm;
	unsigned long asked = lmm_scan_asked(task);
	struct numa_mm *entry;

	/* Also where no scan is asked for: 7.2 asks for none of a process that was bound. */
	if (promotes && mm && !(task->flags & PF_EXITING) && lmm_memory_is_pinned()) {
		mm_leave(mm);
		return;
	}
	if (!asked)
		return;
	/* Memory tiering needs every hint fault: other modes than promote would take some away. */
	if (READ_ONCE(*numa.balancing_mode) != balancing || !in_scope(task, rules) ||
	    (promotes && !numa_promote_allowed(task))) {
		lmm_count(&lmm_numa_policy, COUNT_OUT_OF_SCOPE, 1);
		mm_leave(mm);
		return;
	}
	entry = numa_mm_get(mm);
	if (!entry)
		return;
	if (promotes) {
		numa_promote_seen(entry, task);
		return;
	}
	if (!down_read_trylock(&mm->mmap_lock)) {
		scan_retry(mm, task, asked);
		return;
	}
	/* The kernel takes the lock in a moment. */
	up_read(&mm->mmap_lock);
	spin_lock(&entry->lock);
	if (!numa_mm_dropped(entry))
		scan_decide(entry, mm, task, asked);
	spin_unlock(&entry->lock);
}

/*
 * The entry, if there is a decision on how to scan.  Any thread that came for the scan may
 * make the scan.  Nothing else calls change_prot_numa() in mode vma: mbind() would, with a flag
 * that user space cannot give, and promote.c does in mode promote.
 */
static struct numa_mm *entry_of_scan(const struct vm_area_struct *vma)
{
	struct numa_mm *entry = numa_mm_find(vma->vm_mm);

	return entry && READ_ONCE(entry->own_ms) ? entry : NULL;
}

/* A range was scanned: @updated entries were armed, which costs one TLB flush if any were. */
static void range_end(struct numa_mm *entry, unsigned long updated)
{
	if (entry->kind == NUMA_SCAN_SAMPLING)
		entry->sample_armed += updated;
	lmm_count(&lmm_numa_policy, COUNT_UPDATED_ENTRIES, updated);
	if (updated)
		lmm_count(&lmm_numa_policy, COUNT_SCAN_FLUSHES, 1);
}

/**
 * numa_on_scan() - event: the kernel scans a range; say which part of the range to arm
 * @vma: the VMA
 * @end: end of the range that the kernel wants to scan
 * @part: empty at first, and receives the part; then the part that was armed
 *
 * One part of each range is armed, or none: each part would be a TLB flush.
 *
 * Context: process, preemption off, mmap_lock held for reading.
 * Return: false if nothing, or nothing more, is to be armed.
 */
bool numa_on_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part)
{
	struct numa_mm *entry = entry_of_scan(vma);
	struct numa_range range, run;
	bool some;

	if (!entry) {
		if (part->end > part->start)
			return false;
		part->end = end;
		return part->start < end;
	}
	range.start = part->start >> PAGE_SHIFT;
	range.end = end >> PAGE_SHIFT;
	spin_lock(&entry->lock);
	if (part->end > part->start) {
		range_end(entry, part->updated);
		some = false;
	} else if (entry->kind == NUMA_SCAN_SAMPLING) {
		some = numa_sampling_slice(&entry->sampling, &range, numa_look_backing, vma->vm_mm,
					   &run);
	} else {
		run = range;
		some = run.start < run.end;
	}
	if (some) {
		part->start = run.start << PAGE_SHIFT;
		part->end = run.end << PAGE_SHIFT;
		if (entry->kind == NUMA_SCAN_FULL)
			entry->scanned += run.end - run.start;
	}
	spin_unlock(&entry->lock);
	return some;
}
