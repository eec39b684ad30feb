// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - livemm_record.ko: while somebody records, refills, drains and the state of lists and
 * zones are tracepoints
 *
 * The recorder uses hooks as a policy does.  Of a refill it is told what policies have made of it,
 * of a drain what they want of it; it changes nothing.  With every policy off the kernel does
 * exactly what it does without livemm.
 *
 * A recording lasts as long as the file `record` of debugfs stays open, to which somebody has
 * written 1, and no longer than its livepatch is in force.  The kernel closes the files of a
 * process that is killed, so nothing stays armed unless another process has inherited the file.
 * A worker ends the recording: whoever closes the file waits for the worker, 10 s at most.
 * The tracepoints themselves arm nothing: their callbacks run under event_mutex, which loading a
 * livepatch module takes.
 *
 * The kernel's own tracepoints kmem:mm_page_pcpu_drain and mm_page_alloc_zone_locked say as much of
 * pages, but fire for each page: two events a page fault, where this file has two in a batch.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/percpu-rwsem.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmstat.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat/export.h"
#include "compat/pageset.h"
#include "control/debugfs.h"
#include "control/look.h"
#include "control/params.h"
#include "control/switch.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "livemm.h"
#include "policy/common/zones.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * Time between two looks at all lists and zones, for each 16 CPUs: a look has a list for each CPU
 * and zone.  A tick of pcp is at least 62 ms long (decay_ms / 8), and 375 ms by default.
 */
#define LOOK_MS		50
#define LOOK_CPUS	16

/* How long whoever ends a recording, and whoever begins the next, waits for the worker. */
#define END_WAIT_MS	10000

/* Somebody's recording is being ended. */
#define ENDING	((struct file *)ERR_PTR(-EBUSY))

/* The kernel's lock of memory hotplug. */
static struct percpu_rw_semaphore *hotplug;
static DEFINE_MUTEX(lmm_record_mutex);
/* Hooks are armed; written under lmm_record_mutex. */
static bool armed;
/* The open file whose recording it is, ENDING, or NULL. */
static struct file *owner;
static DECLARE_WAIT_QUEUE_HEAD(ended);
static struct workqueue_struct *look_wq;

/* A list was refilled, from the buddy unless a policy did. */
static void on_refill(const struct lmm_refill *refill)
{
	if (!refill->stocked)
		trace_list_refill(refill);
}

/* The CPU of the lists; -1 for pages of no CPU's list, which a policy drains. */
static int cpu_of(const struct lmm_drain *drain)
{
	int cpu;

	if (likely(drain->is_here))
		return drain->cpu;
	for_each_possible_cpu(cpu)
		if (drain->pcp == per_cpu_ptr(drain->zone->per_cpu_pageset, cpu))
			return cpu;
	return -1;
}

/* Pages of a list go to the buddy. */
static void on_drain(const struct lmm_drain *drain)
{
	int cpu = trace_list_drain_enabled() ? cpu_of(drain) : -1;

	if (cpu >= 0)
		trace_list_drain(drain, cpu);
}

/* Process.  While memory comes or goes nothing is looked at: lists may go with their zone. */
static void look(void)
{
	struct zone *zone = NULL;
	int cpu;

	if (!percpu_down_read_trylock(hotplug))
		return;
	while ((zone = lmm_zone_after(zone))) {
		trace_zone_state(zone);
		for_each_online_cpu(cpu)
			trace_list_state(zone, cpu);
		cond_resched();
	}
	percpu_up_read(hotplug);
	for_each_online_cpu(cpu)
		trace_cpu_state(cpu);
}

static const struct lmm_recorder recorder = {
	.refill = on_refill,
	.drain = on_drain,
};

/* Whoever has the file open, and nobody else, has it armed and ended. */
static bool owner_becomes(struct file *from, struct file *to)
{
	return cmpxchg(&owner, from, to) == from;
}

static bool is_owned(void)
{
	return !IS_ERR_OR_NULL(READ_ONCE(owner));
}

static void look_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_work_fn);

