// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - per-CPU list sizing: switching on and off, settings, `state`
 *
 * Lifetime: enable allocates everything in struct pcp_state before any hook is armed.  Disable
 * frees everything once the hooks, the work, and the CPU, memory and OOM notifiers are gone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "flow/events.h"
#include "flow/probe.h"
#include "hook/hook.h"
#include "livemm.h"
#include "depth.h"
#include "policy/common/free_path.h"
#include "state.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

struct pcp_state pcp = {
	.lock = __MUTEX_INITIALIZER(pcp.lock),
};

/* Settings that may change while the policy is on; pcp.lock held, or policy off. */
static void set_knobs(const struct lmm_config *cfg)
{
	u32 decay_ms = cfg->value[KNOB_DECAY_MS];
	u32 tick_ms = pcp.mode == PCP_MODE_DEPTH ? PCP_PERIOD_MS :
						   decay_ms / PCP_USE_TICKS;

	WRITE_ONCE(pcp.decay, msecs_to_jiffies(decay_ms));
	pcp.max_tenths = cfg->value[KNOB_HIGH_MAX_PCT];
	WRITE_ONCE(pcp.tick, max(msecs_to_jiffies(tick_ms), 1UL));
}

static void pcp_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	unsigned long tick = pcp.tick;

	mutex_lock(&pcp.lock);
	set_knobs(cfg);
	if (pcp.tick != tick)
		mod_delayed_work(pcp.worker.wq, &pcp.tick_work, pcp.tick);
	/* A bound may have been lowered. */
	lmm_worker_pass_after(&pcp.worker, 0);
	mutex_unlock(&pcp.lock);
}

static void pcp_free(void)
{
	int cpu;

	lmm_worker_free(&pcp.worker);
	for_each_possible_cpu(cpu)
		if (pcp.lists)
			kvfree(pcp.lists[cpu]);
	pcp_depth_free();
	kfree(pcp.lists);
	kvfree(pcp.zones);
	bitmap_free(pcp.frozen);
	free_cpumask_var(pcp.cpus);
	pcp.lists = NULL;
	pcp.zones = NULL;
	pcp.frozen = NULL;
}

static int pcp_alloc(void)
{
	unsigned int slots = lmm_zone_slots();
	unsigned int slot;
	int cpu;

	pcp.lists = kcalloc(nr_cpu_ids, sizeof(*pcp.lists), GFP_KERNEL);
	pcp.zones = kvcalloc(slots, sizeof(struct pcp_zone), GFP_KERNEL);
	pcp.frozen = bitmap_zalloc(slots, GFP_KERNEL);
	/* Allocate the mask first, so that pcp_free() never frees an old mask. */
	if (!zalloc_cpumask_var(&pcp.cpus, GFP_KERNEL) ||
	    lmm_worker_init(&pcp.worker, "livemm_pcp", pcp_recheck, NULL, pcp_oom) || !pcp.lists ||
	    !pcp.zones || !pcp.frozen)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		/* On the node of the CPU whose hooks write the lists. */
		pcp.lists[cpu] = kvzalloc_node(slots * sizeof(struct pcp_list), GFP_KERNEL,
					       cpu_to_node(cpu));
		if (!pcp.lists[cpu])
			return -ENOMEM;
	}
	for (slot = 0; slot < slots; slot++)
		pcp.zones[slot].kicked = jiffies - HZ;
	return pcp.mode == PCP_MODE_DEPTH ? pcp_depth_alloc() : 0;
}

static int pcp_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
		      size_t len)
{
	int err;

	pcp.mode = lmm_policy_mode(policy, cfg);
	err = pcp_alloc();
	if (err) {
		scnprintf(why, len, "out of memory for %u lists", lmm_zone_slots() * nr_cpu_ids);
		goto err_free;
	}
	pcp.high_fraction = (const int *)lmm_hook_address(LMM_HOOK_HIGH_FRACTION);
	pcp.oom_at = 0;
	pcp.bounds_at = jiffies;
	pcp.forget_ticks = 0;
	/* Drains by a function that is not found go as the kernel wants. */
	lmm_free_paths_find(NULL, 0);
	set_knobs(cfg);
	INIT_DELAYED_WORK(&pcp.tick_work, pcp_tick);

	err = pcp_hotplug_start();
	if (err) {
		scnprintf(why, len, "no CPU hotplug state left (%d)", err);
		goto err_free;
	}
	err = lmm_worker_hear_oom(&pcp.worker);
	if (err) {
		scnprintf(why, len, "no OOM notifier (%d)", err);
		pcp_hotplug_stop();
		goto err_free;
	}
	/* Make the first pass at once: it gives each list the limits that hooks need. */
	queue_delayed_work(pcp.worker.wq, &pcp.tick_work, 0);
	return 0;

err_free:
	pcp_free();
	return err;
}

static int pcp_armed(struct lmm_policy *policy, char *why, size_t len)
{
	pcp.sees_refills = lmm_hook_armed(policy->id, LMM_HOOK_REFILL);
	return 0;
}

static void pcp_disable(struct lmm_policy *policy)
{
	lmm_worker_stop(&pcp.worker);
	/* pcp_tick() queues itself again; this call cancels the work for good. */
	cancel_delayed_work_sync(&pcp.tick_work);
	pcp_hotplug_stop();
	pcp_free();
}

