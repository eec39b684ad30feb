// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_client.c - load livepatch modules on demand, and hold them while they are used
 *
 * Programs are run, and transitions waited for, by a kernel thread: nobody else ever waits
 * for them with a lock held, and whoever waits for the thread can be killed.  The thread has
 * a reference on this module, so its code stays for as long as a program runs.
 *
 * Who switches a policy on first asks lmm_klp_missing() what is not there yet, lets go of the
 * control mutex, waits in lmm_klp_load(), takes the mutex again, and looks anew: whatever
 * happened meanwhile, lmm_klp_hold() takes only what is live.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "klp_client.h"
#include "program.h"
#include "symbols.h"
#include "table.h"

#define MODPROBE	CONFIG_MODPROBE_PATH
#define RMMOD		"/sbin/rmmod"

/* How long the thread sleeps between two looks. */
#define LOOK_JIFFIES	(HZ / 10)

/* And between two tries to unload a module. */
#define REMOVE_JIFFIES	(HZ / 2)

/* A transition that has not ended by then is taken back. */
static unsigned int transition_timeout_ms = 30000;
module_param(transition_timeout_ms, uint, 0600);
MODULE_PARM_DESC(transition_timeout_ms,
		 "how long to wait for a livepatch transition, in ms (default 30000)");

/**
 * struct livepatch - a livepatch module
 * @module: its name
 * @symbol: its port
 * @functions: BIT(enum lmm_klp_function) of each that it can wrap
 * @asked: BIT(enum lmm_klp_function) of each that the thread is to bring
 * @ended: how often the thread has ended with it
 * @err: how it ended last
 * @why: on failure, in words
 * @users: BIT() of each policy that holds it
 * @removed: the thread has it unloaded; nobody may hold it
 * @port: not NULL while anybody holds it
 *
 * Members from @asked on are under livepatch_lock.
 */
struct livepatch {
	const char *module;
	const char *symbol;
	u32 functions;
	u32 asked;
	unsigned int ended;
	int err;
	char why[LMM_WHY_LEN];
	u32 users;
	bool removed;
	const struct lmm_klp_port *port;
};

static struct livepatch livepatches[] = {
	{
		.module = "livemm_klp_lists",
		.symbol = "livemm_klp_lists_port",
		.functions = BIT(LMM_KLP_REFILL) | BIT(LMM_KLP_DRAIN),
	},
	{
		.module = "livemm_klp_giveback",
		.symbol = "livemm_klp_giveback_port",
		.functions = BIT(LMM_KLP_DRAIN_ZONE) | BIT(LMM_KLP_DRAIN_ALL) |
			     BIT(LMM_KLP_COMPACT),
	},
	{
		.module = "livemm_klp_scan",
		.symbol = "livemm_klp_scan_port",
		.functions = BIT(LMM_KLP_SCAN),
	},
	{
		.module = "livemm_klp_fallback",
		.symbol = "livemm_klp_fallback_port",
		.functions = BIT(LMM_KLP_FALLBACK),
	},
};

/* Innermost; nothing sleeps under it. */
static DEFINE_SPINLOCK(livepatch_lock);
static DECLARE_WAIT_QUEUE_HEAD(thread_ended);

/* The thread that brings them; with a reference of ours until another one takes its place. */
static DEFINE_MUTEX(thread_mutex);
static struct task_struct *thread;
static bool thread_runs;	/* under livepatch_lock */
static bool closed;

static bool all_there(u32 functions, u32 there)
{
	return !(functions & ~there);
}

static struct livepatch *livepatch_of(enum lmm_klp_function function)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(livepatches); i++)
		if (livepatches[i].functions & BIT(function))
			return &livepatches[i];
	return NULL;
}

/**
 * lmm_klp_is_ours() - is that module a livepatch of ours?
 * @name: of the module
 *
 * Context: any.
 * Return: true if so.
 */
bool lmm_klp_is_ours(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(livepatches); i++)
		if (!strcmp(livepatches[i].module, name))
			return true;
	return false;
}

/* A reference on the module, if it is loaded and its init has ended. */
static const struct lmm_klp_port *port_get(const struct livepatch *lp)
{
	const struct lmm_klp_port *const *symbol = __symbol_get(lp->symbol);

	return symbol ? *symbol : NULL;
}

