// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - state and published settings of each policy, under one spinlock
 *
 * Nothing here waits for the control mutex, so that switching off and reading never wait:
 * lmm_policy_cut() stops delivery and publishes the settings with the policy off at once, whatever
 * else hangs.
 *
 * A task that switches a policy on notes the number of cuts first.  The number must be unchanged
 * at the first step and at the last step.  All three are under the lock that lmm_policy_cut()
 * takes, so that a cut that is under way counts whole or not at all.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "control.h"
#include "events.h"
#include "state.h"

/*
 * Protects state, cuts, waiting, standby_reason, config and config_off of every policy; nothing
 * sleeps under the lock.  State and cuts are also read without the lock.
 */
static DEFINE_SPINLOCK(lmm_state_lock);

static DECLARE_WAIT_QUEUE_HEAD(lmm_state_changed);

/* Publish new settings; under lmm_state_lock.  Returns the old ones, to be freed. */
static struct lmm_config *lmm_policy_publish(struct lmm_policy *policy, struct lmm_config *config,
					     struct lmm_config *off)
{
	lockdep_assert_held(&lmm_state_lock);

	/* Only a cut publishes this copy, and no cut has come, so no reader has seen the copy. */
	kfree(policy->config_off);
	policy->config_off = off;
	return rcu_replace_pointer(policy->config, config, lockdep_is_held(&lmm_state_lock));
}

/**
 * lmm_cut_meanwhile() - a policy that was cut since the begin of a change stays off
 * @why: gets the reason in words
 * @len: size of @why
 *
 * Context: any.
 * Return: -ECANCELED.
 */
int lmm_cut_meanwhile(char *why, size_t len)
{
	scnprintf(why, len, "switched off meanwhile");
	return -ECANCELED;
}

/**
 * lmm_policy_commit() - publish settings and start delivery, unless the policy was cut meanwhile
 * @sw: the change
 * @go: the policy is on from here on, and events are delivered
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, control mutex held.
 * Return: 0, or -ECANCELED; then nothing was published.
 */
int lmm_policy_commit(struct lmm_switch *sw, bool go, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	struct lmm_config *old = NULL;
	unsigned long flags;
	bool cut;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cut = policy->cuts != sw->cuts;
	if (!cut && sw->publish)
		old = lmm_policy_publish(policy, sw->publish, sw->publish_off);
	if (!cut && go) {
		WRITE_ONCE(policy->state, LMM_POLICY_ON);
		policy->on = true;
		lmm_events_start(policy->id);
	}
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	if (old)
		kfree_rcu(old, rcu);
	if (cut)
		return lmm_cut_meanwhile(why, len);
	if (go) {
		/* Tasks may wait for an earlier "off", and wrappers may have changed meanwhile. */
		wake_up_all(&lmm_state_changed);
		lmm_policies_look_soon();
	}
	return 0;
}

/**
 * lmm_policy_begin() - begin to switch on or over, unless the policy was cut meanwhile
 * @sw: the change
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, control mutex held.
 * Return: 0, or -ECANCELED.
 */
int lmm_policy_begin(const struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	unsigned long flags;
	bool cut;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cut = policy->cuts != sw->cuts;
	if (!cut)
		WRITE_ONCE(policy->state, LMM_POLICY_LOADING);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	return cut ? lmm_cut_meanwhile(why, len) : 0;
}

/**
 * lmm_policy_cuts() - number of cuts of a policy
 * @policy: a registered policy
 *
 * Context: any.
 * Return: the number; a cut that is under way counts whole or not at all.
 */
unsigned int lmm_policy_cuts(const struct lmm_policy *policy)
{
	unsigned long flags;
	unsigned int cuts;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cuts = policy->cuts;
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	return cuts;
}

/**
 * lmm_policies_cuts() - number of cuts of each policy
 * @cuts: gets the numbers, by policy id
 *
 * Settings that are read afterwards are not older than the numbers.
 *
 * Context: any.
 */
void lmm_policies_cuts(unsigned int cuts[LMM_NR_POLICIES])
{
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		cuts[policy->id] = lmm_policy_cuts(policy);
}

/**
 * lmm_policy_config_copy() - the settings that are published
 * @policy: a registered policy
 * @config: gets the settings
 *
 * Context: any.
 */
void lmm_policy_config_copy(const struct lmm_policy *policy, struct lmm_config *config)
{
	rcu_read_lock();
	*config = *rcu_dereference(policy->config);
	rcu_read_unlock();
}

/**
 * lmm_policy_changes_values() - do settings differ from the published ones, apart from `enabled`?
 * @policy: a registered policy
 * @want: the settings
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_policy_changes_values(const struct lmm_policy *policy, const struct lmm_config *want)
{
	const struct lmm_config *now;
	bool same;

	rcu_read_lock();
	now = rcu_dereference(policy->config);
	same = !strcmp(now->text, want->text) &&
	       !memcmp(now->value, want->value, policy->nr_knobs * sizeof(now->value[0]));
	rcu_read_unlock();
	return !same;
}

/**
 * lmm_policy_mode_now() - the mode that is published
 * @policy: a registered policy
 *
 * Context: any.
 * Return: index of the choice.
 */
