// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - control by module parameters, which work under lockdown and which
 *	modprobe.d keeps over a reboot
 *
 * The loader reads parameters before the module's init runs, when there are no
 * policies yet: settings given then are kept and applied as the last step of
 * init that may fail.  Parameter files live from before init to after exit and hold no reference
 * to the module, so a write may come during init or exit.  The stage tells the write what to do:
 * during init policies are refused, and a lease is kept.  The exit waits for the write.
 *
 * The kernel holds the param_lock of this module during each set and get.  The param_lock protects
 * all that is here, the last error included.  A set that waits releases the param_lock meanwhile,
 * because parameters are the only control under lockdown.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/export.h"
#include "change.h"
#include "lease.h"
#include "look.h"
#include "params.h"
#include "policies.h"
#include "switch.h"

enum lmm_stage {
	LMM_LOADING,	/* keep what is set */
	LMM_RUNNING,	/* apply what is set */
	LMM_GONE,	/* refuse */
};

static enum lmm_stage lmm_stage;
static char *lmm_boot_policies;
/* In seconds: begins when the loader's settings are in force, unless a lease is written before. */
static u32 lmm_boot_lease;

/* Held for reading by every change of settings, so that the exit can wait for changes. */
static DECLARE_RWSEM(lmm_params_rwsem);

static char lmm_error[LMM_WHY_LEN];

static int lmm_refuse(int err, const char *why)
{
	if (err && why[0])
		strscpy(lmm_error, why, sizeof(lmm_error));
	else if (err)
		scnprintf(lmm_error, sizeof(lmm_error), "error %d", err);
	return err;
}

/**
 * lmm_control_refuse() - note the reason of a refused write
 * @err: errno of the write; nothing happens if it is 0
 * @why: words, for the file and the parameter `last_error`
 *
 * Context: process, may sleep; not in a parameter's set.
 * Return: @err.
 */
int lmm_control_refuse(int err, const char *why)
{
	kernel_param_lock(THIS_MODULE);
	lmm_refuse(err, why);
	kernel_param_unlock(THIS_MODULE);
	return err;
}
EXPORT_SYMBOL_LMM(lmm_control_refuse);

/**
 * lmm_control_get_error() - the reason of the last refused write
 * @buf: gets the reason; empty if no write was refused
 * @len: size of @buf
 *
 * Context: process, may sleep.
 */
void lmm_control_get_error(char *buf, size_t len)
{
	kernel_param_lock(THIS_MODULE);
	strscpy(buf, lmm_error, len);
	kernel_param_unlock(THIS_MODULE);
}

/* A write while the module is loaded, or while the exit has begun. */
static int lmm_policies_set_now(const char *text, char *why)
{
	size_t len = strlen(text);
	int err = -EINVAL;

	down_read(&lmm_params_rwsem);
	/* sysfs cuts a write at PAGE_SIZE bytes and sends the rest as another write. */
	if (READ_ONCE(lmm_stage) != LMM_RUNNING)
		err = -ENODEV;
	else if (len >= PAGE_SIZE)
		scnprintf(why, LMM_WHY_LEN, "policies: longer than %lu bytes", PAGE_SIZE - 1);
	else
		err = lmm_control_write(NULL, LMM_ALL_KEYS, text, len, why);
	up_read(&lmm_params_rwsem);
	return err;
}

static int lmm_policies_set(const char *text, const struct kernel_param *kp)
{
	char why[LMM_WHY_LEN] = "policies: livemm is being loaded or unloaded";
	int err = -ENODEV;

	if (lmm_stage != LMM_LOADING) {
		kernel_param_unlock(THIS_MODULE);
		err = lmm_policies_set_now(text, why);
		kernel_param_lock(THIS_MODULE);
	} else if (!THIS_MODULE->mkobj.mp) {
		/* The loader makes the files of parameters after its own texts are set. */
		kfree(lmm_boot_policies);
		lmm_boot_policies = kstrdup(text, GFP_KERNEL);
		err = lmm_boot_policies ? 0 : -ENOMEM;
	}
	return lmm_refuse(err, why);
}

static int lmm_policies_get(char *buf, const struct kernel_param *kp)
{
	size_t n;

	if (lmm_stage != LMM_RUNNING)
		return scnprintf(buf, PAGE_SIZE, "%s\n", lmm_boot_policies ?: "");
	n = lmm_control_format(buf, PAGE_SIZE - 1);
	return n + scnprintf(buf + n, PAGE_SIZE - n, "\n");
}

static void lmm_policies_free(void *arg)
{
	kfree(lmm_boot_policies);
	lmm_boot_policies = NULL;
}

static int lmm_lease_param_set(const char *text, const struct kernel_param *kp)
{
	char why[LMM_WHY_LEN] = "lease: livemm is being unloaded";
	u32 seconds;
	int err;

	err = lmm_knob_parse(&lmm_lease_knob, text, strlen(text), &seconds, why);
	if (err)
		return lmm_refuse(err, why);
	lmm_boot_lease = lmm_stage == LMM_LOADING ? seconds : 0;
	if (lmm_stage == LMM_RUNNING)
		lmm_lease_set(seconds);
	return lmm_refuse(lmm_stage == LMM_GONE ? -ENODEV : 0, why);
}

static int lmm_lease_param_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%u\n", lmm_boot_lease ?: lmm_lease_left());
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

module_param_cb(policies, &lmm_policies_ops, NULL, 0600);
MODULE_PARM_DESC(policies, "settings, all or none: policy:key=value,key=value;policy:...");
module_param_cb(lease, &lmm_lease_ops, NULL, 0600);
MODULE_PARM_DESC(lease, "seconds until livemm switches every policy off, 0 = never");
module_param_string(last_error, lmm_error, sizeof(lmm_error), 0400);
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
	kernel_param_lock(THIS_MODULE);
	policies = lmm_boot_policies;
	lmm_boot_policies = NULL;
	lmm_stage = LMM_RUNNING;
	kernel_param_unlock(THIS_MODULE);
	if (policies && lmm_off)
		pr_notice("off=1: the parameter policies is ignored\n");
	else if (policies)
		err = lmm_control_write(NULL, LMM_ALL_KEYS, policies, strlen(policies), words);
	kfree(policies);
	if (err) {
		scnprintf(why, len, "policies: %s", words);
		lmm_params_close();
		return err;
	}
	kernel_param_lock(THIS_MODULE);
	if (lmm_boot_lease)
		lmm_lease_set(lmm_boot_lease);
	lmm_boot_lease = 0;
	kernel_param_unlock(THIS_MODULE);
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
	kernel_param_lock(THIS_MODULE);
	lmm_stage = LMM_GONE;
	kernel_param_unlock(THIS_MODULE);
	/* Cut again: another task may have begun to wait meanwhile. */
	do {
		lmm_policies_cut(LMM_ALL_POLICIES);
		schedule_timeout_idle(1);
	} while (!down_write_trylock(&lmm_params_rwsem));
	up_write(&lmm_params_rwsem);
}
