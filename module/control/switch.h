/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * switch.h - switching one policy on and off, for the registry
 */
#ifndef LIVEMM_CONTROL_SWITCH_H
#define LIVEMM_CONTROL_SWITCH_H

#include "livemm.h"

int lmm_policy_check(struct lmm_policy *policy, const struct lmm_config *want,
		     char *why, size_t len);
bool lmm_policy_to_arm(const struct lmm_policy *policy, const struct lmm_config *want);
bool lmm_policy_look(struct lmm_policy *policy);

#endif /* LIVEMM_CONTROL_SWITCH_H */
