/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - what the glue of policy numa takes from the kernel, for a simulation
 *
 * One thread of the host plays every task in turn, so locks and grace periods do nothing.
 */
#ifndef NUMASIM_KERNEL_H
#define NUMASIM_KERNEL_H

#include "../../kunit/user/kernel.h"

#define HZ			250
#define NSEC_PER_MSEC		1000000L
#define TICK_NSEC		(1000000000L / HZ)
#define PATH_MAX		4096
#define TASK_COMM_LEN		16
#define NODES			2

#define PF_EXITING		1
#define TNF_MIGRATED		0x01
#define TNF_FAULT_LOCAL		0x08
#define TNF_MIGRATE_FAIL	0x10
#define NUMA_NO_NODE		(-1)
#define NUMA_BALANCING_NORMAL	1
#define NUMA_BALANCING_MEMORY_TIERING 2
/* Thread and CPU of a fault; every node has CPUs of its own. */
#define LAST_CPUPID_MASK	0xffff
#define LAST__PID_MASK		0xff
#define cpupid_to_pid(cpupid)	((cpupid) & LAST__PID_MASK)

#define __SPIN_LOCK_UNLOCKED(name)	{ ATOMIC_FLAG_INIT }
#define cond_resched()		((void)0)
#define __aligned(n)		__attribute__((aligned(n)))
#define __GFP_NOWARN		0
#define DECLARE_PER_CPU(type, name)	extern type name
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_dereference_sched(at) (at)
#define preempt_disable()	((void)0)
#define preempt_enable()	((void)0)
#define preemptible()		false
#define smp_processor_id()	(current->cpu)
#define atomic64_add		atomic_add
#define msecs_to_jiffies(ms)	((unsigned long)(((u64)(ms) * HZ + 999) / 1000))
#define jiffies64_to_msecs(j)	((u64)(j) * 1000 / HZ)

struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define HASH_SIZE(name)			ARRAY_SIZE(name)
#define hash_init(table)		memset(table, 0, sizeof(table))
#define hlist_unhashed(node)		(!(node)->pprev)
#define hlist_entry_safe(ptr, type, member) \
	({ struct hlist_node *hlist_ptr = (ptr); \
	   hlist_ptr ? container_of(hlist_ptr, type, member) : NULL; })
#define hlist_for_each_entry_rcu(at, head, member, ...) \
	for ((at) = hlist_entry_safe((head)->first, __typeof__(*(at)), member); (at); \
	     (at) = hlist_entry_safe((at)->member.next, __typeof__(*(at)), member))

static inline void hlist_add_head_rcu(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static inline void hlist_del_init_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	node->pprev = NULL;
}

#define list_del_init(item)	do { list_del(item); INIT_LIST_HEAD(item); } while (0)

/* The other has nothing to call. */
#define work_struct sim_work
struct work_struct { void (*call)(struct work_struct *work); };
struct seq_file;
struct lmm_worker { int unused; };

#define INIT_WORK(work, function)	((work)->call = (function))
#define cancel_work_sync(work)		((void)(work))
#define schedule_work(work)		((work)->call(work))

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

#define kfree(at)			free((void *)(at))
#define kfree_rcu(at, member)		free(at)

/* One callback at a time: a run has one process. */
static struct rcu_head *sim_rcu_head;
static void (*sim_rcu_call)(struct rcu_head *head);

static inline void rcu_barrier(void)
{
	if (sim_rcu_call)
		sim_rcu_call(sim_rcu_head);
	sim_rcu_call = NULL;
}

static inline void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	rcu_barrier();
	sim_rcu_head = head;
	sim_rcu_call = function;
}

struct cgroup;
#define task_dfl_cgroup(task)		((struct cgroup *)NULL)
#define cgroup_path(cgroup, buf, len)	(-1)

/* What NUMA balancing keeps of a process and of its threads. */
struct mm_struct {
	struct { u64 ctx_id; } context;
	unsigned long numa_next_scan;
	unsigned long numa_scan_offset;
	int numa_scan_seq;
};

struct task_struct {
	struct mm_struct *mm;
	struct task_struct *group_leader;
	pid_t pid, tgid;
	unsigned int flags;
	char comm[TASK_COMM_LEN];
	int cpu;
	struct { u64 sum_exec_runtime; } se;
	u64 node_stamp;
	unsigned int numa_scan_period;
	unsigned int numa_scan_period_max;
	int numa_scan_seq;
	int numa_preferred_nid;
	unsigned long numa_migrate_retry;
	/* The rest is the model's alone. */
	unsigned long faults[2][NODES][2], faults_new[2][NODES][2];	/* memory, CPU */
	unsigned long total_numa_faults;
	unsigned long numa_faults_locality[3];	/* remote, local, failed */
	u64 last_run, last_placement;
	bool in_group;
	bool bound;	/* memory, to one node */
};

extern struct task_struct *current;
extern unsigned long jiffies;
extern unsigned int sim_threads;
extern struct task_struct sim_task[];

#define mmgrab(mm)			((void)(mm))
#define mmdrop(mm)			((void)(mm))
#define nodes_weight(mask)		(mask)
#define cpuset_current_mems_allowed	(current->bound ? 1 : NODES)
/* There is one process. */
#define pid_task(pid, type)		(&sim_task[0])
#define for_each_thread(leader, task) \
	for ((task) = (leader); (task) < (leader) + sim_threads; (task)++)

#endif /* NUMASIM_KERNEL_H */
