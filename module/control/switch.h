/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * switch.h - a policy goes from off to on and back
 */
#ifndef LIVEMM_CONTROL_SWITCH_H
#define LIVEMM_CONTROL_SWITCH_H

#include "livemm.h"

extern bool lmm_off;

bool lmm_policy_supported(struct lmm_policy *policy, char *why, size_t len);
bool lmm_policy_changes(const struct lmm_policy *policy, const struct lmm_config *want);
int lmm_policy_judge(struct lmm_policy *policy, const struct lmm_config *want, char *why);
int lmm_policy_apply(struct lmm_policy *policy, struct lmm_config **want, unsigned int cuts,
		     char *why);
void lmm_policy_tidy(struct lmm_policy *policy);
void lmm_policy_look(struct lmm_policy *policy);

#endif /* LIVEMM_CONTROL_SWITCH_H */
