/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_module.h - the part that every livepatch module shares: all but the wrappers
 *
 * A wrapper calls the function it replaced by jumping past that function's ftrace call,
 * so the kernel's own code does the work, and then calls the handler that is armed.  A disarmed
 * wrapper costs the livepatch trampoline and one static branch.
 *
 * livemm.ko loads a livepatch module with the names of the functions that livemm.ko has verified
 * against the running kernel.  A load without names is refused, because a livepatch module
 * checks no prototypes.  A load is refused as well where another livepatch holds one of the
 * functions: a jump past the ftrace call would undo the other livepatch.
 *
 * One source file of each module includes this header, because kbuild warns of an object in two
 * modules.
 */
#ifndef LIVEMM_HOOK_KLP_MODULE_H
#define LIVEMM_HOOK_KLP_MODULE_H

#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "klp_port.h"
#include "release.h"
#include "symbols.h"

/**
 * struct klp_wrapped - one function that can be wrapped
 * @name: symbol of the function
 * @function: id of the function
 * @wrapper: stands in for the function
 * @armed: static branch in the wrapper
 * @set_original: says where the kernel's own code is
 */
struct klp_wrapped {
	const char *name;
	enum lmm_klp_function function;
	void *wrapper;
	struct static_key_false *armed;
	void (*set_original)(unsigned long addr);
};

/*
 * The functions of this module: the rows of rows.h that klp_lists.c and the others select, by
 * defining KLP_IN_<module> as KLP_ROW.  A function has a type (WHAT_fn), a wrapper (wrap_WHAT), a
 * static key (WHAT_armed) and a call of the kernel's own code (orig_WHAT).
 */
#ifndef KLP_IN_lists
#define KLP_IN_lists(...)
#endif
#ifndef KLP_IN_giveback
#define KLP_IN_giveback(...)
#endif
#ifndef KLP_IN_fallback
#define KLP_IN_fallback(...)
#endif

