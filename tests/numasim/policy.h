/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h - the policy's code, unchanged, and the hooks of the model that call it
 */
/* No tracepoints. */
#define LIVEMM_POLICY_NUMA_TRACE_H
#define trace_numa_decision(...)	((void)0)

#include "policy/numa/state.h"

#include "policy/numa/core.c"
#include "policy/numa/core_trend.c"
#include "policy/numa/mm.c"
#include "policy/numa/scan.c"
#include "policy/numa/fault.c"

struct numa_state numa;
static u64 sim_counters[NR_COUNTERS];
struct lmm_policy lmm_numa_policy = { .counters = sim_counters };

static struct numa_rules sim_rules;
static enum numa_mode sim_mode;

bool numa_promote_allowed(const struct task_struct *task)
{
	return false;
}

void numa_promote_kick(void)
{
}

static void policy_begin(void)
{
	static const int balancing = NUMA_BALANCING_NORMAL;

	numa.mode = sim_mode;
	numa.rules = &sim_rules;
	numa.balancing_mode = &balancing;
	numa_mms_start();
}

static void policy_end(void)
{
	numa_mms_stop();
}

static void hook_scan_begin(void)
{
	numa_on_scan_begin();
}

static void hook_fault(int last, int pages, int flags)
{
	/* One fault in LMM_ENTRY_EVERY, by chance. */
	if (rnd() % LMM_ENTRY_EVERY == 0)
		numa_on_hint_fault(last, pages, flags);
}

static unsigned long hook_arm(unsigned long start, unsigned long end)
{
	return arm_pages(start, end);
}
