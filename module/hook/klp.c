// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp.ko - livepatch wrappers around the allocator's slow side, and the scan
 * of NUMA balancing
 *
 * A wrapper calls the function it replaced by jumping past that function's
 * ftrace call, so the kernel's own code does the work, and then tells whoever
 * has armed it.  Disarmed, a wrapper costs the livepatch trampoline and one
 * static branch.
 *
 * Loaded by livemm.ko with the names of the functions that it has verified
 * against the running kernel.  A load without names is refused: nothing here
 * checks prototypes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/livepatch.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/wait.h>
/* Does not include what it uses. */
#include <linux/compaction.h>

#include "../compat/compat.h"
#include "klp_port.h"
#include "release.h"
#include "symbols.h"

static char *functions;
module_param(functions, charp, 0400);
MODULE_PARM_DESC(functions, "names of the functions to wrap, with commas; livemm.ko fills this in");

DEFINE_STATIC_CALL_NULL(klp_lookup_name, unsigned long (const char *));
DEFINE_STATIC_CALL_NULL(klp_ftrace_location, unsigned long (unsigned long));

DEFINE_STATIC_CALL_NULL(orig_refill, int (struct zone *, unsigned int, unsigned long,
					  struct list_head *, int, unsigned int));
DEFINE_STATIC_CALL_NULL(orig_drain, void (struct zone *, int, struct per_cpu_pages *, int));
DEFINE_STATIC_CALL_NULL(orig_scan, unsigned long (struct vm_area_struct *, unsigned long,
						  unsigned long));
DEFINE_STATIC_CALL_NULL(orig_fallback, lmm_fallback_t (struct free_area *, unsigned int, int,
						       bool, lmm_fallback_detail_t *));
DEFINE_STATIC_CALL_NULL(orig_drain_zone, void (unsigned int, struct zone *));
DEFINE_STATIC_CALL_NULL(orig_drain_all, void (struct zone *, bool));
DEFINE_STATIC_CALL_NULL(orig_drain_lists, void (struct zone *));
DEFINE_STATIC_CALL_NULL(orig_compact, enum compact_result (struct compact_control *,
							   struct capture_control *));

DEFINE_STATIC_CALL_NULL(on_take, int (struct zone *, unsigned int, unsigned long,
				      struct list_head *, int));
DEFINE_STATIC_CALL_NULL(on_store, int (struct zone *, int, struct per_cpu_pages *, int,
				       unsigned long));
DEFINE_STATIC_CALL_NULL(on_give_back, bool (struct lmm_klp_return *));
DEFINE_STATIC_CALL_NULL(on_refill_count, unsigned long (struct zone *, unsigned int,
							unsigned long));
DEFINE_STATIC_CALL_NULL(on_source, void (struct zone *, unsigned int, int,
					 struct lmm_klp_source *));
DEFINE_STATIC_CALL_NULL(on_sourced, void (struct zone *, unsigned int,
					  const struct lmm_klp_source *));
DEFINE_STATIC_CALL_NULL(on_refill, void (struct zone *, unsigned int, int));
DEFINE_STATIC_CALL_NULL(on_drain_count, int (struct zone *, int, struct per_cpu_pages *, int));
DEFINE_STATIC_CALL_NULL(on_drain, void (struct zone *, struct per_cpu_pages *, int));
DEFINE_STATIC_CALL_NULL(on_scan, bool (struct vm_area_struct *, unsigned long,
				       struct lmm_klp_part *));
DEFINE_STATIC_CALL_NULL(on_scan_charge, unsigned long (struct vm_area_struct *,
						       unsigned long));
DEFINE_STATIC_CALL_NULL(on_fallback, int (struct free_area *, unsigned int, int, bool, int,
					  bool *));

static DEFINE_STATIC_KEY_FALSE(refill_armed);
static DEFINE_STATIC_KEY_FALSE(drain_armed);
static DEFINE_STATIC_KEY_FALSE(scan_armed);
static DEFINE_STATIC_KEY_FALSE(fallback_armed);
static DEFINE_STATIC_KEY_FALSE(drain_zone_armed);
static DEFINE_STATIC_KEY_FALSE(drain_all_armed);
static DEFINE_STATIC_KEY_FALSE(compact_armed);

