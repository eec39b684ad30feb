// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp.c - per-CPU list sizing: the glue around pcp_core.c
 *
 * Tracking is by tracepoints of single allocations and frees; bulk allocations
 * (vmalloc, page pools) pass no tracepoint when they come and one when they go, so
 * their lists count as mostly freeing, which does not raise them.
 *
 * Hooks only track.  One work item, once a period, collects what every CPU
 * tracked, decides, and acts; pcp_lists.c is the actuator.
 *
 * Lifetimes: everything in "struct pcp" is allocated by enable before any hook
 * is armed, and freed by disable after the hooks are disarmed and the work, the
 * CPU and the memory notifiers are gone.  zone->per_cpu_pageset is freed by the
 * kernel when the last memory of a zone goes offline; from MEM_GOING_OFFLINE to
 * MEM_OFFLINE or MEM_CANCEL_OFFLINE the zone is frozen, and not looked at.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>

#include "../compat/pageset.h"
#include "../hook/hook.h"
#include "../livemm.h"
#include "pcp.h"
#include "pcp_core.h"
#include "pcp_lists.h"

enum pcp_knob {
	KNOB_MODE,
	KNOB_PERIOD_MS,
	KNOB_WINDOW_PERIODS,
	KNOB_HIGH_MAX_PCT,
	KNOB_KEEP_AT_EXIT,
};

static const char *const mode_words[] = { "depth", NULL };

static const struct lmm_knob pcp_knobs[] = {
	[KNOB_MODE] = {
		.name = "mode", .kind = LMM_KNOB_CHOICE,
		.min = 0, .max = 0, .def = 0, .choices = mode_words,
	},
	[KNOB_PERIOD_MS] = {
		/* PCP_AUTO_TUNE_PERIOD of the series is one second. */
		.name = "period_ms", .kind = LMM_KNOB_UINT,
		.min = 100, .max = 10000, .def = 1000,
	},
	[KNOB_WINDOW_PERIODS] = {
		/* 1 is the series as posted. */
		.name = "window_periods", .kind = LMM_KNOB_UINT,
		.min = 1, .max = PCP_WINDOW_MAX, .def = PCP_WINDOW_MAX,
	},
	[KNOB_HIGH_MAX_PCT] = {
		/* As percpu_pagelist_high_fraction = 8, the series' limit. */
		.name = "high_max_pct", .kind = LMM_KNOB_TENTHS,
		.min = 10, .max = 500, .def = 125,
	},
	[KNOB_KEEP_AT_EXIT] = {
		.name = "keep_at_exit", .kind = LMM_KNOB_BOOL,
		.min = 0, .max = 1, .def = 1,
	},
};

static const char *const pcp_counter_names[NR_COUNTERS] = {
	[COUNT_REFILLS] = "refills",
	[COUNT_REFILL_PAGES] = "refill_pages",
	[COUNT_DRAINS] = "drains",
	[COUNT_DRAIN_PAGES] = "drain_pages",
	[COUNT_KEPT_PAGES] = "kept_pages",
	[COUNT_PERIODS] = "periods",
	[COUNT_RAISED] = "raised",
	[COUNT_LOWERED] = "lowered",
	[COUNT_RESTORED] = "restored",
	[COUNT_EXCESS_PAGES] = "excess_pages",
	[COUNT_KERNEL_WON] = "kernel_won",
	[COUNT_LIMITED_MAX] = "limited_max",
	[COUNT_LIMITED_ROOM] = "limited_room",
	[COUNT_LIMITED_RECLAIM] = "limited_reclaim",
	[COUNT_IDLE_RESETS] = "idle_resets",
	[COUNT_HANDS_OFF] = "hands_off",
};

/*
 * A slot is nid * MAX_NR_ZONES + zone index.  nr_node_ids is fixed at boot, so
 * slots cover nodes that are yet to come.
 */
static struct {
	struct mutex lock;	/* protects all below but what tracks points to */
	struct pcp_track __percpu *tracks;
	struct pcp_list *lists;	/* [slot * nr_cpu_ids + cpu] */
	unsigned long *frozen;	/* slots whose memory is going offline */
	cpumask_var_t cpus;	/* CPUs whose lists may be sized */
	struct pcp_clock clock;	/* read by the hooks without the lock */
	bool keep_at_exit;	/* likewise */
	unsigned int period_ms;
	u32 max_tenths;
	struct delayed_work period_work;
	struct delayed_work recheck_work;
	int cpuhp_state;
} pcp = {
	.lock = __MUTEX_INITIALIZER(pcp.lock),
};