#define KLP_ROW(id, what, symbol, ret, ...)				\
	typedef ret what##_fn(__VA_ARGS__);				\
	static what##_fn wrap_##what;					\
	static DEFINE_STATIC_KEY_FALSE(what##_armed);			\
	DEFINE_STATIC_CALL_NULL(orig_##what, what##_fn);		\
	static void set_orig_##what(unsigned long addr)			\
	{								\
		static_call_update(orig_##what, (what##_fn *)addr);	\
	}
#define LIVEPATCH(module, ...)		KLP_IN_##module(__VA_ARGS__)
#define LIVEPATCH_OR(module, ...)	KLP_IN_##module(__VA_ARGS__)
#include "rows.h"
#undef KLP_ROW

#define KLP_ROW(id, what, symbol_, ret, ...) {				\
	.name = #symbol_,						\
	.function = LMM_KLP_##id,					\
	.wrapper = wrap_##what,						\
	.armed = &what##_armed,						\
	.set_original = set_orig_##what,				\
},

static const struct klp_wrapped klp_rows[] = {
#define LIVEPATCH(module, ...)		KLP_IN_##module(__VA_ARGS__)
#define LIVEPATCH_OR(module, ...)	KLP_IN_##module(__VA_ARGS__)
#include "rows.h"
};

/* A handler of struct lmm_klp_handlers, and whom to call. */
#define KLP_HANDLER(member) \
	DEFINE_STATIC_CALL_NULL(on_##member, *((struct lmm_klp_handlers *)0)->member)
#define KLP_TELL(member)	static_call_update(on_##member, handlers->member)

/* Of each module: sets the handlers of its wrappers. */
static void klp_set_handlers(const struct lmm_klp_handlers *handlers);

static char *functions;
module_param(functions, charp, 0400);
MODULE_PARM_DESC(functions, "names of the functions to wrap, with commas; livemm.ko fills this in");

DEFINE_STATIC_CALL_NULL(klp_lookup_name, kallsyms_lookup_name);
DEFINE_STATIC_CALL_NULL(klp_ftrace_location, ftrace_location);

static DECLARE_WAIT_QUEUE_HEAD(transition_end);
static bool transition_patched;

static DEFINE_MUTEX(watch_mutex);
static void (*watcher)(enum lmm_klp_change change);

#define KLP_FUNCTIONS_MAX	8
#define KLP_ENDBR_SIZE		4

static struct klp_func funcs[KLP_FUNCTIONS_MAX + 1];

static int klp_pre_patch(struct klp_object *obj);
static void klp_post_patch(struct klp_object *obj);
static void klp_pre_unpatch(struct klp_object *obj);
static void klp_post_unpatch(struct klp_object *obj);

static struct klp_object objs[] = {
	{
		/* A NULL name stands for vmlinux. */
		.funcs = funcs,
		.callbacks = {
			.pre_patch = klp_pre_patch,
			.post_patch = klp_post_patch,
			.pre_unpatch = klp_pre_unpatch,
			.post_unpatch = klp_post_unpatch,
		},
	},
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

/* Does another livepatch hold a function of ours?  Under klp_mutex. */
static bool klp_held_by(struct klp_patch *other)
{
	struct klp_object *obj;
	struct klp_func *theirs, *ours;

	klp_for_each_object(other, obj) {
		if (obj->name)
			continue;
		klp_for_each_func(obj, theirs) {
			for (ours = funcs; ours->old_name; ours++) {
				if (strcmp(ours->old_name, theirs->old_name))
					continue;
				pr_err("livepatch %s holds %s; disable that first\n",
				       other->mod->name, ours->old_name);
				return true;
			}
		}
	}
	return false;
}

/*
 * The kernel holds klp_mutex from this callback until the wrappers are in place, so no other
 * livepatch comes between.  A livepatch that comes later lies on top of the wrappers.
 */
static int klp_pre_patch(struct klp_object *obj)
{
	/* The newest is the last of the list, and we are the newest. */
	struct list_head *patches = patch.list.next;
	struct klp_patch *other;

	if ((unsigned long)patches != static_call(klp_lookup_name)("klp_patches")) {
		pr_err("cannot see which livepatches are loaded\n");
		return -EOPNOTSUPP;
	}
	list_for_each_entry(other, patches, list)
		if (other != &patch && klp_held_by(other))
			return -EBUSY;
	return 0;
}

static void tell(enum lmm_klp_change change)
{
	WRITE_ONCE(transition_patched, change == LMM_KLP_PATCHED);
	wake_up_all(&transition_end);
	mutex_lock(&watch_mutex);
	if (watcher)
		watcher(change);
	mutex_unlock(&watch_mutex);
}

static void klp_post_patch(struct klp_object *obj)
{
	tell(LMM_KLP_PATCHED);
}

static void klp_pre_unpatch(struct klp_object *obj)
{
	tell(LMM_KLP_UNPATCHING);
}

/* The only sign of a transition that was reversed. */
static void klp_post_unpatch(struct klp_object *obj)
{
	wake_up_all(&transition_end);
}

/*
 * A cumulative livepatch of somebody else replaces ours without running our
 * callbacks, but clears patch.enabled.
 */
static bool port_live(void)
{
	return READ_ONCE(transition_patched) && READ_ONCE(patch.enabled);
}

static bool port_wait(unsigned int timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);

	/* Nobody is woken when @enabled changes. */
	while (!port_live() && READ_ONCE(patch.enabled) && time_before(jiffies, end))
		wait_event_idle_timeout(transition_end, port_live(), HZ / 10);
	return port_live();
}

static void port_watch(void (*changed)(enum lmm_klp_change change))
{
	mutex_lock(&watch_mutex);
	watcher = changed;
	mutex_unlock(&watch_mutex);
}

/*
 * No in-kernel call disables a livepatch; the sysfs switch is the interface.  The switch is
 * an attribute of patch.kobj, so no path, mounted sysfs or file is needed.
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
			/* An admin may have been faster. */
			return ret < 0 && READ_ONCE(patch.enabled) ? ret : 0;
		}
	}
	return -EOPNOTSUPP;
}

