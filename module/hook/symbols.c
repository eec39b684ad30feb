// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - finding what the kernel does not export
 *
 * All calls to found functions go through static calls: they become direct
 * calls, which need no ENDBR at the target.  Under IBT the kernel seals the
 * ENDBR of functions whose address it does not take itself, so an indirect
 * call to one of those would fault.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/text-patching.h>

#include "symbols.h"

DEFINE_STATIC_CALL_NULL(sym_lookup_name, unsigned long (const char *));
DEFINE_STATIC_CALL_NULL(sym_on_each_match,
			int (int (*)(void *, unsigned long), const char *, void *));
DEFINE_STATIC_CALL_NULL(sym_ftrace_location, unsigned long (unsigned long));
DEFINE_STATIC_CALL_NULL(sym_lookup_size_offset,
			int (unsigned long, unsigned long *, unsigned long *));

static bool have_on_each_match;
static bool have_ftrace_location;
static bool have_lookup_size_offset;

/**
 * lmm_symbols_init() - find the functions that find everything else
 *
 * Context: process, may sleep.
 * Return: 0, or -EOPNOTSUPP when kallsyms cannot be reached.
 */
int lmm_symbols_init(void)
{
	unsigned long addr = lmm_kallsyms_address();

	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(sym_lookup_name, (unsigned long (*)(const char *))addr);

	/* 4dc533e0f2c0, 6.2; in 6.1 by way of stable. */
	addr = lmm_symbol_find("kallsyms_on_each_match_symbol");
	if (addr) {
		static_call_update(sym_on_each_match,
				   (int (*)(int (*)(void *, unsigned long),
					    const char *, void *))addr);
		have_on_each_match = true;
	}
	addr = lmm_symbol_find("ftrace_location");
	if (addr) {
		static_call_update(sym_ftrace_location,
				   (unsigned long (*)(unsigned long))addr);
		have_ftrace_location = true;
	}
	addr = lmm_symbol_find("kallsyms_lookup_size_offset");
	if (addr) {
		static_call_update(sym_lookup_size_offset,
				   (int (*)(unsigned long, unsigned long *,
					    unsigned long *))addr);
		have_lookup_size_offset = true;
	}
	return 0;
}

/**
 * lmm_symbol_find() - address of a kernel symbol
 * @name: as in /proc/kallsyms
 *
 * Context: process.
 * Return: the address, or 0 when there is none.
 */
unsigned long lmm_symbol_find(const char *name)
{
	return static_call(sym_lookup_name)(name);
}

static int count_match(void *data, unsigned long addr)
{
	unsigned int *nr = data;

	(*nr)++;
	return 0;
}

/**
 * lmm_symbol_count() - how many symbols of vmlinux bear a name
 * @name: as in /proc/kallsyms
 *
 * Context: process.
 * Return: the number; 0 also when the kernel cannot tell, so that a caller who
 * demands one refuses.
 */
unsigned int lmm_symbol_count(const char *name)
{
	unsigned int nr = 0;

	if (!have_on_each_match)
		return 0;
	static_call(sym_on_each_match)(count_match, name, &nr);
	return nr;
}

/**
 * lmm_symbol_ftrace_site() - where ftrace can enter a function
 * @addr: address of the function
 *
 * Context: process.
 * Return: address of the patchable call, or 0 (notrace, or no ftrace).
 */
unsigned long lmm_symbol_ftrace_site(unsigned long addr)
{
	return have_ftrace_location ? static_call(sym_ftrace_location)(addr) : 0;
}

/**
 * lmm_symbol_size() - how long a function is
 * @addr: address of the function
 *
 * Context: process.
 * Return: bytes up to the next symbol, or 0 when the kernel cannot tell.
 */
unsigned long lmm_symbol_size(unsigned long addr)
{
	unsigned long size = 0, offset;

	if (have_lookup_size_offset && addr)
		static_call(sym_lookup_size_offset)(addr, &size, &offset);
	return size;
}

/**
 * lmm_symbol_calls() - how often does a function call another, by its code?
 * @addr: address of the function
 * @callee: address of what it may call
 *
 * What the compiler has inlined is no call.
 *
 * Context: process.
 * Return: near calls with that target; 0 also when the kernel cannot tell how long the
 * function is.
 */
unsigned int lmm_symbol_calls(unsigned long addr, unsigned long callee)
{
	unsigned long end = addr + lmm_symbol_size(addr);
	unsigned int calls = 0;
	unsigned long at;

	for (at = addr; at + CALL_INSN_SIZE <= end; at++) {
		s32 distance;

		memcpy(&distance, (void *)at + 1, sizeof(distance));
		if (*(u8 *)at == CALL_INSN_OPCODE && at + CALL_INSN_SIZE + distance == callee)
			calls++;
	}
	return calls;
}