static void look_work_fn(struct work_struct *work)
{
	unsigned int pause = LOOK_MS * DIV_ROUND_UP(num_online_cpus(), LOOK_CPUS);

	look();
	queue_delayed_work(look_wq, &look_work, msecs_to_jiffies(pause));
}

/* Under lmm_record_mutex.  A wrapper that is not live is asked for once, and not waited for. */
static int try_arm(struct file *file, enum lmm_klp_wish wish, char *why, size_t len)
{
	int err;

	if (READ_ONCE(owner) != file) {
		scnprintf(why, len, "the recording was ended meanwhile");
		return -ECANCELED;
	}
	if (armed)
		return 0;
	if (!lmm_hooks_supported(LMM_RECORDER, 0, why, len))
		return -EOPNOTSUPP;
	err = lmm_hooks_await(LMM_RECORDER, 0, wish, why, len);
	if (err)
		return err == -EINPROGRESS ? -EAGAIN : err;
	err = lmm_hooks_arm(LMM_RECORDER, 0, why, len);
	if (err)
		return err;
	hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	lmm_recorder_set(&recorder);
	WRITE_ONCE(armed, true);
	queue_delayed_work(look_wq, &look_work, 0);
	return 0;
}

/* A wait for others ends when the task is killed. */
static int survey_and_arm(struct file *file, enum lmm_klp_wish wish, char *why, size_t len)
{
	int err;

	/* Not under the mutex: klp_mutex may be held for long. */
	lmm_klp_survey();
	if (mutex_lock_killable(&lmm_record_mutex)) {
		scnprintf(why, len, "killed while another change was under way");
		return -EINTR;
	}
	err = try_arm(file, wish, why, len);
	mutex_unlock(&lmm_record_mutex);
	return err;
}

static void end_work_fn(struct work_struct *work)
{
	/* Killable to keep the hung task detector silent; nobody kills a worker. */
	if (mutex_lock_killable(&lmm_record_mutex))
		return;
	if (armed) {
		lmm_recorder_set(NULL);
		lmm_hooks_disarm(LMM_RECORDER);
		cancel_delayed_work_sync(&look_work);
		look();
		WRITE_ONCE(armed, false);
	}
	mutex_unlock(&lmm_record_mutex);
	owner_becomes(ENDING, NULL);
	wake_up_all(&ended);
}

static DECLARE_WORK(end_work, end_work_fn);

/* A task that exits cannot be killed, so the wait has an end of its own. */
static void end_await(void)
{
	wait_event_killable_timeout(ended, READ_ONCE(owner) != ENDING,
				    msecs_to_jiffies(END_WAIT_MS));
}

/* Livepatches have changed: a recording that is no longer told of drains has ended. */
static void lost_work_fn(struct work_struct *work)
{
	char words[LMM_WHY_LEN], why[LMM_WHY_LEN + 16];
	struct file *file = READ_ONCE(owner);
	bool required, lost;

	if (!is_owned() || mutex_lock_killable(&lmm_record_mutex))
		return;
	lost = armed && lmm_hooks_lost(LMM_RECORDER, 0, words, sizeof(words), &required);
	mutex_unlock(&lmm_record_mutex);
	if (!lost || !owner_becomes(file, ENDING))
		return;
	scnprintf(why, sizeof(why), "record: ended: %s", words);
	lmm_control_refuse(-EPIPE, why);
	queue_work(look_wq, &end_work);
}

static DECLARE_WORK(lost_work, lost_work_fn);

