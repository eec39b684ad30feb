// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - control by module parameters, which work under lockdown and which
 *	modprobe.d keeps over a reboot
 *
 * The loader reads parameters before the module's init runs, when there are no
 * policies yet: settings given then are kept and applied as the last step of
 * init that may fail.  Parameter files live from before init to after exit and hold no reference
 * to the module, so a write may come during init or exit.  The stage tells the write what to do:
 * during init policies are refused, and a lease is kept.  The exit waits for the write.  The kernel
 * holds the param_lock of this module during each set and get.  A set that waits releases the
 * param_lock meanwhile, because parameters are the only control under lockdown.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "control.h"

enum lmm_stage {
	LMM_LOADING,	/* keep what is set */
	LMM_RUNNING,	/* apply what is set */
	LMM_GONE,	/* refuse */
};

/* Protects the stage and the settings kept while loading; nobody waits under the mutex. */
static DEFINE_MUTEX(lmm_stage_mutex);
static enum lmm_stage lmm_stage;
static char *lmm_boot_policies;
/* In seconds: begins when the loader's settings are in force, unless a lease is written before. */
static u32 lmm_boot_lease;

/* Held for reading by every change of settings, so that the exit can wait for changes. */
static DECLARE_RWSEM(lmm_params_rwsem);

/* Innermost lock: taken with and without the control mutex. */
static DEFINE_MUTEX(lmm_error_mutex);
static char lmm_error[LMM_WHY_LEN];

bool lmm_off;

/**
 * lmm_control_set_error() - note the reason of a refused write
 * @fmt: words, for the file and the parameter `last_error`
 *
 * Context: process, may sleep.
 */
void lmm_control_set_error(const char *fmt, ...)
{
	va_list args;

	mutex_lock(&lmm_error_mutex);
	va_start(args, fmt);
	vscnprintf(lmm_error, sizeof(lmm_error), fmt, args);
	va_end(args);
	mutex_unlock(&lmm_error_mutex);
}

/**
 * lmm_control_get_error() - the reason of the last refused write
 * @buf: gets the reason; empty if no write was refused
 * @len: size of @buf
 *
 * Context: process, may sleep.
 */
void lmm_control_get_error(char *buf, size_t len)
{
	mutex_lock(&lmm_error_mutex);
	strscpy(buf, lmm_error, len);
	mutex_unlock(&lmm_error_mutex);
}

static int lmm_policies_read(const struct lmm_change *change, struct lmm_config *want,
			     unsigned int *named, char *why, size_t len)
{
	struct lmm_policy *table[LMM_NR_POLICIES] = {};
	struct lmm_policy *policy = NULL;

	while ((policy = lmm_policy_next(policy)))
		table[policy->id] = policy;
	return lmm_policies_parse(table, change->text, change->len, want, named, why, len);
}

static int lmm_policies_write(const char *text, char *why, size_t len)
{
	const struct lmm_change change = {
		.parse = lmm_policies_read, .text = text, .len = strlen(text),
	};

	return lmm_control_change(&change, why, len);
}

static int lmm_policies_keep(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	kfree(lmm_boot_policies);
	lmm_boot_policies = copy;
	return 0;
}

/* A write while the module is loaded, or while the exit has begun. */
static int lmm_policies_set_now(const char *text)
{
	char why[LMM_WHY_LEN] = "";
	int err = -ENODEV;
	bool running;

	down_read(&lmm_params_rwsem);
	mutex_lock(&lmm_stage_mutex);
	running = lmm_stage == LMM_RUNNING;
	mutex_unlock(&lmm_stage_mutex);
	/* sysfs cuts a write at PAGE_SIZE bytes and sends the rest as another write. */
	if (running && strlen(text) >= PAGE_SIZE) {
		scnprintf(why, sizeof(why), "policies: longer than %lu bytes", PAGE_SIZE - 1);
		err = -EINVAL;
	} else if (running) {
		err = lmm_policies_write(text, why, sizeof(why));
	}
	if (err && why[0])
		lmm_control_set_error("%s", why);
	up_read(&lmm_params_rwsem);
	return err;
}

static int lmm_policies_set(const char *text, const struct kernel_param *kp)
{
	bool loading;
	int err = 0;

	mutex_lock(&lmm_stage_mutex);
	loading = lmm_stage == LMM_LOADING;
	/*
	 * Nothing can judge the text yet.  The loader makes the files of parameters after its own
	 * texts are set; where there are files, the text is of a file.
	 */
	if (loading && THIS_MODULE->mkobj.mp)
		err = -ENODEV;
	else if (loading)
		err = lmm_policies_keep(text);
	mutex_unlock(&lmm_stage_mutex);
	if (err == -ENODEV)
		lmm_control_set_error("policies: livemm is being loaded");
	if (loading)
		return err;
	kernel_param_unlock(THIS_MODULE);
	err = lmm_policies_set_now(text);
	kernel_param_lock(THIS_MODULE);
	return err;
}

static int lmm_policies_print(char *buf, size_t len)
{
	struct lmm_policy *policy = NULL;
	size_t n = 0;

	while ((policy = lmm_policy_next(policy))) {
		n += scnprintf(buf + n, len - n, "%s%s:", n ? ";" : "", policy->name);
		rcu_read_lock();
		n += lmm_config_format(policy, rcu_dereference(policy->config), ',',
				       buf + n, len - n);
		rcu_read_unlock();
	}
	/* lmm_policy_register() has checked that the text fits. */
	return n + scnprintf(buf + n, len - n, "\n");
}

