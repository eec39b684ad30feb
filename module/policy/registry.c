// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry.c - which policies there are, what state each is in, and the one door to their
 *	settings
 *
 * Whoever changes a setting, a debugfs file or a module parameter, comes through
 * lmm_policies_apply() with the control mutex held.  Switching off needs no mutex:
 * lmm_policy_cut() stops delivery and publishes the settings with the policy off at once,
 * whatever else hangs, and a worker tidies up when it can have the mutex.
 *
 *	OFF -> LOADING -> ON -> LEAVING -> OFF
 *	                  ON -> LEAVING -> STANDBY -> LOADING -> ON
 *
 * A policy that is being switched on notes how often it has been cut; at the last step, under
 * the lock that lmm_policy_cut() takes, it comes on only if that is still so.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../control/control.h"
#include "../event.h"
#include "../hook/hook.h"
#include "../ladder.h"
#include "../trace.h"

/* How long a policy stands by until it is seen that what it needs is there again. */
#define LOOK_JIFFIES	HZ

/* Serialises every change of settings and the table below; see livemm.h. */
DEFINE_MUTEX(lmm_control_mutex);

/* Protects state, cuts, config and config_off of every policy; nothing sleeps under it. */
static DEFINE_SPINLOCK(lmm_state_lock);

static DECLARE_WAIT_QUEUE_HEAD(lmm_state_changed);

static struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

/* What the steps of switching on share. */
struct lmm_switch {
	struct lmm_policy *policy;
	/* What to come on with. */
	const struct lmm_config *config;
	/* To be published with it, and the same but off; NULL: what is published stays. */
	struct lmm_config *publish;
	struct lmm_config *publish_off;
	/* How often the policy had been cut when this began. */
	unsigned int cuts;
};

static int lmm_step_enable(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;

	return sw->policy->enable(sw->policy, sw->config, why, len);
}

static void lmm_step_disable(void *ctx)
{
	struct lmm_switch *sw = ctx;

	sw->policy->disable(sw->policy);
}

static int lmm_step_arm(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;

	return lmm_hooks_arm(sw->policy->id, lmm_policy_mode(sw->policy, sw->config), why, len);
}

static void lmm_step_disarm(void *ctx)
{
	struct lmm_switch *sw = ctx;

	lmm_hooks_disarm(sw->policy->id);
}

/* Publish new settings; under lmm_state_lock.  Returns the old ones, to be freed. */
static struct lmm_config *lmm_policy_publish(struct lmm_policy *policy, struct lmm_config *config,
					     struct lmm_config *off)
{
	lockdep_assert_held(&lmm_state_lock);

	/* Nobody has seen these. */
	kfree(policy->config_off);
	policy->config_off = off;
	return rcu_replace_pointer(policy->config, config, lockdep_is_held(&lmm_state_lock));
}

static void lmm_config_free(struct lmm_config *config)
{
	if (config)
		kfree_rcu(config, rcu);
}

static int lmm_step_go(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;
	struct lmm_policy *policy = sw->policy;
	struct lmm_config *old = NULL;
	unsigned long flags;
	bool cut;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cut = policy->cuts != sw->cuts;
	if (!cut) {
		if (sw->publish)
			old = lmm_policy_publish(policy, sw->publish, sw->publish_off);
		policy->state = LMM_POLICY_ON;
		policy->on = true;
		lmm_events_start(policy->id);
	}
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	lmm_config_free(old);
	if (cut)
		scnprintf(why, len, "switched off meanwhile");
	return cut ? -ECANCELED : 0;
}

/* Hooks come last: no handler may see a policy half made, or old settings. */
static const struct lmm_step lmm_on_steps[] = {
	{ "enable", lmm_step_enable, lmm_step_disable },
	{ "arm", lmm_step_arm, lmm_step_disarm },
	{ "go", lmm_step_go, NULL },
};

static int lmm_policy_up(struct lmm_switch *sw, char *why, size_t len)
{
	return lmm_ladder_up(lmm_on_steps, ARRAY_SIZE(lmm_on_steps), sw, why, len);
}

/* Begin or end a stretch in which a cut has nothing to wait for. */
static void lmm_policy_set_state(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	policy->state = state;
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
}

