// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_client.c - the livepatch modules, and the policies that hold them
 *
 * klp_load.c has livepatch modules loaded.  lmm_klp_hold() takes only a module that is live, so
 * nothing that happens between the load and the hold arms a dead wrapper.
 */
#include <linux/module.h>
#include <linux/spinlock.h>

#include "klp_client.h"
#include "klp_livepatches.h"

#define KLP_NAMED(name)							\
	[LMM_LIVEPATCH_##name] = {					\
		.module = "livemm_klp_" #name,				\
		.symbol = "livemm_klp_" #name "_port",			\
	},

struct lmm_livepatch lmm_livepatches[LMM_NR_LIVEPATCHES] = { LMM_LIVEPATCHES(KLP_NAMED) };

DEFINE_SPINLOCK(lmm_livepatch_lock);

/* The livepatch of each wrapper. */
static const u8 livepatch_with[LMM_KLP_NR] = {
#define LIVEPATCH(name, id, ...)	[LMM_KLP_##id] = LMM_LIVEPATCH_##name,
#include "rows.h"
};

static struct lmm_livepatch *livepatch_of(enum lmm_klp_function function)
{
	return &lmm_livepatches[livepatch_with[function]];
}

/**
 * lmm_klp_init() - note which wrappers each livepatch has
 *
 * Context: process, before anything else of this file is called.
 */
void lmm_klp_init(void)
{
	unsigned int i;

	for (i = 0; i < LMM_KLP_NR; i++)
		livepatch_of(i)->functions |= BIT(i);
}

/**
 * lmm_klp_is_ours() - is a module a livepatch of livemm?
 * @name: name of the module
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_klp_is_ours(const char *name)
{
	const struct lmm_livepatch *lp;

	lmm_for_each_livepatch(lp)
		if (!strcmp(lp->module, name))
			return true;
	return false;
}

/**
 * lmm_livepatch_get() - take a reference on a livepatch module
 * @lp: the livepatch
 *
 * Context: process.
 * Return: the port of the module; NULL when no module is loaded whose init has ended.
 */
const struct lmm_klp_port *lmm_livepatch_get(const struct lmm_livepatch *lp)
{
	const struct lmm_klp_port *const *symbol = __symbol_get(lp->symbol);

	return symbol ? *symbol : NULL;
}

/**
 * lmm_livepatch_put() - give back a reference on a livepatch module
 * @lp: the livepatch
 *
 * Context: process.
 */
void lmm_livepatch_put(const struct lmm_livepatch *lp)
{
	__symbol_put(lp->symbol);
}

/* Is a livepatch about to be unloaded? */
static bool is_removed(const struct lmm_livepatch *lp)
{
	bool removed;

	spin_lock(&lmm_livepatch_lock);
	removed = lp->removed;
	spin_unlock(&lmm_livepatch_lock);
	return removed;
}

static bool port_good(const struct lmm_klp_port *port, u32 functions)
{
	return port->version == LMM_KLP_PORT_VERSION &&
	       lmm_klp_all_there(functions, port->functions) && port->live();
}

/**
 * lmm_klp_missing() - which wrappers are not live?
 * @functions: BIT(enum lmm_klp_function) of each that is wanted
 *
 * Context: process.
 * Return: the subset of @functions that lmm_klp_load() has to load first.
 */
u32 lmm_klp_missing(u32 functions)
{
	const struct lmm_klp_port *port;
	const struct lmm_livepatch *lp;
	u32 missing = 0;

	lmm_for_each_livepatch(lp) {
		u32 wanted = functions & lp->functions;

		if (!wanted)
			continue;
		port = lmm_livepatch_get(lp);
		if (!port || is_removed(lp) || !port_good(port, wanted))
			missing |= wanted;
		if (port)
			lmm_livepatch_put(lp);
	}
	return missing;
}

/* All users share one reference; from here on each change is told to @changed. */
static bool livepatch_hold(struct lmm_livepatch *lp, u32 user,
			   void (*changed)(enum lmm_klp_change change))
{
	const struct lmm_klp_port *port = lmm_livepatch_get(lp);
	bool first = false, held = false;

	if (!port)
		return false;
	spin_lock(&lmm_livepatch_lock);
	if (!lp->removed && port->version == LMM_KLP_PORT_VERSION) {
		first = !lp->port;
		lp->port = port;
		lp->users |= user;
		held = true;
	}
	spin_unlock(&lmm_livepatch_lock);
	if (first)
		port->watch(changed);
	else
		lmm_livepatch_put(lp);
	return held;
}

/**
 * lmm_klp_hold() - keep wrappers loaded for a policy
 * @functions: BIT(enum lmm_klp_function) of each
 * @user: BIT() of the policy
 * @changed: called when a livepatch of @functions changes; see struct lmm_klp_port
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * Context: process, one caller after the other.
 * Return: 0, or -EBUSY when a wrapper is not live.
 */
int lmm_klp_hold(u32 functions, u32 user, void (*changed)(enum lmm_klp_change change), char *why,
		 size_t len)
{
	struct lmm_livepatch *lp;

	lmm_for_each_livepatch(lp) {
		if (!(functions & lp->functions))
			continue;
		if (!livepatch_hold(lp, user, changed) ||
		    !port_good(lp->port, functions & lp->functions)) {
			scnprintf(why, len, "%s is not live any more", lp->module);
			lmm_klp_release(user);
			return -EBUSY;
		}
	}
	return 0;
}

/**
 * lmm_klp_release() - a policy needs wrappers no longer
 * @user: BIT() of the policy
 *
 * No handler of the policy may be armed any more.  A livepatch module without users stays loaded
 * until an admin unloads the module: each wrapper costs the livepatch trampoline and one static
 * branch a call.
 *
 * Context: process, one caller after the other.
 */
void lmm_klp_release(u32 user)
{
	const struct lmm_klp_port *port;
	struct lmm_livepatch *lp;

	lmm_for_each_livepatch(lp) {
		spin_lock(&lmm_livepatch_lock);
		lp->users &= ~user;
		port = lp->users ? NULL : lp->port;
		if (port)
			lp->port = NULL;
		spin_unlock(&lmm_livepatch_lock);
		if (!port)
			continue;
		port->watch(NULL);
		lmm_livepatch_put(lp);
	}
}

/**
 * lmm_klp_port() - the port of a wrapper that is held
 * @function: the wrapper
 *
 * Context: process, the wrapper held.
 * Return: the port, or NULL.
 */
const struct lmm_klp_port *lmm_klp_port(enum lmm_klp_function function)
{
	return livepatch_of(function)->port;
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
	struct lmm_livepatch *lp = livepatch_of(function);
	enum lmm_klp_state state = LMM_KLP_NOT_HELD;

	spin_lock(&lmm_livepatch_lock);
	if (lp->port && !(lp->port->functions & BIT(function)))
		state = LMM_KLP_LEFT_OUT;
	else if (lp->port)
		state = lp->port->live() ? LMM_KLP_LIVE : LMM_KLP_DEAD;
	spin_unlock(&lmm_livepatch_lock);
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
