// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - control by module parameters, which work under lockdown and which
 *	modprobe.d keeps over a reboot
 *
 * The loader reads parameters before the module's init runs, when there are no
 * policies yet: settings given then are kept and applied as the last step of
 * init that may fail.  Parameter files live from before init to after exit and hold no reference
 * to the module, so a write may come during init or exit, and is refused.  The exit waits for a
 * write that is under way.
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
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/export.h"
#include "change.h"
#include "look.h"
#include "params.h"
#include "switch.h"

enum lmm_stage {
	LMM_LOADING,	/* keep what is set */
	LMM_RUNNING,	/* apply what is set */
	LMM_GONE,	/* refuse */
};

static enum lmm_stage lmm_stage;

/* A parameter with a text of its own: the key of lmm_control_write(), what the loader was given. */
struct lmm_param {
	unsigned int key;
	char *boot;
};

static struct lmm_param lmm_params[] = {
	{ LMM_ALL_KEYS },
	{ LMM_KEY_LEASE },
};

/* Held for reading by every change of settings, so that the exit can wait for changes. */
static DECLARE_RWSEM(lmm_params_rwsem);

static char lmm_error[LMM_WHY_LEN];

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
	if (err)
		strscpy(lmm_error, why, sizeof(lmm_error));
	kernel_param_unlock(THIS_MODULE);
	return err;
}
EXPORT_SYMBOL_LMM(lmm_control_refuse);

/**
 * lmm_control_error_show() - print the reason of the last refused write
 * @policy: unused
 * @m: destination; nothing is printed if no write was refused
 *
 * Context: process, may sleep.
 */
void lmm_control_error_show(struct lmm_policy *policy, struct seq_file *m)
{
	kernel_param_lock(THIS_MODULE);
	if (lmm_error[0])
		seq_printf(m, "%s\n", lmm_error);
	kernel_param_unlock(THIS_MODULE);
}

static int lmm_param_set(const char *text, const struct kernel_param *kp)
{
	struct lmm_param *param = kp->arg;
	char why[LMM_WHY_LEN];
	int err = -EINVAL;
	char *copy;

	/* The loader makes the files of parameters after its own texts are set. */
	if (lmm_stage == LMM_LOADING && !THIS_MODULE->mkobj.mp) {
		kfree(param->boot);
		param->boot = kstrdup(text, GFP_KERNEL);
		return param->boot ? 0 : -ENOMEM;
	}
	kernel_param_unlock(THIS_MODULE);
	/* Switching off is not refused for want of memory. */
	copy = kstrdup(text, GFP_KERNEL | __GFP_NOFAIL);
	down_read(&lmm_params_rwsem);
	/* sysfs cuts a write at PAGE_SIZE bytes and sends the rest as another write. */
	if (READ_ONCE(lmm_stage) != LMM_RUNNING) {
		scnprintf(why, sizeof(why), "%s: livemm is being loaded or unloaded", kp->name);
		err = -ENODEV;
	} else if (strlen(copy) >= PAGE_SIZE) {
		scnprintf(why, sizeof(why), "%s: longer than %lu bytes", kp->name,
			  PAGE_SIZE - 1);
	} else {
		err = lmm_control_write(NULL, param->key, copy, why);
	}
	up_read(&lmm_params_rwsem);
	kfree(copy);
	lmm_control_refuse(err, why);
	kernel_param_lock(THIS_MODULE);
	return err;
}

static int lmm_param_get(char *buf, const struct kernel_param *kp)
{
	const struct lmm_param *param = kp->arg;
	size_t n;

	if (lmm_stage == LMM_LOADING)
		return scnprintf(buf, PAGE_SIZE, "%s\n", param->boot ?: "");
	n = lmm_control_format(NULL, param->key, buf, PAGE_SIZE - 1);
	return n + scnprintf(buf + n, PAGE_SIZE - n, "\n");
}

static void lmm_param_free(void *arg)
{
	struct lmm_param *param = arg;

	kfree(param->boot);
	param->boot = NULL;
}

static const struct kernel_param_ops lmm_param_ops = {
	.set = lmm_param_set,
	.get = lmm_param_get,
	.free = lmm_param_free,
};

module_param_cb(policies, &lmm_param_ops, &lmm_params[0], 0600);
MODULE_PARM_DESC(policies, "settings, all or none: policy:key=value,key=value;policy:...");
module_param_cb(lease, &lmm_param_ops, &lmm_params[1], 0600);
MODULE_PARM_DESC(lease, "seconds until livemm switches every policy off, 0 = never");
module_param_string(last_error, lmm_error, sizeof(lmm_error), 0400);
MODULE_PARM_DESC(last_error, "why the last refused write was refused");
module_param_named(off, lmm_off, bool, 0400);
MODULE_PARM_DESC(off, "refuse every policy (default: 0)");

/**
 * lmm_params_apply_boot() - apply what the loader was given
 * @why: reason in words, on failure
 *
 * To be called in init once every policy is registered, as the last step that
 * may fail.  Writes of parameters take effect at once from here on.  With
 * livemm.off=1 the policies in the parameters are ignored, right or wrong: livemm.off
 * is for a host that does not boot with these policies.
 *
 * A lease given as a parameter runs from before any policy comes on.
 *
 * Context: process, may sleep.
 * Return: 0, also where somebody switches a policy off meanwhile, and then none is on; or the errno
 * of applying the settings.
 */
int lmm_params_apply_boot(char *why)
{
	char *lease = lmm_params[1].boot;
	char *policies = lmm_params[0].boot;
	int err = 0;

	if (lease)
		err = lmm_control_write(NULL, LMM_KEY_LEASE, lease, why);
	/* Writes of parameters take effect at once from here on, and leave what was given alone. */
	kernel_param_lock(THIS_MODULE);
	lmm_stage = LMM_RUNNING;
	kernel_param_unlock(THIS_MODULE);
	if (lmm_off && policies)
		pr_notice("off=1: the parameter policies is ignored\n");
	else if (policies && !err)
		err = lmm_control_write(NULL, LMM_ALL_KEYS, policies, why);
	/* Somebody has switched a policy off meanwhile, or the lease has ended. */
	if (err == -ECANCELED) {
		lmm_control_refuse(err, why);
		return 0;
	}
	if (err)
		lmm_params_close();
	return err;
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
