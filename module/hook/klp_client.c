// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_client.c - our livepatch modules: asked for, enabled, and what has become of them
 *
 * livemm.ko asks for a module as the kernel asks for a driver, and waits for nothing: not for
 * modprobe, and not for the livepatch's transition.  A module that is loaded, by whomever, calls
 * lmm_klp_enable().  The kernel's callbacks tell when every task runs the wrappers, and when
 * somebody disables the livepatch.  Each change is told to control, which then looks at policies.
 *
 * One livepatch is in transition at a time; the kernel refuses the next one with -EBUSY.  So the
 * next module is asked for when the last one is live, or does not come.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/kmod.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "klp_client.h"
#include "symbols.h"
#include "table.h"

/* Tries to load a module that the kernel refuses because another one is in transition. */
#define TRIES_MAX	5
/* A module that was asked for holds up the next one, or the next try, for so long. */
#define RETRY_JIFFIES	(2 * HZ)

/**
 * struct lmm_livepatch - a livepatch module
 * @module: name of the module
 * @functions: BIT(enum lmm_klp_function) of each wrapper that the module may have
 * @patch: the module's livepatch, from the module's init on; NULL: not loaded
 * @has: the subset of @functions in @patch
 * @state: what the kernel has told of @patch: coming, live, or disabled by somebody (dead)
 * @to_ask: modprobe is to be asked for the module, when no other one is on its way
 * @asked: modprobe was asked, and the module's init has not begun
 * @refused: how often the kernel has refused the module since somebody wanted it
 * @err: why the last try has failed; 0 if it has not
 *
 * Members from @patch on are under livepatch_lock.
 */
struct lmm_livepatch {
	const char *module;
	u32 functions;
	struct klp_patch *patch;
	u32 has;
	enum lmm_klp_state state;
	bool to_ask;
	bool asked;
	unsigned int refused;
	int err;
};

/* The livepatch modules, which rows.h names. */
#define LIVEPATCHES(MODULE)	MODULE(lists) MODULE(giveback) MODULE(fallback)

#define LIVEPATCH_ID(name)	LIVEPATCH_##name,
enum { LIVEPATCHES(LIVEPATCH_ID) NR_LIVEPATCHES };
#define LIVEPATCH_NAMED(name)	[LIVEPATCH_##name].module = "livemm_klp_" #name,
static struct lmm_livepatch livepatches[NR_LIVEPATCHES] = { LIVEPATCHES(LIVEPATCH_NAMED) };

#define for_each_livepatch(lp) \
	for ((lp) = livepatches; (lp) < livepatches + NR_LIVEPATCHES; (lp)++)

/* Innermost; nothing sleeps under this lock. */
static DEFINE_SPINLOCK(livepatch_lock);

/* The livepatch of each wrapper. */
static const u8 livepatch_with[LMM_KLP_NR] = {
#define LIVEPATCH(name, id, ...)	[LMM_KLP_##id] = LIVEPATCH_##name,
#include "rows.h"
};

DEFINE_STATIC_KEY_ARRAY_FALSE(lmm_klp_armed, LMM_KLP_NR);
EXPORT_SYMBOL_LMM(lmm_klp_armed);

