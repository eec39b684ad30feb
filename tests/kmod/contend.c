// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_contend.ko - a CPU that takes zone->lock over and over
 *
 * A kernel thread on CPU `cpu` holds the lock of the largest zone for 50 us, with interrupts
 * off as the allocator does, and leaves it alone for as long.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "largest.h"
#include "lmm_kmod.h"

#define TURN_US		50

LMM_PARAM(uint, cpu, 0, "CPU that the thread runs on");

static struct task_struct *task;

static int contend(void *data)
{
	struct zone *zone = data;
	unsigned long flags;

	while (!kthread_should_stop()) {
		spin_lock_irqsave(&zone->lock, flags);
		udelay(TURN_US);
		spin_unlock_irqrestore(&zone->lock, flags);
		udelay(TURN_US);
		cond_resched();
	}
	return 0;
}

static int __init lmm_contend_init(void)
{
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	task = kthread_create(contend, lmm_largest_zone(), "lmm_contend");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

static void __exit lmm_contend_exit(void)
{
	kthread_stop(task);
}

module_init(lmm_contend_init);
module_exit(lmm_contend_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: contends for zone->lock");
