// SPDX-License-Identifier: GPL-2.0-only
/*
 * verify.c - check a hook against the running kernel before the hook is armed
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched.h>

#include "prototype.h"
#include "symbols.h"
#include "table.h"

/* A test build names a function in LMM_BREAK_CALLS: it then wants one call more. */
#ifdef LMM_BREAK_CALLS
#define LEAST(function, calls)	((calls) + !__builtin_strcmp(function, LMM_BREAK_CALLS))
#else
#define LEAST(function, calls)	(calls)
#endif

/* Long enough for every prototype we hook, with room to show a longer one. */
#define PROTO_LEN	256

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void tracepoint_match(struct tracepoint *tp, void *data)
{
	struct tracepoint_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* Does the kernel have @alt?  Fills @hook's symbol, address or tracepoint. */
static bool symbol_found(struct lmm_hook *hook, const struct lmm_hook_alternative *alt)
{
	struct tracepoint_search search = { .name = alt->symbol };

	switch (hook->mech) {
	case LMM_MECH_TRACEPOINT:
		/* Tracepoints of mm are not exported, but can be walked. */
		for_each_kernel_tracepoint(tracepoint_match, &search);
		if (!search.found)
			return false;
		hook->tp = search.found;
		break;
	default:
		/* The caller checks that the symbol is unique. */
		if (!lmm_symbol_count(alt->symbol))
			return false;
		hook->addr = lmm_symbol_find(alt->symbol);
	}
	hook->symbol = alt->symbol;
	return true;
}

/* Does the type agree, by BTF, or by size and place?  On false @why has words. */
static bool type_agrees(const struct lmm_hook *hook,
			const struct lmm_hook_alternative *alt, char *why, size_t len)
{
	char have[PROTO_LEN];
	int err;

	switch (hook->mech) {
	case LMM_MECH_DATA:
		return lmm_symbol_data(hook->symbol, hook->size, hook->align, why, len);
	case LMM_MECH_TRACEPOINT:
		err = lmm_btf_tracepoint(alt->symbol, have, sizeof(have));
		break;
	default:
		err = lmm_btf_function(alt->symbol, have, sizeof(have));
		break;
	}
	if (err == -EOPNOTSUPP) {
		scnprintf(why, len, "no BTF to check against");
		return false;
	}
	if (err) {
		scnprintf(why, len, "not in BTF, so the type cannot be checked");
		return false;
	}
	return lmm_prototype_equal(alt->proto, have, why, len);
}

/* A number of a type of the kernel that @function hands to us; of any, without @function. */
struct number {
	const char *function;
	const char *type;
	const char *member;
	int value;
};

static const struct number numbers[] = {
#define COPY(function, type, member) \
	{ #function, #type, #member, offsetof(struct type, member) },
#define VALUE(function, type, member, value)	{ #function, #type, #member, value },
#include "rows.h"
	/* Headers of another build, which has the same version, have other configurations. */
	{ NULL, "page", NULL, sizeof(struct page) },
	{ NULL, "zone", NULL, sizeof(struct zone) },
	{ NULL, "pglist_data", NULL, sizeof(struct pglist_data) },
	{ NULL, "per_cpu_pages", NULL, sizeof(struct per_cpu_pages) },
	{ NULL, "task_struct", NULL, sizeof(struct task_struct) },
	{ NULL, "mm_struct", NULL, sizeof(struct mm_struct) },
	{ NULL, "vm_area_struct", NULL, sizeof(struct vm_area_struct) },
};

/* Are the numbers as in our headers and in compat.h?  On false @why has words. */
static bool numbers_agree(const char *function, char *why, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct number *number = &numbers[i];
		int value, err;

		if (function ? !number->function || strcmp(function, number->function) :
			       !!number->function)
			continue;
		err = lmm_btf_value(number->type, number->member, &value);
		if (!err && value == number->value)
			continue;
		if (err)
			scnprintf(why, len, "no %s.%s in BTF", number->type,
				  number->member ?: "size");
		else
			scnprintf(why, len, "%s.%s is %d, livemm was built for %d", number->type,
				  number->member ?: "size", value, number->value);
		return false;
	}
	return true;
}

/**
 * lmm_structs_agree() - have structs of the kernel the sizes of our headers?
 * @why: on false, the first struct that has another size
 * @len: size of @why
 *
 * Headers of the running build, which lmm_release_check() wants, have each member where the kernel
 * has it.  This is for kernels whose builds do not differ in their version.
 *
 * Context: process, after lmm_btf_init().
 * Return: true if so.
 */
bool lmm_structs_agree(char *why, size_t len)
{
	return numbers_agree(NULL, why, len);
}

/* At least so many calls of a hooked function are in another function. */
struct caller {
	const char *function;
	unsigned int calls;
	const char *names[3];
};

static const struct caller callers[] = {
#define CALLED_BY(function, calls, ...)	{ #function, LEAST(#function, calls), { __VA_ARGS__ } },
#include "rows.h"
};

/* Do the callers still call the function?  On false @why has words. */
static bool callers_agree(const struct lmm_hook *hook, char *why, size_t len)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		const struct caller *caller = &callers[i];
		unsigned long addr = 0;
		unsigned int calls;

		if (strcmp(caller->function, hook->symbol))
			continue;
		for (j = 0; j < ARRAY_SIZE(caller->names) && caller->names[j] && !addr; j++)
			addr = lmm_symbol_find(caller->names[j]);
		calls = addr ? lmm_symbol_calls(addr, hook->addr) : 0;
		if (calls >= caller->calls)
			continue;
		scnprintf(why, len, "is called %u times by %s, expected %u (inlined there?)",
			  calls, caller->names[addr ? j - 1 : 0], caller->calls);
		return false;
	}
	return true;
}