DEFINE_STATIC_CALL_NULL(mem_lock, void (void));
DEFINE_STATIC_CALL_NULL(mem_unlock, void (void));
static const int *high_fraction;

static unsigned int nr_slots(void)
{
	return nr_node_ids * MAX_NR_ZONES;
}

static struct pcp_list *list_of(unsigned int slot, int cpu)
{
	return &pcp.lists[slot * nr_cpu_ids + cpu];
}

/* The zone of a slot, or NULL if it has no memory or is frozen. */
static struct zone *slot_zone(unsigned int slot)
{
	int nid = slot / MAX_NR_ZONES;
	struct zone *zone;

	lockdep_assert_held(&pcp.lock);
	if (!node_online(nid) || test_bit(slot, pcp.frozen))
		return NULL;
	zone = &NODE_DATA(nid)->node_zones[slot % MAX_NR_ZONES];
	return populated_zone(zone) ? zone : NULL;
}

/* The first slot from @slot on that has a zone, and that zone. */
static unsigned int next_zone_slot(unsigned int slot, struct zone **zone)
{
	for (; slot < nr_slots(); slot++) {
		*zone = slot_zone(slot);
		if (*zone)
			break;
	}
	return slot;
}

/**
 * lmm_pcp_page() - event: a block was allocated or freed on this CPU
 * @nid: its node
 * @zone_idx: its zone in the node
 * @pages: in the block; negative when freed
 *
 * Context: any, preemption off.
 */
void lmm_pcp_page(int nid, int zone_idx, long pages)
{
	struct pcp_track *track = this_cpu_ptr(pcp.tracks) + nid * MAX_NR_ZONES + zone_idx;

	pcp_track_page(track, &pcp.clock, pages);
}

/**
 * lmm_pcp_drain_count() - event: a list is about to be drained
 * @zone: its zone
 * @count: pages that the kernel wants to drain
 * @pages: the list
 * @pindex: which of its lists the page just freed is on; that one is drained first
 *
 * Before ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit", 6.7) a
 * single block of order 1 to 3 that is freed in a burst of order-0 frees, as at
 * the exit of every large process, empties the whole list.  The aim, to keep few
 * such blocks, is met by draining a batch, theirs first.
 *
 * Context: any, preemption off, under pcp->lock.
 * Return: pages to drain, at most @count.
 */
int lmm_pcp_drain_count(struct zone *zone, int count, struct per_cpu_pages *pages,
			int pindex)
{
	int limit;

	if (!LMM_DRAINS_LIST_AT_EXIT || !READ_ONCE(pcp.keep_at_exit) ||
	    READ_ONCE(*high_fraction))
		return count;
	/* A list that is disabled, or of a zone in reclaim, is to be empty. */
	if (!lmm_pageset_read(pages).high || test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags))
		return count;
	limit = pcp_drain_limit(count, pages->count, READ_ONCE(pages->batch),
				pindex >= MIGRATE_PCPTYPES);
	if (limit < count)
		lmm_count(&lmm_pcp_policy, COUNT_KEPT_PAGES, count - limit);
	return limit;
}

/**
 * lmm_pcp_refill() - event: pages moved from the buddy to a list
 * @pages: how many
 *
 * Context: any, preemption off.
 */
void lmm_pcp_refill(int pages)
{
	lmm_count(&lmm_pcp_policy, COUNT_REFILLS, 1);
	lmm_count(&lmm_pcp_policy, COUNT_REFILL_PAGES, pages);
}

/**
 * lmm_pcp_drain() - event: pages moved from a list to the buddy
 * @pages: how many
 *
 * Context: any, preemption off.
 */
void lmm_pcp_drain(int pages)
{
	lmm_count(&lmm_pcp_policy, COUNT_DRAINS, 1);
	lmm_count(&lmm_pcp_policy, COUNT_DRAIN_PAGES, pages);
}

/**
 * lmm_pcp_pageset_default() - event: the kernel is about to work out the bounds
 *	of a zone's lists anew
 *
 * Looking again a little later finds its new values.
 *
 * Context: any, preemption off, not under an allocator's lock.
 */
void lmm_pcp_pageset_default(void)
{
	mod_delayed_work(system_unbound_wq, &pcp.recheck_work, msecs_to_jiffies(20));
}

/* CPUs that share the lists' part of a zone, as the kernel's zone_highsize(). */
static unsigned int zone_cpus(struct zone *zone)
{
	unsigned int cpus = cpumask_weight(cpumask_of_node(zone_to_nid(zone)));

	return cpus ?: num_online_cpus();
}