static void port_put(const struct livepatch *lp)
{
	__symbol_put(lp->symbol);
}

static bool port_good(const struct lmm_klp_port *port, u32 functions)
{
	return port->version == LMM_KLP_PORT_VERSION && all_there(functions, port->functions) &&
	       port->live();
}

/* What of a livepatch may be wrapped now, as words for its module. */
static u32 functions_named(const struct livepatch *lp, char *option, size_t len)
{
	u32 functions = 0;
	unsigned int i;

	scnprintf(option, len, "functions=");
	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (hook->mech != LMM_MECH_LIVEPATCH || !hook->available ||
		    !(lp->functions & BIT(hook->function)) || lmm_klp_covered(hook, NULL, 0))
			continue;
		if (functions)
			strlcat(option, ",", len);
		strlcat(option, hook->symbol, len);
		functions |= BIT(hook->function);
	}
	return functions;
}

static bool is_over(unsigned long end)
{
	return time_after(jiffies, end);
}

static bool livepatch_loaded(const struct livepatch *lp)
{
	const struct lmm_klp_port *port = port_get(lp);

	if (port)
		port_put(lp);
	return port;
}

/*
 * Have a disabled or unknown module of that name gone.  The kernel keeps a reference on it for
 * some time after the transition has ended, and tells nobody: so rmmod waits for that, and runs
 * once.
 */
static int livepatch_remove(const struct livepatch *lp, const struct lmm_klp_port *port, char *why,
			    size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	bool known = port->version == LMM_KLP_PORT_VERSION;
	int err;

	err = port->withdraw();
	if (err) {
		scnprintf(why, len, "%s cannot be disabled (%d)", lp->module, err);
		port_put(lp);
		return -EBUSY;
	}
	while (known && module_refcount(port->owner) > 1 && !is_over(end))
		schedule_timeout_idle(LOOK_JIFFIES);
	port_put(lp);
	/* Others have a look at it for a moment; hence more than once. */
	for (;;) {
		err = lmm_program_run(RMMOD, lp->module, NULL, why, len);
		if (err || !livepatch_loaded(lp) || is_over(end))
			break;
		schedule_timeout_idle(REMOVE_JIFFIES);
	}
	if (!err && !livepatch_loaded(lp))
		return 0;
	if (!err)
		scnprintf(why, len, "%s has run, but %s is still loaded", RMMOD, lp->module);
	strlcat(why, ": unload it by hand", len);
	return -EBUSY;
}

/* Load it.  A livepatch waits for the transition of any other one to end. */
static const struct lmm_klp_port *livepatch_load(const struct livepatch *lp, char *option,
						 int *err, char *why, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	const struct lmm_klp_port *port;

	for (;;) {
		while (lmm_klp_in_transition() && !is_over(end))
			schedule_timeout_idle(LOOK_JIFFIES);
		why[0] = '\0';
		*err = lmm_program_run(MODPROBE, lp->module, option, why, len);
		port = port_get(lp);
		if (port || !lmm_klp_in_transition() || is_over(end))
			break;
	}
	if (!port && !why[0])
		scnprintf(why, len, "%s has run, but %s is not loaded; see dmesg", MODPROBE,
			  lp->module);
	return port;
}

/* A policy was refused for want of @functions: is another livepatch the reason? */
static int livepatch_refused(u32 functions, char *why, size_t len)
{
	unsigned int i;

	lmm_klp_survey();
	for (i = 0; i < lmm_nr_hooks; i++)
		if (lmm_hooks[i].mech == LMM_MECH_LIVEPATCH &&
		    functions & BIT(lmm_hooks[i].function) &&
		    lmm_klp_covered(&lmm_hooks[i], why, len))
			return -EBUSY;
	return -ENOENT;
}

/* To have it unloaded, if nobody holds it; then nobody can until livepatch_leave(). */
static bool livepatch_take(struct livepatch *lp)
{
	bool taken;

	spin_lock(&livepatch_lock);
	taken = !lp->users;
	lp->removed = taken;
	spin_unlock(&livepatch_lock);
	return taken;
}

