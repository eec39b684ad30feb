// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry.c - which policies there are, and the one door to their settings
 *
 * Whoever changes a setting, a debugfs file, a module parameter, the lease or
 * the exit of the module, comes through lmm_policy_apply() or, where refusal
 * is not an option, lmm_policies_disable_all().
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../control/control.h"
#include "../hook/hook.h"
#include "../ladder.h"
#include "../trace.h"

/* Serialises every change of settings and the list below; see livemm.h. */
DEFINE_MUTEX(lmm_control_mutex);

static struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

/* What the steps of switching on share. */
struct lmm_switch {
	struct lmm_policy *policy;
	struct lmm_config *old;
	struct lmm_config *new;
};

static int lmm_step_enable(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;

	return sw->policy->enable(sw->policy, sw->new, why, len);
}

static void lmm_step_disable(void *ctx)
{
	struct lmm_switch *sw = ctx;

	sw->policy->disable(sw->policy);
}

static int lmm_step_publish(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;

	rcu_assign_pointer(sw->policy->config, sw->new);
	return 0;
}

static void lmm_step_unpublish(void *ctx)
{
	struct lmm_switch *sw = ctx;

	rcu_assign_pointer(sw->policy->config, sw->old);
}

static int lmm_step_arm(void *ctx, char *why, size_t len)
{
	struct lmm_switch *sw = ctx;

	return lmm_hooks_arm(sw->policy->id, lmm_policy_mode(sw->policy, sw->new), why, len);
}

/* Hooks come last: no handler may see a policy half made, or old settings. */
static const struct lmm_step lmm_on_steps[] = {
	{ "enable", lmm_step_enable, lmm_step_disable },
	{ "publish", lmm_step_publish, lmm_step_unpublish },
	{ "arm", lmm_step_arm, NULL },
};

static bool lmm_same_values(const struct lmm_policy *policy,
			    const struct lmm_config *a,
			    const struct lmm_config *b)
{
	return !strcmp(a->text, b->text) &&
	       !memcmp(a->value, b->value,
		       policy->nr_knobs * sizeof(a->value[0]));
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
	lockdep_assert_held(&lmm_control_mutex);

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
 * Context: process, may sleep, control mutex held.
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
	return lmm_mode_supported(policy, lmm_policy_mode(policy, lmm_policy_config(policy)),
				  why, len);
}