/* What a list has been raised to, in pages; 0 if it has not been. */
static int raised_to(struct per_cpu_pages *pages, const struct pcp_list *list)
{
	/* Not ours yet: come down in steps from where the kernel's tuning is. */
	if (!list->written.high)
		return lmm_pageset_tuned(pages);
	/* The kernel may have written since. */
	return lmm_pageset_read(pages).high == list->written.high ? list->written.high : 0;
}

/* First pass over a zone: what should each list be, were it alone? */
static void zone_decide(struct zone *zone, unsigned int slot)
{
	struct lmm_pageset_bound def = lmm_pageset_default(zone);
	unsigned int cpus = zone_cpus(zone);
	int cpu;

	for_each_possible_cpu(cpu) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		struct pcp_list *list = list_of(slot, cpu);

		list->limits = (struct pcp_limits){
			.def = def.low,
			.max = pcp_max_high(zone_managed_pages(zone), pcp.max_tenths,
					    cpus, def.low, READ_ONCE(pages->batch)),
			.now = raised_to(pages, list),
			.disabled = !lmm_pageset_read(pages).high,
			.offline = !cpumask_test_cpu(cpu, pcp.cpus),
			.sysctl = READ_ONCE(*high_fraction),
			.reclaim = test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags),
		};
		list->decision = pcp_depth_decide(&list->depth, &list->limits);
	}
}

/* Second pass: cut the raised lists to the room above the high watermark. */
static void zone_share_room(struct zone *zone, unsigned int slot)
{
	long room = (long)zone_page_state(zone, NR_FREE_PAGES) - (long)high_wmark_pages(zone);
	long raised = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		struct pcp_list *list = list_of(slot, cpu);

		if (list->decision.hands_off)
			continue;
		/* What a list holds already is not among the free pages. */
		room += READ_ONCE(pages->count) - list->limits.def;
		raised += list->decision.high - list->limits.def;
	}
	for_each_possible_cpu(cpu) {
		struct pcp_list *list = list_of(slot, cpu);
		int share;

		if (list->decision.hands_off)
			continue;
		share = pcp_room_share(list->decision.high, list->limits.def, raised, room);
		if (share < list->decision.high) {
			list->decision.high = share;
			list->decision.reason = PCP_BY_ROOM;
		}
	}
}

static const int reason_counter[PCP_NR_REASONS] = {
	[PCP_BY_DEFAULT] = -1,
	[PCP_BY_DEPTH] = -1,
	[PCP_BY_MAX] = COUNT_LIMITED_MAX,
	[PCP_BY_DECAY] = -1,
	[PCP_BY_ROOM] = COUNT_LIMITED_ROOM,
	[PCP_BY_IDLE] = -1,
	[PCP_BY_RECLAIM] = COUNT_LIMITED_RECLAIM,
	[PCP_BY_SYSCTL] = COUNT_HANDS_OFF,
	[PCP_BY_OFFLINE] = -1,
	[PCP_BY_KERNEL] = COUNT_HANDS_OFF,
};

/* Third pass: act. */
static void zone_act(struct zone *zone, unsigned int slot)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pcp_list *list = list_of(slot, cpu);
		int counter = reason_counter[list->decision.reason];

		if (counter >= 0)
			lmm_count(&lmm_pcp_policy, counter, 1);
		if (list->decision.hands_off)
			pcp_list_restore(zone, cpu, list);
		else
			pcp_list_set(zone, cpu, list, list->decision.high);
	}
}

static void zones_size(void)
{
	struct zone *zone;
	unsigned int slot;

	for (slot = next_zone_slot(0, &zone); slot < nr_slots();
	     slot = next_zone_slot(slot + 1, &zone)) {
		zone_decide(zone, slot);
		zone_share_room(zone, slot);
		zone_act(zone, slot);
	}
}

/* Learn from the period that ends now. */
static void period_collect(void)
{
	u32 ended = pcp.clock.epoch;
	unsigned int slot;
	int cpu;

	WRITE_ONCE(pcp.clock.epoch, ended + 1);
	for_each_possible_cpu(cpu) {
		const struct pcp_track *tracks = per_cpu_ptr(pcp.tracks, cpu);

		for (slot = 0; slot < nr_slots(); slot++) {
			struct pcp_depth *depth = &list_of(slot, cpu)->depth;
			unsigned int idle = depth->idle;
			long alloc_depth, free_depth;
			bool active;

			active = pcp_track_collect(&tracks[slot], ended, &alloc_depth,
						   &free_depth);
			if (depth->alloc && depth->free && !active &&
			    idle == PCP_IDLE_PERIODS - 1)
				lmm_count(&lmm_pcp_policy, COUNT_IDLE_RESETS, 1);
			pcp_depth_period(depth, active, alloc_depth, free_depth);
		}
		cond_resched();
	}
	lmm_count(&lmm_pcp_policy, COUNT_PERIODS, 1);
}

