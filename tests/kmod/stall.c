// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_stall.ko - a task that no livepatch transition can get past
 *
 * A kernel thread sleeps in a function that objtool makes no unwind data for, so
 * its stack never counts as reliable and the thread is never switched.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/sched.h>

static struct task_struct *task;

static noinline int unreliable_sleep(void *data)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}
STACK_FRAME_NON_STANDARD(unreliable_sleep);

static int __init lmm_stall_init(void)
{
	task = kthread_run(unreliable_sleep, NULL, "lmm_stall");
	return PTR_ERR_OR_ZERO(task);
}

static void __exit lmm_stall_exit(void)
{
	kthread_stop(task);
}

module_init(lmm_stall_init);
module_exit(lmm_stall_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: stalls livepatch transitions");