unsigned int lmm_policy_mode_now(const struct lmm_policy *policy)
{
	unsigned int mode;

	rcu_read_lock();
	mode = lmm_policy_mode(policy, rcu_dereference(policy->config));
	rcu_read_unlock();
	return mode;
}

static void policy_stop(struct lmm_policy *policy, bool cut)
{
	struct lmm_config *old = NULL;
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	if (cut)
		WRITE_ONCE(policy->cuts, policy->cuts + 1);
	if (policy->state != LMM_POLICY_OFF)
		lmm_events_stop(policy->id);
	if (policy->config_off) {
		old = rcu_replace_pointer(policy->config, policy->config_off,
					  lockdep_is_held(&lmm_state_lock));
		policy->config_off = NULL;
	}
	if (policy->state == LMM_POLICY_ON)
		WRITE_ONCE(policy->state, LMM_POLICY_LEAVING);
	else if (policy->state == LMM_POLICY_STANDBY)
		WRITE_ONCE(policy->state, LMM_POLICY_OFF);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	if (old)
		kfree_rcu(old, rcu);
	wake_up_all(&lmm_state_changed);
}

/**
 * lmm_policy_cut() - somebody wants a policy off: stop the policy at once
 * @policy: a registered policy
 *
 * The policy gets no event any more, the published settings say off, and a task that switches the
 * policy on gives up.  lmm_policy_tidy() later restores values that the policy has changed.
 *
 * Context: any.
 */
void lmm_policy_cut(struct lmm_policy *policy)
{
	policy_stop(policy, true);
}

/**
 * lmm_policy_stop() - stop a policy that nobody wants off, as part of a change
 * @policy: a registered policy
 *
 * As lmm_policy_cut(), but a task that waits to switch the policy on goes on to wait.  For a change
 * that failed and is taken back.
 *
 * Context: process, control mutex held.
 */
void lmm_policy_stop(struct lmm_policy *policy)
{
	policy_stop(policy, false);
}

/**
 * lmm_policy_leave() - a policy that is on begins to be taken down
 * @policy: the policy
 *
 * Context: process, control mutex held.
 */
void lmm_policy_leave(struct lmm_policy *policy)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	WRITE_ONCE(policy->state, LMM_POLICY_LEAVING);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
}

/**
 * lmm_policy_settle() - a policy has been taken down
 * @policy: the policy
 * @state: off or standby; off in any case after a cut
 *
 * Context: process, control mutex held.
 */
void lmm_policy_settle(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	policy->on = false;
	/* lmm_policy_cut() has published config_off. */
	WRITE_ONCE(policy->state, policy->config_off ? state : LMM_POLICY_OFF);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
}

/**
 * lmm_policy_set_reason() - note why a policy stands by
 * @policy: the policy
 * @why: the reason in words
 *
 * Context: process, control mutex held.
 */
void lmm_policy_set_reason(struct lmm_policy *policy, const char *why)
{
	spin_lock_irq(&lmm_state_lock);
	strscpy(policy->standby_reason, why, sizeof(policy->standby_reason));
	spin_unlock_irq(&lmm_state_lock);
}

/**
 * lmm_policy_state() - state of a policy
 * @policy: a registered policy
 * @why: gets the reason for standby; unchanged in another state
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: the state; also loading while a task waits for livepatches to switch the policy on.
 */
enum lmm_policy_state lmm_policy_state(struct lmm_policy *policy, char *why, size_t len)
{
	enum lmm_policy_state state;

	spin_lock_irq(&lmm_state_lock);
	state = policy->state;
	if (state == LMM_POLICY_OFF && policy->waiting)
		state = LMM_POLICY_LOADING;
	if (state == LMM_POLICY_STANDBY)
		strscpy(why, policy->standby_reason, len);
	spin_unlock_irq(&lmm_state_lock);
	return state;
}

/* A policy that is cut in the state loading is taken down before the state changes. */
static bool lmm_policies_tidied(unsigned int named)
{
	const unsigned long under_way = BIT(LMM_POLICY_LEAVING) | BIT(LMM_POLICY_LOADING);
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		if (named & BIT(policy->id) && BIT(READ_ONCE(policy->state)) & under_way)
			return false;
	return true;
}

/**
 * lmm_policies_wait() - wait until policies that were cut have been tidied up
 * @named: bit per policy
 * @timeout_ms: longest wait, in ms
 *
 * Context: process, control mutex not held; killable.
 */
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms)
{
	wait_event_killable_timeout(lmm_state_changed, lmm_policies_tidied(named),
				    msecs_to_jiffies(timeout_ms));
}

/**
 * lmm_policies_waiting() - note that a task waits for livepatches to switch policies on
 * @named: bit per policy
 * @wait: true: the wait begins; false: the wait has ended
 *
 * Context: process.
 */
void lmm_policies_waiting(unsigned int named, bool wait)
{
	struct lmm_policy *policy = NULL;

	spin_lock_irq(&lmm_state_lock);
	while ((policy = lmm_policy_next(policy)))
		if (named & BIT(policy->id))
			policy->waiting += wait ? 1 : -1;
	spin_unlock_irq(&lmm_state_lock);
}
