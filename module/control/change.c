// SPDX-License-Identifier: GPL-2.0-only
/*
 * change.c - the one door to settings: what a text says, judged once and done whole
 *
 * A text that only switches policies off takes effect at once, without a lock.  Every other text is
 * judged, and carried out, with the locks of the policies that the text names, taken in the order
 * of their ids.  No text waits for a livepatch: a policy that needs one that is not loaded waits.
 *
 * A wait for a lock ends when the writer is killed.  A wait of the kernel's own, for
 * instance until every task has left a function, does not, and holds up nobody else.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "change.h"
#include "hook/hook.h"
#include "lease.h"
#include "look.h"
#include "switch.h"

/* How long switching off waits for values to be restored; the policy is off in any case. */
#define OFF_WAIT_MS	10000

/* What a text asks for. */
struct lmm_change {
	const struct lmm_delta *deltas;
	/* A bit for each policy that the text names; switches on; off; gives another mode. */
	unsigned int named, on, off, remode;
	/* Numbers of cuts at the begin. */
	unsigned int cuts[LMM_NR_POLICIES];
	struct lmm_config *want[LMM_NR_POLICIES];
};

/* Begin, or begin anew; an earlier cut matters only for policies that the text switches on. */
static void change_begin(struct lmm_change *change)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, change->named) {
		struct lmm_config *want = change->want[policy->id];

		if (!(change->on & BIT(policy->id)))
			change->cuts[policy->id] = lmm_policy_cuts(policy);
		rcu_read_lock();
		*want = *lmm_policy_now(policy);
		rcu_read_unlock();
		lmm_delta_apply(policy, &change->deltas[policy->id], want);
	}
}

/* Does the text only switch policies off? */
static bool only_off(const struct lmm_change *change)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, change->named)
		if (lmm_policy_changes(policy, change->want[policy->id]))
			return false;
	return change->off == change->named;
}

static void change_unlock(unsigned int locked)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, locked)
		mutex_unlock(&policy->lock);
}

static int change_lock(const struct lmm_change *change, char *why)
{
	struct lmm_policy *policy;
	unsigned int locked = 0;

	lmm_for_each_policy(policy, change->named) {
		if (mutex_lock_killable_nested(&policy->lock, policy->id)) {
			change_unlock(locked);
			scnprintf(why, LMM_WHY_LEN, "%s: killed while another change was under way",
				  policy->name);
			return -EINTR;
		}
		locked |= BIT(policy->id);
	}
	return 0;
}

static void change_revert(struct lmm_change *change, unsigned int done)
{
	struct lmm_policy *policy;
	char why[LMM_WHY_LEN];

	lmm_for_each_policy(policy, done) {
		struct lmm_config **back = &change->want[policy->id];
		unsigned int cuts = change->cuts[policy->id];
		int err = lmm_policy_apply(policy, back, cuts, why);

		/* A policy that was cut meanwhile stays off. */
		if (err == -ECANCELED) {
			(*back)->enabled = false;
			err = lmm_policy_apply(policy, back, cuts, why);
		}
		if (err)
			pr_err("livemm: old settings not put back: %s\n", why);
	}
}

/*
 * Steps that may fail come first, and switching off, which cannot fail, comes last.  A revert
 * therefore enables nothing but the old mode of a policy whose mode was changed.
 */
static int change_apply(struct lmm_change *change, char *why)
{
	unsigned int on = 0, done = 0;
	struct lmm_policy *policy;
	int err = 0;

	lmm_for_each_policy(policy, change->named) {
		if (!err)
			err = lmm_policy_judge(policy, change->want[policy->id], why);
		if (change->want[policy->id]->enabled)
			on |= BIT(policy->id);
	}
	if (err)
		return err;
	lmm_for_each_policy(policy, on) {
		err = lmm_policy_apply(policy, &change->want[policy->id],
				       change->cuts[policy->id], why);
		if (err) {
			change_revert(change, done);
			return err;
		}
		done |= BIT(policy->id);
	}
	lmm_for_each_policy(policy, change->named & ~on)
		lmm_policy_apply(policy, &change->want[policy->id], 0, why);
	/* Whoever waits to switch on a policy that is to be off gives up, on or not. */
	lmm_policies_cut(change->off);
	return 0;
}

