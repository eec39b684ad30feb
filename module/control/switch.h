/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * switch.h - the table of policies, and how a policy goes from off to on and back
 */
#ifndef LIVEMM_CONTROL_SWITCH_H
#define LIVEMM_CONTROL_SWITCH_H

#include "livemm.h"

/* A bit for every policy. */
#define LMM_ALL_POLICIES	GENMASK(LMM_NR_POLICIES - 1, 0)

/* The kernel log says what a policy waits for after this time. */
#define LMM_TELL_AFTER	(10 * HZ)

extern struct lmm_policy *lmm_policies[LMM_NR_POLICIES];
extern struct workqueue_struct *lmm_wq;
extern const char *const lmm_policy_state_name[];
extern bool lmm_off;

struct lmm_policy *lmm_policy_next(struct lmm_policy *prev, unsigned int named);
void lmm_queue(struct delayed_work *work, unsigned long delay);
void lmm_policy_stop(struct lmm_policy *policy, const char *why);
enum lmm_policy_state lmm_policy_state(struct lmm_policy *policy, char *why, size_t len);
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms);
unsigned int lmm_policy_mode_now(const struct lmm_policy *policy);
bool lmm_policy_supported(struct lmm_policy *policy, char *why, size_t len);
bool lmm_policy_changes(const struct lmm_policy *policy, const struct lmm_config *want);
int lmm_policy_judge(struct lmm_policy *policy, const struct lmm_config *want, char *why);
int lmm_policy_apply(struct lmm_policy *policy, struct lmm_config **want, unsigned int cuts,
		     char *why);
void lmm_policy_tidy(struct lmm_policy *policy);
void lmm_policy_look(struct lmm_policy *policy);

#define lmm_for_each_policy(policy, named)				\
	for (policy = lmm_policy_next(NULL, named); policy;		\
	     policy = lmm_policy_next(policy, named))

/**
 * lmm_policy_cut() - somebody wants a policy off: stop the policy at once
 * @policy: a registered policy
 *
 * The policy gets no event any more, the published settings say off, and a task that switches the
 * policy on gives up.  Somebody later restores values that the policy has changed.
 *
 * Context: any.
 */
static inline void lmm_policy_cut(struct lmm_policy *policy)
{
	lmm_policy_stop(policy, NULL);
}

/**
 * lmm_policy_cuts() - number of cuts of a policy
 * @policy: a registered policy
 *
 * Settings that are read afterwards are not older than the number.
 *
 * Context: any.
 * Return: the number.
 */
static inline unsigned int lmm_policy_cuts(const struct lmm_policy *policy)
{
	/* Pairs with lmm_policy_stop(). */
	return smp_load_acquire(&policy->cuts);
}

/**
 * lmm_policy_busy() - is a policy between two states?
 * @policy: a registered policy
 *
 * Context: any.
 * Return: true while the policy is switched on, or taken down.
 */
static inline bool lmm_policy_busy(const struct lmm_policy *policy)
{
	enum lmm_policy_state state = READ_ONCE(policy->state);

	return state == LMM_POLICY_LOADING || state == LMM_POLICY_LEAVING;
}

/**
 * lmm_policy_now() - the published settings
 * @policy: a registered policy
 *
 * Context: @policy->lock held; any, under RCU.
 * Return: the settings, of which `enabled` may become false at any time.
 */
static inline const struct lmm_config *lmm_policy_now(const struct lmm_policy *policy)
{
	return rcu_dereference_check(policy->config, lockdep_is_held(&policy->lock));
}

#endif /* LIVEMM_CONTROL_SWITCH_H */
