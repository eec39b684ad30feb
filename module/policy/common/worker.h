/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - a worker that gives memory back: periodically, when a hook asks, and on OOM
 */
#ifndef LIVEMM_POLICY_COMMON_WORKER_H
#define LIVEMM_POLICY_COMMON_WORKER_H

#include <linux/irq_work.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

/**
 * struct lmm_worker - a policy's worker
 * @wq: workqueue of the policy; has a rescuer, because memory may be short
 * @pass: the work that gives memory back
 * @kick: queues @pass from contexts that may take no lock
 * @oom: called before the kernel chooses a task to kill
 * @hears: @oom is registered
 */
struct lmm_worker {
	struct workqueue_struct *wq;
	struct delayed_work pass;
	struct irq_work kick;
	struct notifier_block oom;
	bool hears;
};

int lmm_worker_init(struct lmm_worker *worker, const char *name, work_func_t pass,
		    notifier_fn_t oom);
int lmm_worker_hear_oom(struct lmm_worker *worker);
void lmm_worker_stop(struct lmm_worker *worker);
void lmm_worker_free(struct lmm_worker *worker);

/**
 * lmm_worker_kick() - queue a pass from a hook
 * @worker: a worker that lmm_worker_init() has set up
 *
 * Context: any, also under pcp->lock and zone->lock.
 */
static inline void lmm_worker_kick(struct lmm_worker *worker)
{
	irq_work_queue(&worker->kick);
}

/**
 * lmm_worker_pass_after() - queue a pass
 * @worker: a worker that lmm_worker_init() has set up
 * @delay: jiffies until the pass
 *
 * Context: any but a hook, which calls lmm_worker_kick().
 */
static inline void lmm_worker_pass_after(struct lmm_worker *worker, unsigned long delay)
{
	mod_delayed_work(worker->wq, &worker->pass, delay);
}

#endif /* LIVEMM_POLICY_COMMON_WORKER_H */
