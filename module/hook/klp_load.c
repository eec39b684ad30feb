// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_load.c - load livepatch modules on demand
 *
 * A kernel thread runs the programs and waits for transitions.  Nobody else waits for a program
 * or a transition with a policy's lock held, and every wait for the thread can be killed.  The
 * thread has a reference on this module, so its code stays for as long as a program runs.
 *
 * A policy is switched on in five steps: ask lmm_klp_missing() for the wrappers that are not
 * live, let go of the locks, wait in lmm_klp_load(), take the locks again, look anew.
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
#include "klp_livepatches.h"
#include "program.h"
#include "symbols.h"
#include "table.h"

#define MODPROBE	CONFIG_MODPROBE_PATH
#define RMMOD		"/sbin/rmmod"

/* How long the thread sleeps between two looks. */
#define LOOK_JIFFIES	(HZ / 10)

/* How long the thread sleeps between two tries to unload a module. */
#define REMOVE_JIFFIES	(HZ / 2)

/* In ms; a transition that takes longer is taken back. */
static unsigned int transition_timeout_ms = 30000;
module_param(transition_timeout_ms, uint, 0600);
MODULE_PARM_DESC(transition_timeout_ms,
		 "how long to wait for a livepatch transition, in ms (default 30000)");

static DECLARE_WAIT_QUEUE_HEAD(thread_ended);

/* The thread that loads livepatches.  A reference on the task is kept until the next thread. */
static DEFINE_MUTEX(thread_mutex);
static struct task_struct *thread;
static bool thread_runs;	/* written under lmm_livepatch_lock */
static bool closed;

