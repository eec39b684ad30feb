// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - the scans of NUMA balancing: knobs, switching on and off, state for people
 *
 * Lifetimes: entries of address spaces (state.h), pools and the settings are made
 * by enable before any hook is armed, and freed by disable after the hooks are
 * disarmed and no handler runs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/limits.h>
#include <linux/sched/sysctl.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "flow/events.h"
#include "flow/probe.h"
#include "hook/hook.h"
#include "state.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

struct numa_state numa;

static struct numa_rules *rules_make(const struct lmm_config *cfg, gfp_t gfp)
{
	struct numa_rules *rules = kzalloc(sizeof(*rules), gfp);

	if (!rules)
		return NULL;
	rules->promote_rate_mb = cfg->value[KNOB_PROMOTE_RATE_MB];
	strscpy(rules->cgroups, cfg->text, sizeof(rules->cgroups));
	return rules;
}

static void numa_free(void)
{
	kfree(rcu_dereference_protected(numa.rules, true));
	RCU_INIT_POINTER(numa.rules, NULL);
	kfree(numa.path);
	numa.path = NULL;
}

static int numa_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
		       size_t len)
{
	struct numa_rules *rules = rules_make(cfg, GFP_KERNEL);
	int err = -ENOMEM;

	numa.mode = lmm_policy_mode(policy, cfg);
	numa.balancing_mode = (const int *)lmm_hook_address(LMM_HOOK_BALANCING_MODE);
	numa.path = kmalloc(PATH_MAX, GFP_KERNEL);
	WRITE_ONCE(numa.scope_met, false);
	rcu_assign_pointer(numa.rules, rules);
	if (rules && numa.path)
		err = numa_mms_start();
	if (err) {
		scnprintf(why, len, "out of memory");
		numa_free();
	} else if (numa.mode == NUMA_MODE_PROMOTE) {
		numa_promote_start();
	}
	return err;
}

static void numa_disable(struct lmm_policy *policy)
{
	if (numa.mode == NUMA_MODE_PROMOTE)
		numa_promote_stop();
	numa_mms_stop();
	numa_free();
}

static void numa_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	struct numa_rules *old = rcu_dereference_protected(numa.rules, true);

	WRITE_ONCE(numa.scope_met, false);
	rcu_assign_pointer(numa.rules, rules_make(cfg, GFP_KERNEL | __GFP_NOFAIL));
	/* A process that the knob no longer takes in may run too little to ask. */
	if (numa.mode == NUMA_MODE_PROMOTE && strcmp(old->cgroups, cfg->text)) {
		/* Who has read the old rules adds no entry any more. */
		synchronize_rcu();
		numa_mms_forget();
	}
	kfree_rcu(old, rcu);
}

/* Why the period is what it is. */
static const char *why_of(const struct numa_mm *entry)
{
	if (!entry->windows)
		return "few";
	if (numa.mode == NUMA_MODE_PERIOD)
		return entry->trend.lengthening ? "longer" : "shorter";
	return entry->quiet.factor > 1 ? "quiet" : "changed";
}

static void numa_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct numa_mm *entry;
	unsigned int bucket;

	bool promotes = numa.mode == NUMA_MODE_PROMOTE;

	seq_printf(m, "# %u address spaces\n", READ_ONCE(numa.nr_mms));
	if (promotes)
		numa_promote_show(m, NULL);
	else
		seq_printf(m, "%-8s%-16s%10s%8s%8s%9s%8s  %s\n", "pid", "comm", "period_ms",
			   "own_ms", "remote", "windows", "scans", "why");
	rcu_read_lock();
	hash_for_each_rcu(numa.mms, bucket, entry, node) {
		spin_lock(&entry->lock);
		if (promotes)
			numa_promote_show(m, entry);
		else if (entry->own_ms)
			seq_printf(m, "%-8d%-16s%10u%8u%8u%9u%8u  %s\n", entry->tgid, entry->comm,
				   entry->period_ms, entry->own_ms, entry->remote,
				   entry->windows, entry->scans, why_of(entry));
		spin_unlock(&entry->lock);
	}
	rcu_read_unlock();
}

/* A path of cgroups may be of a cgroup that is made later, so a wrong path shows here only. */
static void scope_show(struct lmm_policy *policy, char *why, size_t len)
{
	rcu_read_lock();
	if (rcu_dereference(policy->config)->text[0] && !READ_ONCE(numa.scope_met))
		scnprintf(why, len, "no process scanned so far is in cgroups");
	rcu_read_unlock();
}

static void numa_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
	bool promotes = numa.mode == NUMA_MODE_PROMOTE;
	int balancing = READ_ONCE(*numa.balancing_mode);

	if (balancing == NUMA_BALANCING_DISABLED)
		scnprintf(why, len, "nothing to do: kernel.numa_balancing is 0");
	else if (promotes && balancing != NUMA_BALANCING_MEMORY_TIERING)
		scnprintf(why, len, "hands off: kernel.numa_balancing is not 2");
	else if (!promotes && balancing != NUMA_BALANCING_NORMAL)
		scnprintf(why, len, "hands off: kernel.numa_balancing is set for memory tiering");
	else
		scope_show(policy, why, len);
}

LMM_ON_KPROBE(NUMA, SCAN_BEGIN, numa_on_scan_begin())
LMM_ON_KPROBE(NUMA, MM_EXIT, numa_mm_leave((void *)LMM_PROBED(0)))

static const struct lmm_subscription numa_subscriptions[] = {
	LMM_USES_BPF_LINKS,
	LMM_NEEDS(HINT_FAULT, "all of the policy, which would know of no fault"),
	LMM_NEEDS(SCAN_BEGIN, "all of the policy, which could not put a scan off",
		  .handler = probe_SCAN_BEGIN),
	LMM_USES_IN(BIT(NUMA_MODE_PROMOTE), BIT(NUMA_MODE_PROMOTE), ARM,
		    "mode promote: the policy arms memory itself"),
	LMM_NEEDS(MM_EXIT, "all of the policy, which would not know when an mm goes",
		  .handler = probe_MM_EXIT),
	LMM_NEEDS(BALANCING_MODE,
		  "all of the policy: an admin could not switch balancing off by sysctl"),
};

static const struct lmm_hook_client numa_uses = LMM_HOOK_CLIENT(numa);

static const struct lmm_events numa_events = {
	.hint_fault = numa_on_hint_fault,
};

/* The policy's row in the registry. */
struct lmm_policy lmm_numa_policy = {
	LMM_POLICY(NUMA, numa),
	.mode_knob = KNOB_MODE,
	.validate = numa_validate,
};
