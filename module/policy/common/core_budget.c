// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_budget.c - how much a worker may spend; see core_budget.h
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_budget.h"

/* Thousandths of a token: a rate a second is as many thousandths a ms. */
#define FINE	1000U

/**
 * lmm_budget_start() - begin with an empty bucket
 * @budget: the bucket
 * @now: time, in ms
 * @depth: the bucket holds at most what its rate gives in so many ms
 */
void lmm_budget_start(struct lmm_budget *budget, u64 now, u32 depth)
{
	*budget = (struct lmm_budget){ .stamp = now, .depth = depth };
}

/**
 * lmm_budget_fill() - add the tokens of the time that has passed
 * @budget: the bucket; updated
 * @rate: tokens a second; may differ from call to call
 * @now: time, in ms
 */
void lmm_budget_fill(struct lmm_budget *budget, u32 rate, u64 now)
{
	u64 passed = min_t(u64, now - min(now, budget->stamp), budget->depth);
	u64 level = budget->level + passed * rate;

	budget->level = min(level, (u64)rate * budget->depth);
	budget->stamp = max(now, budget->stamp);
}

/**
 * lmm_budget_left() - tokens in the bucket
 * @budget: the bucket
 *
 * Return: whole tokens.
 */
u64 lmm_budget_left(const struct lmm_budget *budget)
{
	return div_u64(budget->level, FINE);
}

/**
 * lmm_budget_take() - spend tokens
 * @budget: the bucket; updated
 * @tokens: number of tokens, not more than are left
 */
void lmm_budget_take(struct lmm_budget *budget, u64 tokens)
{
	budget->level -= min(budget->level, tokens * FINE);
}

/**
 * lmm_budget_wait() - how long until so many tokens are there?
 * @budget: the bucket
 * @rate: tokens a second, not 0
 * @tokens: number of tokens; more than fit count as a full bucket
 *
 * Return: time in ms.
 */
u64 lmm_budget_wait(const struct lmm_budget *budget, u32 rate, u64 tokens)
{
	u64 want = min(tokens * FINE, (u64)rate * budget->depth);

	return div_u64(want - min(want, budget->level) + rate - 1, rate);
}
