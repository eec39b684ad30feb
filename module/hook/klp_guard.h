/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_guard.h - does our wrapper of a function run, or another livepatch?
 */
#ifndef LIVEMM_HOOK_KLP_GUARD_H
#define LIVEMM_HOOK_KLP_GUARD_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "table.h"

/* Read by lmm_guard_stands() alone. */
extern bool lmm_guard_in_place;

void lmm_guard_start(enum lmm_hook_id id);
void lmm_guard_stop(void);

/**
 * lmm_guard_stands() - is a request safe that only our wrapper can answer?
 *
 * Context: any, preemption off until the request is answered.
 * Return: true if our wrapper answers a request that is made with preemption still off: no other
 * livepatch lies on top of ours, and ours is not being disabled.
 */
static inline bool lmm_guard_stands(void)
{
	return READ_ONCE(lmm_guard_in_place);
}

#endif /* LIVEMM_HOOK_KLP_GUARD_H */
