// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - state and published settings of each policy, under one spinlock
 *
 * Nothing here waits for the lock of a policy, so that switching off and reading never wait:
 * lmm_policy_cut() stops delivery and publishes that the policy is off at once, whatever else
 * hangs.
 *
 * A task that switches a policy on notes the number of cuts first.  The number must be unchanged
 * at the first step and at the last step.  All three are under the lock that lmm_policy_cut()
 * takes, so that a cut that is under way counts whole or not at all.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "flow/events.h"
#include "policies.h"
#include "state.h"

/*
 * Protects state, since, cuts, off_reason and config of every policy; nothing sleeps
 * under the lock.  State and cuts are also read without the lock.
 */
static DEFINE_SPINLOCK(lmm_state_lock);

static DECLARE_WAIT_QUEUE_HEAD(lmm_state_changed);

const char *const lmm_policy_state_name[] = {
	[LMM_POLICY_OFF] = "off",
	[LMM_POLICY_WAITING] = "waiting",
	[LMM_POLICY_LOADING] = "loading",
	[LMM_POLICY_ON] = "on",
	[LMM_POLICY_LEAVING] = "leaving",
};

/* Under lmm_state_lock. */
static void lmm_state_set(struct lmm_policy *policy, enum lmm_policy_state state)
{
	lockdep_assert_held(&lmm_state_lock);
	policy->since = jiffies;
	WRITE_ONCE(policy->told, false);
	WRITE_ONCE(policy->state, state);
}

/**
 * lmm_policy_cuts() - number of cuts of a policy
 * @policy: a registered policy
 *
 * Settings that are read afterwards are not older than the number.
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
 * lmm_policy_commit() - change the state, and publish settings, unless the policy was cut meanwhile
 * @policy: a registered policy
 * @config: settings to publish; gets those that were published, which readers may still have.
 *	NULL: the published settings stay
 * @state: the state from here on; events are delivered in the state on
 * @cuts: number of cuts at the begin
 *
 * Context: process, @policy->lock held.
 * Return: 0, or -ECANCELED; then nothing was published.
 */
int lmm_policy_commit(struct lmm_policy *policy, struct lmm_config **config,
		      enum lmm_policy_state state, unsigned int cuts)
{
	unsigned long flags;
	bool cut;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cut = policy->cuts != cuts;
	if (!cut && config)
		*config = rcu_replace_pointer(policy->config, *config,
					      lockdep_is_held(&lmm_state_lock));
	if (!cut) {
		lmm_state_set(policy, state);
		/* Whoever has switched the policy on has seen the reason. */
		if (state == LMM_POLICY_ON || state == LMM_POLICY_WAITING)
			policy->off_reason[0] = '\0';
		if (state == LMM_POLICY_ON)
			lmm_events_start(policy->id);
	}
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	/* Tasks may wait for an earlier "off". */
	if (!cut)
		wake_up_all(&lmm_state_changed);
	return cut ? -ECANCELED : 0;
}

static void policy_stop(struct lmm_policy *policy, bool cut, const char *why)
{
	struct lmm_config *config;
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	if (cut)
		WRITE_ONCE(policy->cuts, policy->cuts + 1);
	if (cut || (policy->state != LMM_POLICY_OFF && policy->state != LMM_POLICY_LEAVING))
		strscpy(policy->off_reason, why, sizeof(policy->off_reason));
	if (policy->state != LMM_POLICY_OFF)
		lmm_events_stop(policy->id);
	config = rcu_dereference_protected(policy->config, lockdep_is_held(&lmm_state_lock));
	WRITE_ONCE(config->enabled, false);
	if (policy->state == LMM_POLICY_ON)
		lmm_state_set(policy, LMM_POLICY_LEAVING);
	else if (policy->state == LMM_POLICY_WAITING)
		lmm_state_set(policy, LMM_POLICY_OFF);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
}

/**
 * lmm_policy_cut() - somebody wants a policy off: stop the policy at once
 * @policy: a registered policy
 *
 * The policy gets no event any more, the published settings say off, and a task that switches the
 * policy on gives up.  Somebody later restores values that the policy has changed.
 *
 * Context: any.
 */
void lmm_policy_cut(struct lmm_policy *policy)
{
	policy_stop(policy, true, "");
}

/**
 * lmm_policy_stop() - stop a policy that nobody wants off, as part of a change
 * @policy: a registered policy
 * @why: the reason in words, for `status`; may be ""
 *
 * As lmm_policy_cut(), but no change of the policy that is under way gives up.
 *
 * Context: process, @policy->lock held.
 */
void lmm_policy_stop(struct lmm_policy *policy, const char *why)
{
	policy_stop(policy, false, why);
}

/**
 * lmm_policy_settle() - a policy has been taken down
 * @policy: the policy
 * @state: off or waiting; off in any case after a cut
 *
 * Context: process, @policy->lock held.
 */
void lmm_policy_settle(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	lmm_state_set(policy, rcu_dereference_protected(policy->config,
							lockdep_is_held(&lmm_state_lock))->enabled ?
		      state : LMM_POLICY_OFF);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
}

/**
 * lmm_policy_state() - state of a policy
 * @policy: a registered policy
 * @why: gets the reason why livemm has switched the policy off; unchanged if livemm has not
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: the state.
 */
enum lmm_policy_state lmm_policy_state(struct lmm_policy *policy, char *why, size_t len)
{
	enum lmm_policy_state state;

	spin_lock_irq(&lmm_state_lock);
	state = policy->state;
	if (state == LMM_POLICY_OFF && policy->off_reason[0])
		strscpy(why, policy->off_reason, len);
	spin_unlock_irq(&lmm_state_lock);
	return state;
}

/**
 * lmm_policy_mode_now() - the mode that is published
 * @policy: a registered policy
 *
 * Context: any.
 * Return: the mode.
 */
unsigned int lmm_policy_mode_now(const struct lmm_policy *policy)
{
	unsigned int mode;

	rcu_read_lock();
	mode = lmm_policy_mode(policy, lmm_policy_now(policy));
	rcu_read_unlock();
	return mode;
}

/* A policy that is cut in the state loading is taken down before the state changes. */
static bool lmm_policies_tidied(unsigned int named)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, named)
		if (lmm_policy_busy(policy))
			return false;
	return true;
}

/**
 * lmm_policies_wait() - wait until policies that were cut have been tidied up
 * @named: bit per policy
 * @timeout_ms: longest wait, in ms
 *
 * Context: process, no policy's lock held; killable.
 */
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms)
{
	wait_event_killable_timeout(lmm_state_changed, lmm_policies_tidied(named),
				    msecs_to_jiffies(timeout_ms));
}
