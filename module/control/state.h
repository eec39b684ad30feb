/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - state and published settings of a policy
 */
#ifndef LIVEMM_CONTROL_STATE_H
#define LIVEMM_CONTROL_STATE_H

#include "livemm.h"

unsigned int lmm_policy_cuts(const struct lmm_policy *policy);
int lmm_policy_commit(struct lmm_policy *policy, struct lmm_config **config,
		      enum lmm_policy_state state, unsigned int cuts);
void lmm_policy_cut(struct lmm_policy *policy);
void lmm_policy_stop(struct lmm_policy *policy, const char *why);
void lmm_policy_settle(struct lmm_policy *policy, enum lmm_policy_state state);
enum lmm_policy_state lmm_policy_state(struct lmm_policy *policy, char *why, size_t len);
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms);
unsigned int lmm_policy_mode_now(const struct lmm_policy *policy);

extern const char *const lmm_policy_state_name[];

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

#endif /* LIVEMM_CONTROL_STATE_H */