static void livepatch_leave(struct livepatch *lp)
{
	spin_lock(&livepatch_lock);
	lp->removed = false;
	spin_unlock(&livepatch_lock);
}

static int livepatch_bring(struct livepatch *lp, u32 wanted, char *why, size_t len)
{
	const struct lmm_klp_port *port;
	char option[256];
	u32 functions;
	int err, used;

	lmm_klp_survey();
	functions = functions_named(lp, option, sizeof(option));
	if (!all_there(wanted, functions))
		return livepatch_refused(wanted & ~functions, why, len);
	port = port_get(lp);
	if (port && port->version == LMM_KLP_PORT_VERSION &&
	    all_there(wanted, port->functions) && port->wait(transition_timeout_ms)) {
		port_put(lp);
		return 0;
	}
	if (port) {
		/* Dead, too small, or another version's; a livepatch is enabled once. */
		if (!livepatch_take(lp)) {
			scnprintf(why, len, "%s is in use without all that is wanted now",
				  lp->module);
			port_put(lp);
			return -EBUSY;
		}
		err = livepatch_remove(lp, port, why, len);
		livepatch_leave(lp);
		if (err)
			return err;
	}
	port = livepatch_load(lp, option, &err, why, len);
	if (!port)
		return err ? -ENOENT : livepatch_refused(wanted, why, len);
	if (port->version != LMM_KLP_PORT_VERSION) {
		scnprintf(why, len, "%s is of another livemm version", lp->module);
		port_put(lp);
		return -EBUSY;
	}
	if (port->wait(transition_timeout_ms)) {
		port_put(lp);
		return 0;
	}
	used = scnprintf(why, len, "livepatch transition stalled, held by ");
	lmm_klp_holders(why + used, len - used);
	pr_warn("%s: %s; taking it back\n", lp->module, why);
	err = -EBUSY;
	if (livepatch_take(lp)) {
		err = livepatch_remove(lp, port, option, sizeof(option));
		livepatch_leave(lp);
	} else {
		port_put(lp);
	}
	if (err)
		pr_warn("%s is disabled but still loaded: %s\n", lp->module, option);
	return -ETIMEDOUT;
}

/* The next to bring; with none the thread is done, and no longer runs. */
static struct livepatch *livepatch_asked(u32 *functions)
{
	struct livepatch *found = NULL;
	unsigned int i;

	spin_lock(&livepatch_lock);
	for (i = 0; i < ARRAY_SIZE(livepatches) && !found; i++)
		if (livepatches[i].asked)
			found = &livepatches[i];
	if (found)
		*functions = found->asked;
	else
		thread_runs = false;
	spin_unlock(&livepatch_lock);
	return found;
}

static int bring_all(void *unused)
{
	struct livepatch *lp;
	char why[LMM_WHY_LEN];
	u32 functions;
	int err;

	while ((lp = livepatch_asked(&functions))) {
		why[0] = '\0';
		err = livepatch_bring(lp, functions, why, sizeof(why));
		spin_lock(&livepatch_lock);
		/* Who asked for more meanwhile waits for another turn. */
		lp->asked &= ~functions;
		lp->err = err;
		lp->ended++;
		strscpy(lp->why, why, sizeof(lp->why));
		spin_unlock(&livepatch_lock);
		wake_up_all(&thread_ended);
	}
	wake_up_all(&thread_ended);
	module_put_and_kthread_exit(0);
}

/* Have the thread look; it has a reference on this module until it ends. */
static int thread_start(void)
{
	struct task_struct *task;
	int err = 0;
	bool runs;

	mutex_lock(&thread_mutex);
	spin_lock(&livepatch_lock);
	runs = thread_runs;
	thread_runs = true;
	spin_unlock(&livepatch_lock);
	if (runs)
		goto out;
	if (READ_ONCE(closed) || !try_module_get(THIS_MODULE)) {
		err = -ENODEV;
		goto out_runs_not;
	}
	task = kthread_create(bring_all, NULL, "livemm_klp");
	if (IS_ERR(task)) {
		module_put(THIS_MODULE);
		err = PTR_ERR(task);
		goto out_runs_not;
	}
	if (thread)
		put_task_struct(thread);
	thread = get_task_struct(task);
	wake_up_process(task);
	goto out;

out_runs_not:
	spin_lock(&livepatch_lock);
	thread_runs = false;
	spin_unlock(&livepatch_lock);
out:
	mutex_unlock(&thread_mutex);
	return err;
}

