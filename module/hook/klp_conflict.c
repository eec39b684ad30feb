// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_conflict.c - livepatches and kprobes of others on the functions that we wrap
 *
 * A wrapper of ours calls the kernel's own code past the ftrace site.  A wrapper over another
 * livepatch would silently undo a fix.  Our livepatch modules therefore refuse to be enabled on a
 * function that another livepatch holds (lmm_klp_may_patch(), under the kernel's klp_mutex).  A
 * livepatch that comes later lies on top of ours and is called instead of ours.  A cumulative one
 * replaces ours: until its transition has ended, it has a function without code for each of ours
 * (klp_func.nop), which holds nothing.
 *
 * A kprobe with a post_handler and a livepatch may both change where a function goes on (the flag
 * IPMODIFY of their ftrace_ops).  A function has room for one of the two, and the kernel refuses
 * the later one.
 *
 * A survey finds the covered functions.  A survey runs when a livepatch module comes or goes, and
 * before a policy comes on.  The kernel tells nobody when a livepatch is disabled through sysfs or
 * a kprobe is removed.
 *
 * A row is only ours while our wrapper is all that there is at its function.  Two callers ask.
 * What a policy drains goes past the site, and past our wrapper, while drain is only ours, and
 * through theirs else (flow/drain.c).  A refill that asks for MIGRATE_CMA runs off the end of the
 * kernel's table of fallbacks when CMA memory is used up, unless our wrapper of
 * find_suitable_fallback() answers.  No row is only ours from the time before another livepatch is
 * enabled, or before ours is disabled, until a survey finds our livepatch on top.
 *
 * A disabled livepatch can only be enabled again by loading its module anew since
 * 958ef1e39d24 ("livepatch: Simplify API by removing registration step", 5.1).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "compat/export.h"
#include "hook.h"
#include "klp_client.h"
#include "symbols.h"
#include "table.h"

LMM_KERNEL_CALL(get_kprobe);

/* Covers a function where no livepatch does; no module has such a name. */
#define BY_KPROBE	"kprobe/"

/* Protects lmm_hook.covered_by and others_transition; innermost. */
static DEFINE_SPINLOCK(covered_lock);

/* The livepatch of somebody else's that is being enabled or disabled, or "". */
static char others_transition[MODULE_NAME_LEN];

static void (*tell_changed)(void);

/* klp_mutex of the kernel, and the variables under it; NULL where not verified. */
static struct mutex *klp_lock;
static struct list_head *klp_list;
static struct klp_patch **klp_transition;
static struct list_head *module_list;
/* Can get_kprobe() be called? */
static bool sees_kprobes;

/*
 * A livepatch that holds a function, or with @nop is about to take the livepatch off that does, or
 * NULL; of ours or of somebody else's, under klp_mutex.
 */
static struct klp_patch *patch_with(const char *symbol, bool ours, bool nop)
{
	struct klp_patch *patch;
	struct klp_object *obj;
	struct klp_func *func;

	list_for_each_entry(patch, klp_list, list) {
		if (lmm_klp_is_ours(patch->mod->name) != ours)
			continue;
		klp_for_each_object(patch, obj) {
			if (obj->name)
				continue;
			klp_for_each_func(obj, func)
				if (func->nop == nop && !strcmp(func->old_name, symbol))
					return patch;
		}
	}
	return NULL;
}

/* Is an enabled kprobe with a post_handler at the function? */
static bool post_handled(const struct lmm_hook *hook)
{
	void *site = (void *)lmm_symbol_ftrace_site(hook->addr);
	const struct kprobe *probe;
	bool found;

	if (!sees_kprobes)
		return false;
	/* The kernel frees a kprobe after a grace period. */
	preempt_disable();
	probe = static_call(sym_get_kprobe)(site);
	found = probe && probe->post_handler && !(probe->flags & KPROBE_FLAG_DISABLED);
	preempt_enable();
	return found;
}

/* A livepatch, of ours or of others, whose module is in a state, or NULL; under RCU. */
static const struct module *livepatch_in(enum module_state state, bool ours)
{
	const struct module *mod;

	list_for_each_entry_rcu(mod, module_list, list)
		if (READ_ONCE(mod->state) == state && mod->klp &&
		    lmm_klp_is_ours(mod->name) == ours)
			return mod;
	return NULL;
}

/* May another livepatch be enabled now?  A module is on the list before its init runs. */
static bool livepatch_coming(void)
{
	bool coming;

	rcu_read_lock();
	coming = !module_list || livepatch_in(MODULE_STATE_COMING, false);
	rcu_read_unlock();
	return coming;
}

/*
 * Under klp_mutex.  Whoever enables another livepatch, or disables ours, has no row be only ours
 * from before that on, under klp_mutex too; until then the livepatch is seen as coming.
 */
static void survey_row(struct lmm_hook *hook, bool coming)
{
	const struct klp_patch *theirs = patch_with(hook->symbol, false, false);
	const struct klp_patch *ours = patch_with(hook->symbol, true, false);
	bool wrapped = ours && ours->enabled;
	const char *name = theirs ? theirs->mod->name :
			   !wrapped && post_handled(hook) ? BY_KPROBE : "";

	spin_lock(&covered_lock);
	strscpy(hook->covered_by, name, sizeof(hook->covered_by));
	spin_unlock(&covered_lock);
	WRITE_ONCE(hook->replaced, !!patch_with(hook->symbol, false, true));
	WRITE_ONCE(hook->only_ours, wrapped && !name[0] && !coming && !hook->replaced &&
		   klp_transition && READ_ONCE(*klp_transition) != ours);
}

/* Under klp_mutex. */
static void only_ours_end(void)
{
	struct lmm_hook *hook;
	bool any = false;

	lmm_for_each_hook(hook) {
		any |= hook->only_ours;
		WRITE_ONCE(hook->only_ours, false);
	}
	/* A task that saw a row that is only ours has preemption off until its call has ended. */
	if (any)
		synchronize_rcu();
}

/* Under klp_mutex. */
static void transition_note(void)
{
	const struct klp_patch *patch = klp_transition ? READ_ONCE(*klp_transition) : NULL;
	bool others = patch && !lmm_klp_is_ours(patch->mod->name);

	spin_lock(&covered_lock);
	strscpy(others_transition, others ? patch->mod->name : "", sizeof(others_transition));
	spin_unlock(&covered_lock);
}

/**
 * lmm_klp_survey() - see which of the functions that we wrap somebody else covers
 *
 * A survey that is killed has another task survey.  Nothing is seen where the kernel's list of
 * patches cannot be found.
 *
 * Context: process; takes the kernel's klp_mutex; killable.
 */
void lmm_klp_survey(void)
{
	struct lmm_hook *hook;
	bool coming;

	if (!klp_list)
		return;
	if (mutex_lock_killable(klp_lock)) {
		tell_changed();
		return;
	}
	transition_note();
	coming = livepatch_coming();
	lmm_for_each_hook(hook)
		if (hook->mech == LMM_MECH_LIVEPATCH && hook->available)
			survey_row(hook, coming);
	mutex_unlock(klp_lock);
}
EXPORT_SYMBOL_LMM(lmm_klp_survey);

/**
 * lmm_klp_covered() - did somebody else cover a function at the last survey?
 * @hook: row of the function
 * @why: gets who covers the function, in words; NULL with a @len of 0
 * @len: size of @why
 *
 * Every function counts as covered when the kernel's list of patches cannot be found.
 *
 * Context: process; takes no lock that anybody sleeps under.
 * Return: true if so.
 */
bool lmm_klp_covered(const struct lmm_hook *hook, char *why, size_t len)
{
	char name[sizeof(hook->covered_by)];

	spin_lock(&covered_lock);
	strscpy(name, hook->covered_by, sizeof(name));
	spin_unlock(&covered_lock);
	if (!klp_list)
		scnprintf(why, len, "cannot see which livepatches are loaded");
	else if (!strcmp(name, BY_KPROBE))
		scnprintf(why, len, "a kprobe with a post_handler holds %s; remove that first",
			  hook->symbol);
	else if (name[0])
		scnprintf(why, len, "livepatch %s holds %s; disable that first", name,
			  hook->symbol);
	return name[0] || !klp_list;
}

/**
 * lmm_klp_others_in_transition() - was a livepatch of somebody else's in transition at the last
 *	survey?
 * @name: gets the name of the livepatch, or ""
 * @len: size of @name
 *
 * The kernel enables and disables no other livepatch meanwhile.
 *
 * Context: process; takes no lock that anybody sleeps under.
 * Return: true if so.
 */
bool lmm_klp_others_in_transition(char *name, size_t len)
{
	spin_lock(&covered_lock);
	strscpy(name, others_transition, len);
	spin_unlock(&covered_lock);
	return name[0];
}

/**
 * lmm_klp_may_patch() - may a livepatch of ours be enabled?
 * @obj: the functions of the livepatch
 *
 * The kernel holds klp_mutex from this callback until the wrappers are in place, so no other
 * livepatch comes between.  A livepatch that comes later lies on top of the wrappers.
 *
 * Context: process, under the kernel's klp_mutex.
 * Return: 0, -EBUSY when another livepatch holds one of the functions, -EOPNOTSUPP when that cannot
 * be seen.
 */
int lmm_klp_may_patch(struct klp_object *obj)
{
	const struct klp_patch *patch;
	const struct klp_func *func;

	if (!klp_list) {
		pr_err("cannot see which livepatches are loaded\n");
		return -EOPNOTSUPP;
	}
	for (func = obj->funcs; func->old_name; func++) {
		patch = patch_with(func->old_name, false, false);
		if (!patch)
			continue;
		pr_err("livepatch %s holds %s; disable that first\n", patch->mod->name,
		       func->old_name);
		return -EBUSY;
	}
	return 0;
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (!mod->klp || lmm_klp_is_ours(mod->name))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING && klp_list) {
		/* Not killable, as the kernel's own wait, with which the livepatch is enabled. */
		mutex_lock(klp_lock);
		only_ours_end();
		mutex_unlock(klp_lock);
	}
	lmm_klp_survey();
	tell_changed();
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call = module_notify,
};