static bool lmm_same_values(const struct lmm_policy *policy,
			    const struct lmm_config *a,
			    const struct lmm_config *b)
{
	return !strcmp(a->text, b->text) &&
	       !memcmp(a->value, b->value,
		       policy->nr_knobs * sizeof(a->value[0]));
}

/**
 * lmm_policy_config_copy() - the settings that are published
 * @policy: whose; registered
 * @config: gets them
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
 * lmm_policy_changes_values() - do settings differ from those published, `enabled` apart?
 * @policy: whose; registered
 * @want: the settings
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_policy_changes_values(const struct lmm_policy *policy, const struct lmm_config *want)
{
	bool same;

	rcu_read_lock();
	same = lmm_same_values(policy, rcu_dereference(policy->config), want);
	rcu_read_unlock();
	return !same;
}

/* The mode that is published. */
static unsigned int lmm_policy_mode_now(const struct lmm_policy *policy)
{
	unsigned int mode;

	rcu_read_lock();
	mode = lmm_policy_mode(policy, rcu_dereference(policy->config));
	rcu_read_unlock();
	return mode;
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

/**
 * lmm_policy_mode() - the mode that a set of settings asks for
 * @policy: whose settings
 * @cfg: the settings
 *
 * Context: any.
 * Return: index of the choice; 0 for a policy without modes.
 */
unsigned int lmm_policy_mode(const struct lmm_policy *policy, const struct lmm_config *cfg)
{
	return policy->mode_knob < 0 ? 0 : cfg->value[policy->mode_knob];
}

/* Can this kernel run the policy in that mode? */
static bool lmm_mode_supported(struct lmm_policy *policy, unsigned int mode, char *why,
			       size_t len)
{
	if (lmm_off) {
		scnprintf(why, len, "livemm.off=1 on the kernel command line");
		return false;
	}
	if (policy->supported && !policy->supported(policy, why, len))
		return false;
	return lmm_hooks_supported(policy->id, mode, why, len);
}

/**
 * lmm_policy_supported() - can this kernel run the policy, in any mode?
 * @policy: a registered policy
 * @why: the reason when it cannot, in the mode that is set
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: true if there is a mode in which it can be enabled.
 */
bool lmm_policy_supported(struct lmm_policy *policy, char *why, size_t len)
{
	unsigned int modes = policy->mode_knob < 0 ? 1 :
			     policy->knobs[policy->mode_knob].max + 1;
	unsigned int mode;

	for (mode = 0; mode < modes; mode++)
		if (lmm_mode_supported(policy, mode, why, len))
			return true;
	return lmm_mode_supported(policy, lmm_policy_mode_now(policy), why, len);
}

/* Do settings ask for hooks to be armed that are not? */
static bool lmm_policy_to_arm(const struct lmm_policy *policy, const struct lmm_config *want)
{
	if (!want->enabled)
		return false;
	switch (READ_ONCE(policy->state)) {
	case LMM_POLICY_ON:
		return lmm_policy_mode(policy, want) != lmm_policy_mode_now(policy);
	case LMM_POLICY_STANDBY:
		/* A knob can be set all the same; to say again that it be on is to try. */
		return !lmm_policy_changes_values(policy, want);
	default:
		return true;
	}
}

/* Everything that can be refused without having touched anything. */
static int lmm_policy_check(struct lmm_policy *policy,
			    const struct lmm_config *want,
			    char *why, size_t len)
{
	int err = 0;

	why[0] = '\0';
	/* Going back to stock with the settings it has is never refused. */
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

/**
 * lmm_policy_cut() - switch a policy off, as far as that can be done at once
 * @policy: a registered policy
 *
 * No event is delivered any more, its settings say that it is off, and whoever is switching it
 * on gives up.  What it has changed is put back by lmm_policy_tidy(), later.
 *
 * Context: any.
 */
void lmm_policy_cut(struct lmm_policy *policy)
{
	struct lmm_config *old = NULL;
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	policy->cuts++;
	if (policy->state != LMM_POLICY_OFF)
		lmm_events_stop(policy->id);
	if (policy->config_off) {
		old = rcu_replace_pointer(policy->config, policy->config_off,
					  lockdep_is_held(&lmm_state_lock));
		policy->config_off = NULL;
	}
	if (policy->state == LMM_POLICY_ON)
		policy->state = LMM_POLICY_LEAVING;
	else if (policy->state == LMM_POLICY_STANDBY)
		policy->state = LMM_POLICY_OFF;
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	lmm_config_free(old);
	wake_up_all(&lmm_state_changed);
}

/* Take down what is on, and go to another state, or off if it was cut before or meanwhile. */
static void lmm_policy_down(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	lmm_policy_set_state(policy, LMM_POLICY_LEAVING);
	lmm_events_stop(policy->id);
	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
	spin_lock_irqsave(&lmm_state_lock, flags);
	policy->on = false;
	/* Who cuts it takes these. */
	policy->state = policy->config_off ? state : LMM_POLICY_OFF;
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
	trace_policy_switch(policy->name, false);
}

/**
 * lmm_policy_tidy() - put back what a policy that was cut has changed
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

/* After a try to come on that failed: as it was, or off if it was cut meanwhile. */
static void lmm_policy_not_up(struct lmm_policy *policy, enum lmm_policy_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&lmm_state_lock, flags);
	policy->on = false;
	policy->state = policy->config_off ? state : LMM_POLICY_OFF;
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	wake_up_all(&lmm_state_changed);
}

static void lmm_policy_set_reason(struct lmm_policy *policy, const char *why)
{
	spin_lock_irq(&lmm_state_lock);
	strscpy(policy->standby_reason, why, sizeof(policy->standby_reason));
	spin_unlock_irq(&lmm_state_lock);
}

/**
 * lmm_policy_state() - in what state is a policy?
 * @policy: a registered policy
 * @why: gets what it stands by for, else nothing
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: the state; loading also while somebody waits for livepatches to switch it on.
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

/* A hook that the policy needs is gone, and may come back. */
static void lmm_policy_stand_by(struct lmm_policy *policy, const char *why)
{
	lmm_policy_set_reason(policy, why);
	pr_notice("livemm: %s stands by: %s\n", policy->name, why);
	lmm_policy_down(policy, LMM_POLICY_STANDBY);
}

/* Is what a policy stands by for there again? */
static void lmm_policy_return(struct lmm_policy *policy)
{
	struct lmm_switch sw = { .policy = policy, .cuts = READ_ONCE(policy->cuts) };
	char why[LMM_WHY_LEN] = "";
	struct lmm_config *config;

	config = kmalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return;
	lmm_policy_config_copy(policy, config);
	sw.config = config;
	if (!config->enabled ||
	    !lmm_mode_supported(policy, lmm_policy_mode(policy, config), why, sizeof(why))) {
		/* It has been cut, or has another reason now. */
	} else if (!lmm_hooks_missing(policy->id, lmm_policy_mode(policy, config))) {
		lmm_policy_set_state(policy, LMM_POLICY_LOADING);
		if (lmm_policy_up(&sw, why, sizeof(why)))
			lmm_policy_not_up(policy, LMM_POLICY_STANDBY);
		else
			trace_policy_switch(policy->name, true);
	}
	if (why[0])
		lmm_policy_set_reason(policy, why);
	kfree(config);
}

/**
 * lmm_policies_look() - have policies stand by, or come back, as their hooks do
 *
 * Tidies up after those that were cut, too.
 *
 * Context: process, may sleep, control mutex held.
 * Return: true if that has to be looked at again without anybody asking.
 */
bool lmm_policies_look(void)
{
	bool again = lmm_hooks_unsettled();
	struct lmm_policy *policy;
	char why[LMM_WHY_LEN];

	lockdep_assert_held(&lmm_control_mutex);

	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy)) {
		lmm_policy_tidy(policy);
		if (READ_ONCE(policy->state) == LMM_POLICY_ON &&
		    !lmm_hooks_alive(policy->id, why, sizeof(why)))
			lmm_policy_stand_by(policy, why);
		if (READ_ONCE(policy->state) == LMM_POLICY_STANDBY)
			lmm_policy_return(policy);
		again |= READ_ONCE(policy->state) == LMM_POLICY_STANDBY;
	}
	return again;
}

