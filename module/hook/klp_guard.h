/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_guard.h - does our wrapper of find_suitable_fallback() run, or another livepatch?
 */
#ifndef LIVEMM_HOOK_KLP_GUARD_H
#define LIVEMM_HOOK_KLP_GUARD_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Read by lmm_guard_stands() alone. */
extern bool lmm_guard_in_place;

/**
 * lmm_guard_stands() - may a refill ask for MIGRATE_CMA?
 *
 * Context: any, preemption off until the request is answered.
 * Return: true if our wrapper answers when CMA memory is used up, for a request that is made with
 * preemption still off: no other livepatch lies on top of ours, and ours is not being disabled.
 */
static inline bool lmm_guard_stands(void)
{
	return READ_ONCE(lmm_guard_in_place);
}

#endif /* LIVEMM_HOOK_KLP_GUARD_H */
