// SPDX-License-Identifier: GPL-2.0-only
/*
 * policies.c - the table of registered policies
 */
#include "policies.h"

/* By id; written while the module loads and goes, when no other task walks the table. */
struct lmm_policy *lmm_policies[LMM_NR_POLICIES];

/**
 * lmm_policy_next() - walk the registered policies in order of their ids
 * @prev: the policy before, or NULL to begin
 * @named: bit per policy to stop at
 *
 * Registration ends before the first walk can begin, and policies stay until the last walk ends.
 *
 * Context: any.
 * Return: the next policy, or NULL at the end.
 */
struct lmm_policy *lmm_policy_next(struct lmm_policy *prev, unsigned int named)
{
	struct lmm_policy *policy = NULL;
	unsigned int id;

	for (id = prev ? prev->id + 1 : 0; id < LMM_NR_POLICIES && !policy; id++)
		if (named & BIT(id))
			policy = READ_ONCE(lmm_policies[id]);
	return policy;
}
