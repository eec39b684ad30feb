/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_link.h - what livemm.ko exports to the livepatch modules, livemm_klp_*.ko
 *
 * A livepatch module has wrappers and nothing else, and depends on livemm.ko.  A wrapper calls the
 * kernel's own function past that function's ftrace call, and hands over to livemm.ko while the
 * wrapper's key is on.  So livemm.ko cannot go before its livepatches have gone.
 *
 * There are several livepatch modules, because an enabled livepatch cannot grow.  Each module
 * holds the functions that are wanted together, and is loaded when a policy that comes on
 * wants these functions.
 */
#ifndef LIVEMM_HOOK_KLP_LINK_H
#define LIVEMM_HOOK_KLP_LINK_H

#include <linux/jump_label.h>
#include <linux/mmzone.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/swap.h>
#include <linux/types.h>
/* Last: compaction.h does not include the headers that it needs. */
#include <linux/compaction.h>

#include "compat/compat.h"

struct free_area;
struct klp_patch;
struct list_head;
struct per_cpu_pages;

/* The functions that livepatch modules can wrap. */
enum lmm_klp_function {
#define LIVEPATCH(module, id, ...)	LMM_KLP_##id,
#include "rows.h"
	LMM_KLP_NR
};

/* Is the wrapper of a function to hand over?  Written by livemm.ko alone. */
extern struct static_key_false lmm_klp_armed[LMM_KLP_NR];

/* The kernel's own code of a function, past whatever is at its ftrace site: lmm_orig_<name>. */
#define LIVEPATCH(module, id, name, symbol, ret, ...)			\
	typedef ret lmm_orig_##name##_fn(__VA_ARGS__);			\
	DECLARE_STATIC_CALL(lmm_orig_##name, lmm_orig_##name##_fn);
#define LIVEPATCH_OR(...)	LIVEPATCH(__VA_ARGS__)
#include "rows.h"

/**
 * struct lmm_klp_return - a request for pages that are kept from the buddy
 * @zone: the zone that needs the pages; NULL for every zone
 * @by: LMM_KLP_COMPACT: compaction is about to begin; LMM_KLP_DRAIN_ZONE and LMM_KLP_DRAIN_ALL:
 *	lists were drained
 * @brief: preemption is off, and only a few parts are asked for; with interrupts on, the handler
 *	has the rest go back soon
 * @soon: nobody waits: the handler has all go back soon
 * @started: the handler has been called for this request
 * @before: for use by the handler
 */
struct lmm_klp_return {
	struct zone *zone;
	enum lmm_klp_function by;
	bool brief;
	bool soon;
	bool started;
	unsigned long before;
};

/**
 * struct lmm_klp_fallback - a migratetype has no free pages, and the kernel looks for another one
 * @area: free blocks of @order
 * @order: order of the free blocks
 * @migratetype: the migratetype that has none
 * @claimable: compaction asks whether it can stop
 * @found: the migratetype that lends, or -1; the handler may refuse with -1
 * @whole: the block may be claimed; the handler may have no more taken than was asked for
 */
struct lmm_klp_fallback {
	struct free_area *area;
	unsigned int order;
	int migratetype;
	bool claimable;
	int found;
	bool whole;
};

/* flow/: what a wrapper hands over to */
int lmm_refill(struct zone *zone, unsigned int order, unsigned long blocks,
	       struct list_head *list, int migratetype, unsigned int alloc_flags);
void lmm_drain(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
	       unsigned long caller);
bool lmm_on_give_back(struct lmm_klp_return *part);
void lmm_on_fallback(struct lmm_klp_fallback *fallback);

/* klp_client.c */
int lmm_klp_enable(struct klp_patch *patch);
void lmm_klp_forget(struct klp_patch *patch);

#endif /* LIVEMM_HOOK_KLP_LINK_H */
