// SPDX-License-Identifier: GPL-2.0-only
/*
 * change.c - a written text changes all settings that the text names, or none
 *
 * A text that only switches policies off takes effect at once, without the control mutex.  Every
 * other text is judged under the mutex.  The mutex is released while livepatches are being loaded,
 * and the text is read and judged anew afterwards.
 *
 * Every wait ends when the writer is killed.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "hook/hook.h"
#include "control.h"

/* Tries to load livepatches that somebody else disables again and again. */
#define LOADS_MAX	3

/* How long switching off waits for values to be restored; the policy is off in any case. */
#define OFF_WAIT_MS	10000

/* The policies that a writer waits to switch on, and lmm_policies_cuts() at the begin. */
struct waiter {
	unsigned int policies;
	unsigned int cuts[LMM_NR_POLICIES];
};

static bool was_cut(const void *arg)
{
	const struct waiter *waiter = arg;

	return lmm_policies_were_cut(waiter->policies, waiter->cuts);
}

static int load(u32 functions, const struct waiter *waiter, char *why, size_t len)
{
	char words[LMM_WHY_LEN] = "";
	struct lmm_policy *policy = NULL;
	int err;

	lmm_policies_waiting(waiter->policies, true);
	err = lmm_klp_load(functions, was_cut, waiter, words, sizeof(words));
	lmm_policies_waiting(waiter->policies, false);
	if (!err)
		return 0;
	while ((policy = lmm_policy_next(policy)))
		if (waiter->policies & BIT(policy->id))
			break;
	scnprintf(why, len, "%s/enabled: 1: %s", policy ? policy->name : "?",
		  err == -ECANCELED ? "switched off meanwhile" : words);
	return err;
}

/* Read a text against the settings in force; with @enabled, as if each policy were on or off. */
static int read_text(const struct lmm_change *change, struct lmm_config *want,
		     const bool *enabled, unsigned int *named, char *why, size_t len)
{
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy))) {
		lmm_policy_config_copy(policy, &want[policy->id]);
		if (enabled)
			want[policy->id].enabled = *enabled;
	}
	return change->parse(change, want, named, why, len);
}

/* What a text says of `enabled`, as a bit per policy, whatever is in force. */
struct asked {
	unsigned int named;
	unsigned int on;
	unsigned int off;
};

/* Which of the named policies are on in these settings? */
static unsigned int enabled_in(const struct lmm_config *want, unsigned int named)
{
	struct lmm_policy *policy = NULL;
	unsigned int on = 0;

	while ((policy = lmm_policy_next(policy)))
		if (named & BIT(policy->id) && want[policy->id].enabled)
			on |= BIT(policy->id);
	return on;
}

static int read_asked(const struct lmm_change *change, struct lmm_config *want,
		      struct asked *asked, char *why, size_t len)
{
	static const bool off, on = true;
	int err;

	err = read_text(change, want, &off, &asked->named, why, len);
	if (err)
		return err;
	asked->on = enabled_in(want, asked->named);
	err = read_text(change, want, &on, &asked->named, why, len);
	asked->off = asked->named & ~enabled_in(want, asked->named);
	return err;
}

/* Does the text that was read last only switch policies off? */
static bool only_off(const struct lmm_config *want, const struct asked *asked)
{
	struct lmm_policy *policy = NULL;

	if (!asked->named || asked->off != asked->named)
		return false;
	while ((policy = lmm_policy_next(policy)))
		if (asked->named & BIT(policy->id) &&
		    lmm_policy_changes_values(policy, &want[policy->id]))
			return false;
	return true;
}

/* A cut since the begin matters only for policies that the text switches on. */
static void refresh_cuts(struct waiter *waiter, unsigned int asked_on)
{
	unsigned int cuts[LMM_NR_POLICIES] = { };
	unsigned int id;

	lmm_policies_cuts(cuts);
	for (id = 0; id < LMM_NR_POLICIES; id++)
		if (!(asked_on & BIT(id)))
			waiter->cuts[id] = cuts[id];
}

/* Returns -EINPROGRESS when @functions have to be loaded first, for @waiter. */
static int try_change(const struct lmm_change *change, struct lmm_config *want,
		      const struct asked *asked, u32 *functions, struct waiter *waiter, char *why,
		      size_t len)
{
	unsigned int named = 0;
	int err;

	if (fatal_signal_pending(current) || mutex_lock_killable(&lmm_control_mutex)) {
		scnprintf(why, len, "killed while another change was under way");
		return -EINTR;
	}
	/* Release livepatches that were disabled from outside, so that they can be loaded anew. */
	if (lmm_policies_look())
		lmm_policies_look_soon();
	refresh_cuts(waiter, asked->on);
	err = read_text(change, want, NULL, &named, why, len) ?:
	      lmm_policies_missing(want, named, functions, &waiter->policies, why, len);
	if (!err && *functions)
		err = -EINPROGRESS;
	else if (!err)
		err = lmm_policies_apply(want, named, asked->off, waiter->cuts, why, len);
	mutex_unlock(&lmm_control_mutex);
	return err;
}

/**
 * lmm_control_change() - change settings as a text says
 * @change: the text
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * Context: process, may sleep, control mutex not held; killable.
 * Return: 0; the errno of @change->parse, lmm_policies_apply() or lmm_klp_load(); -EINTR when
 * killed.
 */
int lmm_control_change(const struct lmm_change *change, char *why, size_t len)
{
	struct lmm_config *want;
	struct waiter waiter = { };
	struct asked asked = { };
	unsigned int loads = 0;
	u32 functions;
	bool fresh;
	int err;

	/* Switching off is not refused for want of memory. */
	want = kcalloc(LMM_NR_POLICIES, sizeof(*want), GFP_KERNEL | __GFP_NOFAIL);
	/* An "off" from here on prevails over an "on" in the text. */
	lmm_policies_cuts(waiter.cuts);
	err = read_asked(change, want, &asked, why, len);
	if (!err && only_off(want, &asked)) {
		lmm_policies_cut(asked.named);
		lmm_policies_wait(asked.named, OFF_WAIT_MS);
		goto out;
	}
	/* Settings that arm nothing need no survey of livepatches, and so no wait for klp_mutex. */
	fresh = asked.on;
	while (!err) {
		/* Not under the mutex: klp_mutex may be held for long. */
		if (fresh)
			lmm_klp_survey();
		err = try_change(change, want, &asked, &functions, &waiter, why, len);
		if (err == -EOPNOTSUPP && !fresh) {
			/* Another livepatch may have gone since the last survey. */
			fresh = true;
			err = 0;
			continue;
		}
		if (err != -EINPROGRESS)
			break;
		if (loads++ == LOADS_MAX) {
			scnprintf(why, len, "livepatches are disabled again and again");
			err = -EBUSY;
			break;
		}
		err = load(functions, &waiter, why, len);
	}
out:
	kfree(want);
	return err;
}
