// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_scanned.ko - what the kernel keeps of the scans of NUMA balancing
 *
 * /proc/PID/sched shows neither a thread's period nor when its address space is scanned
 * next.  Reading parameter `rows` gives a line for each process of the load hintload: its
 * number, the shortest and longest period of its threads, and in how many ms its address space
 * is scanned next.
 */
#include <linux/jiffies.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "lmm_kmod.h"

static int row(struct task_struct *group, char *buf, size_t len)
{
	unsigned int least = UINT_MAX, most = 0;
	struct task_struct *task;
	int used = 0;

	for_each_thread(group, task) {
		unsigned int period = READ_ONCE(task->numa_scan_period);

		least = min(least, period);
		most = max(most, period);
	}
	/* Keeps the address space where it is. */
	task_lock(group);
	if (group->mm)
		used = scnprintf(buf, len, "%d %u %u %ld\n", group->pid, least, most,
				 ((long)(READ_ONCE(group->mm->numa_next_scan) - jiffies)) *
				 1000 / HZ);
	task_unlock(group);
	return used;
}

static int rows_get(char *buf, const struct kernel_param *kp)
{
	struct task_struct *group;
	int used = 0;

	rcu_read_lock();
	for_each_process(group)
		if (!strcmp(group->comm, "hintload"))
			used += row(group, buf + used, PAGE_SIZE - used);
	rcu_read_unlock();
	return used;
}

LMM_PARAM_GET(rows, rows_get, "process, shortest and longest period, next scan in ms");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: scans of NUMA balancing, as the kernel has them");
