// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch.c - a policy goes from off to on and back
 *
 * Switching off needs no mutex: see lmm_policy_cut().  A worker tidies up when the worker can have
 * the mutex.
 *
 *	OFF -> LOADING -> ON -> LEAVING -> OFF
 *	                  ON -> LEAVING -> STANDBY -> LOADING -> ON
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "control.h"
#include "events.h"
#include "hook/hook.h"
#include "state.h"
#include "trace.h"

/*
 * Bring a policy up; on failure nothing of the policy is up.  Hooks come last: no handler may see
 * an unfinished policy or old settings.
 */
static int lmm_policy_up(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	int err;

	why[0] = '\0';
	err = policy->enable(policy, sw->config, why, len);
	if (err)
		return err;
	err = lmm_hooks_arm(policy->id, lmm_policy_mode(policy, sw->config), why, len);
	if (err)
		goto err_disable;
	if (policy->armed)
		err = policy->armed(policy, why, len);
	if (!err)
		err = lmm_policy_commit(sw, true, why, len);
	if (!err)
		return 0;
	lmm_hooks_disarm(policy->id);
err_disable:
	policy->disable(policy);
	return err;
}

/* Put "policy/" or "policy/enabled: 1: " before a reason. */
static void lmm_why_prefix(const struct lmm_policy *policy, const char *what,
			   int err, char *why, size_t len)
{
	char words[LMM_WHY_LEN];

	strscpy(words, why, min(len, sizeof(words)));
	if (words[0])
		scnprintf(why, len, "%s/%s%s", policy->name, what, words);
	else
		scnprintf(why, len, "%s/%serror %d", policy->name, what, err);
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
 * lmm_policy_to_arm() - do settings need hooks that are not armed?
 * @policy: a registered policy
 * @want: the settings
 *
 * Context: process, control mutex held.
 * Return: true if so.
 */
bool lmm_policy_to_arm(const struct lmm_policy *policy, const struct lmm_config *want)
{
	if (!want->enabled)
		return false;
	switch (READ_ONCE(policy->state)) {
	case LMM_POLICY_ON:
		return lmm_policy_mode(policy, want) != lmm_policy_mode_now(policy);
	case LMM_POLICY_STANDBY:
		/* A new value of a knob arms nothing; writing 1 to enabled again tries to arm. */
		return !lmm_policy_changes_values(policy, want);
	default:
		return true;
	}
}

/**
 * lmm_policy_check() - judge settings without changing anything
 * @policy: a registered policy
 * @want: settings for the policy
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, or the errno to refuse with.
 */
int lmm_policy_check(struct lmm_policy *policy, const struct lmm_config *want,
		     char *why, size_t len)
{
	int err = 0;

	why[0] = '\0';
	/* Switching off with unchanged settings is never refused. */
	if (policy->validate && (want->enabled || lmm_policy_changes_values(policy, want)))
		err = policy->validate(policy, want, why, len);
	if (err) {
		lmm_why_prefix(policy, "", err, why, len);
		return err;
	}
	if (lmm_policy_to_arm(policy, want) &&
	    !lmm_mode_supported(policy, lmm_policy_mode(policy, want), why, len)) {
		lmm_why_prefix(policy, "enabled: 1: ", -EOPNOTSUPP, why, len);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void lmm_policy_take_down(struct lmm_policy *policy)
{
	lmm_events_stop(policy->id);
	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
}

/* From on to another state. */
static void lmm_policy_down(struct lmm_policy *policy, enum lmm_policy_state state)
{
	lmm_policy_leave(policy);
	lmm_policy_take_down(policy);
	lmm_policy_settle(policy, state);
	trace_policy_switch(policy->name, false);
}

/**
 * lmm_policy_tidy() - restore values that a policy that was cut has changed
 * @policy: a registered policy
 *
 * Context: process, may sleep, control mutex held.
 */
void lmm_policy_tidy(struct lmm_policy *policy)
{
	lockdep_assert_held(&lmm_control_mutex);

	if (READ_ONCE(policy->state) == LMM_POLICY_LEAVING)
		lmm_policy_down(policy, LMM_POLICY_OFF);
}

/* A required hook is gone, and may come back. */
static void lmm_policy_stand_by(struct lmm_policy *policy, const char *why)
{
	lmm_policy_set_reason(policy, why);
	pr_notice("livemm: %s stands by: %s\n", policy->name, why);
	lmm_policy_down(policy, LMM_POLICY_STANDBY);
}

/* Switch on from off or from standby. */
static int lmm_policy_switch_on(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	enum lmm_policy_state from = READ_ONCE(policy->state);
	int err = lmm_policy_begin(sw, why, len);

	if (err)
		return err;
	err = lmm_policy_up(sw, why, len);
	if (err)
		lmm_policy_settle(policy, from);
	else
		trace_policy_switch(policy->name, true);
	return err;
}

/* Come back from standby with the published settings; on failure @why has the obstacle. */
static int lmm_policy_come_back(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	unsigned int mode = lmm_policy_mode(policy, sw->config);

	if (!lmm_mode_supported(policy, mode, why, len))
		return -EOPNOTSUPP;
	/* A return from standby loads no livepatch. */
	if (!lmm_hooks_ready(policy->id, mode, why, len))
		return -EAGAIN;
	return lmm_policy_switch_on(sw, why, len);
}

/* Try to bring a policy back from standby. */
static void lmm_policy_return(struct lmm_policy *policy)
{
	struct lmm_switch sw = { .policy = policy, .cuts = lmm_policy_cuts(policy) };
	char why[LMM_WHY_LEN] = "";
	struct lmm_config *config;

	config = kmalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return;
	lmm_policy_config_copy(policy, config);
	sw.config = config;
	/* A policy that was cut just now has settings that are off. */
	if (config->enabled && !lmm_policy_come_back(&sw, why, sizeof(why)))
		pr_notice("livemm: %s is on again\n", policy->name);
	else if (why[0])
		lmm_policy_set_reason(policy, why);
	kfree(config);
}

/**
 * lmm_policy_look() - move a policy to standby or back as its hooks go or come
 * @policy: a registered policy
 *
 * Also restores the values of a policy that was cut.
 *
 * Context: process, may sleep, control mutex held.
 * Return: true if the policy stands by.
 */
bool lmm_policy_look(struct lmm_policy *policy)
{
	char why[LMM_WHY_LEN];

	lmm_policy_tidy(policy);
	/* A policy looks for its hooks at its start, so a new hook needs a new start. */
	if (READ_ONCE(policy->state) == LMM_POLICY_ON &&
	    (!lmm_hooks_alive(policy->id, why, sizeof(why)) ||
	     lmm_hooks_regained(policy->id, lmm_policy_mode_now(policy), why, sizeof(why))))
		lmm_policy_stand_by(policy, why);
	if (READ_ONCE(policy->state) == LMM_POLICY_STANDBY)
		lmm_policy_return(policy);
	return READ_ONCE(policy->state) == LMM_POLICY_STANDBY;
}

/*
 * Another mode may need other hooks, so the policy goes off and on again.  When the new mode is
 * refused, the old mode comes back.  When the old mode is refused too, the policy stays off, and
 * the log says why.
 */
static int lmm_policy_remode(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	struct lmm_switch back = { .policy = policy, .cuts = sw->cuts };
	char words[LMM_WHY_LEN];
	struct lmm_config *old;
	int err;

	old = kmalloc(sizeof(*old), GFP_KERNEL);
	if (!old) {
		scnprintf(why, len, "no memory");
		return -ENOMEM;
	}
	lmm_policy_config_copy(policy, old);
	back.config = old;
	err = lmm_policy_begin(sw, why, len);
	if (err)
		goto out;
	lmm_policy_take_down(policy);
	err = lmm_policy_up(sw, why, len);
	if (err && (READ_ONCE(policy->cuts) != sw->cuts ||
		    lmm_policy_up(&back, words, sizeof(words)))) {
		/* A policy that was cut is off already, as asked. */
		if (READ_ONCE(policy->cuts) == sw->cuts) {
			pr_err("livemm: %s is off: the old mode was not put back: %s\n",
			       policy->name, words);
			lmm_policy_stop(policy);
		}
		lmm_policy_settle(policy, LMM_POLICY_OFF);
		trace_policy_switch(policy->name, false);
	}
out:
	kfree(old);
	return err;
}

/* Switch off, and publish; cannot fail.  The caller cuts if somebody has asked for "off". */
static void lmm_policy_switch_off(struct lmm_switch *sw, char *why, size_t len)
{
	if (READ_ONCE(sw->policy->state) != LMM_POLICY_OFF) {
		lmm_policy_stop(sw->policy);
		lmm_policy_tidy(sw->policy);
	}
	/* A cut by another task leaves the policy off as well, so try again. */
	do {
		sw->cuts = READ_ONCE(sw->policy->cuts);
	} while (lmm_policy_commit(sw, false, why, len));
}

/* Carry out a checked change of a policy that is on afterwards. */
static int lmm_policy_change(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	int err;

	switch (READ_ONCE(policy->state)) {
	case LMM_POLICY_ON:
		if (lmm_policy_mode(policy, sw->config) != lmm_policy_mode_now(policy))
			return lmm_policy_remode(sw, why, len);
		/* A policy that is cut after the next line is tidied up with any settings. */
		if (READ_ONCE(policy->cuts) != sw->cuts)
			break;
		if (policy->configure)
			policy->configure(policy, sw->config);
		err = lmm_policy_commit(sw, false, why, len);
		/* The new settings may have asked for events after the cut. */
		if (err)
			lmm_events_stop(policy->id);
		return err;
	case LMM_POLICY_STANDBY:
		if (lmm_policy_changes_values(policy, sw->config))
			return lmm_policy_commit(sw, false, why, len);
		fallthrough;
	case LMM_POLICY_OFF:
		return lmm_policy_switch_on(sw, why, len);
	default:
		break;
	}
	return lmm_cut_meanwhile(why, len);
}

/**
 * lmm_policy_apply() - give a policy new settings
 * @policy: a registered policy
 * @want: all settings of the policy, each within the range of its knob
 * @cuts: number of cuts of the policy when the caller began the change
 * @why: reason in words, on failure
 * @len: size of @why, at most LMM_WHY_LEN of it is used
 *
 * Judges all settings, then switches the policy on, off or to another mode, and publishes.  On
 * failure nothing has changed.  Settings that are in force already change nothing and succeed.
 * Tasks that wait to switch the policy on go on to wait, also when the policy goes off here.
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, -EINVAL or -ERANGE from the policy's own judgement, -EOPNOTSUPP
 * when the policy cannot be enabled on this kernel, -ENOMEM, -ECANCELED when somebody switched the
 * policy off meanwhile, or the errno of the step that failed.
 */
int lmm_policy_apply(struct lmm_policy *policy, const struct lmm_config *want,
		     unsigned int cuts, char *why, size_t len)
{
	struct lmm_switch sw = { .policy = policy, .cuts = cuts };
	struct lmm_config *new, *off = NULL;
	gfp_t gfp = GFP_KERNEL;
	int err;

	lockdep_assert_held(&lmm_control_mutex);

	lmm_policy_tidy(policy);
	if (!lmm_policy_changes_values(policy, want) &&
	    READ_ONCE(policy->state) == (want->enabled ? LMM_POLICY_ON : LMM_POLICY_OFF))
		return 0;
	err = lmm_policy_check(policy, want, why, len);
	if (err)
		return err;
	if (!want->enabled)
		gfp |= __GFP_NOFAIL;
	new = kmemdup(want, sizeof(*want), gfp);
	if (new && want->enabled)
		off = kmemdup(want, sizeof(*want), gfp);
	if (!new || (want->enabled && !off)) {
		kfree(new);
		scnprintf(why, len, "%s: no memory", policy->name);
		return -ENOMEM;
	}
	sw.config = new;
	sw.publish = new;
	if (!off) {
		lmm_policy_switch_off(&sw, why, len);
		return 0;
	}
	off->enabled = false;
	sw.publish_off = off;
	err = lmm_policy_change(&sw, why, len);
	if (err) {
		lmm_why_prefix(policy, "enabled: 1: ", err, why, len);
		/* Neither set was published. */
		kfree(new);
		kfree(off);
	}
	return err;
}