static DECLARE_WAIT_QUEUE_HEAD(transition_end);
static bool transition_patched;

/* This CPU's refill is to find nothing rather than pages of another type. */
static DEFINE_PER_CPU(bool, refill_no_fallback);

/* Where there is CMA memory, a refill may come from either kind; a short one will do. */
static int refill_from(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	struct lmm_klp_source source = { .blocks = count, .alloc_flags = alloc_flags };

	if (!IS_ENABLED(CONFIG_CMA))
		return static_call(orig_refill)(zone, order, count, list, migratetype,
						alloc_flags);
	static_call(on_source)(zone, order, migratetype, &source);
	if (source.regular) {
		this_cpu_write(refill_no_fallback, true);
		source.regular_got = static_call(orig_refill)(zone, order, count, list,
							      migratetype,
							      alloc_flags & ~LMM_ALLOC_CMA);
		this_cpu_write(refill_no_fallback, false);
	}
	if (!source.regular_got && source.cma_blocks)
		source.cma_got = static_call(orig_refill)(zone, order, source.cma_blocks, list,
							  LMM_MIGRATE_CMA, alloc_flags);
	if (!source.regular_got && !source.cma_got)
		source.stock_got = static_call(orig_refill)(zone, order, count, list,
							    migratetype, alloc_flags);
	static_call(on_sourced)(zone, order, &source);
	return source.regular_got + source.cma_got + source.stock_got;
}

