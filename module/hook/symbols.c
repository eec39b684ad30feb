// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - find functions and variables that the kernel does not export
 *
 * All calls to found functions go through static calls: they become direct
 * calls, which need no ENDBR at the target.  Under IBT the kernel seals the
 * ENDBR of functions whose address the kernel does not take itself, so an
 * indirect call of such a function would fault.
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "symbols.h"

LMM_KERNEL_CALL(kallsyms_on_each_match_symbol);
LMM_KERNEL_CALL(ftrace_location);
LMM_KERNEL_CALL(kallsyms_lookup_size_offset);

/* A call thunk ends where the function begins. */
#ifdef CONFIG_CALL_THUNKS
#define CALL_THUNK_BYTES	CONFIG_FUNCTION_PADDING_BYTES
#else
#define CALL_THUNK_BYTES	0
#endif

/* The kernel's code that stays after boot, and all of the kernel; empty if not known. */
static unsigned long text_start, text_end, image_end;

/**
 * lmm_symbols_init() - find the functions that find everything else
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP when symbols cannot be searched.
 */
int lmm_symbols_init(void)
{
	unsigned long addr;
	int err = lmm_function_address("kallsyms_on_each_match_symbol", &addr);

	if (err)
		return err;
	static_call_update(sym_kallsyms_on_each_match_symbol, (void *)addr);
	if (!LMM_BIND(ftrace_location) || !LMM_BIND(kallsyms_lookup_size_offset))
		return -EOPNOTSUPP;
	text_start = lmm_symbol_find("_stext");
	text_end = lmm_symbol_find("_etext");
	image_end = lmm_symbol_find("_end");
	return 0;
}

struct symbol_search {
	unsigned int found;
	unsigned long addr;
};

static int symbol_match(void *data, unsigned long addr)
{
	struct symbol_search *search = data;

	search->found++;
	search->addr = addr;
	return 0;
}

/* Only vmlinux is searched: a symbol of a module may have the same name. */
static struct symbol_search symbol_search(const char *name)
{
	struct symbol_search search = { };

	static_call(sym_kallsyms_on_each_match_symbol)(symbol_match, name, &search);
	return search;
}

/**
 * lmm_symbol_find() - address of a symbol of vmlinux
 * @name: as in /proc/kallsyms
 *
 * Context: process, may sleep.
 * Return: the address, or 0 when there is none, or more than one.
 */
unsigned long lmm_symbol_find(const char *name)
{
	struct symbol_search search = symbol_search(name);

	return search.found == 1 ? search.addr : 0;
}

/**
 * lmm_symbol_count() - how many symbols of vmlinux have a name
 * @name: as in /proc/kallsyms
 *
 * Context: process, may sleep.
 * Return: the number.
 */
unsigned int lmm_symbol_count(const char *name)
{
	return symbol_search(name).found;
}

/**
 * lmm_symbol_is_code() - is an address in code of vmlinux that stays after boot?
 * @addr: address of a symbol
 *
 * Context: any, after lmm_symbols_init().
 * Return: true if so; false for code that is freed after boot.
 */
bool lmm_symbol_is_code(unsigned long addr)
{
	return addr >= text_start && addr < text_end;
}

/**
 * lmm_symbol_data() - address of a variable of vmlinux, checked as far as possible
 * @name: as in /proc/kallsyms
 * @size: size of the expected type
 * @align: alignment of the expected type
 * @why: on failure, the reason in words without the name
 * @len: size of @why
 *
 * BTF describes only per-CPU variables.  The name is unique, and no code.  The variable is aligned,
 * and fills the room up to the next symbol, but for a gap that aligns what follows.  With KASAN
 * variables are longer than their types.
 *
 * Context: process, may sleep.
 * Return: the address, or 0 and words in @why on failure.
 */
unsigned long lmm_symbol_data(const char *name, size_t size, size_t align, char *why, size_t len)
{
	struct symbol_search search = symbol_search(name);
	unsigned long room = lmm_symbol_size(search.addr);
	unsigned long end = search.addr + room;

	if (search.found != 1) {
		scnprintf(why, len, "%u symbols bear this name", search.found);
		return 0;
	}
	if (search.addr < text_end || search.addr >= image_end || size > image_end - search.addr ||
	    !IS_ALIGNED(search.addr, align) || room < size ||
	    (!IS_ENABLED(CONFIG_KASAN) && room - size >= (end & -end))) {
		scnprintf(why, len, "is no variable of %zu bytes: %lu up to the next symbol",
			  size, room);
		return 0;
	}
	return search.addr;
}

/**
 * lmm_symbol_ftrace_site() - where ftrace can enter a function
 * @addr: address of the function
 *
 * ftrace_location() answers with any site up to the next symbol.  The function's own site is at
 * the entry, or behind the ENDBR at the entry where the kernel has these.
 *
 * Context: process.
 * Return: address of the patchable call, or 0 (notrace, or no ftrace).
 */
unsigned long lmm_symbol_ftrace_site(unsigned long addr)
{
	unsigned long site = static_call(sym_ftrace_location)(addr);

	return site == addr || site == addr + ENDBR_INSN_SIZE ? site : 0;
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

	if (addr)
		static_call(sym_kallsyms_lookup_size_offset)(addr, &size, &offset);
	return size;
}

/**
 * lmm_symbol_calls() - how often does a function call another, by its code?
 * @addr: address of the function
 * @callee: address of what it may call
 *
 * What the compiler has inlined is no call.  With retbleed=stuff the kernel has let calls begin in
 * the padding before a function (arch/x86/kernel/callthunks.c).
 *
 * Context: process.
 * Return: near calls and jumps with that target; 0 also when the kernel cannot tell how long
 * the function is.
 */
unsigned int lmm_symbol_calls(unsigned long addr, unsigned long callee)
{
	unsigned long end = addr + lmm_symbol_size(addr);
	unsigned int calls = 0;
	unsigned long at;

	for (at = addr; at + CALL_INSN_SIZE <= end; at++) {
		const u8 opcode = *(u8 *)at;
		s32 distance;

		memcpy(&distance, (void *)at + 1, sizeof(distance));
		if ((opcode == CALL_INSN_OPCODE || opcode == JMP32_INSN_OPCODE) &&
		    callee - (at + CALL_INSN_SIZE + distance) <= CALL_THUNK_BYTES)
			calls++;
	}
	return calls;
}