/* Everything that can be refused without having touched anything. */
static int lmm_policy_check(struct lmm_policy *policy,
			    const struct lmm_config *want,
			    char *why, size_t len)
{
	const struct lmm_config *now = lmm_policy_config(policy);
	bool same = lmm_same_values(policy, now, want);
	bool to_arm = want->enabled && (!policy->on || lmm_policy_mode(policy, want) !=
							lmm_policy_mode(policy, now));
	int err = 0;

	why[0] = '\0';
	/* Going back to stock with the settings it has is never refused. */
	if (policy->validate && (want->enabled || !same))
		err = policy->validate(policy, want, why, len);
	if (err) {
		lmm_why_prefix(policy, "", err, why, len);
		return err;
	}
	if (to_arm && !lmm_mode_supported(policy, lmm_policy_mode(policy, want), why, len)) {
		lmm_why_prefix(policy, "enabled: 1: ", -EOPNOTSUPP, why, len);
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Another mode may want other hooks: off, and on again.  When the new mode refuses,
 * the old one is put back; should that fail too, the policy is off, and says so.
 */
static int lmm_policy_remode(struct lmm_switch *sw, char *why, size_t len)
{
	struct lmm_policy *policy = sw->policy;
	struct lmm_switch back = { policy, sw->new, sw->old };
	char words[LMM_WHY_LEN];
	struct lmm_config *off;
	int err;

	lmm_hooks_disarm(policy->id);
	policy->disable(policy);
	err = lmm_ladder_up(lmm_on_steps, ARRAY_SIZE(lmm_on_steps), sw, why, len);
	if (!err)
		return 0;
	lmm_why_prefix(policy, "enabled: 1: ", err, why, len);
	if (lmm_ladder_up(lmm_on_steps, ARRAY_SIZE(lmm_on_steps), &back, words,
			  sizeof(words))) {
		pr_err("livemm: %s is off: its mode was not put back: %s\n", policy->name,
		       words);
		off = kmemdup(sw->old, sizeof(*off), GFP_KERNEL | __GFP_NOFAIL);
		off->enabled = false;
		policy->on = false;
		trace_policy_switch(policy->name, false);
		rcu_assign_pointer(policy->config, off);
		kfree_rcu(sw->old, rcu);
	}
	kfree_rcu(sw->new, rcu);
	return err;
}

/* Bring a checked change about; takes over @new.  Switching off cannot fail. */
static int lmm_policy_change(struct lmm_policy *policy, struct lmm_config *new,
			     char *why, size_t len)
{
	struct lmm_config *old =
		rcu_dereference_protected(policy->config,
					  lockdep_is_held(&lmm_control_mutex));
	struct lmm_switch sw = { policy, old, new };
	int err;

	if (new->enabled && !policy->on) {
		err = lmm_ladder_up(lmm_on_steps, ARRAY_SIZE(lmm_on_steps),
				    &sw, why, len);
		if (err) {
			lmm_why_prefix(policy, "enabled: 1: ", err, why, len);
			/* An armed hook may have read it before the unwind. */
			kfree_rcu(new, rcu);
			return err;
		}
	} else if (!new->enabled && policy->on) {
		lmm_hooks_disarm(policy->id);
		policy->disable(policy);
	} else if (policy->on && lmm_policy_mode(policy, new) != lmm_policy_mode(policy, old)) {
		err = lmm_policy_remode(&sw, why, len);
		if (err)
			return err;
	} else if (policy->on && policy->configure) {
		policy->configure(policy, new);
	}
	if (policy->on != new->enabled)
		trace_policy_switch(policy->name, new->enabled);
	policy->on = new->enabled;
	rcu_assign_pointer(policy->config, new);
	kfree_rcu(old, rcu);
	return 0;
}

/**
 * lmm_policy_apply() - give a policy new settings; the one door
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
 * when it cannot be enabled here, -ENOMEM, or what enabling failed with.
 */
int lmm_policy_apply(struct lmm_policy *policy, const struct lmm_config *want,
		     char *why, size_t len)
{
	struct lmm_config *new;
	gfp_t gfp = GFP_KERNEL;
	int err;

	lockdep_assert_held(&lmm_control_mutex);

	if (want->enabled == policy->on &&
	    lmm_same_values(policy, lmm_policy_config(policy), want))
		return 0;
	err = lmm_policy_check(policy, want, why, len);
	if (err)
		return err;
	if (!want->enabled)
		gfp |= __GFP_NOFAIL;
	new = kmemdup(want, sizeof(*want), gfp);
	if (!new) {
		scnprintf(why, len, "%s: no memory", policy->name);
		return -ENOMEM;
	}
	return lmm_policy_change(policy, new, why, len);
}

/* What lmm_policy_apply() comes to for the settings there are, but off. */
static void lmm_policy_off(struct lmm_policy *policy)
{
	struct lmm_config *new;
	char why[LMM_WHY_LEN];

	if (!policy->on)
		return;
	new = kmemdup(lmm_policy_config(policy), sizeof(*new),
		      GFP_KERNEL | __GFP_NOFAIL);
	new->enabled = false;
	WARN_ON_ONCE(lmm_policy_change(policy, new, why, sizeof(why)));
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
			old[id] = *lmm_policy_config(policy);
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
	     policy = lmm_policy_next(policy))
		lmm_policy_off(policy);
}

/**
 * lmm_policy_next() - walk the registered policies in order of their ids
 * @prev: where the walk is, or NULL to begin
 *
 * Context: process, control mutex held.
 * Return: the next policy, or NULL at the end.
 */
struct lmm_policy *lmm_policy_next(struct lmm_policy *prev)
{
	unsigned int id = prev ? prev->id + 1 : 0;

	lockdep_assert_held(&lmm_control_mutex);

	for (; id < LMM_NR_POLICIES; id++) {
		if (lmm_policies[id])
			return lmm_policies[id];
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
	rcu_assign_pointer(policy->config, config);
	lmm_policies[policy->id] = policy;
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
		lmm_policy_off(policy);
		lmm_policies[policy->id] = NULL;
		config = rcu_replace_pointer(policy->config, NULL,
					     lockdep_is_held(&lmm_control_mutex));
		kfree_rcu(config, rcu);
		free_percpu(policy->counters);
		policy->counters = NULL;
	}
	mutex_unlock(&lmm_control_mutex);
}