/*
 * Another mode may want other hooks: off, and on again.  When the new mode refuses,
 * the old one is put back; should that fail too, the policy is off, and says so.
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
		scnprintf(why, len, "%s: no memory", policy->name);
		return -ENOMEM;
	}
	lmm_policy_config_copy(policy, old);
	back.config = old;
	lmm_policy_set_state(policy, LMM_POLICY_LOADING);
	lmm_events_stop(policy->id);
	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
	err = lmm_policy_up(sw, why, len);
	if (err) {
		lmm_why_prefix(policy, "enabled: 1: ", err, why, len);
		if (lmm_policy_up(&back, words, sizeof(words))) {
			if (READ_ONCE(policy->cuts) == sw->cuts)
				pr_err("livemm: %s is off: its mode was not put back: %s\n",
				       policy->name, words);
			lmm_policy_cut(policy);
			lmm_policy_not_up(policy, LMM_POLICY_OFF);
			trace_policy_switch(policy->name, false);
		}
	}
	kfree(old);
	return err;
}

/* The policy is on with @policy->cuts; publish settings unless it was cut meanwhile. */
static int lmm_policy_settings(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	struct lmm_config *old = NULL;
	unsigned long flags;
	bool cut;

	spin_lock_irqsave(&lmm_state_lock, flags);
	cut = policy->cuts != sw->cuts;
	if (!cut)
		old = lmm_policy_publish(policy, sw->publish, sw->publish_off);
	spin_unlock_irqrestore(&lmm_state_lock, flags);
	lmm_config_free(old);
	if (cut)
		scnprintf(why, len, "%s/enabled: 1: switched off meanwhile", policy->name);
	return cut ? -ECANCELED : 0;
}

