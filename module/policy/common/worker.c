// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - a policy's worker: works periodically, when a hook asks, and on OOM
 *
 * A hook may run under zone->lock, and a workqueue has locks of its own and wakes tasks.  So a hook
 * only queues an irq_work, whose handler runs once interrupts are on again, and queues the work.
 *
 * Lifetime: lmm_worker_init() before any hook is armed; lmm_worker_stop() after the hooks are
 * disarmed, so that no hook can kick; lmm_worker_free() when the policy queues no more work.
 */
#include <linux/cpuset.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/mempolicy.h>
#include <linux/oom.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "worker.h"

/* Runs in hard interrupt context. */
static void worker_kicked(struct irq_work *work)
{
	struct lmm_worker *worker = container_of(work, struct lmm_worker, kick);
	unsigned long delay = worker->delay ? worker->delay() : 0;

	if (delay != MAX_JIFFY_OFFSET)
		lmm_worker_pass_after(worker, delay);
}

/**
 * lmm_worker_init_shared() - set a worker up that does not give memory back; no pass runs yet
 * @worker: the worker
 * @pass: the pass; process context
 * @delay: jiffies from a kick to the pass, or MAX_JIFFY_OFFSET for no pass; called in hard
 *	interrupt context
 *
 * The pass runs on a workqueue of the kernel's, which lmm_worker_free() leaves alone.
 *
 * Context: process.
 */
void lmm_worker_init_shared(struct lmm_worker *worker, work_func_t pass,
			    unsigned long (*delay)(void))
{
	worker->hears = false;
	worker->delay = delay;
	worker->kick = IRQ_WORK_INIT_HARD(worker_kicked);
	INIT_DELAYED_WORK(&worker->pass, pass);
	worker->wq = lmm_unbound_wq;
}

/**
 * lmm_worker_init() - set a worker up that gives memory back; no pass runs yet
 * @worker: the worker
 * @name: name of the workqueue
 * @pass: the pass; process context, allocates nothing
 * @delay: as of lmm_worker_init_shared(); NULL: every kick has a pass begin at once
 * @oom: OOM notifier; adds the pages that were freed to its third argument
 *
 * The workqueue has a rescuer, because memory may be short.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lmm_worker_init(struct lmm_worker *worker, const char *name, work_func_t pass,
		    unsigned long (*delay)(void), notifier_fn_t oom)
{
	lmm_worker_init_shared(worker, pass, delay);
	worker->oom.notifier_call = oom;
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
 * lmm_oom_nodes() - nodes of the request for which the OOM killer looks
 *
 * The policy that mbind() sets is not known here.
 *
 * Context: an OOM notifier: process, current is the task that asks.
 * Return: the nodes.
 */
nodemask_t lmm_oom_nodes(void)
{
	nodemask_t nodes = cpuset_current_mems_allowed;

#ifdef CONFIG_NUMA
	if (current->mempolicy && current->mempolicy->mode == MPOL_BIND)
		nodes_and(nodes, nodes, current->mempolicy->nodes);
#endif
	return nodes;
}

/**
 * lmm_worker_stop() - end the pass and the OOM notifier
 * @worker: a worker that was set up, and that no hook kicks any more
 *
 * Waits for a handler of a kick, which queues the pass, and then for the pass.  A pass that queues
 * itself again is cancelled too.
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
