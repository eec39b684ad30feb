// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry.c - policies come and go
 */
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "flow/events.h"
#include "hook/hook.h"
#include "knobs.h"
#include "look.h"
#include "registry.h"
#include "state.h"
#include "switch.h"

/**
 * lmm_policy_register() - make a policy known, switched off, with its defaults
 * @policy: owned by the caller; control owns the members from @lock on
 *
 * Context: process, while the module loads; may sleep.
 * Return: 0, -ENOMEM, or what lmm_hooks_subscribe(), with -EEXIST if its id is taken, or
 * lmm_events_register() refuse with.
 */
int lmm_policy_register(struct lmm_policy *policy)
{
	struct lmm_config *config;
	unsigned int i;
	int err;

	err = lmm_hooks_subscribe(policy->id, policy->uses);
	if (err)
		return err;
	err = lmm_events_register(policy->id, policy->events);
	if (err)
		goto err_hooks;
	err = -ENOMEM;
	config = kzalloc(sizeof(*config), GFP_KERNEL);
	policy->counters = lmm_counters_alloc(policy->nr_counters);
	if (!config || !policy->counters)
		goto err_events;
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

err_events:
	free_percpu(policy->counters);
	kfree(config);
	lmm_events_unregister(policy->id);
err_hooks:
	lmm_hooks_unsubscribe(policy->id);
	return err;
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
