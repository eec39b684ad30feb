// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the init ladder and its unwind, nothing else
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "control/control.h"
#include "hook/hook.h"
#include "hook/release.h"
#include "ladder.h"
#include "livemm.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int release_up(void *ctx, char *why, size_t len)
{
	int err = lmm_release_check();

	if (err)
		scnprintf(why, len, "built for another kernel");
	return err;
}

static int hooks_up(void *ctx, char *why, size_t len)
{
	return lmm_hooks_init();
}

static void hooks_down(void *ctx)
{
	lmm_hooks_exit();
}

static int zonelock_up(void *ctx, char *why, size_t len)
{
	return lmm_policy_register(&lmm_zonelock_policy);
}

static void zonelock_down(void *ctx)
{
	lmm_policy_unregister(&lmm_zonelock_policy);
}

static int pcp_up(void *ctx, char *why, size_t len)
{
	return lmm_policy_register(&lmm_pcp_policy);
}

static void pcp_down(void *ctx)
{
	lmm_policy_unregister(&lmm_pcp_policy);
}

static int pageblock_up(void *ctx, char *why, size_t len)
{
	return lmm_policy_register(&lmm_pageblock_policy);
}

static void pageblock_down(void *ctx)
{
	lmm_policy_unregister(&lmm_pageblock_policy);
}

static int numa_up(void *ctx, char *why, size_t len)
{
	return lmm_policy_register(&lmm_numa_policy);
}

static void numa_down(void *ctx)
{
	lmm_policy_unregister(&lmm_numa_policy);
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
	{ "hooks", hooks_up, hooks_down },
	{ "zonelock", zonelock_up, zonelock_down },
	{ "pcp", pcp_up, pcp_down },
	{ "pageblock", pageblock_up, pageblock_down },
	{ "numa", numa_up, numa_down },
	{ "policies", params_up, NULL },
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
