/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - steps of a change of one policy, which switch.c takes
 */
#ifndef LIVEMM_CONTROL_STATE_H
#define LIVEMM_CONTROL_STATE_H

#include "livemm.h"

/**
 * struct lmm_switch - a change of one policy
 * @policy: the policy
 * @config: settings to come on with
 * @publish: settings to publish; NULL: the published settings stay
 * @publish_off: a copy of @publish that is off, or NULL
 * @cuts: number of cuts of the policy at the begin
 */
struct lmm_switch {
	struct lmm_policy *policy;
	const struct lmm_config *config;
	struct lmm_config *publish;
	struct lmm_config *publish_off;
	unsigned int cuts;
};

int lmm_policy_begin(const struct lmm_switch *sw, char *why, size_t len);
int lmm_policy_commit(struct lmm_switch *sw, bool go, char *why, size_t len);
int lmm_cut_meanwhile(char *why, size_t len);
unsigned int lmm_policy_cuts(const struct lmm_policy *policy);
unsigned int lmm_policy_mode_now(const struct lmm_policy *policy);
void lmm_policy_stop(struct lmm_policy *policy);
void lmm_policy_leave(struct lmm_policy *policy);
void lmm_policy_settle(struct lmm_policy *policy, enum lmm_policy_state state);
void lmm_policy_set_reason(struct lmm_policy *policy, const char *why);

#endif /* LIVEMM_CONTROL_STATE_H */
