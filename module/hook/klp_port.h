/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_port.h - how livemm.ko talks to the livepatch modules, livemm_klp_*.ko
 *
 * A livepatch module does not depend on livemm.ko: the module wraps functions and calls
 * the handlers that are armed.  livemm.ko takes a reference on the module with
 * __symbol_get() while any handler is armed, so neither module can be unloaded while the
 * other may call it.  Each module can be loaded, unloaded or wait for a livepatch
 * transition without the other.
 *
 * There are several livepatch modules, because an enabled livepatch cannot grow.  Each module
 * holds the functions that are wanted together, and is loaded when a policy that comes on
 * wants these functions.
 */
#ifndef LIVEMM_HOOK_KLP_PORT_H
#define LIVEMM_HOOK_KLP_PORT_H

#include <linux/types.h>

struct free_area;
struct list_head;
struct module;
struct per_cpu_pages;
struct vm_area_struct;
struct zone;

/*
 * Both modules must agree on LMM_KLP_PORT_VERSION, a sum of the sources of the livepatch modules:
 * see Kbuild.  An update of livemm that changes a wrapper has the old wrapper replaced.
 */

/* The functions that livepatch modules can wrap. */
enum lmm_klp_function {
#define LIVEPATCH(module, id, ...)	LMM_KLP_##id,
#include "rows.h"
	LMM_KLP_NR
};

/**
 * struct lmm_klp_return - a request for pages that are kept from the buddy
 * @zone: the zone that needs the pages; NULL for every zone
 * @by: LMM_KLP_COMPACT: compaction is about to begin; LMM_KLP_DRAIN_ZONE and LMM_KLP_DRAIN_ALL:
 *	lists were drained
 * @brief: preemption is off, and only a few parts are asked for; with interrupts on, the handler
 *	has the rest go back soon
 * @started: the handler has been called for this request
 * @before: for use by the handler
 */
struct lmm_klp_return {
	struct zone *zone;
	enum lmm_klp_function by;
	bool brief;
	bool started;
	unsigned long before;
};

/**
 * struct lmm_klp_handlers - handlers of livemm.ko
 * @depot_get: before a refill of @asked blocks of @order to this CPU's list of @zone: puts
 *	blocks on that list, @list, and returns their number; if not 0, the buddy is not asked
 * @depot_put: after @drain_count, before @caller drains @count pages of @pcp, from list @pindex
 *	on: takes pages off @pcp and returns their number; the remaining pages are drained
 * @refill_count: before a refill of @asked blocks of @order to this CPU's list of
 *	@zone: returns the number of blocks to ask for, at least @asked
 * @refill_split: before a refill of @zone's list of @migratetype with *@pages single pages: returns
 *	the order of the blocks to take instead, and to split, and sets *@pages to their pages; 0
 *	if single pages are to be taken
 * @refill_type: before a refill of @zone's list of @migratetype with @blocks blocks of @order, on a
 *	kernel with CMA: returns the migratetype to ask the kernel for, and may change
 *	*@alloc_flags; if that yields nothing, the kernel is asked as without livemm
 * @refill: after a refill of the list of @migratetype: @got blocks were moved from the buddy, and
 *	are not counted in the list yet
 * @drain_count: before @caller drains @count pages of @pcp, from list @pindex on: returns the
 *	number of pages to drain, at most @count
 * @drain_from: after @depot_put, before @count pages of @pcp are drained, from list @pindex on:
 *	returns the list to begin with
 * @drain: after a drain of @count pages: @moved pages went from @pcp to the buddy, in whole blocks
 * @give_back: before compaction, and after lists were drained for a reason other than a free;
 *	called until the handler returns false
 * @fallback: @migratetype has no free pages, and the kernel has @found another migratetype (or
 *	-1) among the free blocks of @order: returns @found, or -1 to refuse, and clears @whole if
 *	the block must be split
 *
 * Context: under pcp->lock, preemption off, any context that the allocator may be called from: no
 * sleeping, no printk, no allocation, no lock.  @give_back: process, preemption off, no lock of
 * the allocator held.  @fallback: under zone->lock, interrupts off; if @claimable is set, under no
 * lock, preemption off.
 */
