/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ladder.h - do steps in order, and undo the finished steps when a step fails
 */
#ifndef LIVEMM_CONTROL_LADDER_H
#define LIVEMM_CONTROL_LADDER_H

#include <linux/types.h>

/**
 * struct lmm_step - one rung
 * @name: name in the log, and in the reason if @up gives none
 * @up: do the step.  Returns 0, or -errno with the reason in @why after undoing its own changes
 * @down: undo the step; cannot fail.  May be NULL
 */
struct lmm_step {
	const char *name;
	int (*up)(void *ctx, char *why, size_t len);
	void (*down)(void *ctx);
};

int lmm_ladder_up(const struct lmm_step *steps, unsigned int nr, void *ctx, char *why, size_t len);
void lmm_ladder_down(const struct lmm_step *steps, unsigned int nr, void *ctx);

#endif /* LIVEMM_CONTROL_LADDER_H */
