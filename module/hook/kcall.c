// SPDX-License-Identifier: GPL-2.0-only
/*
 * kcall.c - bind the functions of the kernel that we call, once, after verification
 */
#include "kcall.h"
#include "symbols.h"

#define CALL(id, name, ...)	DEFINE_STATIC_CALL_NULL(lmm_kcall_##name, lmm_kcall_##name##_fn);
#define LIVEPATCH_CALLED(module, ...)	CALL(__VA_ARGS__)
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
#define BIND(id, name, address)						\
	if (lmm_hooks[LMM_HOOK_##id].available)				\
		static_call_update(lmm_kcall_##name,			\
				   (lmm_kcall_##name##_fn *)(address));
#define CALL(id, name, ...)			BIND(id, name, lmm_hooks[LMM_HOOK_##id].addr)
#define LIVEPATCH_CALLED(module, ...)		CALL(__VA_ARGS__)
#include "rows.h"
}

/**
 * lmm_kcall_past_site() - have KCALL() of a function begin behind or before its ftrace site
 * @hook: row of the function
 * @past: nothing but our wrapper is at the site, and nothing else may come soon
 *
 * What we drain ourselves needs no wrapper.  A call past what somebody else has put at the site
 * would undo a fix.  Our wrapper may still be there, and keeps no page of such a call.
 *
 * Context: process, may sleep; callers are serialised.
 */
void lmm_kcall_past_site(const struct lmm_hook *hook, bool past)
{
#define LIVEPATCH_CALLED(module, id, name, ...)				\
	if (hook == &lmm_hooks[LMM_HOOK_##id])				\
		BIND(id, name, past ? lmm_symbol_past_site(hook->addr) : hook->addr)
#include "rows.h"
}
