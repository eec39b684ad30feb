// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - NUMA balancing as the kernel does it: ticks, scans, hint faults, placement
 *
 * After kernel/sched/fair.c of 6.1: when a thread asks for a scan, what a scan arms, the filter of
 * two stages, the statistics of a thread and of its group, the preferred node, the period.  A
 * process has one group at most, which all its threads are in.  CPU time advances at ticks.
 */
#include "kernel.h"

#define MAX_THREADS	16
#define MAX_PAGES	65536
#define SCAN_DELAY_MS	1000
#define PERIOD_MIN_MS	1000
#define PERIOD_MAX_MS	60000

struct page {
	u8 node;
	bool armed;
	bool stuck;	/* cannot be moved */
	int last;	/* thread and CPU of the last fault */
};

/* The process, and what is measured. */
static struct {
	struct page page[MAX_PAGES];
	unsigned long pages, vma_pages;
	unsigned int scan_size;		/* MiB */
	unsigned int node_cpus;		/* of each node, for threads that are not pinned */
	bool pinned;
	unsigned long armed;
	unsigned long faults[2][NODES][2];	/* of the group */
	unsigned long max_cpu;
	unsigned int active;
	bool grouped;
	/* Measured. */
	u64 hint_faults, flushes, flips;
	unsigned long last_scan;
	unsigned int longest_ms;	/* the kernel's longest period, of any thread */
	bool policy;
} sim;

struct task_struct sim_task[MAX_THREADS], *current;
unsigned int sim_threads;
unsigned long jiffies;
static struct mm_struct sim_mm;

/* The policy's hooks, from main.c. */
static void hook_scan_begin(void);
static void hook_fault(int last, int pages, int flags);
static unsigned long hook_arm(unsigned long start, unsigned long end);

static int node_of(const struct task_struct *task)
{
	return task->cpu % NODES;
}

static unsigned long sum2(const unsigned long *faults)
{
	return faults[0] + faults[1];
}

static unsigned int scan_windows(void)
{
	unsigned long size = (unsigned long)sim.scan_size << (20 - PAGE_SHIFT);

	return max((sim.pages + size - 1) / size, 1UL);
}

static unsigned int scan_min(void)
{
	unsigned int floor = 1000 / (sim.scan_size < 2560 ? 2560 / sim.scan_size : 1);

	return max(floor, PERIOD_MIN_MS / scan_windows());
}

/* Memory that is shared lengthens the bound. */
static unsigned int by_group(unsigned int ms)
{
	unsigned long shared = sim.faults[0][0][0] + sim.faults[0][1][0];
	unsigned long private = sim.faults[0][0][1] + sim.faults[0][1][1];

	if (!sim.grouped)
		return ms;
	return (u64)ms * sim_threads * (shared + 1) / (private + shared + 1);
}

static unsigned int scan_start(void)
{
	return max(scan_min(), by_group(scan_min()));
}

static unsigned int scan_max(void)
{
	unsigned int most = PERIOD_MAX_MS / scan_windows();

	return max3(scan_min(), most, by_group(most));
}

static void set_preferred(struct task_struct *task, int node)
{
	sim.flips += task->numa_preferred_nid != NUMA_NO_NODE;
	task->numa_preferred_nid = node;
}

/* A thread moves to another node: its period may begin anew. */
static void move_task(struct task_struct *task, int node)
{
	int from = node_of(task);

	if (from == node)
		return;
	task->cpu = task->cpu - from + node;
	if (!task->total_numa_faults)
		return;
	if (task->numa_scan_seq &&
	    (node == task->numa_preferred_nid || (task->numa_preferred_nid != NUMA_NO_NODE &&
						  from != task->numa_preferred_nid)))
		return;
	task->numa_scan_period = scan_start();
}

static void migrate_preferred(struct task_struct *task)
{
	int node = task->numa_preferred_nid;
	unsigned int i, there = 0;

	if (node == NUMA_NO_NODE)
		return;
	task->numa_migrate_retry = jiffies + min((unsigned long)HZ,
				   msecs_to_jiffies(task->numa_scan_period) / 16);
	if (node_of(task) == node || sim.pinned)
		return;
	for (i = 0; i < sim_threads; i++)
		there += node_of(&sim_task[i]) == node;
	if (there < sim.node_cpus)
		move_task(task, node);
}

