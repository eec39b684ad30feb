// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - what is set up in which order, and its unwind, nothing else
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "control/debugfs.h"
#include "control/lease.h"
#include "control/look.h"
#include "control/params.h"
#include "flow/deliver.h"
#include "hook/hook.h"
#include "hook/release.h"
#include "livemm.h"

/* In the order in which events are delivered to them. */
static struct lmm_policy *const policies[] = {
	&lmm_zonelock_policy,
	&lmm_cma_policy,
	&lmm_pcp_policy,
	&lmm_pageblock_policy,
	&lmm_numa_policy,
};

static void policies_forget(unsigned int registered)
{
	while (registered--)
		lmm_policy_unregister(policies[registered]);
}

static int policies_register(const char **why)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		err = lmm_policy_register(policies[i]);
		if (err) {
			*why = policies[i]->name;
			policies_forget(i);
			return err;
		}
	}
	return 0;
}

static int __init livemm_init(void)
{
	const char *why = "built for another kernel";
	char words[LMM_WHY_LEN] = "";
	int err;

	err = lmm_release_check();
	if (err)
		goto err_report;
	why = "workers";
	err = lmm_look_init();
	if (err)
		goto err_report;
	why = "hooks";
	lmm_flow_init();
	err = lmm_hooks_init(lmm_look_soon);
	if (err)
		goto err_look;
	err = policies_register(&why);
	if (err)
		goto err_hooks;
	lmm_lease_init();
	why = words;
	err = lmm_params_apply_boot(words);
	if (err)
		goto err_lease;
	lmm_control_init();
	return 0;

err_lease:
	lmm_lease_set(0);
	policies_forget(ARRAY_SIZE(policies));
err_hooks:
	lmm_hooks_exit();
err_look:
	lmm_look_exit();
err_report:
	pr_err("not loaded: %s (%d)\n", why, err);
	return err;
}

static void __exit livemm_exit(void)
{
	lmm_control_exit();
	lmm_lease_set(0);
	policies_forget(ARRAY_SIZE(policies));
	lmm_hooks_exit();
	lmm_look_exit();
}

module_init(livemm_init);
module_exit(livemm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Page-allocator and NUMA-balancing policies for a running kernel");
MODULE_VERSION(LMM_VERSION);