static int change_carry_out(struct lmm_change *change, char *why)
{
	struct lmm_policy *policy;
	int err;

	/*
	 * Another livepatch may have gone.  Not under a lock: klp_mutex may be held for long.
	 * Settings that arm nothing need no survey of livepatches, and so no wait for klp_mutex.
	 */
	if (change->on | change->remode)
		lmm_klp_survey();
	err = change_lock(change, why);
	if (err)
		return err;
	/* What was cut is tidied up before it is judged. */
	lmm_for_each_policy(policy, change->named)
		lmm_policy_tidy(policy);
	change_begin(change);
	err = change_apply(change, why);
	change_unlock(change->named);
	/* Wrappers may have changed while policies came on, or were to come on. */
	lmm_look_soon();
	return err;
}

/* Change settings, all or none; @deltas says what to change of each policy. */
static int change_settings(const struct lmm_delta deltas[LMM_NR_POLICIES], char *why)
{
	struct lmm_change change = { .deltas = deltas };
	struct lmm_policy *policy;
	int err = 0;

	lmm_for_each_policy(policy, LMM_ALL_POLICIES) {
		const struct lmm_delta *delta = &deltas[policy->id];
		struct lmm_config *want;

		if (!delta->keys)
			continue;
		change.named |= BIT(policy->id);
		if (delta->keys & BIT(LMM_KEY_ENABLED))
			*(delta->key[LMM_KEY_ENABLED] ? &change.on : &change.off) |=
				BIT(policy->id);
		else if (delta->keys & BIT(policy->mode_knob + 1))
			change.remode |= BIT(policy->id);
		/* Switching off is not refused for want of memory. */
		want = kmalloc(sizeof(*want), GFP_KERNEL | __GFP_NOFAIL);
		change.want[policy->id] = want;
		/* An "off" from here on prevails over an "on" in the text. */
		change.cuts[policy->id] = lmm_policy_cuts(policy);
	}
	change_begin(&change);
	if (only_off(&change)) {
		lmm_policies_cut(change.off);
		lmm_policies_wait(change.off, OFF_WAIT_MS);
	} else {
		err = change_carry_out(&change, why);
	}
	/* Settings that were in force may have readers. */
	lmm_for_each_policy(policy, change.named)
		kfree_rcu(change.want[policy->id], rcu);
	return err;
}

/**
 * lmm_control_write() - change settings, or the lease, as a text says
 * @policy: the policy that the text is for; NULL: the text names policies
 * @key: the key that the text is a value of; LMM_ALL_KEYS: the text names keys; LMM_KEY_LEASE
 * @text: the text, which is changed; may end in a newline
 * @why: reason in words, on failure
 *
 * Context: process, may sleep, no policy's lock held; killable.
 * Return: 0; the errno of lmm_parse(), lmm_policy_judge() or lmm_policy_apply(); -EINTR when
 * killed.
 */
int lmm_control_write(const struct lmm_policy *policy, unsigned int key, char *text, char *why)
{
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };
	u32 seconds;
	int err;

	lmm_chomp(text);
	if (key != LMM_KEY_LEASE)
		return lmm_parse(lmm_policies, policy, key, text, deltas, why) ?:
		       change_settings(deltas, why);
	err = lmm_knob_parse(&lmm_lease_knob, text, &seconds, why, LMM_WHY_LEN);
	if (!err)
		lmm_lease_set(seconds);
	return err;
}

/**
 * lmm_control_format() - print settings, or the lease, as lmm_control_write() reads them
 * @policy: the policy; NULL: all policies
 * @key: the key to print; LMM_ALL_KEYS: a line with all; LMM_KEY_LEASE
 * @buf: destination
 * @len: size of @buf
 *
 * Context: process.
 * Return: characters in @buf without the NUL.
 */
size_t lmm_control_format(struct lmm_policy *policy, unsigned int key, char *buf, size_t len)
{
	size_t n = 0;

	if (key == LMM_KEY_LEASE)
		return scnprintf(buf, len, "%u", lmm_lease_left());
	rcu_read_lock();
	if (policy)
		n = lmm_format(policy, key, lmm_policy_now(policy), ' ', buf, len);
	else
		lmm_for_each_policy(policy, LMM_ALL_POLICIES) {
			n += scnprintf(buf + n, len - n, "%s%s:", n ? ";" : "", policy->name);
			n += lmm_format(policy, key, lmm_policy_now(policy), ',', buf + n,
					len - n);
		}
	rcu_read_unlock();
	return n;
}