static void period_worker(struct work_struct *work)
{
	mutex_lock(&pcp.lock);
	period_collect();
	zones_size();
	queue_delayed_work(system_unbound_wq, &pcp.period_work, msecs_to_jiffies(pcp.period_ms));
	mutex_unlock(&pcp.lock);
}

static void recheck_worker(struct work_struct *work)
{
	mutex_lock(&pcp.lock);
	zones_size();
	mutex_unlock(&pcp.lock);
}

static int pcp_cpu_online(unsigned int cpu)
{
	mutex_lock(&pcp.lock);
	cpumask_set_cpu(cpu, pcp.cpus);
	mutex_unlock(&pcp.lock);
	return 0;
}

/* The kernel drains the list itself; it must find its own bound there. */
static int pcp_cpu_offline(unsigned int cpu)
{
	struct zone *zone;
	unsigned int slot;

	mutex_lock(&pcp.lock);
	cpumask_clear_cpu(cpu, pcp.cpus);
	for (slot = next_zone_slot(0, &zone); slot < nr_slots();
	     slot = next_zone_slot(slot + 1, &zone)) {
		struct pcp_list *list = list_of(slot, cpu);

		pcp_list_restore(zone, cpu, list);
		memset(&list->depth, 0, sizeof(list->depth));
	}
	mutex_unlock(&pcp.lock);
	return 0;
}

/*
 * A zone that loses memory has its lists disabled before MEM_GOING_OFFLINE, and
 * gets the default bound from the kernel after it; what we wrote is gone by then.
 */
static int pcp_memory_notify(struct notifier_block *nb, unsigned long action, void *arg)
{
	const struct memory_notify *memory = arg;
	struct zone *zone;
	unsigned int slot;
	int cpu;

	/* Memory that comes, or has gone, has no struct page to look at. */
	if (action != MEM_GOING_OFFLINE && action != MEM_OFFLINE &&
	    action != MEM_CANCEL_OFFLINE)
		return NOTIFY_OK;
	zone = page_zone(pfn_to_page(memory->start_pfn));
	slot = zone_to_nid(zone) * MAX_NR_ZONES + zone_idx(zone);

	mutex_lock(&pcp.lock);
	if (action == MEM_GOING_OFFLINE) {
		set_bit(slot, pcp.frozen);
		for_each_possible_cpu(cpu)
			memset(list_of(slot, cpu), 0, sizeof(struct pcp_list));
	} else {
		clear_bit(slot, pcp.frozen);
	}
	mutex_unlock(&pcp.lock);
	return NOTIFY_OK;
}

static struct notifier_block pcp_memory_nb = {
	.notifier_call = pcp_memory_notify,
};

static void pcp_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	mutex_lock(&pcp.lock);
	pcp.max_tenths = cfg->value[KNOB_HIGH_MAX_PCT];
	WRITE_ONCE(pcp.keep_at_exit, cfg->value[KNOB_KEEP_AT_EXIT]);
	WRITE_ONCE(pcp.clock.window, cfg->value[KNOB_WINDOW_PERIODS]);
	if (pcp.period_ms != cfg->value[KNOB_PERIOD_MS]) {
		pcp.period_ms = cfg->value[KNOB_PERIOD_MS];
		mod_delayed_work(system_unbound_wq, &pcp.period_work,
				 msecs_to_jiffies(pcp.period_ms));
	}
	mutex_unlock(&pcp.lock);
}

static void pcp_free(void)
{
	free_percpu(pcp.tracks);
	kvfree(pcp.lists);
	bitmap_free(pcp.frozen);
	free_cpumask_var(pcp.cpus);
	pcp.tracks = NULL;
	pcp.lists = NULL;
	pcp.frozen = NULL;
}

