// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - while somebody records: refills, drains and the state of lists and zones, as
 * tracepoints
 *
 * The recorder is a client of hooks like a policy, and the last to be told: it sees what policies
 * have made of an event, and answers what it was given.  With every policy off the kernel does
 * exactly what it does without livemm.
 *
 * A recording lasts as long as the file `record` of debugfs stays open, to which somebody has
 * written 1.  The kernel closes the files of a process that is killed, so nothing stays armed
 * unless another process has inherited the open file.
 * A worker ends the recording: whoever closes the file waits for the worker, 10 s at most.
 * The tracepoints themselves arm nothing: their callbacks run under event_mutex, which loading a
 * livepatch module takes.
 *
 * The kernel's own tracepoints kmem:mm_page_pcpu_drain and mm_page_alloc_zone_locked say as much of
 * pages, but fire for each page: two events a page fault, where this file has two in a batch.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/percpu-rwsem.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/vmstat.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat/pageset.h"
#include "control/debugfs.h"
#include "control/switch.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "livemm.h"
#include "policy/common/zones.h"
#include "record.h"

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

/* The kernel's lock of memory hotplug. */
static struct percpu_rw_semaphore *hotplug;
static DEFINE_MUTEX(lmm_record_mutex);
/* Hooks are armed; under lmm_record_mutex. */
static bool armed;
/* Somebody records, or the worker is ending a recording. */
static bool recording;
/* The file was closed, and the worker has not ended the recording yet. */
static bool ending;
static DECLARE_WAIT_QUEUE_HEAD(ended);

static void list_sample(struct zone *zone, struct per_cpu_pages *pages, int cpu,
			struct record_list *list)
{
	*list = (struct record_list){
		.slot = lmm_zone_slot(zone),
		.count = READ_ONCE(pages->count),
		.high = lmm_pageset_tuned(pages) ?: lmm_pageset_read(pages).high,
		.batch = READ_ONCE(pages->batch),
		.net = lmm_cpu_net(cpu),
		.allocated = lmm_cpu_allocated(zone, cpu),
		.free = zone_page_state(zone, NR_FREE_PAGES),
	};
}

/* A list was refilled, from the buddy unless a policy did. */
static void on_refill(const struct lmm_refill *refill)
{
	struct record_list list;

	if (refill->stocked || !trace_list_refill_enabled())
		return;
	list_sample(refill->zone, refill->pcp, refill->cpu, &list);
	trace_list_refill(&list, refill->order, refill->migratetype, refill->got << refill->order);
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
	struct record_list list;
	int cpu;

	if (!trace_list_drain_enabled())
		return;
	cpu = cpu_of(drain);
	if (cpu < 0)
		return;
	list_sample(drain->zone, drain->pcp, cpu, &list);
	trace_list_drain(&list, cpu, drain->pindex, drain->count);
}

static void zone_look(struct zone *zone)
{
	unsigned int cpus = cpumask_weight(cpumask_of_node(zone_to_nid(zone)));
	struct lmm_pageset_bound def = lmm_pageset_default(zone);
	const struct record_zone state = {
		.slot = lmm_zone_slot(zone),
		.cpus = cpus ?: num_online_cpus(),
		.reclaim = test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags),
		.low = def.low,
		.high = def.high,
		.managed = zone_managed_pages(zone),
		.free = zone_page_state_snapshot(zone, NR_FREE_PAGES),
		.high_mark = lmm_zone_high_mark(zone),
		.mark = lmm_zone_mark(zone),
		.gap = lmm_zone_gap(zone),
	};

	trace_zone_state(&state);
}

static void cpu_look(int cpu)
{
	const struct record_cpu counts = {
		.cpu = cpu,
		.faults = READ_ONCE(per_cpu(vm_event_states, cpu).event[PGFAULT]),
		.freed = lmm_cpu_freed(cpu),
	};

	trace_cpu_state(&counts);
}

/* Process.  While memory comes or goes nothing is looked at: lists may go with their zone. */
static void look(void)
{
	struct zone *zone = NULL;
	int cpu;

	if (!percpu_down_read_trylock(hotplug))
		return;
	while ((zone = lmm_zone_after(zone))) {
		zone_look(zone);
		for_each_online_cpu(cpu) {
			struct record_list list;

			list_sample(zone, per_cpu_ptr(zone->per_cpu_pageset, cpu), cpu, &list);
			trace_list_state(&list, cpu);
		}
		cond_resched();
	}
	percpu_up_read(hotplug);
	for_each_online_cpu(cpu)
		cpu_look(cpu);
}

static const struct lmm_recorder recorder = {
	.refill = on_refill,
	.drain = on_drain,
};

static void disarm(void)
{
	lockdep_assert_held(&lmm_record_mutex);
	if (!armed)
		return;
	lmm_recorder_set(NULL);
	lmm_hooks_disarm(LMM_RECORDER);
	armed = false;
}

static struct workqueue_struct *look_wq;

static void look_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_work_fn);

