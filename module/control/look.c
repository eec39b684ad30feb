// SPDX-License-Identifier: GPL-2.0-only
/*
 * look.c - policies come and go; workers that tidy up, look after hooks, and say what hangs
 *
 * Each policy has a work item of its own, because the kernel may make one policy wait for long.
 */
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "compat/export.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "look.h"
#include "switch.h"

static void lmm_look_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(lmm_look_work, lmm_look_worker);
/* Queued whenever hooks are looked after; NULL: nothing. */
static struct work_struct __rcu *lmm_heard;

static void lmm_queue_policies(unsigned int named)
{
	struct lmm_policy *policy;

	/* lmm_policy_unregister() waits for whoever has found the policy in the table. */
	rcu_read_lock();
	lmm_for_each_policy(policy, named)
		if (lmm_wq)
			queue_work(lmm_wq, &policy->work);
	rcu_read_unlock();
}

/* Tidy up after a cut, and move a policy on or off as livepatches do. */
static void lmm_policy_work(struct work_struct *work)
{
	struct lmm_policy *policy = container_of(work, struct lmm_policy, work);

	/* Killable to keep the hung task detector silent; nobody kills a worker. */
	if (mutex_lock_killable(&policy->lock))
		return;
	lmm_policy_look(policy);
	mutex_unlock(&policy->lock);
}

/* The survey waits for klp_mutex, which may be held for long; tidying up does not. */
static void lmm_look_worker(struct work_struct *work)
{
	char name[MODULE_NAME_LEN];
	struct lmm_policy *policy;
	struct work_struct *heard;

	lmm_klp_survey();
	lmm_queue_policies(LMM_ALL_POLICIES);
	rcu_read_lock();
	heard = rcu_dereference(lmm_heard);
	if (heard)
		queue_work(lmm_wq, heard);
	rcu_read_unlock();
	/*
	 * The kernel does not tell when the transition ends; a policy may wait for that.  Sooner,
	 * not later, if somebody has asked meanwhile.
	 */
	if (lmm_klp_others_in_transition(name, sizeof(name)))
		lmm_for_each_policy(policy, LMM_ALL_POLICIES)
			if (READ_ONCE(policy->state) != LMM_POLICY_OFF)
				queue_delayed_work(lmm_wq, &lmm_look_work, HZ);
}

/**
 * lmm_look_hear() - have a work queued whenever livepatches or hooks may have changed
 * @work: the work; NULL: none any more, and the caller then cancels the work
 *
 * Context: process, may sleep; the caller serialises.
 */
void lmm_look_hear(struct work_struct *work)
{
	rcu_assign_pointer(lmm_heard, work);
	synchronize_rcu();
}
EXPORT_SYMBOL_LMM(lmm_look_hear);

/**
 * lmm_look_soon() - have workers look after the hooks of every policy
 *
 * Context: any.
 */
void lmm_look_soon(void)
{
	lmm_queue(&lmm_look_work, 0);
}

/**
 * lmm_policy_waits() - what a policy that is waiting, loading or leaving waits for
 * @policy: the policy
 * @why: gets the words; unchanged in another state
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 */
void lmm_policy_waits(const struct lmm_policy *policy, char *why, size_t len)
{
	enum lmm_policy_state state = READ_ONCE(policy->state);

	if (state == LMM_POLICY_WAITING)
		lmm_hooks_await(policy->id, lmm_policy_mode_now(policy), LMM_KLP_TELL, why, len);
	else if (lmm_policy_busy(policy) && !lmm_hooks_waits(policy->id, why, len))
		scnprintf(why, len, "%s", state == LMM_POLICY_LOADING ? "the policy starts" :
			  "values are restored");
}

/* The kernel log says what a policy waits for. */
static void lmm_policy_tell(struct work_struct *work)
{
	struct lmm_policy *policy = container_of(work, struct lmm_policy, tell.work);
	enum lmm_policy_state state = READ_ONCE(policy->state);
	char why[LMM_WHY_LEN] = "";

	/* The state may have changed just now. */
	if (state == LMM_POLICY_OFF || state == LMM_POLICY_ON)
		return;
	lmm_policy_waits(policy, why, sizeof(why));
	pr_notice("livemm: %s has been %s for %u s: %s\n", policy->name,
		  lmm_policy_state_name[state], LMM_TELL_AFTER / HZ, why);
}

/**
 * lmm_policies_cut() - stop policies at once; their values are restored later
 * @named: bit per policy
 *
 * Context: any.
 */
void lmm_policies_cut(unsigned int named)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, named)
		lmm_policy_cut(policy);
	lmm_queue_policies(named);
}

/**
 * lmm_policy_register() - make a policy known, switched off, with its defaults
 * @policy: owned by the caller; control owns the members from @lock on
 *
 * Context: process, while the module loads; may sleep.
 * Return: 0, -ENOMEM, or what lmm_hooks_subscribe() refuses with, -EEXIST if its id is taken.
 */
int lmm_policy_register(struct lmm_policy *policy)
{
	struct lmm_config *config;
	unsigned int i;
	int err;

	err = lmm_hooks_subscribe(policy->id, policy->uses);
	if (err)
		return err;
	config = kzalloc(sizeof(*config), GFP_KERNEL);
	policy->counters = lmm_counters_alloc(policy->nr_counters);
	if (!config || !policy->counters)
		goto err_memory;
	lmm_events_register(policy->id, policy->events);
	for (i = 0; i < policy->nr_knobs; i++)
		config->value[i] = policy->knobs[i].def;
	mutex_init(&policy->lock);
	INIT_WORK(&policy->work, lmm_policy_work);
	INIT_DELAYED_WORK(&policy->tell, lmm_policy_tell);
	policy->state = LMM_POLICY_OFF;
	policy->off_reason[0] = '\0';
	rcu_assign_pointer(policy->config, config);
	WRITE_ONCE(lmm_policies[policy->id], policy);
	return 0;

err_memory:
	free_percpu(policy->counters);
	kfree(config);
	lmm_hooks_unsubscribe(policy->id);
	return -ENOMEM;
}

/**
 * lmm_policy_unregister() - switch a policy off and remove it from the registry
 * @policy: a policy; nothing happens if the policy is not registered
 *
 * The files of the policy must be gone already.
 *
 * Context: process, while the module goes; may sleep.
 */
void lmm_policy_unregister(struct lmm_policy *policy)
{
	if (lmm_policies[policy->id] != policy)
		return;
	lmm_policy_cut(policy);
	mutex_lock(&policy->lock);
	lmm_policy_tidy(policy);
	mutex_unlock(&policy->lock);
	WRITE_ONCE(lmm_policies[policy->id], NULL);
	/* Whoever has found the policy in the table queues its work. */
	synchronize_rcu();
	cancel_work_sync(&policy->work);
	cancel_delayed_work_sync(&policy->tell);
	lmm_events_unregister(policy->id);
	lmm_hooks_unsubscribe(policy->id);
	kfree_rcu(rcu_dereference_protected(policy->config, true), rcu);
	free_percpu(policy->counters);
	policy->counters = NULL;
}

/**
 * lmm_look_init() - prepare for policies
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lmm_look_init(void)
{
	/* WQ_MEM_RECLAIM: tidying up frees memory. */
	lmm_wq = alloc_workqueue("livemm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return lmm_wq ? 0 : -ENOMEM;
}

/**
 * lmm_look_exit() - undo lmm_look_init(); no policy is left, and no file, lease or hook
 *
 * Context: process, may sleep.
 */
void lmm_look_exit(void)
{
	cancel_delayed_work_sync(&lmm_look_work);
	destroy_workqueue(lmm_wq);
}
