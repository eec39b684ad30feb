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

/* Long enough for every prototype we hook, with room to show a longer one. */
#define PROTO_LEN	256
#define NAME_LEN	64

/* What the kernel calls a symbol of ours: a tracepoint is a variable, and a function of probes. */
static void named_as(const struct lmm_hook *hook, const char *prefix, const char *symbol,
		     char *name, size_t len)
{
	snprintf(name, len, "%s%s", hook->mech == LMM_MECH_TRACEPOINT ? prefix : "", symbol);
}

/* Is the prototype as expected?  On false @why has words. */
static bool prototype_agrees(const struct lmm_hook *hook, const char *proto, char *why, size_t len)
{
	char name[NAME_LEN];
	char have[PROTO_LEN];
	int err;

	named_as(hook, "__traceiter_", hook->symbol, name, sizeof(name));
	err = lmm_btf_function(name, have, sizeof(have));
	if (!err)
		return lmm_prototype_equal(proto, have, why, len);
	scnprintf(why, len, err == -EOPNOTSUPP ? "no BTF to check against" :
						 "not in BTF, so the type cannot be checked");
	return false;
}

/* A number of a type of the kernel that @function hands to us; of any, where that is "". */
struct number {
	const char *function;
	const char *type;
	const char *member;
	int value;
};

/* Where the copy of a struct in compat.h has a member, a value of an enum, the size of a struct. */
#define COPY(function, type, member)	{ #function, #type, #member, offsetof(struct type, member) }
#define VALUE(function, type, member, value)	{ #function, #type, #member, value }
#define SIZE(type)			{ "", #type, NULL, sizeof(struct type) }

static const struct number numbers[] = {
	COPY(compact_zone, compact_control, zone),
	COPY(get_page_from_freelist, alloc_context, nodemask),
	COPY(get_page_from_freelist, alloc_context, preferred_zoneref),
	COPY(get_page_from_freelist, alloc_context, migratetype),
	LMM_CMA_COPIES
	LMM_FALLBACK_VALUES
	/* Headers of another build, which has the same version, have other configurations. */
	SIZE(page),
	SIZE(zone),
	SIZE(pglist_data),
	SIZE(per_cpu_pages),
	SIZE(task_struct),
	SIZE(mm_struct),
	SIZE(vm_area_struct),
};

/* Are the numbers as in our headers and in compat.h?  On false @why has words. */
static bool numbers_agree(const char *function, char *why, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct number *number = &numbers[i];
		int value, err;

		if (strcmp(function, number->function))
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
	return numbers_agree("", why, len);
}

/*
 * At least so many calls of a hooked function are in another function, of which the first name that
 * the kernel has counts.  A compiler that inlines a function into some of its callers leaves a hook
 * that misses these.  tests/callers.py counts the same in the images of the kernels.
 */
struct caller {
	const char *function;
	unsigned int calls;
	const char *names[3];
};

#define CALLED_BY(function, calls, ...) \
	{ #function, (calls) + LMM_BROKEN(#function), { __VA_ARGS__ } }

static const struct caller callers[] = {
	CALLED_BY(rmqueue_bulk, 1, "get_page_from_freelist"),
	CALLED_BY(rmqueue_bulk, 1, "__alloc_pages_bulk"),
	CALLED_BY(free_pcppages_bulk, 1, "free_unref_page_commit", "free_frozen_page_commit"),
	CALLED_BY(free_pcppages_bulk, 1, "drain_pages_zone"),
	CALLED_BY(free_pcppages_bulk, 1, "drain_zone_pages"),
	CALLED_BY(free_pcppages_bulk, 1, "decay_pcp_high", "drain_zone_pages"),
	CALLED_BY(drain_pages_zone, 2, "__drain_all_pages", "__drain_all_pages.part.0"),
	CALLED_BY(drain_pages_zone, 2, "drain_local_pages"),
	CALLED_BY(drain_pages_zone, 1, "page_alloc_cpu_dead"),
	CALLED_BY(__drain_all_pages, 1, "drain_all_pages"),
	CALLED_BY(__drain_all_pages, 1, "alloc_contig_range", "alloc_contig_range_noprof"),
	CALLED_BY(__drain_all_pages, 1, "zone_pcp_disable"),
	CALLED_BY(compact_zone, 1, "compact_zone_order"),
	CALLED_BY(compact_zone, 1, "compact_node"),
	CALLED_BY(compact_zone, 1, "kcompactd_do_work"),
	CALLED_BY(find_suitable_fallback, 2, "rmqueue_bulk", "__rmqueue_pcplist"),
	CALLED_BY(find_suitable_fallback, 2, "get_page_from_freelist"),
	CALLED_BY(find_suitable_fallback, 1, "compact_zone"),
	CALLED_BY(task_numa_fault, 2, "__handle_mm_fault"),
	CALLED_BY(task_numa_fault, 2, "do_huge_pmd_numa_page"),
	CALLED_BY(get_page_from_freelist, 1, "__alloc_frozen_pages_noprof", "__alloc_pages_noprof",
		  "__alloc_pages"),
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

/* Is what a name stands for what the row expects, whatever its prototype? */
static bool symbol_agrees(const struct lmm_hook *hook, unsigned int found, char *why, size_t len)
{
	bool traced = hook->mech == LMM_MECH_LIVEPATCH || hook->mech == LMM_MECH_DIRECT;

	if (found != 1)
		scnprintf(why, len, "%u symbols bear this name", found);
	else if (hook->mech == LMM_MECH_TRACEPOINT)
		return true;
	else if (hook->mech == LMM_MECH_DATA)
		return lmm_symbol_data(hook->symbol, hook->size, hook->align, why, len);
	else if (!lmm_symbol_is_code(hook->addr))
		scnprintf(why, len, "is not among the kernel's code");
	else if (traced && !lmm_symbol_ftrace_site(hook->addr))
		scnprintf(why, len, "no ftrace site at the entry (notrace)");
	else
		return numbers_agree(hook->symbol, why, len) && callers_agree(hook, why, len);
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
	const struct lmm_hook_alternative *alt = hook->alternatives;
	const struct lmm_hook_alternative *end = alt + LMM_HOOK_ALTERNATIVES;
	char name[NAME_LEN];
	char other[LMM_WHY_LEN];
	unsigned int found = 0;

	/* The first name that exists counts. */
	for (; alt < end && alt->symbol && !found; alt += !found) {
		named_as(hook, "__tracepoint_", alt->symbol, name, sizeof(name));
		found = lmm_symbol_count(name);
	}
	hook->symbol = found ? alt->symbol : hook->alternatives[0].symbol;
	if (!found) {
		scnprintf(hook->why, sizeof(hook->why),
			  "no such symbol (inlined away, or another kernel)");
		return;
	}
	hook->addr = lmm_symbol_find(name);
	if (!symbol_agrees(hook, found, hook->why, sizeof(hook->why)))
		return;
	/* Any of its prototypes will do. */
	hook->available = !alt->proto ||
			  prototype_agrees(hook, alt->proto, hook->why, sizeof(hook->why));
	while (!hook->available && ++alt < end && alt->symbol && !strcmp(alt->symbol, hook->symbol))
		hook->available = prototype_agrees(hook, alt->proto, other, sizeof(other));
	if (hook->available)
		hook->why[0] = '\0';
}
