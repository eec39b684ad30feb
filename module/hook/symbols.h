/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - find, and describe, functions and variables that the kernel does not export
 */
#ifndef LIVEMM_HOOK_SYMBOLS_H
#define LIVEMM_HOOK_SYMBOLS_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <linux/types.h>

/**
 * lmm_function_address() - address of a function of vmlinux, before anything else is known
 * @name: as in /proc/kallsyms
 * @addr: where the address goes
 *
 * The functions that search symbols are not exported since 0bd476e6c671 ("kallsyms: unexport
 * kallsyms_lookup_name() and kallsyms_on_each_symbol()", 5.7), but register_kprobe() still resolves
 * names.  The probe has no handler, and is gone again before this function returns.  Where
 * functions begin with ENDBR the address may be the one behind that, which is good for a direct
 * call only.
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP when kprobes are refused.
 */
static inline int lmm_function_address(const char *name, unsigned long *addr)
{
	struct kprobe probe = { .symbol_name = name };
	int err = register_kprobe(&probe);

	if (err)
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	*addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

int lmm_symbols_init(void);
unsigned long lmm_symbol_find(const char *name);

/*
 * A static call of a function that the kernel does not export, with the kernel's own declaration: a
 * kernel that has changed the function does not build.
 */
#define LMM_KERNEL_CALL(function)	DEFINE_STATIC_CALL_NULL(sym_##function, function)

/* Bind the static call to the function of vmlinux; true if there is one. */
#define LMM_BIND(function)						\
({									\
	unsigned long bound = lmm_symbol_find(#function);		\
									\
	if (bound)							\
		static_call_update(sym_##function, (void *)bound);	\
	bound != 0;							\
})

unsigned int lmm_symbol_count(const char *name);
bool lmm_symbol_is_code(unsigned long addr);
unsigned long lmm_symbol_data(const char *name, size_t size, size_t align, char *why, size_t len);

/* lmm_symbol_data() for a variable of @type; NULL on failure. */
#define LMM_SYMBOL(type, name, why, len) \
	((type *)lmm_symbol_data(name, sizeof(type), __alignof__(type), why, len))

unsigned long lmm_symbol_ftrace_site(unsigned long addr);

/* A call of this address runs the kernel's own code, past whatever is at the site. */
static inline unsigned long lmm_symbol_past_site(unsigned long addr)
{
	return lmm_symbol_ftrace_site(addr) + MCOUNT_INSN_SIZE;
}

unsigned long lmm_symbol_size(unsigned long addr);
unsigned int lmm_symbol_calls(unsigned long addr, unsigned long callee);

/* btf.c: the running kernel's own description of its functions and structs */
int lmm_btf_init(void);
int lmm_btf_function(const char *name, char *buf, size_t len);
int lmm_btf_value(const char *name, const char *member, int *value);

#endif /* LIVEMM_HOOK_SYMBOLS_H */