/*
 * Does the type agree with @alt, or with a later alternative for the same symbol?  On false @why
 * has words on @alt.
 */
static bool any_type_agrees(const struct lmm_hook *hook, const struct lmm_hook_alternative *alt,
			    char *why, size_t len)
{
	const struct lmm_hook_alternative *end = hook->alternatives + LMM_HOOK_ALTERNATIVES;
	char other[LMM_WHY_LEN];

	if (type_agrees(hook, alt, why, len))
		return true;
	while (++alt < end && alt->symbol && !strcmp(alt->symbol, hook->symbol)) {
		if (type_agrees(hook, alt, other, sizeof(other))) {
			why[0] = '\0';
			return true;
		}
	}
	return false;
}

/**
 * lmm_hook_verify() - decide whether a hook may be armed on this kernel
 * @hook: the row; gets available, why, symbol and address
 *
 * The symbol is unique in vmlinux.  A function is code, with an ftrace site at its entry
 * (livepatch, direct).  The prototype is as expected, and so are the structs of which compat.h has
 * copies, and the calls from callers.  A variable has the place and the length of its type.
 *
 * Context: process, before anybody else can look.
 */
void lmm_hook_verify(struct lmm_hook *hook)
{
	const struct lmm_hook_alternative *alt = NULL;
	bool code = hook->mech == LMM_MECH_LIVEPATCH || hook->mech == LMM_MECH_KPROBE ||
		    hook->mech == LMM_MECH_DIRECT || hook->mech == LMM_MECH_CALL;
	bool named = code || hook->mech == LMM_MECH_DATA;
	bool traced = hook->mech == LMM_MECH_LIVEPATCH || hook->mech == LMM_MECH_DIRECT;
	unsigned int i;

	hook->available = false;
	hook->why[0] = '\0';
	for (i = 0; i < LMM_HOOK_ALTERNATIVES; i++) {
		if (!hook->alternatives[i].symbol)
			break;
		alt = &hook->alternatives[i];
		if (symbol_found(hook, alt))
			break;
	}
	if (!hook->symbol) {
		hook->symbol = hook->alternatives[0].symbol;
		scnprintf(hook->why, sizeof(hook->why),
			  code ? "no such function (inlined away, or another kernel)" :
				 "no such symbol");
		return;
	}
	if (named && lmm_symbol_count(hook->symbol) != 1) {
		scnprintf(hook->why, sizeof(hook->why), "%u symbols bear this name",
			  lmm_symbol_count(hook->symbol));
		return;
	}
	if (code && !lmm_symbol_is_code(hook->addr)) {
		scnprintf(hook->why, sizeof(hook->why), "is not among the kernel's code");
		return;
	}
	if (traced && !lmm_symbol_ftrace_site(hook->addr)) {
		scnprintf(hook->why, sizeof(hook->why), "no ftrace site at the entry (notrace)");
		return;
	}
	hook->available = any_type_agrees(hook, alt, hook->why, sizeof(hook->why)) &&
			  (!code || (numbers_agree(hook->symbol, hook->why, sizeof(hook->why)) &&
				     callers_agree(hook, hook->why, sizeof(hook->why))));
}
