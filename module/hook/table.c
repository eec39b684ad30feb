// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - the table of hooks, from the rows of rows.h
 */
#include <linux/cgroup.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/mmzone.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "entry.h"
#include "table.h"

#define PROTO(name, text) \
	(LMM_BROKEN(name) ? "unsigned char (struct nothing *none)" : (text))
#define DATA_SIZE(name, type)	(LMM_BROKEN(name) ? PAGE_SIZE : sizeof(type))

/* Each kind of row of rows.h as an entry of the table; OR() adds to the row above. */
#define OR(nr, id, name, symbol, ret, ...)				\
	[LMM_HOOK_##id].alternatives[nr] = {				\
		__stringify(symbol),					\
		PROTO(#name, __stringify(ret) " (" __stringify(__VA_ARGS__) ")"), \
	},
#define LIVEPATCH_OR(module, ...)	OR(1, __VA_ARGS__)
#define ROW(kind, id, name, ...)					\
	NAMED(kind, id, name) OR(0, id, name, __VA_ARGS__)
#define NAMED(kind, id, hook_name)					\
	[LMM_HOOK_##id].name = #hook_name,				\
	[LMM_HOOK_##id].mech = LMM_MECH_##kind,

/* A function as argument, as BTF spells one. */
#define LMM_FUNCTION(ret, name, ...)	ret (*)(__VA_ARGS__) name

struct lmm_hook lmm_hooks[LMM_NR_HOOKS] = {
#define LIVEPATCH(module, id, ...)					\
	ROW(LIVEPATCH, id, __VA_ARGS__)					\
	[LMM_HOOK_##id].function = LMM_KLP_##id,
#define DIRECT(id, name, ...)						\
	ROW(DIRECT, id, name, __VA_ARGS__)				\
	[LMM_HOOK_##id].handler = lmm_entry_##name,
#define DATA(id, name, type, variable)					\
	NAMED(DATA, id, name)						\
	[LMM_HOOK_##id].alternatives[0] = { #variable, NULL },		\
	[LMM_HOOK_##id].size = DATA_SIZE(#variable, type),		\
	[LMM_HOOK_##id].align = __alignof__(type),
#include "rows.h"
	[LMM_HOOK_HINT_FAULT].shared = lmm_shared_hint_fault,
	[LMM_HOOK_REQUEST].shared = lmm_shared_request,
	[LMM_HOOK_BUFFER].shared = lmm_shared_buffer,
};

const char *const lmm_mechanism_name[] = {
	[LMM_MECH_LIVEPATCH] = "livepatch",
	[LMM_MECH_KPROBE] = "kprobe",
	[LMM_MECH_DIRECT] = "direct",
	[LMM_MECH_TRACEPOINT] = "tracepoint",
	[LMM_MECH_CALL] = "call",
	[LMM_MECH_DATA] = "data",
};

/**
 * lmm_hook_address() - address of a verified function or variable
 * @id: the row
 *
 * Context: any.
 * Return: the address, or 0 when the row is not available.
 */
unsigned long lmm_hook_address(enum lmm_hook_id id)
{
	return lmm_hooks[id].available ? lmm_hooks[id].addr : 0;
}
EXPORT_SYMBOL_LMM(lmm_hook_address);
