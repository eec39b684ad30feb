/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kcall.h - functions of the kernel that we call: the rows CALL() and LIVEPATCH() of rows.h
 */
#ifndef LIVEMM_HOOK_KCALL_H
#define LIVEMM_HOOK_KCALL_H

#include <linux/migrate.h>
#include <linux/mmzone.h>
#include <linux/page-isolation.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "table.h"

struct cma;

/* A function as argument, as C spells one. */
#define LMM_FUNCTION(ret, name, ...)	ret (*name)(__VA_ARGS__)

#define CALL(id, name, symbol, ret, ...)				\
	typedef ret lmm_kcall_##name##_fn(__VA_ARGS__);			\
	DECLARE_STATIC_CALL(lmm_kcall_##name, lmm_kcall_##name##_fn);
#define LIVEPATCH(module, ...)	CALL(__VA_ARGS__)
#include "rows.h"

/* Call the function of a row that is available; see lmm_hook_available(). */
#define KCALL(name)	static_call(lmm_kcall_##name)

void lmm_kcalls_bind(void);

#endif /* LIVEMM_HOOK_KCALL_H */
