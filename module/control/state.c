// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - the table of policies; state and published settings of each, under one spinlock
 *
 * Nothing here waits for the lock of a policy, so that switching off and reading never wait:
 * lmm_policy_cut() stops delivery and publishes that the policy is off at once, whatever else
 * hangs.
 *
 * A task that switches a policy on notes the number of cuts first.  The number must be unchanged
 * at the first step and at the last step.
 */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "flow/events.h"
#include "state.h"

/* By id; written while the module loads and goes, when no other task walks the table. */
struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

/* Of look.c. */
struct workqueue_struct *lmm_wq;

/*
 * Protects state, cuts, off_reason and config of every policy; nothing sleeps under the lock.
 * State and cuts are also read without the lock.
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

/**
 * lmm_policy_next() - walk the registered policies in order of their ids
 * @prev: the policy before, or NULL to begin
 * @named: bit per policy to stop at
 *
 * Registration ends before the first walk can begin, and policies stay until the last walk ends.
 *
 * Context: any.
 * Return: the next policy, or NULL at the end.
 */
struct lmm_policy *lmm_policy_next(struct lmm_policy *prev, unsigned int named)
{
	struct lmm_policy *policy = NULL;
	unsigned int id;

	for (id = prev ? prev->id + 1 : 0; id < LMM_NR_POLICIES && !policy; id++)
		if (named & BIT(id))
			policy = READ_ONCE(lmm_policies[id]);
	return policy;
}

/**
 * lmm_queue() - have a work of control done
 * @work: the work
 * @delay: in jiffies; counts from now, queued before or not
 *
 * Context: any.
 */
void lmm_queue(struct delayed_work *work, unsigned long delay)
{
	if (lmm_wq)
		mod_delayed_work(lmm_wq, work, delay);
}

/* Under lmm_state_lock. */
static void lmm_state_set(struct lmm_policy *policy, enum lmm_policy_state state)
{
	lockdep_assert_held(&lmm_state_lock);
	WRITE_ONCE(policy->state, state);
	if (state == LMM_POLICY_OFF || state == LMM_POLICY_ON)
		cancel_delayed_work(&policy->tell);
	else
		lmm_queue(&policy->tell, LMM_TELL_AFTER);
	wake_up_all(&lmm_state_changed);
}

/**
 * lmm_policy_commit() - change the state, and publish settings, unless the policy was cut meanwhile
 * @policy: a registered policy
 * @config: settings to publish; gets those that were published, which readers may still have.
 *	NULL: the published settings stay
 * @state: the state from here on; events are delivered in the state on.  Off is never refused
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
	cut = policy->cuts != cuts && state != LMM_POLICY_OFF;
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
	return cut ? -ECANCELED : 0;
}

/**
 * lmm_policy_stop() - stop a policy, as part of a change or because somebody wants the policy off
 * @policy: a registered policy
 * @why: the reason in words, for `status`; may be "".  NULL: somebody asks, see lmm_policy_cut();
 *	otherwise no change of the policy that is under way gives up
 *
 * Context: process, @policy->lock held; with @why NULL any.
 */
void lmm_policy_stop(struct lmm_policy *policy, const char *why)
{
	struct lmm_config *config;
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	if (!why || (policy->state != LMM_POLICY_OFF && policy->state != LMM_POLICY_LEAVING))
		strscpy(policy->off_reason, why ?: "", sizeof(policy->off_reason));
	if (policy->state != LMM_POLICY_OFF)
		lmm_events_stop(policy->id);
	config = rcu_dereference_protected(policy->config, lockdep_is_held(&lmm_state_lock));
	WRITE_ONCE(config->enabled, false);
	if (policy->state == LMM_POLICY_ON)
		lmm_state_set(policy, LMM_POLICY_LEAVING);
	else if (policy->state == LMM_POLICY_WAITING)
		lmm_state_set(policy, LMM_POLICY_OFF);
	if (!why)
		/* For lmm_policy_cuts(): whoever sees the cut sees settings that are off. */
		smp_store_release(&policy->cuts, policy->cuts + 1);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
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
