/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_budget.h - how much a worker may spend
 *
 * Pure: no kernel state, lock or clock.  Times are in ms since any moment, and do not go back.
 */
#ifndef LIVEMM_POLICY_COMMON_CORE_BUDGET_H
#define LIVEMM_POLICY_COMMON_CORE_BUDGET_H

#include <linux/types.h>

/* A bucket that saves little holds what its rate gives in so many ms. */
#define LMM_BUDGET_MS	1000U

/**
 * struct lmm_budget - a token bucket
 * @level: tokens in the bucket, in thousandths
 * @stamp: time of the last fill, in ms
 * @depth: the bucket holds at most what its rate gives in so many ms
 *
 * Whatever happens, at most rate * (t + @depth) tokens are spent in any t ms.
 */
struct lmm_budget {
	u64 level;
	u64 stamp;
	u32 depth;
};

void lmm_budget_start(struct lmm_budget *budget, u64 now, u32 depth);
void lmm_budget_fill(struct lmm_budget *budget, u32 rate, u64 now);
u64 lmm_budget_left(const struct lmm_budget *budget);
void lmm_budget_take(struct lmm_budget *budget, u64 tokens);
u64 lmm_budget_wait(const struct lmm_budget *budget, u32 rate, u64 tokens);

#endif /* LIVEMM_POLICY_COMMON_CORE_BUDGET_H */
