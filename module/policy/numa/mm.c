// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm.c - making, finding and forgetting the entries of address spaces
 *
 * Entries are made where nothing may sleep, so they come from a pool that a worker fills.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "state.h"

#define POOL_ITEMS	16

static struct {
	spinlock_t lock;	/* the rest */
	unsigned int nr;
	struct numa_mm *item[POOL_ITEMS];
} pool = { .lock = __SPIN_LOCK_UNLOCKED(pool.lock) };

/* Take a zeroed entry, or NULL; a pool that runs low wakes the worker. */
static struct numa_mm *pool_take(void)
{
	struct numa_mm *item = NULL;
	bool low;

	spin_lock(&pool.lock);
	if (pool.nr) {
		WRITE_ONCE(pool.nr, pool.nr - 1);
		item = pool.item[pool.nr];
	}
	low = pool.nr < POOL_ITEMS / 2;
	spin_unlock(&pool.lock);
	if (low)
		schedule_work(&numa.refill);
	return item;
}

static bool pool_put(struct numa_mm *item)
{
	bool room;

	spin_lock(&pool.lock);
	room = pool.nr < POOL_ITEMS;
	if (room) {
		pool.item[pool.nr] = item;
		WRITE_ONCE(pool.nr, pool.nr + 1);
	}
	spin_unlock(&pool.lock);
	return room;
}

static bool pool_fill(void)
{
	while (READ_ONCE(pool.nr) < POOL_ITEMS) {
		struct numa_mm *item = kzalloc(sizeof(*item), GFP_KERNEL | __GFP_NOWARN);

		if (!item)
			return false;
		if (!pool_put(item))
			kfree(item);
	}
	return true;
}

static void refill_worker(struct work_struct *work)
{
	pool_fill();
}

static void pool_empty(void)
{
	while (pool.nr)
		kfree(pool.item[--pool.nr]);
}

/**
 * numa_mms_start() - fill the pool
 *
 * Context: process, may sleep; no hook is armed.
 * Return: 0, or -ENOMEM with nothing left behind.
 */
int numa_mms_start(void)
{
	spin_lock_init(&numa.lock);
	hash_init(numa.mms);
	INIT_LIST_HEAD(&numa.turns);
	numa.nr_mms = 0;
	INIT_WORK(&numa.refill, refill_worker);
	if (pool_fill())
		return 0;
	pool_empty();
	return -ENOMEM;
}

static void entry_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct numa_mm, rcu));
}

/*
 * Mode period is over for a process: its threads get periods that the kernel may have had.  In
 * other modes nothing is to be put back: a scan is put off by a second at most.
 */
static void periods_restore(pid_t tgid)
{
	struct task_struct *leader, *task;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, task)
			WRITE_ONCE(task->numa_scan_period,
				   numa_trend_back(READ_ONCE(task->numa_scan_period),
						   READ_ONCE(task->numa_scan_period_max)));
	rcu_read_unlock();
}

/**
 * numa_mm_remove() - unhash an entry, unless another task has; count its last faults and free it
 * @entry: the entry; no longer used from the end of the present RCU section on
 *
 * Context: process, preemption off.
 */
void numa_mm_remove(struct numa_mm *entry)
{
	struct numa_counts sum;
	bool mine;

	spin_lock(&numa.lock);
	mine = !hlist_unhashed(&entry->node);
	if (mine) {
		hlist_del_init_rcu(&entry->node);
		list_del_init(&entry->turn);
		WRITE_ONCE(numa.nr_mms, numa.nr_mms - 1);
	}
	spin_unlock(&numa.lock);
	if (!mine)
		return;
	spin_lock(&entry->lock);
	numa_mm_sum(entry, &sum);
	numa_mm_count(entry, &sum);
	spin_unlock(&entry->lock);
	if (numa.mode == NUMA_MODE_PERIOD)
		periods_restore(entry->tgid);
	lmm_count(&lmm_numa_policy, COUNT_MMS_GONE, 1);
	/* Not in an RCU callback: the last reference takes locks that interrupts may not take. */
	if (entry->mm)
		mmdrop(entry->mm);
	call_rcu(&entry->rcu, entry_free);
}

/**
 * numa_mms_forget() - forget every address space
 *
 * Context: process, may sleep; hooks may be armed, and handlers run.
 */