/* The functions of a livepatch that may be wrapped now, as a parameter of its module. */
static u32 functions_named(const struct lmm_livepatch *lp, char *option, size_t len)
{
	const struct lmm_hook *hook;
	u32 functions = 0;

	scnprintf(option, len, "functions=");
	lmm_for_each_hook(hook) {
		if (!lmm_hook_wraps(hook, lp->functions) || !hook->available ||
		    lmm_klp_covered(hook, NULL, 0))
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

static bool livepatch_loaded(const struct lmm_livepatch *lp)
{
	const struct lmm_klp_port *port = lmm_livepatch_get(lp);

	if (port)
		lmm_livepatch_put(lp);
	return port;
}

/*
 * Disable and unload a livepatch module.  The kernel keeps a reference on the module for some
 * time after the transition has ended, and tells nobody.  rmmod is run when only our reference
 * is left, so that one run is enough.
 */
static int livepatch_remove(const struct lmm_livepatch *lp, const struct lmm_klp_port *port,
			    char *why, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	bool known = port->version == LMM_KLP_PORT_VERSION;
	int err;

	err = port->withdraw();
	if (err) {
		scnprintf(why, len, "%s cannot be disabled (%d)", lp->module, err);
		lmm_livepatch_put(lp);
		return -EBUSY;
	}
	while (known && module_refcount(port->owner) > 1 && !is_over(end))
		schedule_timeout_idle(LOOK_JIFFIES);
	lmm_livepatch_put(lp);
	/* lsmod and the like take a reference for a moment, so one try may fail. */
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
	strlcat(why, ": unload the module by hand", len);
	return -EBUSY;
}

/* The kernel enables and disables no livepatch while another one is in transition. */
static void transition_await(unsigned long end)
{
	while (lmm_klp_in_transition() && !is_over(end))
		schedule_timeout_idle(LOOK_JIFFIES);
}

/* Load a livepatch. */
static const struct lmm_klp_port *livepatch_load(const struct lmm_livepatch *lp, char *option,
						 int *err, char *why, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	const struct lmm_klp_port *port;

	for (;;) {
		transition_await(end);
		why[0] = '\0';
		*err = lmm_program_run(MODPROBE, lp->module, option, why, len);
		port = lmm_livepatch_get(lp);
		if (port || !lmm_klp_in_transition() || is_over(end))
			break;
	}
	if (!port && !why[0])
		scnprintf(why, len, "%s has run, but %s (%s) is not loaded; see dmesg", MODPROBE,
			  lp->module, option);
	return port;
}

/*
 * Wrappers of @functions are missing: is a livepatch of somebody else the reason?  If not, @why
 * keeps its words.
 */
static int livepatch_refused(u32 functions, char *why, size_t len)
{
	const struct lmm_hook *hook;

	lmm_klp_survey();
	lmm_for_each_hook(hook)
		if (lmm_hook_wraps(hook, functions) && lmm_klp_covered(hook, why, len))
			return -EBUSY;
	if (why[0])
		return -ENOENT;
	scnprintf(why, len, "another livepatch held a function for a moment; try again");
	return -EBUSY;
}

/* Reserve a livepatch for unloading: nobody holds it, and nobody can until livepatch_leave(). */
static bool livepatch_take(struct lmm_livepatch *lp)
{
	bool taken;

	spin_lock(&lmm_livepatch_lock);
	taken = !lp->users;
	lp->removed = taken;
	spin_unlock(&lmm_livepatch_lock);
	return taken;
}

static void livepatch_leave(struct lmm_livepatch *lp)
{
	spin_lock(&lmm_livepatch_lock);
	lp->removed = false;
	spin_unlock(&lmm_livepatch_lock);
}

/* Wait until a livepatch is live.  A livepatch that does not become live is taken back. */
static int livepatch_settle(struct lmm_livepatch *lp, const struct lmm_klp_port *port, char *why,
			    size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	char words[LMM_WHY_LEN];
	bool taken;
	int used;

	taken = !port->wait(transition_timeout_ms) && livepatch_take(lp);
	/* The transition may have ended just now, and a policy may hold the livepatch. */
	if (!taken) {
		bool live = port->live();

		lmm_livepatch_put(lp);
		if (live)
			return 0;
		scnprintf(why, len, "%s is in use, but not live", lp->module);
		return -EBUSY;
	}
	if (!time_before(jiffies, end)) {
		used = scnprintf(why, len, "livepatch transition stalled, held by ");
		lmm_klp_holders(why + used, len - used);
	} else {
		scnprintf(why, len, "%s was disabled from outside during the transition",
			  lp->module);
	}
	pr_warn("%s: %s; the livepatch is taken back\n", lp->module, why);
	if (livepatch_remove(lp, port, words, sizeof(words)))
		pr_warn("%s is disabled but still loaded: %s\n", lp->module, words);
	livepatch_leave(lp);
	return -ETIMEDOUT;
}

static int livepatch_bring(struct lmm_livepatch *lp, u32 wanted, char *why, size_t len)
{
	const struct lmm_klp_port *port;
	char option[256];
	u32 functions;
	int err;

	lmm_klp_survey();
	functions = functions_named(lp, option, sizeof(option));
	if (!lmm_klp_all_there(wanted, functions))
		return livepatch_refused(wanted & ~functions, why, len);
	port = lmm_livepatch_get(lp);
	if (port && port->version == LMM_KLP_PORT_VERSION &&
	    lmm_klp_all_there(wanted, port->functions) && port->wait(transition_timeout_ms)) {
		lmm_livepatch_put(lp);
		return 0;
	}
	if (port) {
		transition_await(jiffies + msecs_to_jiffies(transition_timeout_ms));
		/* Dead, too small, or of another version: the kernel enables a livepatch once. */
		if (!livepatch_take(lp)) {
			scnprintf(why, len, "%s is in use, and lacks a function that is wanted now",
				  lp->module);
			lmm_livepatch_put(lp);
			return -EBUSY;
		}
		err = livepatch_remove(lp, port, why, len);
		livepatch_leave(lp);
		if (err)
			return err;
	}
	port = livepatch_load(lp, option, &err, why, len);
	/* The waiters look anew: they may do without the function, or are refused in words. */
	if (!port && !err && lmm_klp_barred(functions))
		return 0;
	if (!port)
		return err ? -ENOENT : livepatch_refused(wanted, why, len);
	if (port->version != LMM_KLP_PORT_VERSION) {
		scnprintf(why, len, "%s is of another livemm version", lp->module);
		lmm_livepatch_put(lp);
		return -EBUSY;
	}
	return livepatch_settle(lp, port, why, len);
}

/* The next livepatch to load; without one the thread ends. */
static struct lmm_livepatch *livepatch_asked(u32 *functions)
{
	struct lmm_livepatch *lp, *found = NULL;

	spin_lock(&lmm_livepatch_lock);
	lmm_for_each_livepatch(lp)
		if (lp->asked && !found)
			found = lp;
	if (found)
		*functions = found->asked;
	else
		WRITE_ONCE(thread_runs, false);
	spin_unlock(&lmm_livepatch_lock);
	return found;
}

static int bring_all(void *unused)
{
	struct lmm_livepatch *lp;
	char why[LMM_WHY_LEN];
	u32 functions;
	int err;

	while ((lp = livepatch_asked(&functions))) {
		why[0] = '\0';
		err = livepatch_bring(lp, functions, why, sizeof(why));
		spin_lock(&lmm_livepatch_lock);
		/* A waiter that asked for more meanwhile waits for another turn. */
		lp->asked &= ~functions;
		lp->err = err;
		lp->ended++;
		strscpy(lp->why, why, sizeof(lp->why));
		spin_unlock(&lmm_livepatch_lock);
		wake_up_all(&thread_ended);
	}
	wake_up_all(&thread_ended);
	module_put_and_kthread_exit(0);
}

/*
 * Start the thread unless it runs.  The thread has a reference on this module until its end.
 * Making a thread may wait for memory, with @thread_mutex held.
 */
static int thread_start(void)
{
	struct task_struct *task;
	int err = 0;
	bool runs;

	if (mutex_lock_killable(&thread_mutex))
		return -EINTR;
	spin_lock(&lmm_livepatch_lock);
	runs = thread_runs;
	WRITE_ONCE(thread_runs, true);
	spin_unlock(&lmm_livepatch_lock);
	if (runs)
		goto out;
	if (READ_ONCE(closed) || !try_module_get(THIS_MODULE)) {
		err = -ENODEV;
		goto out_runs_not;
	}
	task = kthread_create(bring_all, NULL, "livemm_klp");
	if (IS_ERR(task)) {
		module_put(THIS_MODULE);
		/* EAGAIN: the kernel allows no more processes. */
		err = PTR_ERR(task) == -EINTR ? -EINTR : -ENOMEM;
		goto out_runs_not;
	}
	if (thread) {
		/* The last thread has no more to do, but may be in this module's code yet. */
		kthread_stop(thread);
		put_task_struct(thread);
	}
	thread = get_task_struct(task);
	wake_up_process(task);
	goto out;

out_runs_not:
	spin_lock(&lmm_livepatch_lock);
	WRITE_ONCE(thread_runs, false);
	spin_unlock(&lmm_livepatch_lock);
out:
	mutex_unlock(&thread_mutex);
	return err;
}

/* A wait for the thread. */
struct awaited {
	u32 functions;
	unsigned int ended[LMM_NR_LIVEPATCHES];
	bool (*given_up)(const void *arg);
	const void *arg;
	int err;
	char *why;
	size_t len;
};

static void awaited_begin(struct awaited *awaited)
{
	struct lmm_livepatch *lp;

	spin_lock(&lmm_livepatch_lock);
	lmm_for_each_livepatch(lp) {
		awaited->ended[lp - lmm_livepatches] = lp->ended;
		lp->asked |= awaited->functions & lp->functions;
		lp->waiters += !!(awaited->functions & lp->functions);
	}
	spin_unlock(&lmm_livepatch_lock);
}

/* Do not load a livepatch that nobody waits for: modprobe may hang as before. */
static void awaited_end(const struct awaited *awaited)
{
	struct lmm_livepatch *lp;

	spin_lock(&lmm_livepatch_lock);
	lmm_for_each_livepatch(lp)
		if (awaited->functions & lp->functions && !--lp->waiters)
			lp->asked = 0;
	spin_unlock(&lmm_livepatch_lock);
}

/* Has the thread ended with everything that is awaited? */
static bool awaited_done(struct awaited *awaited)
{
	const struct lmm_livepatch *lp;
	bool done = true;

	if (READ_ONCE(closed) || awaited->given_up(awaited->arg)) {
		awaited->err = -ECANCELED;
		return true;
	}
	spin_lock(&lmm_livepatch_lock);
	lmm_for_each_livepatch(lp) {
		if (!(awaited->functions & lp->functions))
			continue;
		if (lp->asked & awaited->functions ||
		    lp->ended == awaited->ended[lp - lmm_livepatches]) {
			done = false;
		} else if (lp->err && !awaited->err) {
			awaited->err = lp->err;
			strscpy(awaited->why, lp->why, awaited->len);
		}
	}
	spin_unlock(&lmm_livepatch_lock);
	return done || awaited->err;
}

/* The unsafe freezing is safe: only this writer waits for the lock of a file being written. */
static int awaited_wait(struct awaited *awaited)
{
	if (wait_event_state(thread_ended, awaited_done(awaited),
			     (TASK_KILLABLE | TASK_FREEZABLE_UNSAFE))) {
		scnprintf(awaited->why, awaited->len, "killed while livepatches were being loaded");
		return -EINTR;
	}
	return awaited->err;
}

/**
 * lmm_klp_load() - have wrappers loaded and live
 * @functions: BIT(enum lmm_klp_function) of each
 * @given_up: returns true when nobody wants the wrappers; called after each lmm_klp_wake()
 * @arg: of @given_up
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * What is left of an earlier, disabled or smaller livepatch module is replaced: the kernel
 * does not enable a livepatch a second time.  A transition that does not end within
 * transition_timeout_ms is taken back and the kernel left as it was.
 *
 * A kprobe of somebody else's may have kept the kernel from enabling a livepatch.  The function of
 * that kprobe is covered from then on, the livepatch is not loaded, and the caller looks anew.
 *
 * When the last waiter leaves early, the kernel thread ends with the livepatch that it is loading
 * and loads no other.  A livepatch that nobody holds costs the livepatch trampoline and one static
 * branch a call.
 *
 * Context: process, may sleep for as long as modprobe runs; no policy's lock held; killable,
 * freezable.
 * Return: 0; -EINTR when killed; -ECANCELED when given up; -ENOENT when a module could not be
 * loaded; -EBUSY when an old module is stuck or another livepatch holds a function; -ETIMEDOUT
 * when the transition stalled, or when somebody disabled the livepatch during the transition;
 * -ENOMEM when there is no memory, or no process, for the kernel thread; -ENODEV when livemm
 * unloads.
 */
int lmm_klp_load(u32 functions, bool (*given_up)(const void *arg), const void *arg, char *why,
		 size_t len)
{
	struct awaited awaited = {
		.functions = functions, .given_up = given_up, .arg = arg,
		.why = why, .len = len,
	};
	int err;

	awaited_begin(&awaited);
	err = thread_start();
	if (err)
		scnprintf(why, len, "no kernel thread to load livepatches with (%d)", err);
	else
		err = awaited_wait(&awaited);
	awaited_end(&awaited);
	/* The livepatch that failed may be another waiter's, and @functions may be live. */
	if (err && err != -EINTR && err != -ECANCELED && !lmm_klp_missing(functions))
		err = 0;
	return err;
}

/**
 * lmm_klp_wake() - have tasks in lmm_klp_load() call @given_up
 *
 * Context: any.
 */
void lmm_klp_wake(void)
{
	wake_up_all(&thread_ended);
}

/**
 * lmm_klp_exit() - the thread goes; nobody holds a wrapper
 *
 * When loading of this module fails while a program runs, the exit waits for the program.  While
 * the module is being unloaded no program runs.
 *
 * Context: process, may sleep.
 */
void lmm_klp_exit(void)
{
	WRITE_ONCE(closed, true);
	wake_up_all(&thread_ended);
	mutex_lock(&thread_mutex);
	if (thread) {
		/* An idle wait, so that no hung-task report is printed. */
		wait_event_idle(thread_ended, !READ_ONCE(thread_runs));
		kthread_stop(thread);
		put_task_struct(thread);
		thread = NULL;
	}
	mutex_unlock(&thread_mutex);
}