#define LIVEPATCH(module, id, name, ...)				\
	DEFINE_STATIC_CALL_NULL(lmm_orig_##name, lmm_orig_##name##_fn);	\
	EXPORT_STATIC_CALL_LMM(lmm_orig_##name);
#define LIVEPATCH_OR(...)	LIVEPATCH(__VA_ARGS__)
#include "rows.h"

static void ask_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(ask_work, ask_worker);

static struct lmm_livepatch *livepatch_of(enum lmm_klp_function function)
{
	return &livepatches[livepatch_with[function]];
}

static struct lmm_livepatch *livepatch_named(const char *name)
{
	struct lmm_livepatch *lp;

	for_each_livepatch(lp)
		if (!strcmp(lp->module, name))
			return lp;
	return NULL;
}

/* The livepatch that the kernel calls back for. */
static struct lmm_livepatch *livepatch_with_object(const struct klp_object *obj)
{
	struct lmm_livepatch *lp;

	for_each_livepatch(lp)
		if (lp->patch && lp->patch->objs == obj)
			return lp;
	return NULL;
}

/**
 * lmm_klp_init() - bind the kernel's own code of each function, and note which livepatch has it
 *
 * Context: process, after every row was verified.
 */
void lmm_klp_init(void)
{
	unsigned int i;

	for (i = 0; i < LMM_KLP_NR; i++)
		livepatch_of(i)->functions |= BIT(i);
#define LIVEPATCH(module, id, name, symbol_, ...)			\
	if (lmm_hooks[LMM_HOOK_##id].available &&			\
	    !strcmp(lmm_hooks[LMM_HOOK_##id].symbol, #symbol_))		\
		static_call_update(lmm_orig_##name, (void *)		\
			lmm_symbol_past_site(lmm_hooks[LMM_HOOK_##id].addr));
#define LIVEPATCH_OR(...)	LIVEPATCH(__VA_ARGS__)
#include "rows.h"
}

/**
 * lmm_klp_exit() - ask for no module any more; none is loaded, as each uses this module
 *
 * Context: process, may sleep until modprobe has begun to run.
 */
void lmm_klp_exit(void)
{
	cancel_delayed_work_sync(&ask_work);
}

/* Was a cumulative livepatch about to replace ours, at the last survey? */
static bool is_replaced(const struct lmm_livepatch *lp)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook)
		if (hook->mech == LMM_MECH_LIVEPATCH && lp->has & BIT(hook->function) &&
		    READ_ONCE(hook->replaced))
			return true;
	return false;
}

/* Under livepatch_lock.  A cumulative livepatch of somebody else's tells nobody. */
static enum lmm_klp_state state_of(const struct lmm_livepatch *lp, u32 functions)
{
	if (is_replaced(lp) || (lp->state == LMM_KLP_LIVE && !READ_ONCE(lp->patch->enabled)))
		return LMM_KLP_DEAD;
	if (lp->patch && lp->state != LMM_KLP_DEAD && functions & ~lp->has)
		return LMM_KLP_LACKING;
	return lp->state;
}

/**
 * lmm_klp_state() - state of a wrapper
 * @function: the wrapper
 *
 * Context: process; takes no lock that anybody sleeps under.
 * Return: the state of the wrapper.
 */
enum lmm_klp_state lmm_klp_state(enum lmm_klp_function function)
{
	enum lmm_klp_state state;

	spin_lock(&livepatch_lock);
	state = state_of(livepatch_of(function), BIT(function));
	spin_unlock(&livepatch_lock);
	return state;
}

/**
 * lmm_klp_module() - the module that a wrapper is in
 * @function: the wrapper
 *
 * Context: any.
 * Return: the name of the module.
 */
const char *lmm_klp_module(enum lmm_klp_function function)
{
	return livepatch_of(function)->module;
}

/* Under livepatch_lock. */
static struct lmm_livepatch *next_to_ask(void)
{
	struct lmm_livepatch *lp, *next = NULL;

	for_each_livepatch(lp) {
		if (state_of(lp, 0) == LMM_KLP_COMING)
			return NULL;
		if (lp->to_ask && !next)
			next = lp;
	}
	return next;
}

/* Modprobe may hang: the kernel waits for its begin only. */
static void ask_next(void)
{
	struct lmm_livepatch *lp;
	int err;

	spin_lock(&livepatch_lock);
	lp = next_to_ask();
	if (lp) {
		lp->to_ask = false;
		lp->asked = true;
	}
	spin_unlock(&livepatch_lock);
	if (!lp)
		return;
	err = request_module_nowait("%s", lp->module);
	if (err < 0) {
		spin_lock(&livepatch_lock);
		lp->asked = false;
		lp->err = err;
		spin_unlock(&livepatch_lock);
		lmm_klp_changed(false);
	}
	queue_delayed_work(lmm_unbound_wq, &ask_work, RETRY_JIFFIES);
}

/* Where this module does not load after all, modprobe would load it once more. */
static void ask_worker(struct work_struct *work)
{
	if (READ_ONCE(THIS_MODULE->state) == MODULE_STATE_LIVE)
		ask_next();
	else
		queue_delayed_work(lmm_unbound_wq, &ask_work, 1);
}

/* An absent livepatch: have modprobe asked for it.  Under livepatch_lock. */
static int fetch(struct lmm_livepatch *lp, enum lmm_klp_wish wish, char *why, size_t len)
{
	if (wish == LMM_KLP_WANTED) {
		lp->asked = false;
		lp->refused = 0;
		lp->err = 0;
	}
	if (lp->err == -EBUSY && lp->refused < TRIES_MAX)
		lp->err = 0;
	if (lp->err) {
		scnprintf(why, len, "%s cannot be loaded (%d); see dmesg", lp->module, lp->err);
		return lp->err;
	}
	if (wish != LMM_KLP_TELL && !lp->asked) {
		lp->to_ask = true;
		queue_delayed_work(lmm_unbound_wq, &ask_work, lp->refused ? RETRY_JIFFIES : 0);
	}
	scnprintf(why, len, "%s is %s; if nothing happens, try modprobe %s", lp->module,
		  lp->asked || lp->to_ask ? "being loaded" : "not loaded", lp->module);
	return -EINPROGRESS;
}

/* Under livepatch_lock; @others: the livepatch of somebody else's that is in transition, or "". */
static int await(struct lmm_livepatch *lp, u32 functions, enum lmm_klp_wish wish,
		 const char *others, char *why, size_t len)
{
	switch (state_of(lp, functions)) {
	case LMM_KLP_LIVE:
		return 0;
	case LMM_KLP_COMING:
		scnprintf(why, len, "livepatch %s is in transition", lp->module);
		return -EINPROGRESS;
	case LMM_KLP_ABSENT:
		if (!others[0])
			return fetch(lp, wish, why, len);
		scnprintf(why, len, "livepatch %s is in transition; try again after that", others);
		return wish == LMM_KLP_STILL ? -EINPROGRESS : -EBUSY;
	default:
		scnprintf(why, len, "livepatch %s was %s; unload it (rmmod) and try again",
			  lp->module, is_replaced(lp) ? "replaced" : "disabled or replaced");
		return -EBUSY;
	}
}

/**
 * lmm_klp_await() - are wrappers live?  If not, have their livepatches loaded, one after the other
 * @functions: BIT(enum lmm_klp_function) of each; none has an obstacle, see lmm_row_obstacle()
 * @wish: how the caller asks
 * @why: what is waited for, or why the wrappers do not come
 * @len: size of @why
 *
 * Context: process; waits for nobody.
 * Return: 0; -EINPROGRESS: control is told when something has changed, or, while a livepatch of
 * somebody else's is in transition, looks again by itself; -EBUSY when a livepatch is dead and
 * still loaded, or for a new wish beside such a transition; or the errno of the kernel.
 */
int lmm_klp_await(u32 functions, enum lmm_klp_wish wish, char *why, size_t len)
{
	char others[MODULE_NAME_LEN], words[LMM_WHY_LEN];
	struct lmm_livepatch *lp;
	int err = 0, one;

	lmm_klp_others_in_transition(others, sizeof(others));
	spin_lock(&livepatch_lock);
	for_each_livepatch(lp) {
		if (!(functions & lp->functions))
			continue;
		one = await(lp, functions & lp->functions, wish, others, words, sizeof(words));
		if (one && (!err || err == -EINPROGRESS)) {
			if (one != err)
				strscpy(why, words, len);
			err = one;
		}
	}
	spin_unlock(&livepatch_lock);
	return err;
}

static void livepatch_set(const struct klp_object *obj, bool live)
{
	spin_lock(&livepatch_lock);
	livepatch_with_object(obj)->state = live ? LMM_KLP_LIVE : LMM_KLP_DEAD;
	spin_unlock(&livepatch_lock);
	lmm_klp_changed(!live);
	mod_delayed_work(lmm_unbound_wq, &ask_work, 0);
}

static void klp_post_patch(struct klp_object *obj)
{
	livepatch_set(obj, true);
}

/* Before the first task leaves the wrappers, and after the last, when a transition is reversed. */
static void klp_unpatch(struct klp_object *obj)
{
	livepatch_set(obj, false);
}

/* Which function of the table does a wrapper stand in for? */
static const struct lmm_hook *hook_wrapped(const char *symbol)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook)
		if (hook->mech == LMM_MECH_LIVEPATCH && hook->available &&
		    !strcmp(hook->symbol, symbol))
			return hook;
	return NULL;
}

/* Leave functions out that were not verified, or that somebody else covers. */
static u32 funcs_choose(struct klp_func *funcs)
{
	struct klp_func *from, *to = funcs;
	const struct lmm_hook *hook;
	u32 functions = 0;

	for (from = funcs; from->old_name; from++) {
		hook = hook_wrapped(from->old_name);
		if (!hook || lmm_klp_covered(hook, NULL, 0))
			continue;
		functions |= BIT(hook->function);
		to->old_name = from->old_name;
		to->new_func = from->new_func;
		to++;
	}
	/* The end of the table is an entry that is empty as a whole. */
	for (; to < from; to++) {
		to->old_name = NULL;
		to->new_func = NULL;
	}
	return functions;
}

static void livepatch_come(struct lmm_livepatch *lp, struct klp_patch *patch, u32 functions)
{
	spin_lock(&livepatch_lock);
	lp->patch = patch;
	lp->has = functions;
	lp->state = LMM_KLP_COMING;
	lp->to_ask = false;
	lp->asked = false;
	lp->err = 0;
	spin_unlock(&livepatch_lock);
}

static void livepatch_go(struct lmm_livepatch *lp, int err)
{
	spin_lock(&livepatch_lock);
	lp->patch = NULL;
	lp->state = LMM_KLP_ABSENT;
	lp->has = 0;
	lp->asked = false;
	lp->err = err;
	lp->refused += !!err;
	spin_unlock(&livepatch_lock);
	lmm_klp_changed(false);
}

/**
 * lmm_klp_enable() - a livepatch module is being loaded: enable its livepatch
 * @patch: the livepatch, with all functions that the module can wrap
 *
 * Context: process, from the init of the module.
 * Return: 0, -EINVAL for a module of another livemm, -ENODEV when no function can be wrapped, or
 * what the kernel refuses the livepatch with.
 */
int lmm_klp_enable(struct klp_patch *patch)
{
	struct lmm_livepatch *lp = livepatch_named(patch->mod->name);
	u32 functions;
	int err;

	if (!lp)
		return -EINVAL;
	lmm_klp_survey();
	functions = funcs_choose(patch->objs->funcs);
	patch->objs->callbacks = (struct klp_callbacks){
		.pre_patch = lmm_klp_may_patch,
		.post_patch = klp_post_patch,
		.pre_unpatch = klp_unpatch,
		.post_unpatch = klp_unpatch,
	};
	livepatch_come(lp, patch, functions);
	err = functions ? klp_enable_patch(patch) : -ENODEV;
	if (err) {
		livepatch_go(lp, err);
		pr_err("%s: no livepatch: %s (%d)\n", lp->module,
		       functions ? "the kernel refused it" : "no function can be wrapped", err);
	}
	return err;
}
EXPORT_SYMBOL_LMM(lmm_klp_enable);

/**
 * lmm_klp_forget() - a livepatch module is being unloaded, and no task runs a wrapper
 * @patch: the livepatch
 *
 * Context: process, from the exit of the module.
 */
void lmm_klp_forget(struct klp_patch *patch)
{
	livepatch_go(livepatch_named(patch->mod->name), 0);
}
EXPORT_SYMBOL_LMM(lmm_klp_forget);