static void update_period(struct task_struct *task, unsigned long shared, unsigned long private)
{
	unsigned long remote = task->numa_faults_locality[0];
	unsigned long local = task->numa_faults_locality[1];
	int slot = DIV_ROUND_UP(task->numa_scan_period, 10), ps, lr, diff;

	if (!(local + shared) || task->numa_faults_locality[2]) {
		task->numa_scan_period = min(task->numa_scan_period_max,
					     2 * task->numa_scan_period);
		sim_mm.numa_next_scan = jiffies + msecs_to_jiffies(task->numa_scan_period);
		/* The counts go on, as in the kernel. */
		return;
	}
	lr = local * 10 / max(local + remote, 1UL);
	ps = private * 10 / max(private + shared, 1UL);
	if (ps >= 7)
		diff = max(ps - 7, 1) * slot;
	else if (lr >= 7)
		diff = max(lr - 7, 1) * slot;
	else
		diff = -(7 - max(lr, ps)) * slot;
	task->numa_scan_period = clamp((int)task->numa_scan_period + diff, (int)scan_min(),
				       (int)scan_max());
	memset(task->numa_faults_locality, 0, sizeof(task->numa_faults_locality));
}

static void placement(struct task_struct *task)
{
	unsigned long types[2] = { }, most = 0, total = task->numa_faults_locality[0] +
		      task->numa_faults_locality[1];
	int node, best = NUMA_NO_NODE, kind;
	u64 ran, period;

	if (task->numa_scan_seq == sim_mm.numa_scan_seq)
		return;
	task->numa_scan_seq = sim_mm.numa_scan_seq;
	task->numa_scan_period_max = scan_max();
	sim.longest_ms = max(sim.longest_ms, task->numa_scan_period_max);
	ran = task->se.sum_exec_runtime - task->last_run;
	period = (u64)jiffies * TICK_NSEC - task->last_placement;
	task->last_run = task->se.sum_exec_runtime;
	task->last_placement = (u64)jiffies * TICK_NSEC;
	for (node = 0; node < NODES; node++) {
		unsigned long faults;

		for (kind = 0; kind < 2; kind++) {
			unsigned long *mem = &task->faults[0][node][kind];
			unsigned long *cpu = &task->faults[1][node][kind];
			long diff = task->faults_new[0][node][kind] - *mem / 2;
			u64 weight = (ran << 16) / (period + 1) * task->faults_new[1][node][kind] /
				     (total + 1);
			long cpu_diff = weight - *cpu / 2;

			types[kind] += task->faults_new[0][node][kind];
			task->faults_new[0][node][kind] = 0;
			task->faults_new[1][node][kind] = 0;
			*mem += diff;
			*cpu += cpu_diff;
			task->total_numa_faults += diff;
			if (task->in_group) {
				sim.faults[0][node][kind] += diff;
				sim.faults[1][node][kind] += cpu_diff;
			}
		}
		faults = sum2(task->in_group ? sim.faults[0][node] : task->faults[0][node]);
		if (faults > most) {
			most = faults;
			best = node;
		}
	}
	if (task->in_group) {
		sim.max_cpu = max(sum2(sim.faults[1][0]), sum2(sim.faults[1][1]));
		sim.active = (sum2(sim.faults[1][0]) * 3 > sim.max_cpu) +
			     (sum2(sim.faults[1][1]) * 3 > sim.max_cpu);
	}
	if (most && best != task->numa_preferred_nid)
		set_preferred(task, best);
	update_period(task, types[0], types[1]);
}

static void join_group(struct task_struct *task, int last)
{
	struct task_struct *other = &sim_task[cpupid_to_pid(last) - 1];
	struct task_struct *both[2] = { task, other };
	int i, node, kind;

	for (i = 0; i < 2; i++) {
		if (both[i]->in_group)
			continue;
		both[i]->in_group = true;
		sim.grouped = true;
		for (node = 0; node < NODES; node++) {
			for (kind = 0; kind < 2; kind++) {
				sim.faults[0][node][kind] += both[i]->faults[0][node][kind];
				sim.faults[1][node][kind] += both[i]->faults[1][node][kind];
			}
		}
	}
}

static void account_fault(struct task_struct *task, int last, int node, int flags)
{
	bool local = flags & TNF_FAULT_LOCAL;
	bool private = last == LAST_CPUPID_MASK || cpupid_to_pid(last) == task->pid;
	int cpu_node = node_of(task);

	if (!private && cpupid_to_pid(last) <= (int)sim_threads)
		join_group(task, last);
	if (!private && !local && task->in_group && sim.active > 1)
		local = true;
	if (time_after(jiffies, task->numa_migrate_retry)) {
		placement(task);
		migrate_preferred(task);
	}
	if (flags & TNF_MIGRATE_FAIL)
		task->numa_faults_locality[2]++;
	task->faults_new[0][node][private]++;
	task->faults_new[1][cpu_node][private]++;
	task->numa_faults_locality[local]++;
	task->total_numa_faults = max(task->total_numa_faults, 1UL);
}

