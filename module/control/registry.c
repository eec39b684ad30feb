// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry.c - the registered policies, and every change of their settings
 *
 * Every change of a setting, by a debugfs file or a module parameter, goes through
 * lmm_policies_apply() with the control mutex held.  Switching off needs no mutex; see state.c.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "control.h"
#include "events.h"
#include "hook/hook.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Time between two checks for hooks that a policy in standby lacks. */
#define LOOK_JIFFIES	HZ

/* Serialises every change of settings and the table below; see control.h. */
DEFINE_MUTEX(lmm_control_mutex);

static struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

/* Undo lmm_policies_apply(), last step first. */
static void lmm_policies_revert(struct lmm_policy *const done[], struct lmm_config *old,
				const unsigned int *cuts, unsigned int nr)
{
	char why[LMM_WHY_LEN];
	int err;

	while (nr--) {
		struct lmm_policy *policy = done[nr];

		struct lmm_config *back = &old[policy->id];

		err = lmm_policy_apply(policy, back, cuts[policy->id], why, sizeof(why));
		if (err == -ECANCELED) {
			/* A policy that was cut meanwhile stays off. */
			back->enabled = false;
			err = lmm_policy_apply(policy, back, cuts[policy->id], why, sizeof(why));
		}
		if (err)
			pr_err("livemm: old settings not put back: %s\n", why);
	}
}

/**
 * lmm_policies_missing() - judge settings, and list the wrappers that they need loaded
 * @want: settings by policy id
 * @named: bit per policy to change
 * @functions: gets BIT(enum lmm_klp_function) of each wrapper that is not live
 * @waiting: gets a bit per policy that needs a wrapper of @functions
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, or the errno of the policy that refuses.
 */
