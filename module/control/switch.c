// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch.c - the table of policies, and how a policy goes from off to on and back
 *
 *	OFF -> LOADING -> ON -> LEAVING -> OFF
 *	OFF -> WAITING -> LOADING -> ON
 *
 * State and published settings of each policy are under one spinlock.  Nobody who switches off or
 * reads waits for the lock of a policy: lmm_policy_cut() stops delivery and publishes that the
 * policy is off at once, whatever else hangs.  A worker that has the lock tidies up later.
 * All else here is under the lock of the policy.
 *
 * A task that switches a policy on notes the number of cuts first.  The number must be unchanged
 * at the first step and at the last step.
 *
 * A policy waits while a livepatch that the policy requires is being loaded.  Whatever changes a
 * livepatch has a worker look at the policies; lmm_policy_look() goes on from there.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat/export.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "switch.h"

bool lmm_off;
EXPORT_SYMBOL_LMM(lmm_off);

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
	if (state == LMM_POLICY_ON)
		lmm_events_start(policy->id);
	else
		lmm_events_stop(policy->id);
	if (state == LMM_POLICY_OFF || state == LMM_POLICY_ON)
		cancel_delayed_work(&policy->tell);
	else
		lmm_queue(&policy->tell, LMM_TELL_AFTER);
	wake_up_all(&lmm_state_changed);
}

/*
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
static int lmm_policy_commit(struct lmm_policy *policy, struct lmm_config **config,
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

/*
 * lmm_policy_settle() - a policy has been taken down
 * @policy: the policy
 * @state: off or waiting; off in any case after a cut
 *
 * Context: process, @policy->lock held.
 */
static void lmm_policy_settle(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	lmm_state_set(policy, lmm_policy_now(policy)->enabled ? state : LMM_POLICY_OFF);
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

/**
 * lmm_policies_wait() - wait until policies that were cut have been tidied up
 * @named: bit per policy
 * @timeout_ms: longest wait, in ms
 *
 * A policy that is cut in the state loading is taken down before the state changes.
 *
 * Context: process, no policy's lock held; killable.
 */
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms)
{
	long left = msecs_to_jiffies(timeout_ms);
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, named)
		if (left > 0)
			left = wait_event_killable_timeout(lmm_state_changed,
							   !lmm_policy_busy(policy), left);
}

/* Put "policy/" or "policy/enabled: 1: " before a reason. */
static int lmm_refused(const struct lmm_policy *policy, const char *what, int err, char *why)
{
	char words[LMM_WHY_LEN];

	strscpy(words, err == -ECANCELED ? "switched off meanwhile" : why, sizeof(words));
	if (!words[0])
		scnprintf(words, sizeof(words), "error %d", err);
	scnprintf(why, LMM_WHY_LEN, "%s/%s%s", policy->name, what, words);
	return err;
}

/* Can this kernel run the policy in a mode? */
static bool lmm_mode_supported(struct lmm_policy *policy, unsigned int mode, char *why, size_t len)
{
	if (lmm_off) {
		scnprintf(why, len,
			  "livemm.off=1, on the kernel command line or when livemm was loaded");
		return false;
	}
	if (policy->supported && !policy->supported(policy, why, len))
		return false;
	return lmm_hooks_supported(policy->id, mode, why, len);
}

/**
 * lmm_policy_supported() - can this kernel run the policy, in any mode?
 * @policy: a registered policy
 * @why: on false, the reason in the mode that is set
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: true if the policy can be enabled in a mode.
 */
bool lmm_policy_supported(struct lmm_policy *policy, char *why, size_t len)
{
	unsigned int modes = policy->mode_knob < 0 ? 1 : policy->knobs[policy->mode_knob].max + 1;
	unsigned int mode;

	for (mode = 0; mode < modes; mode++)
		if (lmm_mode_supported(policy, mode, why, len))
			return true;
	return lmm_mode_supported(policy, lmm_policy_mode_now(policy), why, len);
}

/**
 * lmm_policy_changes() - do settings differ from the published ones, apart from `enabled`?
 * @policy: a registered policy
 * @want: the settings
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_policy_changes(const struct lmm_policy *policy, const struct lmm_config *want)
{
	const struct lmm_config *now;
	bool same;

	rcu_read_lock();
	now = lmm_policy_now(policy);
	same = !strcmp(now->text, want->text) &&
	       !memcmp(now->value, want->value, sizeof(now->value));
	rcu_read_unlock();
	return !same;
}

/**
 * lmm_policy_judge() - judge settings without changing anything
 * @policy: a registered policy
 * @want: all settings of the policy, each within the range of its knob
 * @why: reason in words, on failure
 *
 * Context: process, may sleep, @policy->lock held.
 * Return: 0; -EINVAL or -ERANGE from the policy's own judgement; -EOPNOTSUPP when the policy cannot
 * be enabled on this kernel.
 */
