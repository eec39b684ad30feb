// SPDX-License-Identifier: GPL-2.0-only
/*
 * kcall.c - bind the functions of the kernel that we call, once, after verification
 */
#include "kcall.h"
#include "symbols.h"

#define CALL(id, name, ...)	DEFINE_STATIC_CALL_NULL(lmm_kcall_##name, lmm_kcall_##name##_fn);
#define LIVEPATCH(module, ...)	CALL(__VA_ARGS__)
#include "rows.h"

/**
 * lmm_kcalls_bind() - have KCALL() call what verification has found
 *
 * A row that is not available stays unbound, and must not be called.
 *
 * Context: process, may sleep; after every row was verified.
 */
void lmm_kcalls_bind(void)
{
#define CALL(id, name, ...)						\
	if (lmm_hooks[LMM_HOOK_##id].available)				\
		static_call_update(lmm_kcall_##name,			\
				   (lmm_kcall_##name##_fn *)lmm_hooks[LMM_HOOK_##id].addr);
#define LIVEPATCH(module, ...)	CALL(__VA_ARGS__)
#include "rows.h"
}
