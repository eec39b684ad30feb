// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_hold.ko - while this module is loaded, the mutex of livemm's recorder is held
 *
 * Stands for a change of the recorder's hooks that hangs in the kernel.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "lmm_kmod.h"

static struct task_struct *task;

LMM_PARAM(bool, holds, false, "is the mutex held?");

static int hold(void *mutex)
{
	mutex_lock(mutex);
	WRITE_ONCE(holds, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	mutex_unlock(mutex);
	return 0;
}

static int __init lmm_hold_init(void)
{
	void *mutex = lmm_find("lmm_record_mutex");

	if (!mutex)
		return -ENOENT;
	task = kthread_run(hold, mutex, "lmm_hold");
	return PTR_ERR_OR_ZERO(task);
}

static void __exit lmm_hold_exit(void)
{
	kthread_stop(task);
}

module_init(lmm_hold_init);
module_exit(lmm_hold_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: holds the mutex of livemm's recorder");