/* What the mode uses on this kernel, for `state`. */
static void pcp_basis(char *why, size_t len)
{
	if (pcp.mode == PCP_MODE_DEPTH)
		scnprintf(why, len, "depth: every page, by tracepoints");
	else if (pcp.sees_refills)
		scnprintf(why, len, "event: refills and drains");
	else
		scnprintf(why, len,
			  "event: drains and the per-CPU page counters; refills cannot be hooked here");
}

/* What lists hold above the kernel's own bounds. */
static void pcp_held_show(struct seq_file *m)
{
	struct zone *zone = NULL;
	int cpu;

	while ((zone = pcp_zone_after(zone))) {
		long held = 0;

		for_each_online_cpu(cpu)
			held += pcp_list_excess(zone, cpu, pcp_list_of(lmm_zone_slot(zone), cpu));
		lmm_show_held(m, zone, held);
	}
}

static void pcp_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	bool by_depth = pcp.mode == PCP_MODE_DEPTH;
	char basis[LMM_WHY_LEN];
	struct zone *zone = NULL;
	int cpu;

	pcp_basis(basis, sizeof(basis));
	seq_printf(m, "# %s\n", basis);
	mutex_lock(&pcp.lock);
	pcp_held_show(m);
	seq_printf(m, "%-5s%-9s%-5s%8s%8s%9s%8s%12s%11s  %s\n", "node", "zone", "cpu",
		   "count", "high", "default", "max", by_depth ? "alloc_depth" : "least",
		   by_depth ? "free_depth" : "drained", "why");
	while ((zone = pcp_zone_after(zone))) {
		for_each_online_cpu(cpu) {
			struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
			const struct pcp_list *list = pcp_list_of(lmm_zone_slot(zone), cpu);

			seq_printf(m, "%-5d%-9s%-5d%8d%8d%9d%8d%12ld%11ld  %s\n",
				   zone_to_nid(zone), zone->name, cpu,
				   READ_ONCE(pages->count),
				   lmm_pageset_read(pages), list->limits.def, list->limits.max,
				   by_depth ? list->depth.alloc : READ_ONCE(list->event.least),
				   by_depth ? list->depth.free :
					      (long)READ_ONCE(list->event.drained),
				   pcp_reason_words[pcp_list_reason(list)]);
		}
	}
	mutex_unlock(&pcp.lock);
}

static void pcp_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
	if (READ_ONCE(*pcp.high_fraction))
		scnprintf(why, len, "hands off: vm.percpu_pagelist_high_fraction is set");
	else
		pcp_basis(why, len);
}

LMM_ON_TRACEPOINT(PCP, PAGE_ALLOC, (void *data, struct page *page, unsigned int order),
		  pcp_on_list_pages(page, order, false))
LMM_ON_TRACEPOINT(PCP, PAGE_FREE, (void *data, struct page *page, unsigned int order),
		  pcp_on_list_pages(page, order, true))
LMM_ON_KPROBE(PCP, PAGESET_DEFAULT, pcp_on_list_bounds())

static const struct lmm_subscription pcp_subscriptions[] = {
	LMM_USES(REFILL, "which pages lists are refilled with, counters of refills"),
	LMM_USES_IN(LMM_ALL_MODES, BIT(PCP_MODE_EVENT), DRAIN,
		    "mode event; counter drains; shorter drains at exit"),
	LMM_USES_IN(BIT(PCP_MODE_DEPTH), BIT(PCP_MODE_DEPTH), PAGE_ALLOC,
		    "mode depth: the depth of allocation", .handler = probe_PAGE_ALLOC),
	LMM_USES_IN(BIT(PCP_MODE_DEPTH), BIT(PCP_MODE_DEPTH), PAGE_FREE,
		    "mode depth: the depth of freeing", .handler = probe_PAGE_FREE),
	LMM_USES(PAGESET_DEFAULT, "a sysctl write is noticed at a tick instead of at once",
		 .handler = probe_PAGESET_DEFAULT),
	LMM_USES(WAKE_KSWAPD, "the begin of reclaim is noticed at a tick instead of at once"),
	LMM_USES(HUGE_WANTED, "huge pages without MADV_HUGEPAGE may fail while lists hold pages"),
	LMM_NEEDS(DRAIN_LIST, "all of the policy, which could not give back what a list holds"),
	LMM_NEEDS(HIGH_FRACTION, "all of the policy, which would overrule a sysctl of the admin"),
	LMM_NEEDS(MEM_HOTPLUG,
		  "all of the policy: switching on would not be safe while memory goes offline"),
};

static const struct lmm_hook_client pcp_uses = LMM_HOOK_CLIENT(pcp);

static const struct lmm_events pcp_events = {
	.refilled = pcp_on_refilled,
	.drain_size = pcp_on_drain_size,
	.drained = pcp_on_drained,
	.zone_lacks = pcp_on_zone_lacks,
};

struct lmm_policy lmm_pcp_policy = {
	LMM_POLICY(PCP, pcp),
	.mode_knob = KNOB_MODE,
	.armed = pcp_armed,
};