/* Come on with new settings, from off or from standing by. */
static int lmm_policy_switch_on(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	enum lmm_policy_state from = READ_ONCE(policy->state);
	int err;

	lmm_policy_set_state(policy, LMM_POLICY_LOADING);
	err = lmm_policy_up(sw, why, len);
	if (err) {
		lmm_policy_not_up(policy, from);
		lmm_why_prefix(policy, "enabled: 1: ", err, why, len);
		return err;
	}
	trace_policy_switch(policy->name, true);
	return 0;
}

/* Bring a checked change about; takes over both settings.  Switching off cannot fail. */
static int lmm_policy_change(struct lmm_policy *policy, struct lmm_config *new,
			     struct lmm_config *off, char *why, size_t len)
{
	struct lmm_switch sw = {
		.policy = policy, .config = new, .publish = new, .publish_off = off,
		.cuts = READ_ONCE(policy->cuts),
	};
	int err;

	if (!new->enabled) {
		if (READ_ONCE(policy->state) != LMM_POLICY_OFF) {
			lmm_policy_cut(policy);
			lmm_policy_tidy(policy);
			sw.cuts = READ_ONCE(policy->cuts);
		}
		/* Another cut comes to the same. */
		while (lmm_policy_settings(&sw, why, len))
			sw.cuts = READ_ONCE(policy->cuts);
		return 0;
	}
	if (lmm_policy_to_arm(policy, new)) {
		if (READ_ONCE(policy->state) == LMM_POLICY_ON)
			err = lmm_policy_remode(&sw, why, len);
		else
			err = lmm_policy_switch_on(&sw, why, len);
	} else {
		if (policy->on && policy->configure)
			policy->configure(policy, new);
		err = lmm_policy_settings(&sw, why, len);
	}
	if (err) {
		/* An armed hook may have read it before the unwind. */
		kfree_rcu(new, rcu);
		kfree(off);
	}
	return err;
}

/**
 * lmm_policy_apply() - give a policy new settings
 * @policy: a registered policy
 * @want: all its settings, each within its knob's range
 * @why: reason in words, on failure
 * @len: size of @why, at most LMM_WHY_LEN of it is used
 *
 * Judges the whole, then switches on, off or over, and publishes.  On failure
 * nothing has changed.  Settings that are in force already are a success, and
 * nothing happens.
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, -EINVAL or -ERANGE from the policy's own judgement, -EOPNOTSUPP
 * when it cannot be enabled here, -ENOMEM, -ECANCELED when somebody switched it off meanwhile,
 * or what enabling failed with.
 */
int lmm_policy_apply(struct lmm_policy *policy, const struct lmm_config *want,
		     char *why, size_t len)
{
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
	if (off)
		off->enabled = false;
	return lmm_policy_change(policy, new, off, why, len);
}