/* The filter of two stages; also notes who has faulted. */
static bool shall_move(struct task_struct *task, struct page *page, int to)
{
	int last = page->last;

	page->last = task->cpu << 8 | task->pid;
	if ((task->numa_preferred_nid == NUMA_NO_NODE || task->numa_scan_seq <= 4) &&
	    (last == LAST_CPUPID_MASK || cpupid_to_pid(last) == task->pid))
		return true;
	if (last != LAST_CPUPID_MASK && (last >> 8) % NODES != to)
		return false;
	if (cpupid_to_pid(last) == task->pid || !task->in_group)
		return true;
	if (sum2(sim.faults[1][to]) > sum2(sim.faults[1][page->node]) * 3)
		return true;
	return sum2(sim.faults[1][to]) * sum2(sim.faults[0][page->node]) * 3 >
	       sum2(sim.faults[1][page->node]) * sum2(sim.faults[0][to]) * 4;
}

/* A thread uses a page that is armed. */
static void hint_fault(struct task_struct *task, struct page *page)
{
	int to = node_of(task), last = page->last, flags = 0, node;
	bool moves = shall_move(task, page, to) && page->node != to;

	page->armed = false;
	sim.armed--;
	sim.hint_faults++;
	if (page->node == to)
		flags |= TNF_FAULT_LOCAL;
	node = page->node;
	if (moves && !page->stuck) {
		page->node = to;
		node = to;
		flags |= TNF_MIGRATED;
	} else if (moves) {
		flags |= TNF_MIGRATE_FAIL;
	}
	current = task;
	if (sim.policy)
		hook_fault(last, 1, flags);
	account_fault(task, last, node, flags);
}

static unsigned long arm_pages(unsigned long from, unsigned long to)
{
	unsigned long updated = 0;
	struct page *page;

	for (page = sim.page + from; page < sim.page + to; page++) {
		/* A single thread has local memory left alone. */
		if (page->armed || (sim_threads == 1 && page->node == node_of(current)))
			continue;
		page->armed = true;
		updated++;
	}
	sim.armed += updated;
	sim.flushes += !!updated;
	return updated;
}

static void pass_ends(void)
{
	sim_mm.numa_scan_seq++;
	sim_mm.numa_scan_offset = 0;
}

static void scan(struct task_struct *task)
{
	long pages = (long)sim.scan_size << (20 - PAGE_SHIFT), most = pages * 8;
	unsigned long at, next;

	current = task;
	if (sim.policy)
		hook_scan_begin();
	if (!sim_mm.numa_next_scan)
		sim_mm.numa_next_scan = jiffies + msecs_to_jiffies(SCAN_DELAY_MS);
	if (time_before(jiffies, sim_mm.numa_next_scan))
		return;
	if (!task->numa_scan_period) {
		task->numa_scan_period_max = scan_max();
		task->numa_scan_period = scan_start();
	}
	next = jiffies + msecs_to_jiffies(task->numa_scan_period);
	sim_mm.numa_next_scan = next ?: 1;
	task->node_stamp += 2 * TICK_NSEC;
	sim.last_scan = jiffies;
	at = sim_mm.numa_scan_offset;
	while (pages > 0 && most > 0 && at < sim.pages) {
		unsigned long end = min3(at + pages, (at / sim.vma_pages + 1) * sim.vma_pages,
					 sim.pages);

		if (hook_arm(at, end))
			pages -= end - at;
		most -= end - at;
		at = end;
	}
	if (at < sim.pages)
		sim_mm.numa_scan_offset = at;
	else
		pass_ends();
}

/* A tick of a thread that runs, which had @ns of it. */
static void tick(struct task_struct *task, u64 ns)
{
	u64 period = (u64)task->numa_scan_period * NSEC_PER_MSEC;

	task->se.sum_exec_runtime += ns;
	if (task->se.sum_exec_runtime <= task->node_stamp + period)
		return;
	if (!task->node_stamp)
		task->numa_scan_period = scan_start();
	task->node_stamp += period;
	if (!time_before(jiffies, sim_mm.numa_next_scan))
		scan(task);
}