/**
 * lmm_klp_missing() - which wrappers are not live?
 * @functions: BIT(enum lmm_klp_function) of each that is wanted
 *
 * Context: process.
 * Return: those of @functions that lmm_klp_load() has to bring first.
 */
u32 lmm_klp_missing(u32 functions)
{
	const struct lmm_klp_port *port;
	u32 missing = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(livepatches); i++) {
		struct livepatch *lp = &livepatches[i];
		u32 wanted = functions & lp->functions;

		if (!wanted)
			continue;
		port = port_get(lp);
		if (!port || !port_good(port, wanted))
			missing |= wanted;
		if (port)
			port_put(lp);
	}
	return missing;
}

/* What a wait for the thread is about. */
struct awaited {
	u32 functions;
	unsigned int ended[ARRAY_SIZE(livepatches)];
	bool (*given_up)(const void *arg);
	const void *arg;
	int err;
	char *why;
	size_t len;
};

/* Has the thread ended with everything that is awaited? */
static bool awaited_done(struct awaited *awaited)
{
	bool done = true;
	unsigned int i;

	if (READ_ONCE(closed) || awaited->given_up(awaited->arg)) {
		awaited->err = -ECANCELED;
		return true;
	}
	spin_lock(&livepatch_lock);
	for (i = 0; i < ARRAY_SIZE(livepatches); i++) {
		const struct livepatch *lp = &livepatches[i];

		if (!(awaited->functions & lp->functions))
			continue;
		if (lp->asked & awaited->functions || lp->ended == awaited->ended[i]) {
			done = false;
		} else if (lp->err && !awaited->err) {
			awaited->err = lp->err;
			strscpy(awaited->why, lp->why, awaited->len);
		}
	}
	spin_unlock(&livepatch_lock);
	return done || awaited->err;
}

/**
 * lmm_klp_load() - have wrappers loaded and live
 * @functions: BIT(enum lmm_klp_function) of each
 * @given_up: does nobody want them any more?  Asked after each lmm_klp_wake()
 * @arg: of @given_up
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * What is left of an earlier, disabled or smaller livepatch module is replaced: the kernel
 * does not enable a livepatch a second time.  A transition that does not end within
 * transition_timeout_ms is taken back and the kernel left as it was.  A wait that ends early
 * stops nothing: what is being loaded stays, and costs one static branch a call.
 *
 * Context: process, may sleep for as long as modprobe runs, no lock held; killable, freezable.
 * Return: 0; -EINTR when killed; -ECANCELED when given up; -ENOENT when a module could not be
 * loaded; -EBUSY when an old one is stuck or another livepatch holds a function; -ETIMEDOUT
 * when the transition stalled.
 */
int lmm_klp_load(u32 functions, bool (*given_up)(const void *arg), const void *arg, char *why,
		 size_t len)
{
	struct awaited awaited = {
		.functions = functions, .given_up = given_up, .arg = arg,
		.why = why, .len = len,
	};
	unsigned int i;
	int err;

	spin_lock(&livepatch_lock);
	for (i = 0; i < ARRAY_SIZE(livepatches); i++) {
		awaited.ended[i] = livepatches[i].ended;
		livepatches[i].asked |= functions & livepatches[i].functions;
	}
	spin_unlock(&livepatch_lock);
	err = thread_start();
	if (err) {
		/* What was asked for stays so: somebody else may wait for the same. */
		scnprintf(why, len, "no kernel thread to load livepatches with (%d)", err);
		return err;
	}
	/* Unsafe in name: a file that is written is locked meanwhile, for this writer alone. */
	if (wait_event_state(thread_ended, awaited_done(&awaited),
			     (TASK_KILLABLE | TASK_FREEZABLE_UNSAFE))) {
		scnprintf(why, len, "killed while livepatches were being loaded");
		return -EINTR;
	}
	/* It may be about what somebody else asked for next. */
	if (awaited.err && awaited.err != -ECANCELED && !lmm_klp_missing(functions))
		return 0;
	return awaited.err;
}

