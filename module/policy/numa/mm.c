// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm.c - making, finding and forgetting the entries of address spaces
 *
 * Entries are made where nothing may sleep, so they come from pools that a worker fills.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "state.h"

/* Kinds of objects in the pools. */
enum pool_kind {
	POOL_MM,
	POOL_SLOTS,
	NR_POOLS
};

#define POOL_ITEMS	16

static struct {
	size_t size;
	unsigned int nr;
	void *item[POOL_ITEMS];
} pools[NR_POOLS] = {
	[POOL_MM] = { .size = sizeof(struct numa_mm) },
	[POOL_SLOTS] = { .size = sizeof(struct numa_slots) },
};

static DEFINE_SPINLOCK(pool_lock);

/* Take a zeroed object, or NULL; a pool that runs low wakes the worker. */
static void *pool_take(enum pool_kind kind)
{
	void *item = NULL;
	bool low;

	spin_lock(&pool_lock);
	if (pools[kind].nr) {
		WRITE_ONCE(pools[kind].nr, pools[kind].nr - 1);
		item = pools[kind].item[pools[kind].nr];
	}
	low = pools[kind].nr < POOL_ITEMS / 2;
	spin_unlock(&pool_lock);
	if (low)
		schedule_work(&numa.refill);
	return item;
}

static bool pool_put(enum pool_kind kind, void *item)
{
	bool room;

	spin_lock(&pool_lock);
	room = pools[kind].nr < POOL_ITEMS;
	if (room) {
		pools[kind].item[pools[kind].nr] = item;
		WRITE_ONCE(pools[kind].nr, pools[kind].nr + 1);
	}
	spin_unlock(&pool_lock);
	return room;
}

static bool pool_fill(enum pool_kind kind)
{
	while (READ_ONCE(pools[kind].nr) < POOL_ITEMS) {
		void *item = kzalloc(pools[kind].size, GFP_KERNEL | __GFP_NOWARN);

		if (!item)
			return false;
		if (!pool_put(kind, item))
			kfree(item);
	}
	return true;
}

static void refill_worker(struct work_struct *work)
{
	enum pool_kind kind;

	for (kind = 0; kind < NR_POOLS; kind++)
		pool_fill(kind);
}

static void pools_empty(void)
{
	enum pool_kind kind;

	for (kind = 0; kind < NR_POOLS; kind++)
		while (pools[kind].nr)
			kfree(pools[kind].item[--pools[kind].nr]);
}

/**
 * numa_mms_start() - fill the pools
 *
 * Context: process, may sleep; no hook is armed.
 * Return: 0, or -ENOMEM with nothing left behind.
 */
int numa_mms_start(void)
{
	enum pool_kind kind;

	spin_lock_init(&numa.lock);
	hash_init(numa.mms);
	INIT_LIST_HEAD(&numa.turns);
	numa.nr_mms = 0;
	INIT_WORK(&numa.refill, refill_worker);
	for (kind = 0; kind < NR_POOLS; kind++) {
		if (!pool_fill(kind)) {
			pools_empty();
			return -ENOMEM;
		}
	}
	return 0;
}

static void entry_free(struct rcu_head *rcu)
{
	struct numa_mm *entry = container_of(rcu, struct numa_mm, rcu);

	kfree(entry->slots);
	kfree(entry);
}

/* Unhash an entry, unless another task has; count its last faults and free it. */
static void entry_remove(struct numa_mm *entry)
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
	/* In mode promote alone. */
	if (entry->mm)
		lmm_count(&lmm_numa_policy, COUNT_PROMOTED,
			  numa_mm_moved(entry) - entry->promote.promoted);
	spin_unlock(&entry->lock);
	lmm_count(&lmm_numa_policy, COUNT_MMS_GONE, 1);
	/* Not in an RCU callback: the last reference takes locks that interrupts may not take. */
	if (entry->mm)
		mmdrop(entry->mm);
	call_rcu(&entry->rcu, entry_free);
}