/* Put back what lmm_policies_apply() did, newest first. */
static void lmm_policies_revert(struct lmm_policy *const done[],
				const struct lmm_config *old, unsigned int nr)
{
	char why[LMM_WHY_LEN];

	while (nr--) {
		struct lmm_policy *policy = done[nr];

		if (lmm_policy_apply(policy, &old[policy->id], why,
				     sizeof(why)))
			pr_err("livemm: not put back: %s\n", why);
	}
}

/**
 * lmm_policies_missing() - judge settings, and say what has to be loaded for them
 * @want: settings by policy id
 * @named: bit per policy to change
 * @functions: gets BIT(enum lmm_klp_function) of each wrapper that is not there
 * @waiting: gets a bit per policy that waits for any of those
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, or the errno of the policy that refuses.
 */
int lmm_policies_missing(const struct lmm_config want[LMM_NR_POLICIES], unsigned int named,
			 u32 *functions, unsigned int *waiting, char *why, size_t len)
{
	struct lmm_policy *policy;
	u32 missing;
	int err;

	lockdep_assert_held(&lmm_control_mutex);

	*functions = 0;
	*waiting = 0;
	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy)) {
		const struct lmm_config *cfg = &want[policy->id];

		if (!(named & BIT(policy->id)))
			continue;
		lmm_policy_tidy(policy);
		err = lmm_policy_check(policy, cfg, why, len);
		if (err)
			return err;
		if (!lmm_policy_to_arm(policy, cfg))
			continue;
		missing = lmm_hooks_missing(policy->id, lmm_policy_mode(policy, cfg));
		*functions |= missing;
		if (missing)
			*waiting |= BIT(policy->id);
	}
	return 0;
}

/**
 * lmm_policies_apply() - give several policies new settings, all or none
 * @want: settings by policy id
 * @named: bit per policy to change
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * First everything is judged, then what may fail is done, and switching off,
 * which cannot fail, comes last: so putting back never has to enable anything but
 * the old mode of a policy that has changed its mode.
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, or the errno of the policy that refused.
 */
int lmm_policies_apply(const struct lmm_config want[LMM_NR_POLICIES],
		       unsigned int named, char *why, size_t len)
{
	struct lmm_policy *done[LMM_NR_POLICIES];
	struct lmm_policy *policy;
	struct lmm_config *old;
	unsigned int nr = 0;
	int pass, err = 0;

	lockdep_assert_held(&lmm_control_mutex);

	for (policy = lmm_policy_next(NULL); policy;
	     policy = lmm_policy_next(policy)) {
		if (named & BIT(policy->id))
			err = lmm_policy_check(policy, &want[policy->id], why,
					       len);
		if (err)
			return err;
	}
	old = kcalloc(LMM_NR_POLICIES, sizeof(*old), GFP_KERNEL);
	if (!old) {
		scnprintf(why, len, "no memory");
		return -ENOMEM;
	}
	for (pass = 0; pass < 2 && !err; pass++) {
		for (policy = lmm_policy_next(NULL); policy && !err;
		     policy = lmm_policy_next(policy)) {
			unsigned int id = policy->id;

			if (!(named & BIT(id)) || want[id].enabled == !!pass)
				continue;
			lmm_policy_config_copy(policy, &old[id]);
			err = lmm_policy_apply(policy, &want[id], why, len);
			if (!err)
				done[nr++] = policy;
		}
	}
	if (err)
		lmm_policies_revert(done, old, nr);
	kfree(old);
	return err;
}

/* Nobody waits for this; who switches off has done all that must not wait. */
static void lmm_look_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(lmm_look_work, lmm_look_worker);
static struct workqueue_struct *lmm_look_wq;

static void lmm_look_worker(struct work_struct *work)
{
	bool again;

	/* Not under the mutex: the livepatch core may have us wait. */
	lmm_hooks_refresh();
	/* Killable so that it is not reported as hung; nobody kills a worker. */
	if (mutex_lock_killable(&lmm_control_mutex))
		return;
	again = lmm_policies_look();
	mutex_unlock(&lmm_control_mutex);
	if (again)
		queue_delayed_work(lmm_look_wq, &lmm_look_work, LOOK_JIFFIES);
}