int lmm_policy_judge(struct lmm_policy *policy, const struct lmm_config *want, char *why)
{
	unsigned int mode = lmm_policy_mode(policy, want);
	int err = 0;

	why[0] = '\0';
	/* Switching off with unchanged settings is never refused. */
	if (policy->validate && (want->enabled || lmm_policy_changes(policy, want)))
		err = policy->validate(policy, want, why, LMM_WHY_LEN);
	if (err)
		return lmm_refused(policy, "", err, why);
	/* A policy that is on in this mode has its hooks. */
	if (!want->enabled || lmm_mode_supported(policy, mode, why, LMM_WHY_LEN) ||
	    (READ_ONCE(policy->state) == LMM_POLICY_ON && mode == lmm_policy_mode_now(policy)))
		return 0;
	return lmm_refused(policy, "enabled: 1: ", -EOPNOTSUPP, why);
}

/* From on to another state. */
static void lmm_policy_down(struct lmm_policy *policy, enum lmm_policy_state state)
{
	/* A cut has the state be leaving as well. */
	lmm_policy_commit(policy, NULL, LMM_POLICY_LEAVING, READ_ONCE(policy->cuts));
	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
	lmm_policy_settle(policy, state);
}

/**
 * lmm_policy_tidy() - restore values that a policy that was cut has changed
 * @policy: a registered policy
 *
 * Context: process, may sleep, @policy->lock held.
 */
void lmm_policy_tidy(struct lmm_policy *policy)
{
	lockdep_assert_held(&policy->lock);

	if (READ_ONCE(policy->state) == LMM_POLICY_LEAVING)
		lmm_policy_down(policy, LMM_POLICY_OFF);
}

/* Off until somebody switches the policy on again; `status` says why. */
static void lmm_policy_give_up(struct lmm_policy *policy, const char *why)
{
	pr_warn("livemm: %s is off: %s\n", policy->name, why);
	lmm_policy_stop(policy, why);
	lmm_policy_tidy(policy);
}

/*
 * Switch on from off or waiting, and publish @publish, if any; on failure nothing of the policy is
 * up.  While a livepatch is missing the policy waits, with its settings published.
 */
static int lmm_policy_switch_on(struct lmm_policy *policy, const struct lmm_config *config,
				struct lmm_config **publish, unsigned int cuts, char *why)
{
	unsigned int mode = lmm_policy_mode(policy, config);
	enum lmm_policy_state from = READ_ONCE(policy->state);
	int err = lmm_hooks_await(policy->id, mode, publish ? LMM_KLP_WANTED : LMM_KLP_STILL, why,
				  LMM_WHY_LEN);

	if (err == -EINPROGRESS && publish)
		return lmm_policy_commit(policy, publish, LMM_POLICY_WAITING, cuts);
	err = err ?: lmm_policy_commit(policy, NULL, LMM_POLICY_LOADING, cuts);
	if (err)
		return err;
	why[0] = '\0';
	err = policy->enable(policy, config, why, LMM_WHY_LEN);
	if (err)
		goto err_settle;
	/* Hooks come last: no handler may see an unfinished policy or old settings. */
	err = lmm_hooks_arm(policy->id, mode, why, LMM_WHY_LEN);
	if (err)
		goto err_disable;
	if (policy->armed)
		err = policy->armed(policy, why, LMM_WHY_LEN);
	err = err ?: lmm_policy_commit(policy, publish, LMM_POLICY_ON, cuts);
	if (!err)
		return 0;
	lmm_hooks_disarm(policy->id);
err_disable:
	policy->disable(policy);
err_settle:
	lmm_policy_settle(policy, from);
	return err;
}

/* Go on with a policy that waits, with the published settings. */
static void lmm_policy_go_on(struct lmm_policy *policy)
{
	unsigned int cuts = lmm_policy_cuts(policy), mode = lmm_policy_mode_now(policy);
	const struct lmm_config *config = lmm_policy_now(policy);
	char why[LMM_WHY_LEN] = "";
	int err = -EOPNOTSUPP;

	/* A policy that was cut just now has settings that are off. */
	if (!READ_ONCE(config->enabled))
		return;
	if (lmm_mode_supported(policy, mode, why, sizeof(why)))
		err = lmm_policy_switch_on(policy, config, NULL, cuts, why);
	if (!err)
		pr_info("livemm: %s is on\n", policy->name);
	else if (err != -EINPROGRESS && err != -ECANCELED)
		lmm_policy_give_up(policy, why);
}

