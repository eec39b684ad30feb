// SPDX-License-Identifier: GPL-2.0-only
/*
 * ladder.c - do steps in order, and undo the finished steps when a step fails
 */
#include <linux/kernel.h>

#include "ladder.h"

/**
 * lmm_ladder_down() - undo steps, last one first
 * @steps: table of steps
 * @nr: number of steps that are up
 * @ctx: argument of every step
 *
 * Context: the context that the steps need.
 */
void lmm_ladder_down(const struct lmm_step *steps, unsigned int nr, void *ctx)
{
	while (nr--) {
		if (steps[nr].down)
			steps[nr].down(ctx);
	}
}

/**
 * lmm_ladder_up() - do steps in order; all of them or none
 * @steps: table of steps
 * @nr: rows in @steps
 * @ctx: argument of every step
 * @why: reason in words when a step fails: the step's reason, or the step's name
 * @len: size of @why
 *
 * When step k fails, steps k-1 to 0 are undone in that order.
 *
 * Context: the context that the steps need.
 * Return: 0, or the errno of the step that failed.
 */
int lmm_ladder_up(const struct lmm_step *steps, unsigned int nr, void *ctx, char *why, size_t len)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		if (len)
			why[0] = '\0';
		err = steps[i].up(ctx, why, len);
		if (!err)
			continue;
		if (len && !why[0])
			scnprintf(why, len, "%s: error %d", steps[i].name, err);
		lmm_ladder_down(steps, i, ctx);
		return err;
	}
	return 0;
}
