// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_lists.ko - livepatch wrappers around refill and drain of the per-CPU lists
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/instruction_pointer.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>

#include "compat/compat.h"
#include "klp_module.h"

typedef int refill_fn(struct zone *, unsigned int, unsigned long, struct list_head *, int,
		      unsigned int);
KLP_ORIGINAL(refill);
typedef void drain_fn(struct zone *, int, struct per_cpu_pages *, int);
KLP_ORIGINAL(drain);

DEFINE_STATIC_CALL_NULL(on_depot_get, int (struct zone *, unsigned int, unsigned long,
					   struct list_head *, int));
DEFINE_STATIC_CALL_NULL(on_depot_put, int (struct zone *, int, struct per_cpu_pages *, int,
					   unsigned long));
DEFINE_STATIC_CALL_NULL(on_refill_count, unsigned long (struct zone *, unsigned int,
							unsigned long));
DEFINE_STATIC_CALL_NULL(on_refill_plan, void (struct zone *, unsigned int, int,
					      struct lmm_klp_plan *));
DEFINE_STATIC_CALL_NULL(on_refill_done, void (struct zone *, unsigned int,
					      const struct lmm_klp_plan *));
DEFINE_STATIC_CALL_NULL(on_refill, void (struct zone *, unsigned int, int));
DEFINE_STATIC_CALL_NULL(on_drain_count, int (struct zone *, int, struct per_cpu_pages *, int));
DEFINE_STATIC_CALL_NULL(on_drain, void (struct zone *, struct per_cpu_pages *, int));

static DEFINE_STATIC_KEY_FALSE(refill_armed);
static DEFINE_STATIC_KEY_FALSE(drain_armed);

/* Set while a refill of this CPU must find nothing rather than pages of another type. */
static bool __percpu *regular_only;

/* Where there is CMA memory, a refill may come from either kind; a short one will do. */
static int refill_from(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	struct lmm_klp_plan plan = { .blocks = count, .alloc_flags = alloc_flags };

	if (!IS_ENABLED(CONFIG_CMA))
		return static_call(orig_refill)(zone, order, count, list, migratetype,
						alloc_flags);
	static_call(on_refill_plan)(zone, order, migratetype, &plan);
	if (plan.regular) {
		this_cpu_write(*regular_only, true);
		plan.regular_got = static_call(orig_refill)(zone, order, count, list,
							    migratetype,
							      alloc_flags & ~LMM_ALLOC_CMA);
		this_cpu_write(*regular_only, false);
	}
	if (!plan.regular_got && plan.cma_blocks)
		plan.cma_got = static_call(orig_refill)(zone, order, plan.cma_blocks, list,
							LMM_MIGRATE_CMA, alloc_flags);
	if (!plan.regular_got && !plan.cma_got)
		plan.stock_got = static_call(orig_refill)(zone, order, count, list,
							  migratetype, alloc_flags);
	static_call(on_refill_done)(zone, order, &plan);
	return plan.regular_got + plan.cma_got + plan.stock_got;
}

/* Stands in for rmqueue_bulk(): pages move from the buddy to a list. */
static int wrap_refill(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	int got;

	if (static_branch_unlikely(&refill_armed)) {
		got = static_call(on_depot_get)(zone, order, count, list, migratetype);
		if (got)
			return got;
		count = static_call(on_refill_count)(zone, order, count);
		got = refill_from(zone, order, count, list, migratetype, alloc_flags);
		static_call(on_refill)(zone, order, got);
		return got;
	}
	return static_call(orig_refill)(zone, order, count, list, migratetype, alloc_flags);
}

/* Stands in for free_pcppages_bulk(): pages move from a list to the buddy. */
static void wrap_drain(struct zone *zone, int count, struct per_cpu_pages *pcp,
		       int pindex)
{
	if (static_branch_unlikely(&drain_armed)) {
		int before;

		count -= static_call(on_depot_put)(zone, count, pcp, pindex, _RET_IP_);
		if (count <= 0)
			return;
		before = pcp->count;
		count = static_call(on_drain_count)(zone, count, pcp, pindex);
		static_call(orig_drain)(zone, count, pcp, pindex);
		static_call(on_drain)(zone, pcp, before - pcp->count);
		return;
	}
	static_call(orig_drain)(zone, count, pcp, pindex);
}

static void refill_handlers(const struct lmm_klp_handlers *handlers)
{
	regular_only = handlers->regular_only;
	static_call_update(on_depot_get, handlers->depot_get);
	static_call_update(on_refill_count, handlers->refill_count);
	static_call_update(on_refill_plan, handlers->refill_plan);
	static_call_update(on_refill_done, handlers->refill_done);
	static_call_update(on_refill, handlers->refill);
}

static void drain_handlers(const struct lmm_klp_handlers *handlers)
{
	static_call_update(on_depot_put, handlers->depot_put);
	static_call_update(on_drain_count, handlers->drain_count);
	static_call_update(on_drain, handlers->drain);
}

static const struct klp_wrapped wrapped[] = {
	KLP_WRAPPED("rmqueue_bulk", LMM_KLP_REFILL, refill, refill),
	KLP_WRAPPED("free_pcppages_bulk", LMM_KLP_DRAIN, drain, drain),
};

const struct lmm_klp_port *const livemm_klp_lists_port = &port;
EXPORT_SYMBOL_GPL(livemm_klp_lists_port);

static int __init klp_init(void)
{
	return klp_begin(wrapped, ARRAY_SIZE(wrapped));
}

module_init(klp_init);
module_exit(klp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm: livepatch wrappers around refill and drain of per-CPU lists");
MODULE_INFO(livepatch, "Y");
