// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard.c - is a wrapper of ours still the one that the kernel calls?
 *
 * Some requests can be made of the kernel only because one of our wrappers answers what the
 * kernel itself could not.  A livepatch of the same function that somebody loads later lies
 * on top of ours, and is asked instead.  So while any livepatch is being loaded such requests
 * stop, before it is enabled, and they go on once it is seen to be one of other functions, or
 * has gone.
 *
 * A disabled livepatch can only be enabled again by loading its module anew since
 * 958ef1e39d24 ("livepatch: Simplify API by removing registration step", 5.1).
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "guard.h"
#include "hook.h"
#include "symbols.h"

bool lmm_guard_in_place;

static const struct lmm_hook *guarded;

/* Each look sees what the one before it has seen, or more. */
static DEFINE_MUTEX(guard_mutex);

static bool livepatch_of_others(const struct module *mod)
{
	return mod->klp && strcmp(mod->name, "livemm_klp");
}

/* May one be enabled just now?  Its module is known before its init runs. */
static bool livepatch_coming(void)
{
	struct list_head *modules = (struct list_head *)lmm_symbol_find("modules");
	bool coming = !modules;
	struct module *mod;

	rcu_read_lock();
	if (modules)
		list_for_each_entry_rcu(mod, modules, list)
			coming |= livepatch_of_others(mod) &&
				  READ_ONCE(mod->state) == MODULE_STATE_COMING;
	rcu_read_unlock();
	return coming;
}

static void guard_look(void)
{
	char why[LMM_WHY_LEN];
	bool in_place;

	mutex_lock(&guard_mutex);
	in_place = !livepatch_coming() && !lmm_hook_foreign_livepatch(guarded, why, sizeof(why));
	WRITE_ONCE(lmm_guard_in_place, in_place);
	/* Who has seen it in place has preemption off until what it asks for has been answered. */
	if (!in_place)
		synchronize_rcu();
	mutex_unlock(&guard_mutex);
}

static int guard_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (!livepatch_of_others(mod))
		return NOTIFY_DONE;
	guard_look();
	return NOTIFY_OK;
}

static struct notifier_block guard_nb = {
	.notifier_call = guard_notify,
};

/**
 * lmm_guard_start() - begin to look whether a wrapper is passed by
 * @id: the row, of a function that is livepatched; one at a time
 *
 * Context: process, control mutex held.
 * Return: 0 or -errno.
 */
int lmm_guard_start(enum lmm_hook_id id)
{
	int err;

	guarded = &lmm_hooks[id];
	err = register_module_notifier(&guard_nb);
	if (!err)
		guard_look();
	return err;
}

/**
 * lmm_guard_passed_by() - which livepatch lies on top of ours?
 * @why: gets its name, in words; "" if none does
 * @len: size of @why
 *
 * Context: process, control mutex held, between start and stop.
 */
void lmm_guard_passed_by(char *why, size_t len)
{
	if (!lmm_hook_foreign_livepatch(guarded, why, len))
		why[0] = '\0';
}

/**
 * lmm_guard_stop() - undo lmm_guard_start(); nothing looks any more afterwards
 *
 * Context: process, control mutex held.
 */
void lmm_guard_stop(void)
{
	unregister_module_notifier(&guard_nb);
	WRITE_ONCE(lmm_guard_in_place, false);
}
