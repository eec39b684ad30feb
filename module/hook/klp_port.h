/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_port.h - how livemm.ko talks to the livepatch modules, livemm_klp_*.ko
 *
 * A livepatch module knows nothing of livemm.ko: it wraps functions and calls
 * whoever has asked to be called.  livemm.ko takes a reference on it with
 * __symbol_get() for as long as any handler is set, so neither can go while the
 * other might call it; and either can be loaded, unloaded or wait for a
 * livepatch transition without the other.
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

/* Changes with any change of what follows; both modules must agree. */
#define LMM_KLP_PORT_VERSION	9

/* The functions that livepatch modules can wrap. */
enum lmm_klp_function {
#define LIVEPATCH(module, id, ...)	LMM_KLP_##id,
#include "rows.h"
	LMM_KLP_NR
};

/**
 * struct lmm_klp_part - a part of an address range that is being scanned
 * @start: its first address
 * @end: the one after its last
 * @updated: entries that were updated in it, in base pages
 * @total: entries that were updated in all parts so far, in base pages
 */
struct lmm_klp_part {
	unsigned long start;
	unsigned long end;
	unsigned long updated;
	unsigned long total;
};

/**
 * struct lmm_klp_return - pages kept from the buddy are wanted there
 * @zone: those of this zone, or with NULL of any
 * @by: who wants them: LMM_KLP_COMPACT is about to compact, LMM_KLP_DRAIN_ZONE and
 *	LMM_KLP_DRAIN_ALL have drained lists
 * @started: the handler has been called for this
 * @before: the handler's
 */
struct lmm_klp_return {
	struct zone *zone;
	enum lmm_klp_function by;
	bool started;
	unsigned long before;
};

/**
 * struct lmm_klp_plan - where a refill comes from; each in turn until one has any
 * @blocks: that are asked for
 * @alloc_flags: of the request
 * @regular: ask for free regular pages of the type, and for nothing else, first
 * @cma_blocks: how many to ask of CMA memory then; the kernel's own way comes last
 * @regular_got: blocks that came from regular memory
 * @cma_got: blocks that came from CMA memory
 * @stock_got: blocks that came as the kernel would have it
 * @judged: the handler's own
 * @by_ratio: the handler's own
 * @share: the handler's own
 */
struct lmm_klp_plan {
	unsigned long blocks;
	unsigned int alloc_flags;
	bool regular;
	unsigned long cma_blocks;
	int regular_got;
	int cma_got;
	int stock_got;
	bool judged;
	bool by_ratio;
	unsigned int share;
};

/**
 * struct lmm_klp_handlers - what livemm.ko wants called
 * @depot_get: before a refill of @asked blocks of @order to this CPU's list of @zone: puts
 *	pages on that list, @list, and returns how many; then the buddy is not asked
 * @depot_put: before a drain of @count pages that @caller asked for, of the list @pindex of
 *	@pcp first: takes pages off @pcp, and returns how many; the rest is drained
 * @refill_count: before a refill of @asked blocks of @order to this CPU's list of
 *	@zone; returns how many to ask for, at least @asked
 * @refill_plan: before a refill of @zone's list of @migratetype, of blocks of @order, where the
 *	kernel has CMA: says where it is to come from
 * @refill_done: after it: what came from where
 * @refill: after it: @got blocks were moved from the buddy; the list does not count
 *	them yet
 * @drain_count: before a drain that @count pages were asked of, the list @pindex
 *	of @pcp first; returns how many to drain, at most @count
 * @drain: after a drain: @pages pages went from @pcp to the buddy
 * @scan: before the entries of @vma up to @end are made to fault, and again after
 *	each part: @part tells of the last one (empty at first) and gets the next,
 *	after it; false if there is none
 * @scan_charge: when there is none: what to tell the kernel was updated, of @total
 * @give_back: before compaction, and after per-CPU lists were drained, but
 *	not because of a free; called until it returns false, there being no more to do
 * @regular_only: per CPU, true while a refill is to find nothing rather than pages of
 *	another type
 * @fallback: the kernel wants pages of @migratetype, has looked among the free blocks of
 *	@order for those of another type, and @found that or -1; returns it, or -1, and
 *	clears @whole where no more than what was asked for may be taken of a block
 *
 * Context: of the allocator's: under pcp->lock, preemption off (on PREEMPT_RT, inside
 * the RCU read section that its spinlocks are), any context the allocator may be
 * called from: no sleeping, no printk, no allocation, no lock.  Of @scan and
 * @scan_charge: process, preemption off, mmap_lock held for reading.  Of @give_back: process,
 * preemption off, no lock of the allocator's held.  Of @fallback: under
 * zone->lock, interrupts off, or where @claimable is set under no lock, preemption
 * off.
 */
struct lmm_klp_handlers {
	int (*depot_get)(struct zone *zone, unsigned int order, unsigned long asked,
			 struct list_head *list, int migratetype);
	int (*depot_put)(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
			 unsigned long caller);
	bool (*give_back)(struct lmm_klp_return *part);
	unsigned long (*refill_count)(struct zone *zone, unsigned int order,
				      unsigned long asked);
	void (*refill_plan)(struct zone *zone, unsigned int order, int migratetype,
			    struct lmm_klp_plan *source);
	void (*refill_done)(struct zone *zone, unsigned int order,
			    const struct lmm_klp_plan *source);
	void (*refill)(struct zone *zone, unsigned int order, int got);
	int (*drain_count)(struct zone *zone, int count, struct per_cpu_pages *pcp,
			   int pindex);
	void (*drain)(struct zone *zone, struct per_cpu_pages *pcp, int pages);
	bool (*scan)(struct vm_area_struct *vma, unsigned long end,
		     struct lmm_klp_part *part);
	unsigned long (*scan_charge)(struct vm_area_struct *vma, unsigned long total);
	int (*fallback)(struct free_area *area, unsigned int order, int migratetype,
			bool claimable, int found, bool *whole);
	bool __percpu *regular_only;
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
 * struct lmm_klp_port - what a livepatch module offers
 * @version: LMM_KLP_PORT_VERSION
 * @withdraw: throw the patch's own sysfs switch to 0, also in the middle of its
 *	transition; returns 0 or what the switch answered.  Context: process,
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

/* Each module exports one port under the module's name. */
extern const struct lmm_klp_port *const livemm_klp_lists_port;
extern const struct lmm_klp_port *const livemm_klp_giveback_port;
extern const struct lmm_klp_port *const livemm_klp_scan_port;
extern const struct lmm_klp_port *const livemm_klp_fallback_port;

#endif /* LIVEMM_HOOK_KLP_PORT_H */