static int pcp_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
		      size_t len)
{
	int err;

	high_fraction = (const int *)lmm_hook_address(LMM_HOOK_HIGH_FRACTION);
	pcp_lists_init(lmm_hook_address(LMM_HOOK_DRAIN_LIST));
	static_call_update(mem_lock, (void (*)(void))lmm_hook_address(LMM_HOOK_MEM_LOCK));
	static_call_update(mem_unlock, (void (*)(void))lmm_hook_address(LMM_HOOK_MEM_UNLOCK));

	pcp.tracks = __alloc_percpu(nr_slots() * sizeof(struct pcp_track), SMP_CACHE_BYTES);
	pcp.lists = kvcalloc(nr_slots() * nr_cpu_ids, sizeof(struct pcp_list), GFP_KERNEL);
	pcp.frozen = bitmap_zalloc(nr_slots(), GFP_KERNEL);
	if (!zalloc_cpumask_var(&pcp.cpus, GFP_KERNEL) || !pcp.tracks || !pcp.lists ||
	    !pcp.frozen) {
		scnprintf(why, len, "out of memory for %u lists", nr_slots() * nr_cpu_ids);
		pcp_free();
		return -ENOMEM;
	}
	pcp.clock.epoch = 1;	/* a fresh track says 0: no period of ours */
	pcp.clock.window = cfg->value[KNOB_WINDOW_PERIODS];
	pcp.keep_at_exit = cfg->value[KNOB_KEEP_AT_EXIT];
	pcp.period_ms = cfg->value[KNOB_PERIOD_MS];
	pcp.max_tenths = cfg->value[KNOB_HIGH_MAX_PCT];
	INIT_DELAYED_WORK(&pcp.period_work, period_worker);
	INIT_DELAYED_WORK(&pcp.recheck_work, recheck_worker);

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "mm/livemm:pcp", pcp_cpu_online,
				pcp_cpu_offline);
	if (err < 0) {
		scnprintf(why, len, "no CPU hotplug state left (%d)", err);
		pcp_free();
		return err;
	}
	pcp.cpuhp_state = err;
	/* Not between the start and the end of taking memory offline. */
	static_call(mem_lock)();
	register_memory_notifier(&pcp_memory_nb);
	static_call(mem_unlock)();
	queue_delayed_work(system_unbound_wq, &pcp.period_work, msecs_to_jiffies(pcp.period_ms));
	return 0;
}

static void pcp_disable(struct lmm_policy *policy)
{
	/* period_worker() queues itself again; only this cancels it for good. */
	cancel_delayed_work_sync(&pcp.period_work);
	cancel_delayed_work_sync(&pcp.recheck_work);
	/*
	 * Runs pcp_cpu_offline() for every online CPU, which restores its lists;
	 * those of the others were restored when they went.
	 */
	cpuhp_remove_state(pcp.cpuhp_state);
	unregister_memory_notifier(&pcp_memory_nb);
	pcp_free();
}

static void pcp_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct zone *zone;
	unsigned int slot;
	int cpu;

	if (!policy->on)
		return;
	seq_printf(m, "%-5s%-9s%-5s%8s%8s%9s%8s%12s%11s  %s\n", "node", "zone", "cpu",
		   "count", "high", "default", "max", "alloc_depth", "free_depth", "why");
	mutex_lock(&pcp.lock);
	for (slot = next_zone_slot(0, &zone); slot < nr_slots();
	     slot = next_zone_slot(slot + 1, &zone)) {
		for_each_online_cpu(cpu) {
			struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
			const struct pcp_list *list = list_of(slot, cpu);

			seq_printf(m, "%-5d%-9s%-5d%8d%8d%9d%8d%12ld%11ld  %s\n",
				   zone_to_nid(zone), zone->name, cpu,
				   READ_ONCE(pages->count), lmm_pageset_read(pages).high,
				   list->limits.def, list->limits.max, list->depth.alloc,
				   list->depth.free, pcp_reason_word(list->decision.reason));
		}
	}
	mutex_unlock(&pcp.lock);
}

static void pcp_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
	why[0] = '\0';
	if (policy->on && READ_ONCE(*high_fraction))
		scnprintf(why, len, "hands off: vm.percpu_pagelist_high_fraction is set");
}

/* The policy's row in the registry. */
struct lmm_policy lmm_pcp_policy = {
	.id = LMM_PCP,
	.name = "pcp",
	.knobs = pcp_knobs,
	.nr_knobs = ARRAY_SIZE(pcp_knobs),
	.mode_knob = KNOB_MODE,
	.counter_names = pcp_counter_names,
	.nr_counters = NR_COUNTERS,
	.enable = pcp_enable,
	.disable = pcp_disable,
	.configure = pcp_configure,
	.state_show = pcp_state_show,
	.reason_show = pcp_reason_show,
};