/* A file that waits for its livepatch asks again, and has the livepatch loaded once. */
static int record_begin(struct file *file, char *why, size_t len)
{
	bool again = READ_ONCE(owner) == file;
	char words[LMM_WHY_LEN] = "";
	int err;

	if (lmm_off) {
		scnprintf(why, len, "record: 1: off=1");
		return -EOPNOTSUPP;
	}
	end_await();
	if (!again && !owner_becomes(NULL, file)) {
		scnprintf(why, len, "record: 1: %s", is_owned() ? "somebody records already" :
			  "the last recording is still being ended");
		return -EBUSY;
	}
	err = survey_and_arm(file, again ? LMM_KLP_STILL : LMM_KLP_WANTED, words, sizeof(words));
	if (!err || err == -EAGAIN)
		WRITE_ONCE(file->private_data, file);
	else if (owner_becomes(file, NULL))
		WRITE_ONCE(file->private_data, NULL);
	if (err)
		scnprintf(why, len, "record: 1: %s", words);
	return err;
}

static void record_end(struct file *file)
{
	if (xchg(&file->private_data, NULL) && owner_becomes(file, ENDING))
		queue_work(look_wq, &end_work);
	end_await();
}

static int record_release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		record_end(file);
	return 0;
}

static ssize_t record_read(struct file *file, char __user *ubuf, size_t count, loff_t *ppos)
{
	const char *text = is_owned() && READ_ONCE(armed) ? "1\n" : "0\n";

	/* The file has begun a recording, and has not ended it. */
	if (READ_ONCE(file->private_data) && READ_ONCE(owner) != file)
		return -EPIPE;
	return simple_read_from_buffer(ubuf, count, ppos, text, strlen(text));
}

static ssize_t record_write(struct file *file, const char __user *ubuf, size_t count, loff_t *ppos)
{
	char why[LMM_WHY_LEN + 16] = "";
	char text[4] = "";
	int err = 0;

	/* A longer text is cut here, and malformed. */
	if (copy_from_user(text, ubuf, min(count, sizeof(text) - 1)))
		return lmm_control_refuse(-EFAULT, "record: the text cannot be read");
	if (sysfs_streq(text, "1")) {
		err = record_begin(file, why, sizeof(why));
	} else if (sysfs_streq(text, "0")) {
		record_end(file);
	} else {
		scnprintf(why, sizeof(why), "record: %s: not 0 or 1", strim(text));
		err = -EINVAL;
	}
	return lmm_control_refuse(err, why) ?: (ssize_t)count;
}

/* An open file keeps the module loaded. */
static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.read = record_read,
	.write = record_write,
	.release = record_release,
};

static const struct lmm_subscription record_subscriptions[] = {
	LMM_USES(REFILL, "refills are not recorded, and are worked out from counts"),
	LMM_NEEDS(DRAIN, "all of a recording"),
	LMM_NEEDS(MEM_HOTPLUG, "all of a recording: memory could go while its lists are looked at"),
};

static const struct lmm_hook_client record_uses = LMM_HOOK_CLIENT(record);
static struct dentry *record_file;

static int __init record_init(void)
{
	struct dentry *dir = lmm_control_dir();
	int err;

	if (!dir) {
		pr_err("not loaded: debugfs has no files of livemm\n");
		return -ENODEV;
	}
	look_wq = alloc_workqueue("livemm_record", WQ_UNBOUND, 1);
	if (!look_wq)
		return -ENOMEM;
	err = lmm_hooks_subscribe(LMM_RECORDER, &record_uses);
	if (err)
		goto err_wq;
	record_file = debugfs_create_file("record", 0600, dir, NULL, &record_fops);
	err = PTR_ERR_OR_ZERO(record_file);
	if (err)
		goto err_hooks;
	lmm_look_hear(&lost_work);
	return 0;

err_hooks:
	lmm_hooks_unsubscribe(LMM_RECORDER);
err_wq:
	destroy_workqueue(look_wq);
	return err;
}

/* No file is open: nobody records, but the worker may still be ending a recording. */
static void __exit record_exit(void)
{
	debugfs_remove(record_file);
	lmm_look_hear(NULL);
	cancel_work_sync(&lost_work);
	flush_work(&end_work);
	lmm_hooks_unsubscribe(LMM_RECORDER);
	destroy_workqueue(look_wq);
}

module_init(record_init);
module_exit(record_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm: refills, drains, lists and zones as tracepoints, for a recording");
MODULE_IMPORT_NS(LMM_NS);