/**
 * lmm_policies_look_soon() - have a worker call lmm_policies_look()
 *
 * Context: any.
 */
void lmm_policies_look_soon(void)
{
	struct workqueue_struct *wq;

	rcu_read_lock();
	wq = READ_ONCE(lmm_look_wq);
	if (wq)
		mod_delayed_work(wq, &lmm_look_work, 0);
	rcu_read_unlock();
}

/**
 * lmm_policies_cut() - switch policies off, as far as that can be done at once
 * @named: bit per policy
 *
 * Context: any.
 */
void lmm_policies_cut(unsigned int named)
{
	struct lmm_policy *policy;

	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy))
		if (named & BIT(policy->id))
			lmm_policy_cut(policy);
	lmm_klp_wake();
	lmm_policies_look_soon();
}

static bool lmm_policies_tidied(unsigned int named)
{
	struct lmm_policy *policy;

	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy))
		if (named & BIT(policy->id) &&
		    READ_ONCE(policy->state) == LMM_POLICY_LEAVING)
			return false;
	return true;
}

/**
 * lmm_policies_wait() - wait until what policies that were cut have changed is put back
 * @named: bit per policy
 * @timeout_ms: at most so long
 *
 * Context: process, control mutex not held; killable.
 */
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms)
{
	wait_event_killable_timeout(lmm_state_changed, lmm_policies_tidied(named),
				    msecs_to_jiffies(timeout_ms));
}

/**
 * lmm_policies_cuts() - how often have policies been switched off?
 * @named: bit per policy
 *
 * Context: any.
 * Return: the sum; one that was the same before says that none has been meanwhile.
 */
unsigned int lmm_policies_cuts(unsigned int named)
{
	struct lmm_policy *policy;
	unsigned int cuts = 0;

	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy))
		if (named & BIT(policy->id))
			cuts += READ_ONCE(policy->cuts);
	return cuts;
}

/**
 * lmm_policies_waiting() - note that somebody waits for livepatches, to switch policies on
 * @named: bit per policy
 * @wait: begins to; or has ended
 *
 * Context: process.
 */
void lmm_policies_waiting(unsigned int named, bool wait)
{
	struct lmm_policy *policy;

	spin_lock_irq(&lmm_state_lock);
	for (policy = lmm_policy_next(NULL); policy; policy = lmm_policy_next(policy))
		if (named & BIT(policy->id))
			policy->waiting += wait ? 1 : -1;
	spin_unlock_irq(&lmm_state_lock);
}

/**
 * lmm_policies_disable_all() - back to stock
 *
 * Context: process, may sleep, control mutex held.
 */
void lmm_policies_disable_all(void)
{
	struct lmm_policy *policy;

	lockdep_assert_held(&lmm_control_mutex);

	for (policy = lmm_policy_next(NULL); policy;
	     policy = lmm_policy_next(policy)) {
		lmm_policy_cut(policy);
		lmm_policy_tidy(policy);
	}
}

/**
 * lmm_registry_init() - be ready for policies
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lmm_registry_init(void)
{
	/* Tidying up is what gives memory back, too. */
	lmm_look_wq = alloc_workqueue("livemm", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	return lmm_look_wq ? 0 : -ENOMEM;
}

/**
 * lmm_registry_exit() - undo lmm_registry_init(); no policy is left
 *
 * Context: process, may sleep.
 */
void lmm_registry_exit(void)
{
	struct workqueue_struct *wq = lmm_look_wq;

	/* It queues itself; and whoever asks for it from here on is not heard. */
	cancel_delayed_work_sync(&lmm_look_work);
	WRITE_ONCE(lmm_look_wq, NULL);
	synchronize_rcu();
	cancel_delayed_work_sync(&lmm_look_work);
	destroy_workqueue(wq);
}

/**
 * lmm_policy_next() - walk the registered policies in order of their ids
 * @prev: where the walk is, or NULL to begin
 *
 * Policies are registered before anybody can ask, and forgotten when nobody can any more.
 *
 * Context: any.
 * Return: the next policy, or NULL at the end.
 */
struct lmm_policy *lmm_policy_next(struct lmm_policy *prev)
{
	unsigned int id = prev ? prev->id + 1 : 0;