/**
 * lmm_klp_wake() - have those in lmm_klp_load() look whether they have been given up
 *
 * Context: any.
 */
void lmm_klp_wake(void)
{
	wake_up_all(&thread_ended);
}

/* One reference for all who use it; from here on a change is told. */
static bool livepatch_hold(struct livepatch *lp, u32 user,
			   void (*changed)(enum lmm_klp_change change))
{
	const struct lmm_klp_port *port = port_get(lp);
	bool first = false, held = false;

	if (!port)
		return false;
	spin_lock(&livepatch_lock);
	if (!lp->removed && port->version == LMM_KLP_PORT_VERSION) {
		first = !lp->port;
		lp->port = port;
		lp->users |= user;
		held = true;
	}
	spin_unlock(&livepatch_lock);
	if (first)
		port->watch(changed);
	else
		port_put(lp);
	return held;
}

/**
 * lmm_klp_hold() - keep wrappers loaded for a policy
 * @functions: BIT(enum lmm_klp_function) of each
 * @user: BIT() of the policy
 * @changed: called when something becomes of one of them; see struct lmm_klp_port
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * Context: process, control mutex held.
 * Return: 0, or -EBUSY when one of them is not live.
 */
int lmm_klp_hold(u32 functions, u32 user, void (*changed)(enum lmm_klp_change change), char *why,
		 size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(livepatches); i++) {
		struct livepatch *lp = &livepatches[i];

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
 * None of its handlers may be armed any more.  A module that nobody uses stays loaded: its
 * wrappers cost one static branch each until an admin unloads it.
 *
 * Context: process, control mutex held.
 */
void lmm_klp_release(u32 user)
{
	const struct lmm_klp_port *port;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(livepatches); i++) {
		struct livepatch *lp = &livepatches[i];

		spin_lock(&livepatch_lock);
		lp->users &= ~user;
		port = lp->users ? NULL : lp->port;
		if (port)
			lp->port = NULL;
		spin_unlock(&livepatch_lock);
		if (!port)
			continue;
		port->watch(NULL);
		port_put(lp);
	}
}

/**
 * lmm_klp_port() - the port of a wrapper that is held
 * @function: the wrapper
 *
 * Context: process, control mutex held.
 * Return: the port, or NULL.
 */
const struct lmm_klp_port *lmm_klp_port(enum lmm_klp_function function)
{
	return livepatch_of(function)->port;
}

/**
 * lmm_klp_state() - how is a wrapper?
 * @function: the wrapper
 *
 * Context: process; takes no lock that anybody sleeps under.
 * Return: whether anybody holds it, has it, and is it live.
 */
enum lmm_klp_state lmm_klp_state(enum lmm_klp_function function)
{
	struct livepatch *lp = livepatch_of(function);
	enum lmm_klp_state state = LMM_KLP_NOT_HELD;

	spin_lock(&livepatch_lock);
	if (lp->port && !(lp->port->functions & BIT(function)))
		state = LMM_KLP_LEFT_OUT;
	else if (lp->port)
		state = lp->port->live() ? LMM_KLP_LIVE : LMM_KLP_DEAD;
	spin_unlock(&livepatch_lock);
	return state;
}

/**
 * lmm_klp_module() - the module that a wrapper is in
 * @function: the wrapper
 *
 * Context: any.
 * Return: its name.
 */
const char *lmm_klp_module(enum lmm_klp_function function)
{
	return livepatch_of(function)->module;
}

/**
 * lmm_klp_exit() - the thread goes; nobody holds a wrapper
 *
 * When a load of this module is given up while a program runs, this waits for the program.  At
 * unloading none runs.
 *
 * Context: process, may sleep.
 */
void lmm_klp_exit(void)
{
	WRITE_ONCE(closed, true);
	wake_up_all(&thread_ended);
	mutex_lock(&thread_mutex);
	if (thread) {
		/* As idle, so that no report says that we hang; then for its last instruction. */
		wait_event_idle(thread_ended, !READ_ONCE(thread_runs));
		kthread_stop(thread);
		put_task_struct(thread);
		thread = NULL;
	}
	mutex_unlock(&thread_mutex);
}