/* The row of a function, if the function is in this patch. */
static const struct klp_wrapped *klp_row(enum lmm_klp_function function)
{
	const struct klp_func *func;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(klp_rows); i++)
		for (func = funcs; func->old_name && klp_rows[i].function == function; func++)
			if (!strcmp(func->old_name, klp_rows[i].name))
				return &klp_rows[i];
	return NULL;
}

static void port_arm(enum lmm_klp_function function, const struct lmm_klp_handlers *handlers)
{
	const struct klp_wrapped *row = klp_row(function);

	if (!row)
		return;
	klp_set_handlers(handlers);
	static_key_enable(&row->armed->key);
}

static void port_disarm(enum lmm_klp_function function)
{
	const struct klp_wrapped *row = klp_row(function);

	if (row)
		static_key_disable(&row->armed->key);
}

static struct lmm_klp_port port = {
	.version = LMM_KLP_PORT_VERSION,
	.withdraw = port_withdraw,
	.live = port_live,
	.wait = port_wait,
	.watch = port_watch,
	.arm = port_arm,
	.disarm = port_disarm,
	.owner = THIS_MODULE,
};

static int __init klp_wrap(const char *name, struct klp_func *func)
{
	unsigned long addr, site;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(klp_rows); i++)
		if (!strcmp(klp_rows[i].name, name))
			break;
	if (i == ARRAY_SIZE(klp_rows) || port.functions & BIT(klp_rows[i].function)) {
		pr_err("functions: %s: not one that can be wrapped, or named twice\n", name);
		return -EINVAL;
	}
	addr = static_call(klp_lookup_name)(name);
	site = addr ? static_call(klp_ftrace_location)(addr) : 0;
	/* The function's own site is at the entry, or behind an ENDBR. */
	if (!site || site - addr > KLP_ENDBR_SIZE) {
		pr_err("%s: no such function, or no ftrace site\n", name);
		return -ENOENT;
	}
	klp_rows[i].set_original(site + MCOUNT_INSN_SIZE);
	func->old_name = klp_rows[i].name;
	func->new_func = klp_rows[i].wrapper;
	port.functions |= BIT(klp_rows[i].function);
	return 0;
}

static int __init klp_init(void)
{
	struct klp_func *func = funcs;
	char names[256], *rest = names, *name;
	unsigned long addr;
	int err;

	/* A name twice or of another module is refused, so there are never more than rows. */
	BUILD_BUG_ON(ARRAY_SIZE(klp_rows) > KLP_FUNCTIONS_MAX);
	err = lmm_release_check();
	if (err)
		return err;
	if (!functions || !*functions) {
		pr_err("loaded by hand? livemm.ko loads this module for a policy\n");
		return -EINVAL;
	}
	if (strscpy(names, functions, sizeof(names)) < 0)
		return -EINVAL;

	err = lmm_function_address("kallsyms_lookup_name", &addr);
	if (err)
		return err;
	static_call_update(klp_lookup_name, (unsigned long (*)(const char *))addr);
	addr = static_call(klp_lookup_name)("ftrace_location");
	if (!addr)
		return -EOPNOTSUPP;
	static_call_update(klp_ftrace_location, (unsigned long (*)(unsigned long))addr);

	while ((name = strsep(&rest, ","))) {
		err = klp_wrap(name, func++);
		if (err)
			return err;
	}
	err = klp_enable_patch(&patch);
	if (err)
		pr_err("the kernel refused the livepatch: %d\n", err);
	return err;
}

/* Reached only once the patch is disabled and no task runs a wrapper. */
static void __exit klp_exit(void)
{
}

/* What every module ends with. */
#define KLP_MODULE(name, wraps)						\
	const struct lmm_klp_port *const livemm_klp_##name##_port = &port; \
	EXPORT_SYMBOL_GPL(livemm_klp_##name##_port);			\
	module_init(klp_init);						\
	module_exit(klp_exit);						\
	MODULE_LICENSE("GPL");						\
	MODULE_DESCRIPTION("livemm: livepatch wrappers around " wraps);	\
	MODULE_INFO(livepatch, "Y")

#endif /* LIVEMM_HOOK_KLP_MODULE_H */