	for (; id < LMM_NR_POLICIES; id++) {
		struct lmm_policy *policy = READ_ONCE(lmm_policies[id]);

		if (policy)
			return policy;
	}
	return NULL;
}

/* The registered policy of that name, or NULL; control mutex held. */
static struct lmm_policy *lmm_policy_find(const char *name, size_t len)
{
	struct lmm_policy *policy;

	for (policy = lmm_policy_next(NULL); policy;
	     policy = lmm_policy_next(policy)) {
		if (strlen(policy->name) == len &&
		    !memcmp(policy->name, name, len))
			break;
	}
	return policy;
}

/* Are the tables within bounds? */
static bool lmm_policy_sound(const struct lmm_policy *policy)
{
	unsigned int i, texts = 0;

	if ((unsigned int)policy->id >= LMM_NR_POLICIES ||
	    policy->nr_knobs > LMM_MAX_KNOBS ||
	    policy->mode_knob >= (int)policy->nr_knobs)
		return false;
	for (i = 0; i < policy->nr_knobs; i++)
		texts += policy->knobs[i].kind == LMM_KNOB_TEXT;
	if (policy->mode_knob >= 0 &&
	    policy->knobs[policy->mode_knob].kind == LMM_KNOB_TEXT)
		return false;
	return texts <= 1;
}

/*
 * The parameter `policies` shows every setting in one page, and takes what it has
 * shown back in one: room for the worst that each policy may be set to.
 */
static bool lmm_policies_fit(const struct lmm_policy *added)
{
	size_t room = lmm_policies_room(added);
	struct lmm_policy *policy;

	for (policy = lmm_policy_next(NULL); policy;
	     policy = lmm_policy_next(policy))
		room += lmm_policies_room(policy);
	return room < PAGE_SIZE;
}

static int lmm_policy_add(struct lmm_policy *policy)
{
	struct lmm_config *config;
	unsigned int i;

	lockdep_assert_held(&lmm_control_mutex);

	if (lmm_policies[policy->id] ||
	    lmm_policy_find(policy->name, strlen(policy->name)))
		return -EEXIST;
	if (!lmm_policies_fit(policy))
		return -E2BIG;
	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	for (i = 0; i < policy->nr_knobs; i++)
		config->value[i] = policy->knobs[i].def;
	policy->counters = lmm_counters_alloc(policy->nr_counters);
	if (!policy->counters) {
		kfree(config);
		return -ENOMEM;
	}
	policy->on = false;
	policy->state = LMM_POLICY_OFF;
	policy->waiting = 0;
	policy->config_off = NULL;
	rcu_assign_pointer(policy->config, config);
	WRITE_ONCE(lmm_policies[policy->id], policy);
	return 0;
}

/**
 * lmm_policy_register() - make a policy known, switched off, with its defaults
 * @policy: stays the caller's, but its last members are control's from here on
 *
 * Context: process, may sleep; takes the control mutex.
 * Return: 0, -EEXIST if its id or its name is taken, -EINVAL if its tables are
 * beyond bounds, -E2BIG if the settings of all policies could become too long for
 * one parameter, -ENOMEM.
 */
int lmm_policy_register(struct lmm_policy *policy)
{
	int err;

	if (!lmm_policy_sound(policy))
		return -EINVAL;
	mutex_lock(&lmm_control_mutex);
	err = lmm_policy_add(policy);
	mutex_unlock(&lmm_control_mutex);
	return err;
}

/**
 * lmm_policy_unregister() - switch a policy off and forget it
 * @policy: a registered policy, or one that never was (then nothing happens)
 *
 * Its files must be gone already.
 *
 * Context: process, may sleep; takes the control mutex.
 */
void lmm_policy_unregister(struct lmm_policy *policy)
{
	struct lmm_config *config;

	mutex_lock(&lmm_control_mutex);
	if (lmm_policies[policy->id] == policy) {
		lmm_policy_cut(policy);
		lmm_policy_tidy(policy);
		WRITE_ONCE(lmm_policies[policy->id], NULL);
		config = rcu_replace_pointer(policy->config, NULL,
					     lockdep_is_held(&lmm_control_mutex));
		kfree_rcu(config, rcu);
		free_percpu(policy->counters);
		policy->counters = NULL;
	}
	mutex_unlock(&lmm_control_mutex);
}
