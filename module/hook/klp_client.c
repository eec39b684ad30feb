// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_client.c - load livemm_klp.ko on demand, and hold it while it is used
 *
 * State here is written under lmm_control_mutex only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/umh.h>

#include "table.h"

/* A transition that has not ended by then is taken back. */
static unsigned int transition_timeout_ms = 30000;
module_param(transition_timeout_ms, uint, 0600);
MODULE_PARM_DESC(transition_timeout_ms,
		 "how long to wait for a livepatch transition, in ms (default 30000)");

/* Non-NULL while we hold a reference on livemm_klp.ko. */
static const struct lmm_klp_port *port;

/**
 * lmm_klp_port() - the wrappers, if we hold them
 *
 * Context: process, control mutex held.
 * Return: the port, or NULL.
 */
const struct lmm_klp_port *lmm_klp_port(void)
{
	return port;
}

/*
 * Waits as long as the program runs, with the control mutex held, as every caller
 * of request_module() waits.
 *
 * request_module() cannot pass parameters, so programs are run as the kernel runs
 * modprobe.  Returns the exit status, or -errno when it could not be run.
 */
static int run_program(char *program, char *module, char *option)
{
	char *argv[4];
	char *envp[4];
	int ret;

	argv[0] = program;
	argv[1] = module;
	argv[2] = option;
	argv[3] = NULL;
	envp[0] = "HOME=/";
	envp[1] = "TERM=linux";
	envp[2] = "PATH=/sbin:/usr/sbin:/bin:/usr/bin";
	envp[3] = NULL;
	ret = call_usermodehelper(program, argv, envp, UMH_WAIT_PROC | UMH_KILLABLE);
	return ret < 0 ? ret : (ret >> 8) & 0xff;
}

static int module_load(unsigned int functions)
{
	char option[256] = "functions=";
	unsigned int i;

	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (hook->mech != LMM_MECH_LIVEPATCH || !(functions & BIT(hook->function)))
			continue;
		if (option[strlen(option) - 1] != '=')
			strlcat(option, ",", sizeof(option));
		strlcat(option, hook->symbol, sizeof(option));
	}
	return run_program(CONFIG_MODPROBE_PATH, "livemm_klp", option);
}

/*
 * The kernel lets go of a disabled livepatch's module some time after the
 * transition has ended, and tells nobody: so try until it has.
 */
static int module_unload(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(transition_timeout_ms);
	int err;

	for (;;) {
		err = run_program("/sbin/rmmod", "livemm_klp", NULL);
		if (!err || time_after(jiffies, end))
			return err;
		msleep(200);
	}
}

static const struct lmm_klp_port *port_get(void)
{
	const struct lmm_klp_port *const *symbol = symbol_get(livemm_klp_port);

	return symbol ? *symbol : NULL;
}

static void port_put(void)
{
	symbol_put(livemm_klp_port);
}

/* The tasks that keep a transition from ending, as "comm(pid) comm(pid)". */
static void transition_holders(char *buf, size_t len)
{
	struct task_struct *group, *task;
	unsigned int more = 0;
	int used = 0;

	buf[0] = '\0';
	rcu_read_lock();
	for_each_process_thread(group, task) {
		if (!test_tsk_thread_flag(task, TIF_PATCH_PENDING))
			continue;
		if (used > (int)len - 40)
			more++;
		else
			used += scnprintf(buf + used, len - used, "%s%s(%d)",
					  used ? " " : "", task->comm, task_pid_nr(task));
	}
	rcu_read_unlock();
	if (more)
		scnprintf(buf + used, len - used, " and %u more", more);
	if (!used)
		scnprintf(buf, len, "none that is listed (an idle CPU, or it ended just now)");
}

/* Disable the patch and remove the module; the caller holds no reference. */
static int klp_remove(void)
{
	const struct lmm_klp_port *old = port_get();
	int err;

	if (!old)
		return 0;
	err = old->withdraw();
	port_put();
	return err ?: module_unload();
}

/**
 * lmm_klp_get() - have the wrappers loaded and live, and hold them
 * @functions: BIT(enum lmm_klp_function) of each that is needed
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * What is left of an earlier, disabled or smaller livemm_klp.ko is replaced: the
 * kernel does not enable a livepatch a second time.  A transition that does not
 * end within transition_timeout_ms is taken back and the kernel left as it was.
 *
 * Context: process, may sleep, control mutex held.  Runs modprobe.
 * Return: 0; -ENOENT when it could not be loaded; -EBUSY when an old one is
 * stuck; -ETIMEDOUT when the transition stalled.
 */
int lmm_klp_get(unsigned int functions, char *why, size_t len)
{
	const struct lmm_klp_port *new;
	int err;

	if (port)
		return 0;

	new = port_get();
	if (new && (new->version != LMM_KLP_PORT_VERSION ||
		    functions & ~new->functions || !new->wait(transition_timeout_ms))) {
		port_put();
		new = NULL;
		err = klp_remove();
		if (err) {
			scnprintf(why, len,
				  "an old livemm_klp is in the way and cannot be removed (%d)",
				  err);
			return -EBUSY;
		}
	}
	if (!new) {
		err = module_load(functions);
		new = port_get();
		if (!new) {
			scnprintf(why, len,
				  "livemm_klp could not be loaded (modprobe: %d; see dmesg)",
				  err);
			return -ENOENT;
		}
	}
	if (new->version != LMM_KLP_PORT_VERSION) {
		scnprintf(why, len, "livemm_klp is of another livemm version");
		port_put();
		return -EBUSY;
	}
	if (!new->wait(transition_timeout_ms)) {
		int used = scnprintf(why, len, "livepatch transition stalled, held by ");

		transition_holders(why + used, len - used);
		pr_warn("%s; taking it back\n", why);
		port_put();
		err = klp_remove();
		if (err)
			pr_warn("livemm_klp is disabled but still loaded (%d)\n", err);
		return -ETIMEDOUT;
	}
	port = new;
	return 0;
}

/**
 * lmm_klp_put() - let go of the wrappers
 *
 * No handler may be armed any more.  The module stays loaded: its wrappers cost
 * one static branch each until an admin unloads it.
 *
 * Context: process, control mutex held.
 */
void lmm_klp_put(void)
{
	if (!port)
		return;
	port = NULL;
	port_put();
}