static int lmm_policies_get(char *buf, const struct kernel_param *kp)
{
	int n = -ENODEV;

	mutex_lock(&lmm_stage_mutex);
	if (lmm_stage == LMM_LOADING)
		n = scnprintf(buf, PAGE_SIZE, "%s\n", lmm_boot_policies ?: "");
	else if (lmm_stage == LMM_RUNNING)
		n = lmm_policies_print(buf, PAGE_SIZE);
	mutex_unlock(&lmm_stage_mutex);
	return n;
}

static void lmm_policies_free(void *arg)
{
	kfree(lmm_boot_policies);
	lmm_boot_policies = NULL;
}

static int lmm_lease_param_set(const char *text, const struct kernel_param *kp)
{
	char why[LMM_WHY_LEN];
	u32 seconds;
	int err;

	err = lmm_knob_parse(NULL, &lmm_lease_knob, text, strlen(text), &seconds, why, sizeof(why));
	if (err) {
		lmm_control_set_error("%s", why);
		return err;
	}
	mutex_lock(&lmm_stage_mutex);
	lmm_boot_lease = lmm_stage == LMM_LOADING ? seconds : 0;
	if (lmm_stage == LMM_RUNNING)
		lmm_lease_set(seconds);
	else if (lmm_stage == LMM_GONE)
		err = -ENODEV;
	mutex_unlock(&lmm_stage_mutex);
	return err;
}

static int lmm_lease_param_get(char *buf, const struct kernel_param *kp)
{
	u32 left;

	mutex_lock(&lmm_stage_mutex);
	left = lmm_boot_lease ?: lmm_lease_left();
	mutex_unlock(&lmm_stage_mutex);
	return scnprintf(buf, PAGE_SIZE, "%u\n", left);
}

static int lmm_error_param_get(char *buf, const struct kernel_param *kp)
{
	char why[LMM_WHY_LEN];

	lmm_control_get_error(why, sizeof(why));
	return scnprintf(buf, PAGE_SIZE, "%s\n", why);
}

static const struct kernel_param_ops lmm_policies_ops = {
	.set = lmm_policies_set,
	.get = lmm_policies_get,
	.free = lmm_policies_free,
};

static const struct kernel_param_ops lmm_lease_ops = {
	.set = lmm_lease_param_set,
	.get = lmm_lease_param_get,
};

/* The mode keeps sysfs from writing; the loader calls set regardless of the mode. */
static int lmm_error_param_set(const char *text, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops lmm_error_ops = {
	.set = lmm_error_param_set,
	.get = lmm_error_param_get,
};

module_param_cb(policies, &lmm_policies_ops, NULL, 0600);
MODULE_PARM_DESC(policies, "settings, all or none: policy:key=value,key=value;policy:...");
module_param_cb(lease, &lmm_lease_ops, NULL, 0600);
MODULE_PARM_DESC(lease, "seconds until livemm switches every policy off, 0 = never");
module_param_cb(last_error, &lmm_error_ops, NULL, 0400);
MODULE_PARM_DESC(last_error, "why the last refused write was refused");
module_param_named(off, lmm_off, bool, 0400);
MODULE_PARM_DESC(off, "refuse every policy (default: 0)");

/**
 * lmm_params_apply_boot() - apply what the loader was given
 * @why: reason in words, on failure
 * @len: size of @why
 *
 * To be called in init once every policy is registered, as the last step that
 * may fail.  Writes of parameters take effect at once from here on.  With
 * livemm.off=1 the policies in the parameters are ignored, right or wrong: livemm.off
 * is for a host that does not boot with these policies.
 *
 * A lease given as a parameter runs from the end of this function on, unless a lease is written
 * meanwhile.
 *
 * Context: process, may sleep.
 * Return: 0, or the errno of applying the settings; then no policy is on.
 */
int lmm_params_apply_boot(char *why, size_t len)
{
	char words[LMM_WHY_LEN] = "";
	char *policies;
	int err = 0;

	/* Writes of parameters take effect at once from here on. */
	mutex_lock(&lmm_stage_mutex);
	policies = lmm_boot_policies;
	lmm_boot_policies = NULL;
	lmm_stage = LMM_RUNNING;
	mutex_unlock(&lmm_stage_mutex);
	if (policies && lmm_off)
		pr_notice("off=1: the parameter policies is ignored\n");
	else if (policies)
		err = lmm_policies_write(policies, words, sizeof(words));
	kfree(policies);
	if (err) {
		scnprintf(why, len, "policies: %s", words);
		lmm_params_close();
		return err;
	}
	mutex_lock(&lmm_stage_mutex);
	if (lmm_boot_lease)
		lmm_lease_set(lmm_boot_lease);
	lmm_boot_lease = 0;
	mutex_unlock(&lmm_stage_mutex);
	return 0;
}

/**
 * lmm_params_close() - from here on parameters change nothing
 *
 * Cuts every policy, so that every task that waits to switch a policy on gives up.
 *
 * Context: process, may sleep.
 */
void lmm_params_close(void)
{
	mutex_lock(&lmm_stage_mutex);
	lmm_stage = LMM_GONE;
	mutex_unlock(&lmm_stage_mutex);
	/* Cut again: another task may have begun to wait meanwhile. */
	do {
		lmm_policies_cut(LMM_ALL_POLICIES);
		schedule_timeout_idle(1);
	} while (!down_write_trylock(&lmm_params_rwsem));
	up_write(&lmm_params_rwsem);
}
