/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - a policy's worker: works periodically, when a hook asks, and on OOM
 */
#ifndef LIVEMM_POLICY_COMMON_WORKER_H
#define LIVEMM_POLICY_COMMON_WORKER_H

#include <linux/irq_work.h>
#include <linux/nodemask.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

/**
 * struct lmm_worker - a policy's worker
 * @wq: workqueue of @pass
 * @pass: the work
 * @kick: queues @pass from contexts that may take no lock
 * @delay: jiffies from a kick to the pass, or MAX_JIFFY_OFFSET for no pass; NULL: none
 * @oom: called before the kernel chooses a task to kill
 * @hears: @oom is registered
 */
struct lmm_worker {
	struct workqueue_struct *wq;
	struct delayed_work pass;
	struct irq_work kick;
	unsigned long (*delay)(void);
	struct notifier_block oom;
	bool hears;
};

int lmm_worker_init(struct lmm_worker *worker, const char *name, work_func_t pass,
		    unsigned long (*delay)(void), notifier_fn_t oom);
void lmm_worker_init_shared(struct lmm_worker *worker, work_func_t pass,
			    unsigned long (*delay)(void));
int lmm_worker_hear_oom(struct lmm_worker *worker);
nodemask_t lmm_oom_nodes(void);
void lmm_worker_stop(struct lmm_worker *worker);
void lmm_worker_free(struct lmm_worker *worker);

/**
 * lmm_worker_deaf() - would a kick be lost?
 *
 * When the machine is about to sleep, or writes the image of hibernation, the last CPU has its
 * local APIC off.  The interrupt of an irq_work that is queued then never comes, and no later one
 * of that CPU is asked for (__irq_work_queue_local()).
 *
 * Context: any.
 * Return: true if no pass can be asked for now.
 */
static inline bool lmm_worker_deaf(void)
{
	return READ_ONCE(system_state) == SYSTEM_SUSPEND;
}

/**
 * lmm_worker_kick() - queue a pass from a hook
 * @worker: a worker that was set up
 *
 * Queues nothing if the kick would be lost: lmm_worker_deaf().
 *
 * Context: any, also under pcp->lock and zone->lock.
 */
static inline void lmm_worker_kick(struct lmm_worker *worker)
{
	if (!lmm_worker_deaf())
		irq_work_queue(&worker->kick);
}

/**
 * lmm_worker_pass_after() - queue a pass
 * @worker: a worker that was set up
 * @delay: jiffies until the pass
 *
 * Context: any but a hook, which calls lmm_worker_kick().
 */
static inline void lmm_worker_pass_after(struct lmm_worker *worker, unsigned long delay)
{
	mod_delayed_work(worker->wq, &worker->pass, delay);
}

#endif /* LIVEMM_POLICY_COMMON_WORKER_H */
