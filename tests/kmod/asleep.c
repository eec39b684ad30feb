// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_asleep.ko - the clocks as if the machine had slept
 *
 * Writing `seconds` moves the boot clock forward and leaves the monotonic clock.  A kernel that
 * resumes moves the clocks in this way.  An emulated machine has no device that would wake the
 * machine from a real sleep.
 */
#include <linux/module.h>
#include <linux/time64.h>

#include "lmm_kmod.h"

DEFINE_STATIC_CALL_NULL(asleep_inject, void (const struct timespec64 *));

static int seconds_set(const char *text, const struct kernel_param *kp)
{
	struct timespec64 time = { };
	int err = kstrtos64(text, 0, &time.tv_sec);

	/* Calls nothing while the command line is read, before init. */
	if (!err)
		static_call_cond(asleep_inject)(&time);
	return err;
}

LMM_PARAM_SET(seconds, seconds_set, "how long the machine has slept");

static int __init lmm_asleep_init(void)
{
	return lmm_bind(asleep_inject, "timekeeping_inject_sleeptime64") ? 0 : -EOPNOTSUPP;
}

static void __exit lmm_asleep_exit(void)
{
}

module_init(lmm_asleep_init);
module_exit(lmm_asleep_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: the clocks as if the machine had slept");
