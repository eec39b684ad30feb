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

/*
 * objtool marks where unwind data ends only next to code that has some: so a
 * plain function stands on either side.
 */
static noinline bool keep_going(void)
{
	cond_resched();
	return !kthread_should_stop();
}

static noinline void unreliable_sleep(void)
{
	while (keep_going())
		schedule_timeout_interruptible(HZ / 10);
}
STACK_FRAME_NON_STANDARD(unreliable_sleep);

static noinline int stall(void *data)
{
	unreliable_sleep();
	/* A call, not a jump, so that this frame stays below. */
	cond_resched();
	return 0;
}

static int __init lmm_stall_init(void)
{
	task = kthread_run(stall, NULL, "lmm_stall");
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