/**
 * lmm_policy_look() - hooks may have gone or come: move a policy on, or off
 * @policy: a registered policy
 *
 * Also restores the values of a policy that was cut.
 *
 * Context: process, may sleep, @policy->lock held.
 */
void lmm_policy_look(struct lmm_policy *policy)
{
	unsigned int mode = lmm_policy_mode_now(policy);
	char why[LMM_WHY_LEN];
	bool required, lost;

	lmm_policy_tidy(policy);
	if (READ_ONCE(policy->state) == LMM_POLICY_ON) {
		lost = lmm_hooks_lost(policy->id, mode, why, sizeof(why), &required);
		/* A policy looks for its hooks at its start, so a change needs a new start. */
		if (required)
			lmm_policy_give_up(policy, why);
		else if (lost || lmm_hooks_regained(policy->id, mode))
			lmm_policy_down(policy, LMM_POLICY_WAITING);
		else
			lmm_hooks_await(policy->id, mode, LMM_KLP_STILL, why, sizeof(why));
	}
	if (READ_ONCE(policy->state) == LMM_POLICY_WAITING)
		lmm_policy_go_on(policy);
}

/*
 * Another mode may need other hooks, so the policy goes off and on again, and waits in between for
 * livepatches that the new mode requires.  When the new mode is refused, the old mode comes back.
 */
static int lmm_policy_remode(struct lmm_policy *policy, struct lmm_config **want,
			     unsigned int cuts, char *why)
{
	int err = lmm_hooks_await(policy->id, lmm_policy_mode(policy, *want), LMM_KLP_WANTED, why,
				  LMM_WHY_LEN);

	if (err && err != -EINPROGRESS)
		return err;
	lmm_policy_down(policy, LMM_POLICY_WAITING);
	err = lmm_policy_switch_on(policy, *want, want, cuts, why);
	if (err)
		lmm_policy_go_on(policy);
	return err;
}

/**
 * lmm_policy_apply() - give a policy new settings
 * @policy: a registered policy
 * @want: settings that lmm_policy_judge() accepts; on success settings to free, or to apply again
 *	to undo the change: those that were in force.  Readers may still have them.
 * @cuts: number of cuts of the policy when the caller began the change; any for settings that are
 *	off
 * @why: reason in words, on failure
 *
 * Switches the policy on, off or to another mode, and publishes.  On failure nothing has changed,
 * but that a policy whose old mode does not come back either is off, with a reason.
 * Settings that are in force already change nothing and succeed.  A policy that requires a
 * livepatch that is not loaded waits afterwards; see lmm_policy_look().
 *
 * Context: process, may sleep, @policy->lock held.
 * Return: 0, -ECANCELED when somebody switched the policy off meanwhile, -EBUSY when a livepatch
 * cannot be loaded now, or the errno of the step that failed.
 */
int lmm_policy_apply(struct lmm_policy *policy, struct lmm_config **want, unsigned int cuts,
		     char *why)
{
	int err = 0;

	lmm_policy_tidy(policy);
	/* Cannot fail.  The caller cuts if somebody has asked for "off". */
	if (!(*want)->enabled) {
		lmm_policy_stop(policy, "");
		lmm_policy_tidy(policy);
		return lmm_policy_commit(policy, want, LMM_POLICY_OFF, cuts);
	}
	/* Also a policy that was cut just now, which is refused. */
	if (READ_ONCE(policy->state) != LMM_POLICY_ON) {
		err = lmm_policy_switch_on(policy, *want, want, cuts, why);
	} else if (lmm_policy_mode(policy, *want) != lmm_policy_mode_now(policy)) {
		err = lmm_policy_remode(policy, want, cuts, why);
	} else if (lmm_policy_changes(policy, *want)) {
		/* A policy that was cut is tidied up with any settings. */
		if (policy->configure)
			policy->configure(policy, *want);
		err = lmm_policy_commit(policy, want, LMM_POLICY_ON, cuts);
		/* The new settings may have asked for events after the cut. */
		if (err)
			lmm_events_stop(policy->id);
	}
	return err ? lmm_refused(policy, "enabled: 1: ", err, why) : 0;
}
