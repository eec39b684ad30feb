// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - a worker that gives memory back: periodically, when a hook asks, and on OOM
 *
 * Lifetime: lmm_worker_init() before any hook is armed; lmm_worker_stop() after the hooks are
 * disarmed, so that no hook can kick; lmm_worker_free() when the policy queues no more work.
 */
#include <linux/errno.h>
#include <linux/oom.h>

#include "worker.h"

/* Runs in hard interrupt context. */
static void worker_kicked(struct irq_work *work)
{
	lmm_worker_pass_after(container_of(work, struct lmm_worker, kick), 0);
}

/**
 * lmm_worker_init() - set a worker up; no pass runs yet
 * @worker: the worker
 * @name: name of the workqueue
 * @pass: the pass; process context, allocates nothing
 * @oom: OOM notifier; adds the pages that were freed to its third argument
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lmm_worker_init(struct lmm_worker *worker, const char *name, work_func_t pass,
		    notifier_fn_t oom)
{
	worker->hears = false;
	worker->oom.notifier_call = oom;
	worker->kick = IRQ_WORK_INIT_HARD(worker_kicked);
	INIT_DELAYED_WORK(&worker->pass, pass);
	worker->wq = alloc_workqueue("%s", WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_UNBOUND, 0, name);
	return worker->wq ? 0 : -ENOMEM;
}

/**
 * lmm_worker_hear_oom() - register the worker's OOM notifier
 * @worker: a worker that lmm_worker_init() has set up
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int lmm_worker_hear_oom(struct lmm_worker *worker)
{
	int err = register_oom_notifier(&worker->oom);

	worker->hears = !err;
	return err;
}

/**
 * lmm_worker_stop() - end the pass and the OOM notifier
 * @worker: a worker that lmm_worker_init() has set up, and that no hook kicks any more
 *
 * A pass that queues itself again is cancelled too.
 *
 * Context: process, may sleep.
 */
void lmm_worker_stop(struct lmm_worker *worker)
{
	if (worker->hears)
		unregister_oom_notifier(&worker->oom);
	worker->hears = false;
	irq_work_sync(&worker->kick);
	cancel_delayed_work_sync(&worker->pass);
}

/**
 * lmm_worker_free() - undo lmm_worker_init()
 * @worker: a stopped worker, or one for which lmm_worker_init() has failed
 *
 * Context: process, may sleep.
 */
void lmm_worker_free(struct lmm_worker *worker)
{
	if (worker->wq)
		destroy_workqueue(worker->wq);
	worker->wq = NULL;
}
