// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the init ladder and its unwind, nothing else
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "control/control.h"
#include "control/ladder.h"
#include "dispatch.h"
#include "hook/hook.h"
#include "hook/release.h"
#include "livemm.h"

static int release_up(void *ctx, char *why, size_t len)
{
	int err = lmm_release_check();

	if (err)
		scnprintf(why, len, "built for another kernel");
	return err;
}

static int registry_up(void *ctx, char *why, size_t len)
{
	return lmm_registry_init();
}

static void registry_down(void *ctx)
{
	lmm_registry_exit();
}

static int hooks_up(void *ctx, char *why, size_t len)
{
	return lmm_hooks_init(&lmm_dispatch_handlers, lmm_policies_look_soon);
}

static void hooks_down(void *ctx)
{
	lmm_hooks_exit();
}

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

static int policies_up(void *ctx, char *why, size_t len)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		err = lmm_policy_register(policies[i]);
		if (err) {
			scnprintf(why, len, "%s", policies[i]->name);
			policies_forget(i);
			return err;
		}
	}
	return 0;
}

static void policies_down(void *ctx)
{
	policies_forget(ARRAY_SIZE(policies));
}

static int lease_up(void *ctx, char *why, size_t len)
{
	lmm_lease_init();
	return 0;
}

static void lease_down(void *ctx)
{
	lmm_lease_cancel();
}

static int params_up(void *ctx, char *why, size_t len)
{
	return lmm_params_apply_boot(why, len);
}

static int control_up(void *ctx, char *why, size_t len)
{
	return lmm_control_init();
}

static void control_down(void *ctx)
{
	lmm_control_exit();
}

static const struct lmm_step steps[] = {
	{ "release", release_up, NULL },
	{ "registry", registry_up, registry_down },
	{ "hooks", hooks_up, hooks_down },
	{ "policies", policies_up, policies_down },
	{ "lease", lease_up, lease_down },
	{ "parameters", params_up, NULL },
	{ "control", control_up, control_down },
};

static int __init livemm_init(void)
{
	char why[LMM_WHY_LEN] = "";
	int err = lmm_ladder_up(steps, ARRAY_SIZE(steps), NULL, why, sizeof(why));

	if (err)
		pr_err("not loaded: %s (%d)\n", why, err);
	return err;
}

static void __exit livemm_exit(void)
{
	lmm_ladder_down(steps, ARRAY_SIZE(steps), NULL);
}

module_init(livemm_init);
module_exit(livemm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Page-allocator and NUMA-balancing policies for a running kernel");
MODULE_VERSION(LMM_VERSION);
