// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_scanned.ko - what the kernel keeps of the scans of NUMA balancing
 *
 * /proc/PID/sched shows neither a thread's period nor when its address space is scanned
 * next.  Reading parameter `rows` gives a line for each process whose name is
 * parameter `comm`: its number, its threads, the shortest and longest of their periods,
 * in how many ms its address space is scanned next, and where that begins, in pages.
 */
#include <linux/jiffies.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

static char comm[TASK_COMM_LEN] = "hintload";
module_param_string(comm, comm, sizeof(comm), 0600);
MODULE_PARM_DESC(comm, "name of the processes to show");

static int row(struct task_struct *group, char *buf, size_t len)
{
	unsigned int least = UINT_MAX, most = 0, threads = 0;
	struct task_struct *task;
	int used = 0;

	for_each_thread(group, task) {
		unsigned int period = READ_ONCE(task->numa_scan_period);

		least = min(least, period);
		most = max(most, period);
		threads++;
	}
	/* Keeps the address space where it is. */
	task_lock(group);
	if (group->mm)
		used = scnprintf(buf, len, "%d %u %u %u %ld %lu\n", group->pid, threads, least,
				 most, ((long)(READ_ONCE(group->mm->numa_next_scan) - jiffies)) *
				 1000 / HZ,
				 READ_ONCE(group->mm->numa_scan_offset) >> PAGE_SHIFT);
	task_unlock(group);
	return used;
}

static int rows_get(char *buf, const struct kernel_param *kp)
{
	struct task_struct *group;
	int used = 0;

	rcu_read_lock();
	for_each_process(group)
		if (!strcmp(group->comm, comm))
			used += row(group, buf + used, PAGE_SIZE - used);
	rcu_read_unlock();
	return used;
}

static const struct kernel_param_ops rows_ops = { .get = rows_get };
module_param_cb(rows, &rows_ops, NULL, 0400);
MODULE_PARM_DESC(rows, "process, threads, shortest and longest period, next scan in ms, its first page");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: scans of NUMA balancing, as the kernel has them");
