/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policies.h - the table of registered policies
 */
#ifndef LIVEMM_CONTROL_POLICIES_H
#define LIVEMM_CONTROL_POLICIES_H

#include "livemm.h"

/* A bit for every policy. */
#define LMM_ALL_POLICIES	GENMASK(LMM_NR_POLICIES - 1, 0)

extern struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

struct lmm_policy *lmm_policy_next(struct lmm_policy *prev, unsigned int named);

#define lmm_for_each_policy(policy, named)				\
	for (policy = lmm_policy_next(NULL, named); policy;		\
	     policy = lmm_policy_next(policy, named))

#endif /* LIVEMM_CONTROL_POLICIES_H */