/* Stands in for rmqueue_bulk(): pages move from the buddy to a list. */
static int wrap_refill(struct zone *zone, unsigned int order, unsigned long count,
		       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	int got;

	if (static_branch_unlikely(&refill_armed)) {
		got = static_call(on_take)(zone, order, count, list, migratetype);
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

		count -= static_call(on_store)(zone, count, pcp, pindex, _RET_IP_);
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

/*
 * Handlers run with preemption off, and look again whether they are armed there: so
 * who disarms them knows when the last has run, though the scan itself may sleep.
 * Disarmed in between, the rest is one part.
 */
static bool scan_part(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part)
{
	bool more;

	preempt_disable();
	if (static_branch_likely(&scan_armed)) {
		more = static_call(on_scan)(vma, end, part);
	} else {
		part->start = part->end;
		part->end = end;
		more = part->start < end;
	}
	preempt_enable();
	return more;
}

static unsigned long scan_charge(struct vm_area_struct *vma, unsigned long total)
{
	preempt_disable();
	if (static_branch_likely(&scan_armed))
		total = static_call(on_scan_charge)(vma, total);
	preempt_enable();
	return total;
}

/* Stands in for change_prot_numa(): entries are made to fault, part by part. */
static unsigned long wrap_scan(struct vm_area_struct *vma, unsigned long start,
			       unsigned long end)
{
	struct lmm_klp_part part = { .start = start, .end = start };

	if (!static_branch_unlikely(&scan_armed))
		return static_call(orig_scan)(vma, start, end);
	while (scan_part(vma, end, &part)) {
		part.updated = static_call(orig_scan)(vma, part.start, part.end);
		part.total += part.updated;
	}
	return scan_charge(vma, part.total);
}

/*
 * Stands in for find_suitable_fallback(): for want of free pages of one type, is there
 * another to take them from?  Compaction asks with preemption on.
 */
static lmm_fallback_t wrap_fallback(struct free_area *area, unsigned int order, int migratetype,
				    bool claimable, lmm_fallback_detail_t *detail)
{
	bool compacts = lmm_fallback_compacts(claimable, detail);
	bool whole = true;
	lmm_fallback_t ret;
	int found;

	/*
	 * Only refill_from() asks for CMA memory, and the kernel's table has no end in the row
	 * for that.  (An interrupt that wants movable pages just then may find none either.)
	 */
	if (IS_ENABLED(CONFIG_CMA) &&
	    (migratetype == LMM_MIGRATE_CMA ||
	     (migratetype == MIGRATE_MOVABLE && !compacts &&
	      this_cpu_read(refill_no_fallback))))
		return LMM_FALLBACK_NONE;
	ret = static_call(orig_fallback)(area, order, migratetype, claimable, detail);
	if (static_branch_unlikely(&fallback_armed)) {
		found = lmm_fallback_type(ret, detail);
		preempt_disable();
		if (static_branch_likely(&fallback_armed) &&
		    static_call(on_fallback)(area, order, migratetype, compacts, found,
					     &whole) < 0 && found >= 0)
			ret = LMM_FALLBACK_NONE;
		else if (!whole)
			ret = lmm_fallback_part(ret, claimable, detail);
		preempt_enable();
	}
	return ret;
}

static bool give_back_part(struct static_key_false *armed, struct lmm_klp_return *part)
{
	bool more = false;

	preempt_disable();
	if (static_key_enabled(armed))
		more = static_call(on_give_back)(part);
	preempt_enable();
	return more;
}

/*
 * Stands in for drain_pages_zone(): all that lists of a CPU hold goes to the buddy.
 * Hibernation calls it with interrupts off.
 */
static void wrap_drain_zone(unsigned int cpu, struct zone *zone)
{
	struct lmm_klp_return part = { .zone = zone, .by = LMM_KLP_DRAIN_ZONE };

	static_call(orig_drain_zone)(cpu, zone);
	if (static_branch_unlikely(&drain_zone_armed))
		while (give_back_part(&drain_zone_armed, &part))
			;
}

/*
 * Stands in for __drain_all_pages(): likewise of every CPU, where it holds anything, or by
 * @force of all.
 */
static void wrap_drain_all(struct zone *zone, bool force)
{
	struct lmm_klp_return part = { .zone = zone, .by = LMM_KLP_DRAIN_ALL };

	static_call(orig_drain_all)(zone, force);
	if (static_branch_unlikely(&drain_all_armed))
		while (give_back_part(&drain_all_armed, &part))
			cond_resched();
}

/*
 * Stands in for drain_all_pages(), where the former cannot be wrapped.  What else calls that
 * has it drain every CPU, by the function that wrap_drain_zone() stands in for.
 */
static void wrap_drain_lists(struct zone *zone)
{
	struct lmm_klp_return part = { .zone = zone, .by = LMM_KLP_DRAIN_ALL };

	static_call(orig_drain_lists)(zone);
	if (static_branch_unlikely(&drain_all_armed))
		while (give_back_part(&drain_all_armed, &part))
			cond_resched();
}

/* Stands in for compact_zone(): somebody wants pages of a zone in one piece. */
static enum compact_result wrap_compact(struct compact_control *cc,
					struct capture_control *capc)
{
	struct lmm_klp_return part = { .zone = cc->zone, .by = LMM_KLP_COMPACT };

	if (static_branch_unlikely(&compact_armed))
		while (give_back_part(&compact_armed, &part))
			cond_resched();
	return static_call(orig_compact)(cc, capc);
}

/**
 * struct wrapped - one function that can be wrapped
 * @name: its symbol
 * @wrapper: what stands in for it
 * @armed: static branch in the wrapper
 */
struct wrapped {
	const char *name;
	void *wrapper;
	struct static_key_false *armed;
};

/* A second function for LMM_KLP_DRAIN_ALL; a patch has the one or the other. */
#define DRAIN_LISTS	LMM_KLP_NR
#define NR_WRAPPED	(LMM_KLP_NR + 1)

static const struct wrapped wrapped[NR_WRAPPED] = {
	[LMM_KLP_REFILL] = { "rmqueue_bulk", wrap_refill, &refill_armed },
	[LMM_KLP_DRAIN] = { "free_pcppages_bulk", wrap_drain, &drain_armed },
	[LMM_KLP_SCAN] = { "change_prot_numa", wrap_scan, &scan_armed },
	[LMM_KLP_FALLBACK] = { "find_suitable_fallback", wrap_fallback, &fallback_armed },
	[LMM_KLP_DRAIN_ZONE] = { "drain_pages_zone", wrap_drain_zone, &drain_zone_armed },
	[LMM_KLP_DRAIN_ALL] = { "__drain_all_pages", wrap_drain_all, &drain_all_armed },
	[LMM_KLP_COMPACT] = { "compact_zone", wrap_compact, &compact_armed },
	[DRAIN_LISTS] = { "drain_all_pages", wrap_drain_lists, &drain_all_armed },
};

static void set_original(unsigned int which, unsigned long addr)
{
	switch (which) {
	case LMM_KLP_REFILL:
		static_call_update(orig_refill,
				   (int (*)(struct zone *, unsigned int, unsigned long,
					    struct list_head *, int, unsigned int))addr);
		break;
	case LMM_KLP_DRAIN:
		static_call_update(orig_drain,
				   (void (*)(struct zone *, int,
					     struct per_cpu_pages *, int))addr);
		break;
	case LMM_KLP_SCAN:
		static_call_update(orig_scan,
				   (unsigned long (*)(struct vm_area_struct *, unsigned long,
						      unsigned long))addr);
		break;
	case LMM_KLP_FALLBACK:
		static_call_update(orig_fallback,
				   (lmm_fallback_t (*)(struct free_area *, unsigned int, int, bool,
						       lmm_fallback_detail_t *))addr);
		break;
	case LMM_KLP_DRAIN_ZONE:
		static_call_update(orig_drain_zone,
				   (void (*)(unsigned int, struct zone *))addr);
		break;
	case LMM_KLP_DRAIN_ALL:
		static_call_update(orig_drain_all, (void (*)(struct zone *, bool))addr);
		break;
	case DRAIN_LISTS:
		static_call_update(orig_drain_lists, (void (*)(struct zone *))addr);
		break;
	case LMM_KLP_COMPACT:
		static_call_update(orig_compact,
				   (enum compact_result (*)(struct compact_control *,
							    struct capture_control *))addr);
		break;
	default:
		break;
	}
}

static void patched(struct klp_object *obj)
{
	WRITE_ONCE(transition_patched, true);
	wake_up_all(&transition_end);
}

static void unpatching(struct klp_object *obj)
{
	WRITE_ONCE(transition_patched, false);
	wake_up_all(&transition_end);
}

static struct klp_func funcs[LMM_KLP_NR + 1];

static struct klp_object objs[] = {
	{
		/* A NULL name stands for vmlinux. */
		.funcs = funcs,
		.callbacks = {
			.post_patch = patched,
			.pre_unpatch = unpatching,
		},
	},
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

/*
 * A cumulative livepatch of somebody else's replaces ours without running our
 * callbacks; patch.enabled tells.
 */
static bool port_live(void)
{
	return READ_ONCE(transition_patched) && READ_ONCE(patch.enabled);
}

static bool port_wait(unsigned int timeout_ms)
{
	wait_event_timeout(transition_end, port_live() || !READ_ONCE(patch.enabled),
			   msecs_to_jiffies(timeout_ms));
	return port_live();
}

/*
 * There is no in-kernel call that disables a livepatch; its sysfs switch is the
 * interface.  The switch is an attribute of patch.kobj, so it can be thrown
 * without a path, a mounted sysfs, or a file.
 */
static int port_withdraw(void)
{
	const struct kobj_type *type = patch.kobj.ktype;
	const struct attribute_group **group;
	struct attribute **attr;
	ssize_t ret;

	if (!READ_ONCE(patch.enabled))
		return 0;
	if (!type || !type->sysfs_ops || !type->default_groups)
		return -EOPNOTSUPP;
	for (group = type->default_groups; *group; group++) {
		for (attr = (*group)->attrs; *attr; attr++) {
			if (strcmp((*attr)->name, "enabled"))
				continue;
			ret = type->sysfs_ops->store(&patch.kobj, *attr, "0", 1);
			return ret < 0 ? ret : 0;
		}
	}
	return -EOPNOTSUPP;
}

static void port_arm(enum lmm_klp_function function,
		     const struct lmm_klp_handlers *handlers)
{
	switch (function) {
	case LMM_KLP_REFILL:
		static_call_update(on_take, handlers->take);
		static_call_update(on_refill_count, handlers->refill_count);
		static_call_update(on_source, handlers->source);
		static_call_update(on_sourced, handlers->sourced);
		static_call_update(on_refill, handlers->refill);
		break;
	case LMM_KLP_DRAIN:
		static_call_update(on_store, handlers->store);
		static_call_update(on_drain_count, handlers->drain_count);
		static_call_update(on_drain, handlers->drain);
		break;
	case LMM_KLP_SCAN:
		static_call_update(on_scan, handlers->scan);
		static_call_update(on_scan_charge, handlers->scan_charge);
		break;
	case LMM_KLP_FALLBACK:
		static_call_update(on_fallback, handlers->fallback);
		break;
	case LMM_KLP_DRAIN_ZONE:
	case LMM_KLP_DRAIN_ALL:
	case LMM_KLP_COMPACT:
		static_call_update(on_give_back, handlers->give_back);
		break;
	default:
		return;
	}
	static_key_enable(&wrapped[function].armed->key);
}

static void port_disarm(enum lmm_klp_function function)
{
	static_key_disable(&wrapped[function].armed->key);
}

static struct lmm_klp_port port = {
	.version = LMM_KLP_PORT_VERSION,
	.live = port_live,
	.wait = port_wait,
	.withdraw = port_withdraw,
	.arm = port_arm,
	.disarm = port_disarm,
};

const struct lmm_klp_port *const livemm_klp_port = &port;
EXPORT_SYMBOL_GPL(livemm_klp_port);

static int wrap_named(const char *name, struct klp_func *func)
{
	enum lmm_klp_function function;
	unsigned long addr, site;
	unsigned int i;

	for (i = 0; i < NR_WRAPPED; i++)
		if (!strcmp(wrapped[i].name, name))
			break;
	function = i == DRAIN_LISTS ? LMM_KLP_DRAIN_ALL : i;
	if (i == NR_WRAPPED || port.functions & BIT(function)) {
		pr_err("functions: %s: not one that can be wrapped, or named twice\n", name);
		return -EINVAL;
	}
	addr = static_call(klp_lookup_name)(name);
	site = addr ? static_call(klp_ftrace_location)(addr) : 0;
	if (!site) {
		pr_err("%s: no such function, or it cannot be traced\n", name);
		return -ENOENT;
	}
	set_original(i, site + MCOUNT_INSN_SIZE);
	func->old_name = wrapped[i].name;
	func->new_func = wrapped[i].wrapper;
	port.functions |= BIT(function);
	return 0;
}

static int __init livemm_klp_init(void)
{
	struct klp_func *func = funcs;
	char names[256], *rest = names, *name;
	unsigned long addr;
	int err;

	err = lmm_release_check();
	if (err)
		return err;
	if (!functions || !*functions) {
		pr_err("loaded by hand? livemm.ko loads this when a policy needs it\n");
		return -EINVAL;
	}
	if (strscpy(names, functions, sizeof(names)) < 0)
		return -EINVAL;

	addr = lmm_kallsyms_address();
	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(klp_lookup_name, (unsigned long (*)(const char *))addr);
	addr = static_call(klp_lookup_name)("ftrace_location");
	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(klp_ftrace_location, (unsigned long (*)(unsigned long))addr);

	while ((name = strsep(&rest, ","))) {
		err = wrap_named(name, func++);
		if (err)
			return err;
	}
	err = klp_enable_patch(&patch);
	if (err)
		pr_err("the kernel refused the livepatch: %d\n", err);
	return err;
}

/* Reached only once the patch is disabled and no task runs a wrapper. */
static void __exit livemm_klp_exit(void)
{
}

module_init(livemm_klp_init);
module_exit(livemm_klp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm: livepatch wrappers around per-CPU list refill and drain, and NUMA scans");
MODULE_INFO(livepatch, "Y");