struct lmm_klp_handlers {
	int (*depot_get)(struct zone *zone, unsigned int order, unsigned long asked,
			 struct list_head *list, int migratetype);
	int (*depot_put)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			 unsigned long caller);
	bool (*give_back)(struct lmm_klp_return *part);
	unsigned long (*refill_count)(struct zone *zone, unsigned int order,
				      unsigned long asked);
	unsigned int (*refill_split)(struct zone *zone, unsigned long *pages, int migratetype);
	int (*refill_type)(struct zone *zone, unsigned int order, unsigned long blocks,
			   int migratetype, unsigned int *alloc_flags);
	void (*refill)(struct zone *zone, unsigned int order, int migratetype, int got);
	int (*drain_count)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			   unsigned long caller);
	int (*drain_from)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex);
	void (*drain)(struct zone *zone, struct per_cpu_pages *pcp, int count, int moved);
	int (*fallback)(struct free_area *area, unsigned int order, int migratetype,
			bool claimable, int found, bool *whole);
};

/**
 * enum lmm_klp_change - a change of a livepatch of ours
 * @LMM_KLP_PATCHED: every task runs the wrappers
 * @LMM_KLP_UNPATCHING: somebody disables the livepatch; no task has left the wrappers yet
 */
enum lmm_klp_change {
	LMM_KLP_PATCHED,
	LMM_KLP_UNPATCHING,
};

/**
 * struct lmm_klp_port - operations of a livepatch module
 * @version: LMM_KLP_PORT_VERSION
 * @withdraw: throw the patch's own sysfs switch to 0, also in the middle of its
 *	transition; returns 0 or the errno of the switch.  Context: process,
 *	takes the kernel's klp_mutex.
 * @functions: BIT(enum lmm_klp_function) of each function in this patch
 * @live: the patch is enabled and no task runs the old code.  Context: any.
 * @wait: sleep until @live(), or the patch is disabled, or @timeout_ms have
 *	passed; returns @live().  Context: a kernel thread, which sleeps as idle.
 * @watch: call @changed from now on when the patch changes; NULL calls nobody.  On return
 *	calls of the previous @changed have ended.  A cumulative livepatch that replaces
 *	ours makes no call.  Context of @changed: process, under the kernel's klp_mutex;
 *	may sleep.  Context: process.
 * @arm: call the handler of @function from now on.  Context: process.
 * @disarm: call the handler of @function no more.  A handler may still be running:
 *	handlers run with preemption off, so synchronize_rcu() waits for them.
 *	Context: process.
 * @owner: the module
 *
 * @version and @withdraw keep their places in every version, so that every livemm.ko can
 * disable a livepatch module of another version.
 */
struct lmm_klp_port {
	unsigned int version;
	int (*withdraw)(void);
	unsigned int functions;
	bool (*live)(void);
	bool (*wait)(unsigned int timeout_ms);
	void (*watch)(void (*changed)(enum lmm_klp_change change));
	void (*arm)(enum lmm_klp_function function,
		    const struct lmm_klp_handlers *handlers);
	void (*disarm)(enum lmm_klp_function function);
	struct module *owner;
};

/* The livepatch modules, which rows.h names. */
#define LMM_LIVEPATCHES(MODULE)	MODULE(lists) MODULE(giveback) MODULE(fallback)

/* Each module exports one port under the module's name. */
#define LMM_PORT(name)		extern const struct lmm_klp_port *const livemm_klp_##name##_port;
LMM_LIVEPATCHES(LMM_PORT)
#undef LMM_PORT

#endif /* LIVEMM_HOOK_KLP_PORT_H */
