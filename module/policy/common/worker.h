/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - a worker that gives memory back: at times, when a hook asks, when memory runs out
 */
#ifndef LIVEMM_POLICY_COMMON_WORKER_H
#define LIVEMM_POLICY_COMMON_WORKER_H

#include <linux/irq_work.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

/**
 * struct lmm_worker - a policy's worker
 * @wq: runs the policy's works; has a rescuer, since memory may be short
 * @pass: the work that a kick asks for
 * @kick: queues @pass from where no lock may be taken
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
 * lmm_worker_kick() - have a pass made soon
 * @worker: a worker that lmm_worker_init() has made
 *
 * Context: any; under pcp->lock and zone->lock too.
 */
static inline void lmm_worker_kick(struct lmm_worker *worker)
{
	irq_work_queue(&worker->kick);
}

/**
 * lmm_worker_pass_after() - have a pass made
 * @worker: a worker that lmm_worker_init() has made
 * @delay: jiffies from now
 *
 * Context: any but a hook; see lmm_worker_kick().
 */
static inline void lmm_worker_pass_after(struct lmm_worker *worker, unsigned long delay)
{
	mod_delayed_work(worker->wq, &worker->pass, delay);
}

#endif /* LIVEMM_POLICY_COMMON_WORKER_H */