static void look_work_fn(struct work_struct *work)
{
	unsigned int pause = LOOK_MS * DIV_ROUND_UP(num_online_cpus(), LOOK_CPUS);
	char why[LMM_WHY_LEN];
	bool required;

	look();
	if (mutex_trylock(&lmm_record_mutex)) {
		if (armed && lmm_hooks_lost(LMM_RECORDER, 0, why, sizeof(why), &required))
			disarm();
		mutex_unlock(&lmm_record_mutex);
	}
	queue_delayed_work(look_wq, &look_work, msecs_to_jiffies(pause));
}

/* A wrapper that is not live is asked for, and not waited for.  Under lmm_record_mutex. */
static int try_arm(char *why, size_t len)
{
	int err;

	if (!lmm_hooks_supported(LMM_RECORDER, 0, why, len))
		return -EOPNOTSUPP;
	err = lmm_hooks_await(LMM_RECORDER, 0, LMM_KLP_WANTED, why, len);
	if (err)
		return err == -EINPROGRESS ? -EAGAIN : err;
	err = lmm_hooks_arm(LMM_RECORDER, 0, why, len);
	if (err)
		return err;
	armed = true;
	hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	lmm_recorder_set(&recorder);
	return 0;
}

/* A wait for others ends when the task is killed. */
static int survey_and_arm(char *why, size_t len)
{
	int err;

	/* Not under the mutex: klp_mutex may be held for long. */
	lmm_klp_survey();
	if (mutex_lock_killable(&lmm_record_mutex)) {
		scnprintf(why, len, "killed while another change was under way");
		return -EINTR;
	}
	err = try_arm(why, len);
	mutex_unlock(&lmm_record_mutex);
	return err;
}

static void end_work_fn(struct work_struct *work)
{
	cancel_delayed_work_sync(&look_work);
	look();
	/* Killable to keep the hung task detector silent; nobody kills a worker. */
	if (mutex_lock_killable(&lmm_record_mutex))
		return;
	disarm();
	mutex_unlock(&lmm_record_mutex);
	WRITE_ONCE(recording, false);
	WRITE_ONCE(ending, false);
	wake_up_all(&ended);
}

static DECLARE_WORK(end_work, end_work_fn);

/* A task that exits cannot be killed, so the wait has an end of its own. */
static void end_await(void)
{
	wait_event_killable_timeout(ended, !READ_ONCE(ending), msecs_to_jiffies(END_WAIT_MS));
}

static int record_begin(char *why, size_t len)
{
	char words[LMM_WHY_LEN] = "";
	int err;

	if (lmm_off) {
		scnprintf(why, len, "record: 1: off=1");
		return -EOPNOTSUPP;
	}
	end_await();
	if (xchg(&recording, true)) {
		scnprintf(why, len, "record: 1: %s", READ_ONCE(ending) ?
			  "the last recording is still being ended" :
			  "somebody records already");
		return -EBUSY;
	}
	err = survey_and_arm(words, sizeof(words));
	if (err) {
		scnprintf(why, len, "record: 1: %s", words);
		WRITE_ONCE(recording, false);
		return err;
	}
	queue_delayed_work(look_wq, &look_work, 0);
	return 0;
}

static void record_end(void)
{
	WRITE_ONCE(ending, true);
	queue_work(look_wq, &end_work);
	end_await();
}

static bool record_goes_on(void)
{
	return READ_ONCE(recording) && !READ_ONCE(ending);
}

static const struct lmm_control_session session = {
	.knob = LMM_BOOL("record"),
	.begin = record_begin,
	.end = record_end,
	.goes_on = record_goes_on,
};

static const struct lmm_subscription record_subscriptions[] = {
	LMM_USES(REFILL, "refills are not recorded, and are worked out from counts"),
	LMM_NEEDS(DRAIN, "all of a recording"),
	LMM_NEEDS(MEM_HOTPLUG, "all of a recording: memory could go while its lists are looked at"),
};

static const struct lmm_hook_client record_uses = LMM_HOOK_CLIENT(record);

/**
 * lmm_record_init() - be ready to record
 *
 * Context: process, while the module loads; after every policy is registered, before
 * lmm_control_init().
 * Return: 0, -ENOMEM, or the errno of the hook layer or of dispatch.
 */
int lmm_record_init(void)
{
	int err;

	look_wq = alloc_workqueue("livemm_record", WQ_UNBOUND, 1);
	if (!look_wq)
		return -ENOMEM;
	err = lmm_hooks_subscribe(LMM_RECORDER, &record_uses);
	if (err)
		destroy_workqueue(look_wq);
	else
		lmm_control_session = &session;
	return err;
}

/**
 * lmm_record_exit() - undo lmm_record_init()
 *
 * Context: process; the file is gone, and an open file keeps the module loaded.
 */
void lmm_record_exit(void)
{
	lmm_control_session = NULL;
	flush_work(&end_work);
	lmm_hooks_unsubscribe(LMM_RECORDER);
	destroy_workqueue(look_wq);
}