/**
 * numa_mms_forget() - forget every address space
 *
 * Nothing that the policy has changed is put back: see numa_mms_release().
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
			entry_remove(entry);
		preempt_enable();
		cond_resched();
	}
}

/**
 * numa_mms_stop() - forget every address space, and empty the pools
 *
 * Context: process, may sleep; no hook is armed and no handler runs.
 */
void numa_mms_stop(void)
{
	numa_mms_forget();
	/* No RCU callback may outlive the module. */
	rcu_barrier();
	cancel_work_sync(&numa.refill);
	pools_empty();
}

/*
 * Put back mm->numa_next_scan, and have the scan decided anew, by a new window: the settings may
 * have changed.  The entry's lock is held.
 */
static void entry_restore(struct numa_mm *entry, struct mm_struct *mm)
{
	if (entry->postponed)
		cmpxchg(&mm->numa_next_scan, entry->postponed, entry->kernel_next);
	entry->postponed = 0;
	entry->decided = 0;
	entry->last_window = jiffies - msecs_to_jiffies(NUMA_WINDOW_MS);
}

static void slot_restore(struct numa_slot *slot, struct task_struct *task)
{
	if (slot->lowered_pid != task->pid)
		return;
	cmpxchg(&task->numa_scan_period, slot->lowered_ms, slot->own_ms);
	slot->lowered_pid = 0;
}

/* Put back the scan period of a thread, which cannot be freed meanwhile; under the entry's lock. */
static void thread_restore(struct numa_mm *entry, struct task_struct *task)
{
	slot_restore(numa_mm_slot(entry, task->pid), task);
	/* The slot from before the process had threads was changed first: restore it last. */
	slot_restore(&entry->slot, task);
}

/**
 * numa_mms_release() - put back the scan times of every address space and of its threads
 *
 * A thread that is about to scan may still follow an older decision: the address space is
 * then scanned once more, or once later, than by the kernel.
 *
 * Context: process; scans may be under way.
 */
void numa_mms_release(void)
{
	struct task_struct *group, *task;
	struct numa_mm *entry;

	rcu_read_lock();
	for_each_process_thread(group, task) {
		/* task_lock() keeps task->mm from going away. */
		task_lock(task);
		preempt_disable();
		entry = task->mm ? numa_mm_find(task->mm) : NULL;
		if (entry) {
			spin_lock(&entry->lock);
			entry_restore(entry, task->mm);
			thread_restore(entry, task);
			spin_unlock(&entry->lock);
		}
		preempt_enable();
		task_unlock(task);
	}
	rcu_read_unlock();
}