void numa_mms_forget(void)
{
	struct numa_mm *entry;
	unsigned int bucket;

	for (bucket = 0; bucket < HASH_SIZE(numa.mms); bucket++) {
		preempt_disable();
		hlist_for_each_entry_rcu(entry, &numa.mms[bucket], node, true)
			numa_mm_remove(entry);
		preempt_enable();
		cond_resched();
	}
}

/**
 * numa_mms_stop() - forget every address space, and empty the pool
 *
 * Context: process, may sleep; no hook is armed and no handler runs.
 */
void numa_mms_stop(void)
{
	numa_mms_forget();
	/* No RCU callback may outlive the module. */
	rcu_barrier();
	cancel_work_sync(&numa.refill);
	pool_empty();
}

/* Mode promote: the worker takes the address space in turn. */
static void entry_enlist(struct numa_mm *entry, struct mm_struct *mm)
{
	mmgrab(mm);
	entry->mm = mm;
	entry->promote_due = jiffies + msecs_to_jiffies(NUMA_PROMOTE_AGE_MS);
	list_add_tail(&entry->turn, &numa.turns);
}

/**
 * numa_mm_get() - find or make the entry of an address space
 * @mm: the address space
 *
 * Context: process, preemption off until the entry is no longer used.
 * Return: the entry, or NULL when the pool is empty; the kernel then scans as without us.
 */
struct numa_mm *numa_mm_get(struct mm_struct *mm)
{
	struct numa_mm *entry = numa_mm_find(mm);
	struct numa_mm *other;

	if (entry)
		return entry;
	entry = pool_take();
	if (!entry) {
		lmm_count(&lmm_numa_policy, COUNT_MMS_REFUSED, 1);
		return NULL;
	}
	entry->id = mm->context.ctx_id;
	spin_lock_init(&entry->lock);
	INIT_LIST_HEAD(&entry->turn);
	entry->window_seq = READ_ONCE(mm->numa_scan_seq);
	entry->scan_seq = entry->window_seq - 1;
	spin_lock(&numa.lock);
	other = numa_mm_find(mm);
	if (!other) {
		if (numa.mode == NUMA_MODE_PROMOTE)
			entry_enlist(entry, mm);
		hlist_add_head_rcu(&entry->node, &numa.mms[entry->id % HASH_SIZE(numa.mms)]);
		WRITE_ONCE(numa.nr_mms, numa.nr_mms + 1);
	}
	spin_unlock(&numa.lock);
	if (other) {
		/* Another thread of the process was quicker. */
		kfree_rcu(entry, rcu);
		return other;
	}
	lmm_count(&lmm_numa_policy, COUNT_MMS, 1);
	return entry;
}

/**
 * numa_mm_leave() - leave an address space to the kernel; also the event that it ends
 * @mm: the address space
 *
 * Context: process, preemption off.
 */
void numa_mm_leave(struct mm_struct *mm)
{
	struct numa_mm *entry = numa_mm_find(mm);

	if (entry)
		numa_mm_remove(entry);
}

/**
 * numa_mm_sum() - sum up the hint faults of an address space
 * @entry: the entry of the address space
 * @sum: receives the counts
 *
 * Context: process, preemption off.
 */
void numa_mm_sum(const struct numa_mm *entry, struct numa_counts *sum)
{
	const struct numa_slot *slot;
	enum numa_class class;

	*sum = (struct numa_counts){ };
	for (slot = entry->slot; slot < entry->slot + NUMA_SLOTS; slot++) {
		for (class = 0; class < NUMA_NR_CLASSES; class++)
			sum->pages[class] += atomic64_read(&slot->pages[class]);
		sum->moved += atomic64_read(&slot->moved);
		sum->faults += atomic64_read(&slot->faults);
	}
}

/**
 * numa_mm_count() - add the new faults of an address space to the policy's counters
 * @entry: the entry of the address space
 * @sum: from numa_mm_sum()
 *
 * Called at an ask, so that a hint fault need not touch the counters.
 *
 * Context: process, the entry's lock held.
 */
void numa_mm_count(struct numa_mm *entry, const struct numa_counts *sum)
{
	enum numa_class class;

	for (class = 0; class < NUMA_NR_CLASSES; class++)
		lmm_count(&lmm_numa_policy, COUNT_LOCAL_PRIVATE + class,
			  sum->pages[class] - entry->counted.pages[class]);
	/* In mode promote alone. */
	if (entry->mm)
		lmm_count(&lmm_numa_policy, COUNT_PROMOTED, sum->moved - entry->counted.moved);
	entry->counted = *sum;
}
