// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_pageset.ko - the lists of the largest zone disabled for a while, or drained
 *
 * Writing `hold_ms` calls zone_pcp_disable(), as memory that goes offline does, looks
 * at the lists for so long or until a signal comes, and calls zone_pcp_enable(): the
 * kernel's pcp_batch_high_lock is held all the time, by the writer.  `most` and
 * `bound` then say how many pages a list held at most and what the largest bound was.
 * Writing `drain` drains this CPU's list, with preemption off as compaction does (0), or with
 * interrupts off as hibernation does (1).
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "../../module/compat/pageset.h"
#include "largest.h"
#include "lmm_kmod.h"

#define MOST_MS		60000U
#define LOOK_MS		2

LMM_PARAM(int, most, -1, "pages that a disabled list held at most; -1: none was disabled yet");
LMM_PARAM(int, bound, -1, "largest bound that a disabled list had; -1: none was disabled yet");

DEFINE_STATIC_CALL_NULL(pageset_disable, void (struct zone *));
DEFINE_STATIC_CALL_NULL(pageset_enable, void (struct zone *));
DEFINE_STATIC_CALL_NULL(pageset_drain, void (struct zone *));

static void lists_look(struct zone *zone)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);

		most = max(most, READ_ONCE(pages->count));
		bound = max(bound, lmm_pageset_read(pages));
	}
}

static int hold_set(const char *text, const struct kernel_param *kp)
{
	struct zone *zone = lmm_largest_zone();
	unsigned long end;
	unsigned int ms;
	int err;

	err = kstrtouint(text, 0, &ms);
	if (err)
		return err;
	if (ms > MOST_MS)
		return -ERANGE;
	most = -1;
	bound = -1;
	end = jiffies + msecs_to_jiffies(ms);
	static_call(pageset_disable)(zone);
	do {
		lists_look(zone);
		msleep_interruptible(LOOK_MS);
	} while (time_before(jiffies, end) && !signal_pending(current));
	static_call(pageset_enable)(zone);
	return 0;
}

LMM_PARAM_SET(hold_ms, hold_set,
	      "disable the lists of the largest zone for so many ms, or until a signal");

static int drain_set(const char *text, const struct kernel_param *kp)
{
	struct zone *zone = lmm_largest_zone();
	bool irqs_off;
	int err;

	err = kstrtobool(text, &irqs_off);
	if (err)
		return err;
	preempt_disable();
	if (irqs_off)
		local_irq_disable();
	static_call(pageset_drain)(zone);
	if (irqs_off)
		local_irq_enable();
	preempt_enable();
	return 0;
}

LMM_PARAM_SET(drain, drain_set,
	      "drain this CPU's list of the largest zone, with interrupts off or (0) preemption");

static int __init lmm_pageset_init(void)
{
	return lmm_bind(pageset_disable, "zone_pcp_disable") &&
	       lmm_bind(pageset_enable, "zone_pcp_enable") &&
	       lmm_bind(pageset_drain, "drain_local_pages") ? 0 : -ENOENT;
}

static void __exit lmm_pageset_exit(void)
{
}

module_init(lmm_pageset_init);
module_exit(lmm_pageset_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: disabled per-CPU page lists");