/* Mode promote: the worker takes the address space in turn. */
static void entry_enlist(struct numa_mm *entry, struct mm_struct *mm)
{
	mmgrab(mm);
	entry->mm = mm;
	entry->promote_due = jiffies + msecs_to_jiffies(NUMA_SCAN_DELAY_MS);
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
	entry = pool_take(POOL_MM);
	if (!entry) {
		lmm_count(&lmm_numa_policy, COUNT_MMS_REFUSED, 1);
		return NULL;
	}
	entry->id = mm->context.ctx_id;
	spin_lock_init(&entry->lock);
	INIT_LIST_HEAD(&entry->turn);
	entry->begun = jiffies;
	entry->last_full = jiffies;
	entry->last_ask = jiffies;
	entry->last_window = jiffies;
	entry->scans = 1;
	entry->sampling.stride = NUMA_SAMPLING_STRIDE;
	entry->seq = READ_ONCE(mm->numa_scan_seq);
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
 * numa_mm_forget() - leave the address space of current to the kernel
 * @entry: the entry of the address space
 * @mm: the address space
 *
 * Context: process, preemption off.
 */
void numa_mm_forget(struct numa_mm *entry, struct mm_struct *mm)
{
	struct task_struct *task;

	/* From here on nobody finds the entry; see numa_mm_dropped() for those that have. */
	entry_remove(entry);
	spin_lock(&entry->lock);
	entry_restore(entry, mm);
	for_each_thread(current, task)
		thread_restore(entry, task);
	spin_unlock(&entry->lock);
}

/**
 * numa_on_mm_exit() - event: an address space ends
 * @mm: the address space; no thread uses @mm any more
 *
 * Context: process, preemption off.
 */
void numa_on_mm_exit(struct mm_struct *mm)
{
	struct numa_mm *entry = numa_mm_find(mm);

	if (!entry)
		return;
	entry_remove(entry);
	/* After exec, current lives on with another address space. */
	spin_lock(&entry->lock);
	thread_restore(entry, current);
	spin_unlock(&entry->lock);
}

/**
 * numa_mm_attach() - attach slots when they are first needed
 * @entry: the entry
 *
 * Context: process, preemption off, the entry's lock held.
 */
void numa_mm_attach(struct numa_mm *entry)
{
	if (!entry->slots && get_nr_threads(current) > 1)
		/* Who sees the pointer sees zeroes: pairs with numa_mm_slot() and numa_mm_sum(). */
		smp_store_release(&entry->slots, pool_take(POOL_SLOTS));
}

/**
 * numa_mm_moved() - pages of an address space that the kernel moved at hint faults
 * @entry: the entry of the address space
 *
 * Context: process, preemption off.
 * Return: pages since the entry was made.
 */
u64 numa_mm_moved(const struct numa_mm *entry)
{
	/* Pairs with numa_mm_attach(): the slots are zeroed. */
	const struct numa_slots *slots = smp_load_acquire(&entry->slots);
	u64 moved = atomic64_read(&entry->slot.moved);
	unsigned int i;

	for (i = 0; slots && i < NUMA_SLOTS; i++)
		moved += atomic64_read(&slots->slot[i].moved);
	return moved;
}

/**
 * numa_mm_alarm_expire() - stop waiting for the answer to an old alarm that has had pages moved
 * @entry: the entry of the address space
 * @now_ms: the time; may wrap
 *
 * In a large process alone, where the account bounds what follows the next alarm.
 *
 * Context: process, preemption off, the entry's lock held.
 */
void numa_mm_alarm_expire(struct numa_mm *entry, u32 now_ms)
{
	if (entry->alarm.pending && numa_credit_is_large(entry->scans))
		numa_alarm_expire(&entry->alarm, numa_mm_moved(entry), entry->resident, now_ms);
}

static void slot_add(const struct numa_slot *slot, struct numa_counts *sum)
{
	enum numa_class class;

	for (class = 0; class < NUMA_NR_CLASSES; class++)
		sum->pages[class] += atomic64_read(&slot->pages[class]);
	sum->faults += atomic64_read(&slot->faults);
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
	/* Pairs with numa_mm_attach(): the slots are zeroed. */
	const struct numa_slots *slots = smp_load_acquire(&entry->slots);
	unsigned int i;

	*sum = (struct numa_counts){ };
	slot_add(&entry->slot, sum);
	for (i = 0; slots && i < NUMA_SLOTS; i++)
		slot_add(&slots->slot[i], sum);
}

/**
 * numa_mm_count() - add the new faults of an address space to the policy's counters
 * @entry: the entry of the address space
 * @sum: from numa_mm_sum()
 *
 * Called at the end of a window, so that a hint fault need not touch the counters.
 *
 * Context: process, the entry's lock held.
 */
void numa_mm_count(struct numa_mm *entry, const struct numa_counts *sum)
{
	enum numa_class class;

	for (class = 0; class < NUMA_NR_CLASSES; class++)
		lmm_count(&lmm_numa_policy, COUNT_LOCAL_PRIVATE + class,
			  sum->pages[class] - entry->counted.pages[class]);
	entry->counted = *sum;
}