/**
 * lmm_klp_changed() - a livepatch of ours comes or goes
 * @leaves: somebody disables the livepatch; no task has left the wrappers yet
 *
 * Context: process, under the kernel's klp_mutex if @leaves is set.
 */
void lmm_klp_changed(bool leaves)
{
	if (leaves)
		only_ours_end();
	tell_changed();
}

/* Ours use this module, so one that is there before this module is of another livemm. */
static int old_ones_refuse(void)
{
	const struct module *mod;

	rcu_read_lock();
	mod = module_list ? livepatch_in(MODULE_STATE_LIVE, true) : NULL;
	if (mod)
		pr_err("%s of another livemm is loaded; unload it first\n", mod->name);
	rcu_read_unlock();
	/* Not -EEXIST, which modprobe takes for success. */
	return mod ? -EBUSY : 0;
}

static int symbols_find(void)
{
	char why[LMM_WHY_LEN];

	klp_lock = LMM_SYMBOL(struct mutex, "klp_mutex", why, sizeof(why));
	if (klp_lock)
		klp_list = LMM_SYMBOL(struct list_head, "klp_patches", why, sizeof(why));
	if (!klp_list)
		pr_warn("cannot see which livepatches are loaded: %s: %s\n",
			klp_lock ? "klp_patches" : "klp_mutex", why);
	klp_transition = LMM_SYMBOL(struct klp_patch *, "klp_transition_patch", why, sizeof(why));
	module_list = LMM_SYMBOL(struct list_head, "modules", why, sizeof(why));
	sees_kprobes = LMM_BIND(get_kprobe);
	return old_ones_refuse();
}

/**
 * lmm_klp_watch_start() - begin to notice livepatches that come and go
 * @changed: called when anything may have changed for a policy; must not wait for anything
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY beside a livepatch module of another livemm, or what the
 * kernel refused the notifier with.
 */
int lmm_klp_watch_start(void (*changed)(void))
{
	tell_changed = changed;
	return symbols_find() ?: register_module_notifier(&module_nb);
}

/**
 * lmm_klp_watch_stop() - undo lmm_klp_watch_start(); nothing looks any more afterwards
 *
 * Context: process, may sleep.
 */
void lmm_klp_watch_stop(void)
{
	unregister_module_notifier(&module_nb);
}
