// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_foreign.ko - somebody else's livepatch on functions that livemm hooks
 *
 * The parameter "function" names functions, with commas.  A wrapper counts each call and then
 * calls the original.  "replace" makes the livepatch cumulative: the kernel then disables every
 * other livepatch.  With "hold", enabling holds the lock of the livepatch core until 0 is written.
 *
 * Each of the functions takes at most six arguments, integers and pointers, all in registers.  A
 * wrapper passes six registers on, and returns the result of the original.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/livepatch.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

#define SLOTS	4

LMM_PARAM(bool, replace, false, "replace all livepatches that are loaded");

static char *function = "free_pcppages_bulk";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "which functions are patched, with commas; 4 at most");

static bool hold;
module_param(hold, bool, 0600);
MODULE_PARM_DESC(hold, "is klp_mutex held before the livepatch is enabled, for two minutes at most");

LMM_PARAM(bool, holds, false, "is klp_mutex held now?");

static atomic_long_t hits[SLOTS];
static unsigned int used;

LMM_PARAM_COUNTS(hits, hits, used, "how often each patched function ran");

static atomic_t unanswerable;
module_param_named(unanswerable, unanswerable.counter, int, 0400);
MODULE_PARM_DESC(unanswerable, "how often it was asked for a type that it has no row for");

typedef unsigned long register_t6(unsigned long, unsigned long, unsigned long, unsigned long,
				  unsigned long, unsigned long);

DEFINE_STATIC_CALL_NULL(foreign_location, unsigned long (unsigned long));

/* Is the function find_suitable_fallback(), whose third argument is a migratetype? */
static bool takes_type[SLOTS];

#define SLOT(n)									\
DEFINE_STATIC_CALL_NULL(original_##n, register_t6);				\
static noinline unsigned long wrap_##n(unsigned long a, unsigned long b, unsigned long c, \
				       unsigned long d, unsigned long e, unsigned long f) \
{										\
	atomic_long_inc(&hits[n]);						\
	if (takes_type[n] && (unsigned int)c >= MIGRATE_PCPTYPES) {		\
		atomic_inc(&unanswerable);					\
		return (unsigned int)LMM_FALLBACK_NONE;				\
	}									\
	return static_call(original_##n)(a, b, c, d, e, f);			\
}										\
										\
static void set_##n(unsigned long addr)						\
{										\
	static_call_update(original_##n, (register_t6 *)addr);			\
}

SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)

static const struct {
	register_t6 *wrap;
	void (*set)(unsigned long addr);
} slots[] = {
	{ wrap_0, set_0 }, { wrap_1, set_1 }, { wrap_2, set_2 }, { wrap_3, set_3 },
};

static_assert(ARRAY_SIZE(slots) == SLOTS);

/* Functions with at most six arguments; a kernel may lack some. */
static const char *const known[] = {
	"rmqueue_bulk", "free_pcppages_bulk", "find_suitable_fallback", "compact_zone",
	"drain_pages_zone", "__drain_all_pages", "drain_all_pages", "change_prot_numa",
	"get_page_from_freelist", "bdev_getblk", "__getblk_gfp", "task_numa_fault",
};

static struct klp_func funcs[SLOTS + 1];

/* Called under klp_mutex. */
static int foreign_pre_patch(struct klp_object *obj)
{
	unsigned long end = jiffies + 120 * HZ;

	WRITE_ONCE(holds, true);
	while (READ_ONCE(hold) && time_before(jiffies, end))
		schedule_timeout_idle(HZ / 10);
	WRITE_ONCE(holds, false);
	return 0;
}

static struct klp_object objs[] = {
	{ .funcs = funcs, .callbacks.pre_patch = foreign_pre_patch },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objs };

static int patch_named(const char *name)
{
	unsigned long addr;

	if (used == SLOTS || match_string(known, ARRAY_SIZE(known), name) < 0)
		return -EINVAL;
	addr = (unsigned long)lmm_find(name);
	addr = addr ? static_call(foreign_location)(addr) : 0;
	if (!addr)
		return -ENOENT;
	slots[used].set(addr + MCOUNT_INSN_SIZE);
	funcs[used].old_name = name;
	funcs[used].new_func = slots[used].wrap;
	takes_type[used] = !strcmp(name, "find_suitable_fallback");
	used++;
	return 0;
}

static int __init lmm_foreign_init(void)
{
	/* The names are used as long as the patch is. */
	static char names[256];
	char *rest = names, *name;
	int err;

	if (!lmm_bind(foreign_location, "ftrace_location"))
		return -EOPNOTSUPP;
	if (strscpy(names, function, sizeof(names)) < 0)
		return -EINVAL;
	while ((name = strsep(&rest, ","))) {
		err = patch_named(name);
		if (err)
			return err;
	}
	patch.replace = replace;
	return klp_enable_patch(&patch);
}

static void __exit lmm_foreign_exit(void)
{
}

module_init(lmm_foreign_init);
module_exit(lmm_foreign_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: a foreign livepatch");
MODULE_INFO(livepatch, "Y");
