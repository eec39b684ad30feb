/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_guard.h - does a wrapper of ours answer, or a livepatch of somebody else's?
 */
#ifndef LIVEMM_HOOK_KLP_GUARD_H
#define LIVEMM_HOOK_KLP_GUARD_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "table.h"

/* Read through the following alone. */
extern bool lmm_guard_in_place;

void lmm_guard_start(enum lmm_hook_id id);
void lmm_guard_stop(void);

/**
 * lmm_guard_stands() - may the kernel be asked what only our wrapper can answer?
 *
 * Context: any, preemption off until that has been answered.
 * Return: true if no other livepatch lies on top of ours, nor may before then, and nobody
 * disables ours.
 */
static inline bool lmm_guard_stands(void)
{
	return READ_ONCE(lmm_guard_in_place);
}

#endif /* LIVEMM_HOOK_KLP_GUARD_H */