int lmm_policies_missing(const struct lmm_config want[LMM_NR_POLICIES], unsigned int named,
			 u32 *functions, unsigned int *waiting, char *why, size_t len)
{
	struct lmm_policy *policy = NULL;
	u32 missing;
	int err;

	lockdep_assert_held(&lmm_control_mutex);

	*functions = 0;
	*waiting = 0;
	while ((policy = lmm_policy_next(policy))) {
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
 * @off: bit per policy of @named that somebody has asked to be off
 * @cuts: by policy id, number of cuts when the caller began the change
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * All settings are judged first.  Steps that may fail come next, and switching off, which cannot
 * fail, comes last.  A revert therefore enables nothing but the old mode of a policy whose mode
 * was changed.
 *
 * On success tasks that wait to switch a policy of @off on give up, whether or not the policy was
 * on.  A policy that goes off because a change is taken back refuses nobody.
 *
 * Context: process, may sleep, control mutex held.
 * Return: 0, or the errno of the policy that refused.
 */
int lmm_policies_apply(const struct lmm_config want[LMM_NR_POLICIES], unsigned int named,
		       unsigned int off, const unsigned int cuts[LMM_NR_POLICIES], char *why,
		       size_t len)
{
	struct lmm_policy *done[LMM_NR_POLICIES];
	struct lmm_policy *policy = NULL;
	struct lmm_config *old;
	unsigned int nr = 0;
	int pass, err = 0;

	lockdep_assert_held(&lmm_control_mutex);

	while ((policy = lmm_policy_next(policy))) {
		if (named & BIT(policy->id))
			err = lmm_policy_check(policy, &want[policy->id], why, len);
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
			err = lmm_policy_apply(policy, &want[id], cuts[id], why, len);
			if (!err)
				done[nr++] = policy;
		}
	}
	if (err)
		lmm_policies_revert(done, old, cuts, nr);
	else if (off)
		lmm_policies_cut(off);
	kfree(old);
	return err;
}

/**
 * lmm_policies_look() - move policies to standby and back as their hooks go and come
 *
 * Also restores the values of policies that were cut.
 *
 * Context: process, may sleep, control mutex held.
 * Return: true if another look is needed later.
 */
bool lmm_policies_look(void)
{
	bool again = lmm_hooks_unsettled();
	struct lmm_policy *policy = NULL;

	lockdep_assert_held(&lmm_control_mutex);

	while ((policy = lmm_policy_next(policy)))
		again |= lmm_policy_look(policy);
	return again;
}

/*
 * Tidying up does not wait for a look: a look waits for the livepatch core, which may wait for a
 * busy CPU.  A policy that was cut and is not tidied up yet gets no event, but the policy's own
 * worker goes on.
 */
static void lmm_tidy_worker(struct work_struct *work);
static DECLARE_WORK(lmm_tidy_work, lmm_tidy_worker);
static void lmm_look_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(lmm_look_work, lmm_look_worker);
static struct workqueue_struct *lmm_look_wq;

/*
 * Does nothing once lmm_registry_exit() has begun; the exit waits for callers by RCU.  A look
 * with a delay does not put off a look that is queued already.
 */
static void lmm_look_after(unsigned long delay)
{
	struct workqueue_struct *wq;

	rcu_read_lock();
	wq = READ_ONCE(lmm_look_wq);
	if (wq && delay)
		queue_delayed_work(wq, &lmm_look_work, delay);
	else if (wq)
		mod_delayed_work(wq, &lmm_look_work, 0);
	rcu_read_unlock();
}

static void lmm_tidy_worker(struct work_struct *work)
{
	struct lmm_policy *policy = NULL;

	/* Killable to keep the hung task detector silent; nobody kills a worker. */
	if (mutex_lock_killable(&lmm_control_mutex))
		return;
	while ((policy = lmm_policy_next(policy)))
		lmm_policy_tidy(policy);
	mutex_unlock(&lmm_control_mutex);
}

static void lmm_tidy_soon(void)
{
	struct workqueue_struct *wq;

	rcu_read_lock();
	wq = READ_ONCE(lmm_look_wq);
	if (wq)
		queue_work(wq, &lmm_tidy_work);
	rcu_read_unlock();
}

static void lmm_look_worker(struct work_struct *work)
{
	bool again;

	/* Not under the mutex: klp_mutex may be held for long. */
	lmm_klp_survey();
	if (mutex_lock_killable(&lmm_control_mutex))
		return;
	again = lmm_policies_look();
	mutex_unlock(&lmm_control_mutex);
	if (again)
		lmm_look_after(LOOK_JIFFIES);
}

/**
 * lmm_policies_look_soon() - have a worker call lmm_policies_look()
 *
 * Context: any.
 */
void lmm_policies_look_soon(void)
{
	lmm_look_after(0);
}

/**
 * lmm_policies_cut() - stop policies at once; their values are restored later
 * @named: bit per policy
 *
 * Context: any.
 */
void lmm_policies_cut(unsigned int named)
{
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		if (named & BIT(policy->id))
			lmm_policy_cut(policy);
	lmm_klp_wake();
	lmm_tidy_soon();
}

/**
 * lmm_policies_were_cut() - was any of the named policies cut since lmm_policies_cuts()?
 * @named: bit per policy
 * @cuts: result of lmm_policies_cuts()
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_policies_were_cut(unsigned int named, const unsigned int cuts[LMM_NR_POLICIES])
{
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		if (named & BIT(policy->id) && READ_ONCE(policy->cuts) != cuts[policy->id])
			return true;
	return false;
}

/**
 * lmm_registry_init() - prepare for policies
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lmm_registry_init(void)
{
	/* WQ_MEM_RECLAIM: tidying up frees memory.  Tidying and looking run side by side. */
	lmm_look_wq = alloc_workqueue("livemm", WQ_UNBOUND | WQ_MEM_RECLAIM, 2);
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

	/* The look queues itself, so cancel when no caller sees the workqueue. */
	WRITE_ONCE(lmm_look_wq, NULL);
	synchronize_rcu();
	cancel_delayed_work_sync(&lmm_look_work);
	cancel_work_sync(&lmm_tidy_work);
	destroy_workqueue(wq);
}

