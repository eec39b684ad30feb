// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch.c - a policy goes from off to on and back
 *
 * Everything here is under the lock of the policy.  Switching off needs no lock: see
 * lmm_policy_cut().  A worker tidies up when the worker can have the lock.
 *
 *	OFF -> LOADING -> ON -> LEAVING -> OFF
 *	OFF -> WAITING -> LOADING -> ON
 *
 * A policy waits while a livepatch that the policy requires is being loaded.  Whatever changes a
 * livepatch has a worker look at the policies; lmm_policy_look() goes on from there.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "compat/export.h"
#include "flow/events.h"
#include "hook/hook.h"
#include "state.h"
#include "switch.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

bool lmm_off;
EXPORT_SYMBOL_LMM(lmm_off);

/*
 * Bring a policy up with settings, and publish @publish; on failure nothing of the policy is up.
 * Hooks come last: no handler may see an unfinished policy or old settings.
 */
static int lmm_policy_up(struct lmm_policy *policy, const struct lmm_config *config,
			 struct lmm_config **publish, unsigned int cuts, char *why)
{
	int err;

	why[0] = '\0';
	err = policy->enable(policy, config, why, LMM_WHY_LEN);
	if (err)
		return err;
	err = lmm_hooks_arm(policy->id, lmm_policy_mode(policy, config), why, LMM_WHY_LEN);
	if (err)
		goto err_disable;
	if (policy->armed)
		err = policy->armed(policy, why, LMM_WHY_LEN);
	if (!err)
		err = lmm_policy_commit(policy, publish, LMM_POLICY_ON, cuts);
	if (!err)
		return 0;
	lmm_hooks_disarm(policy->id);
err_disable:
	policy->disable(policy);
	return err;
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
	unsigned int mode;
	bool to_arm;
	int err = 0;

	why[0] = '\0';
	/* Switching off with unchanged settings is never refused. */
	if (policy->validate && (want->enabled || lmm_policy_changes(policy, want)))
		err = policy->validate(policy, want, why, LMM_WHY_LEN);
	if (err)
		return lmm_refused(policy, "", err, why);
	mode = lmm_policy_mode(policy, want);
	to_arm = want->enabled && (READ_ONCE(policy->state) != LMM_POLICY_ON ||
				   mode != lmm_policy_mode_now(policy));
	if (to_arm && !lmm_mode_supported(policy, mode, why, LMM_WHY_LEN))
		return lmm_refused(policy, "enabled: 1: ", -EOPNOTSUPP, why);
	return 0;
}

/* From on to another state. */
static void lmm_policy_down(struct lmm_policy *policy, enum lmm_policy_state state)
{
	/* A cut has the state be leaving as well. */
	lmm_policy_commit(policy, NULL, LMM_POLICY_LEAVING, READ_ONCE(policy->cuts));
	lmm_events_stop(policy->id);
	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
	lmm_policy_settle(policy, state);
	trace_policy_switch(policy->name, false);
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
 * Switch on from off or waiting, and publish @publish, if any.  While a livepatch is missing the
 * policy waits, with its settings published.
 */
static int lmm_policy_switch_on(struct lmm_policy *policy, const struct lmm_config *config,
				struct lmm_config **publish, unsigned int cuts, char *why)
{
	enum lmm_policy_state from = READ_ONCE(policy->state);
	int err = lmm_hooks_await(policy->id, lmm_policy_mode(policy, config),
				  publish ? LMM_KLP_WANTED : LMM_KLP_STILL, why, LMM_WHY_LEN);

	if (err == -EINPROGRESS && publish)
		return lmm_policy_commit(policy, publish, LMM_POLICY_WAITING, cuts);
	err = err ?: lmm_policy_commit(policy, NULL, LMM_POLICY_LOADING, cuts);
	if (err)
		return err;
	err = lmm_policy_up(policy, config, publish, cuts, why);
	if (err)
		lmm_policy_settle(policy, from);
	else
		trace_policy_switch(policy->name, true);
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

/* Switch off, and publish; cannot fail.  The caller cuts if somebody has asked for "off". */
static void lmm_policy_switch_off(struct lmm_policy *policy, struct lmm_config **want)
{
	if (READ_ONCE(policy->state) != LMM_POLICY_OFF) {
		lmm_policy_stop(policy, "");
		lmm_policy_tidy(policy);
	}
	lmm_policy_commit(policy, want, LMM_POLICY_OFF, 0);
}

/* Carry out a judged change of a policy that is on afterwards. */
static int lmm_policy_change(struct lmm_policy *policy, struct lmm_config **want,
			     unsigned int cuts, char *why)
{
	int err = -ECANCELED;

	switch (READ_ONCE(policy->state)) {
	case LMM_POLICY_ON:
		if (lmm_policy_mode(policy, *want) != lmm_policy_mode_now(policy))
			return lmm_policy_remode(policy, want, cuts, why);
		/* A policy that is cut after the next line is tidied up with any settings. */
		if (READ_ONCE(policy->cuts) != cuts)
			return err;
		if (policy->configure)
			policy->configure(policy, *want);
		err = lmm_policy_commit(policy, want, LMM_POLICY_ON, cuts);
		/* The new settings may have asked for events after the cut. */
		if (err)
			lmm_events_stop(policy->id);
		return err;
	case LMM_POLICY_WAITING:
	case LMM_POLICY_OFF:
		return lmm_policy_switch_on(policy, *want, want, cuts, why);
	default:
		return err;
	}
}

/**
 * lmm_policy_apply() - give a policy new settings
 * @policy: a registered policy
 * @want: settings that lmm_policy_judge() accepts; on success settings to free, or to apply again
 *	to undo the change: those that were in force.  Readers may still have them.
 * @cuts: number of cuts of the policy when the caller began the change
 * @why: reason in words, on failure
 *
 * Switches the policy on, off or to another mode, and publishes.  On failure nothing has changed.
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
	enum lmm_policy_state done = (*want)->enabled ? LMM_POLICY_ON : LMM_POLICY_OFF;
	int err;

	lmm_policy_tidy(policy);
	if (READ_ONCE(policy->state) == done && !lmm_policy_changes(policy, *want))
		return 0;
	if (!(*want)->enabled) {
		lmm_policy_switch_off(policy, want);
		return 0;
	}
	err = lmm_policy_change(policy, want, cuts, why);
	return err ? lmm_refused(policy, "enabled: 1: ", err, why) : 0;
}