/**
 * lmm_policy_next() - walk the registered policies in order of their ids
 * @prev: the policy before, or NULL to begin
 *
 * Registration ends before the first walk can begin, and policies stay until the last walk ends.
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
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy))) {
		if (strlen(policy->name) == len && !memcmp(policy->name, name, len))
			break;
	}
	return policy;
}

/* Has a choice as many words as its bound says? */
static bool lmm_choice_sound(const struct lmm_knob *knob)
{
	u32 words = 0;

	while (knob->choices[words])
		words++;
	return words == knob->max + 1;
}

/* Is each word of the mode knob a bit of LMM_ALL_MODES? */
static bool lmm_mode_sound(const struct lmm_knob *knob)
{
	return knob->kind == LMM_KNOB_CHOICE && knob->max < LMM_MAX_MODES;
}

/* Are the tables within bounds? */
static bool lmm_policy_sound(const struct lmm_policy *policy)
{
	unsigned int i, texts = 0;

	if ((unsigned int)policy->id >= LMM_NR_POLICIES ||
	    policy->nr_knobs > LMM_MAX_KNOBS ||
	    policy->mode_knob >= (int)policy->nr_knobs)
		return false;
	for (i = 0; i < policy->nr_knobs; i++) {
		if (policy->knobs[i].kind == LMM_KNOB_CHOICE &&
		    !lmm_choice_sound(&policy->knobs[i]))
			return false;
		texts += policy->knobs[i].kind == LMM_KNOB_TEXT;
	}
	if (policy->mode_knob >= 0 && !lmm_mode_sound(&policy->knobs[policy->mode_knob]))
		return false;
	return texts <= 1;
}

/*
 * The parameter `policies` shows every setting in one page, and accepts that text in one
 * write: there must be room for the longest settings of every policy.
 */
static bool lmm_policies_fit(const struct lmm_policy *added)
{
	size_t room = lmm_policies_room(added);
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		room += lmm_policies_room(policy);
	return room < PAGE_SIZE;
}

/* Subscribe the policy to hooks, and register its events with dispatch. */
static int lmm_policy_subscribe(struct lmm_policy *policy)
{
	int err = 0;

	if (policy->uses)
		err = lmm_hooks_subscribe(policy->id, policy->uses);
	if (err)
		return err;
	err = lmm_events_register(policy->id, policy->events);
	if (err)
		lmm_hooks_unsubscribe(policy->id);
	return err;
}

static int lmm_policy_add(struct lmm_policy *policy)
{
	struct lmm_config *config;
	unsigned int i;
	int err;

	lockdep_assert_held(&lmm_control_mutex);

	if (lmm_policies[policy->id] || lmm_policy_find(policy->name, strlen(policy->name)))
		return -EEXIST;
	if (!lmm_policies_fit(policy))
		return -E2BIG;
	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	for (i = 0; i < policy->nr_knobs; i++)
		config->value[i] = policy->knobs[i].def;
	policy->counters = lmm_counters_alloc(policy->nr_counters);
	err = policy->counters ? lmm_policy_subscribe(policy) : -ENOMEM;
	if (err) {
		free_percpu(policy->counters);
		kfree(config);
		return err;
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
 * @policy: owned by the caller; control owns the members from @config on
 *
 * Context: process, may sleep; takes the control mutex.
 * Return: 0, -EEXIST if its id or its name is taken, -EINVAL if its tables are
 * beyond bounds, -E2BIG if the settings of all policies could become too long for
 * one parameter, -ENOMEM, or what lmm_hooks_subscribe() or lmm_events_register() refuse with.
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
 * lmm_policy_unregister() - switch a policy off and remove it from the registry
 * @policy: a policy; nothing happens if the policy is not registered
 *
 * The files of the policy must be gone already.
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
		lmm_events_unregister(policy->id);
		lmm_hooks_unsubscribe(policy->id);
		if (policy->forget)
			policy->forget(policy);
		WRITE_ONCE(lmm_policies[policy->id], NULL);
		config = rcu_replace_pointer(policy->config, NULL,
					     lockdep_is_held(&lmm_control_mutex));
		kfree_rcu(config, rcu);
		free_percpu(policy->counters);
		policy->counters = NULL;
	}
	mutex_unlock(&lmm_control_mutex);
}
