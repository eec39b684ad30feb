// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - the zonelock policy: switching on and off, settings, `state`
 *
 * Lifetime: everything in struct zonelock_state exists before any hook is armed.  Once the hooks
 * are disarmed no handler runs; then the worker is stopped, the depots are emptied and freed.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "compat/compat.h"
#include "compat/pageset.h"
#include "flow/events.h"
#include "flow/probe.h"
#include "hook/hook.h"
#include "hook/entry.h"
#include "hook/kcall.h"
#include "policy/common/free_path.h"
#include "shards.h"
#include "state.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static const char *const verdict_words[DEPOT_NR_VERDICTS] = {
	[DEPOT_STORE] = "open",
	[DEPOT_DISABLED] = "disabled",
	[DEPOT_ISOLATED] = "isolated",
	[DEPOT_WATERMARK] = "watermark",
	[DEPOT_CLOSED] = "closed",
	[DEPOT_FULL] = "full",
};

struct zonelock_state zonelock;

static bool zonelock_supported(struct lmm_policy *policy, char *why, size_t len)
{
	/* Hooks try locks that a kernel for a single CPU lacks. */
	if (!IS_ENABLED(CONFIG_SMP)) {
		scnprintf(why, len, "this kernel was built for a single CPU (no CONFIG_SMP)");
		return false;
	}
	/* Whose drains may be kept? */
	if (!lmm_free_paths_find(why, len))
		return false;
	if (lmm_hook_usable(LMM_HOOK_REFILL) || lmm_hook_usable(LMM_HOOK_REQUEST))
		return true;
	scnprintf(why, len, "neither refills nor requests can be hooked: depots would only fill");
	return false;
}

static void set_knobs(const struct lmm_config *cfg)
{
	WRITE_ONCE(zonelock.max_tenths, cfg->value[KNOB_MAX_PAGES_PCT]);
	WRITE_ONCE(zonelock.max_age, max(msecs_to_jiffies(cfg->value[KNOB_MAX_AGE_MS]), 4UL));
}

/* See to it that a depot has batches for all pages that it may hold. */
static int zone_supply(struct zone *zone)
{
	struct zonelock_zone *zz = zonelock_of(zone);
	unsigned long pages = zone_managed_pages(zone) * zonelock.max_tenths / 1000;
	struct zonelock_chunk *chunk;
	unsigned long more;

	more = depot_batches_for(pages, zonelock.nr_shards);
	if (more <= zz->depot.nr_batches)
		return 0;
	more -= zz->depot.nr_batches;
	chunk = kvzalloc_node(struct_size(chunk, batch, more), GFP_KERNEL, zone_to_nid(zone));
	if (!chunk)
		return -ENOMEM;
	chunk->next = zz->chunks;
	zz->chunks = chunk;
	depot_supply(&zz->depot, chunk->batch, more);
	return 0;
}

static void zonelock_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	struct zone *zone = NULL;

	set_knobs(cfg);
	/* The bound may have been raised.  A depot that gets no memory is full earlier. */
	while ((zone = lmm_zone_after(zone)))
		if (zonelock_of(zone)->depot.nr_shards)
			zone_supply(zone);
	/* The bound may have been lowered. */
	lmm_worker_pass_after(&zonelock.worker, 0);
}

static void zone_free(struct zonelock_zone *zz)
{
	struct zonelock_chunk *chunk;

	while ((chunk = zz->chunks)) {
		zz->chunks = chunk->next;
		kvfree(chunk);
	}
	kvfree(zz->depot.shards);
}

static void zonelock_free(void)
{
	unsigned int slot;

	lmm_worker_free(&zonelock.worker);
	for (slot = 0; zonelock.zones && slot < lmm_zone_slots(); slot++)
		zone_free(&zonelock.zones[slot]);
	kvfree(zonelock.zones);
	zonelock.zones = NULL;
	kvfree(zonelock.shard_of);
	zonelock.shard_of = NULL;
}

static int node_of(unsigned int cpu)
{
	return cpu_to_node(cpu);
}

/* The kernel knows of caches while a CPU is online. */
static bool share_cache(unsigned int a, unsigned int b)
{
	return cpu_online(a) && cpu_online(b) && lmm_hook_available(LMM_HOOK_SHARE_CACHE) &&
	       KCALL(share_cache)(a, b);
}

static int shards_alloc(void)
{
	static const struct shard_topology topology = {
		.node_of = node_of,
		.share_cache = share_cache,
	};

	zonelock.shard_of = kvcalloc(nr_cpu_ids, sizeof(*zonelock.shard_of), GFP_KERNEL);
	if (!zonelock.shard_of)
		return -ENOMEM;
	zonelock.nr_shards = shards_assign(&topology, nr_cpu_ids, zonelock.shard_of);
	return 0;
}

static int depot_alloc(struct zone *zone)
{
	struct depot_shard *shards;

	shards = kvzalloc_node(zonelock.nr_shards * sizeof(*shards), GFP_KERNEL, zone_to_nid(zone));
	if (!shards)
		return -ENOMEM;
	depot_init(&zonelock_of(zone)->depot, shards, zonelock.nr_shards, zonelock.shard_of);
	return zone_supply(zone);
}

static int zonelock_alloc(void)
{
	struct zone *zone = NULL;
	unsigned int slot;
	int err;

	zonelock.zones = kvcalloc(lmm_zone_slots(), sizeof(*zonelock.zones), GFP_KERNEL);
	if (lmm_worker_init(&zonelock.worker, "livemm_zonelock", zonelock_pass, NULL,
			    zonelock_oom) ||
	    !zonelock.zones)
		return -ENOMEM;
	for (slot = 0; slot < lmm_zone_slots(); slot++) {
		zonelock.zones[slot].closed_at = jiffies - MAX_JIFFY_OFFSET / 2;
		zonelock.zones[slot].asked_at = jiffies - MAX_JIFFY_OFFSET / 2;
		zonelock.zones[slot].reckoned = jiffies;
	}
	err = shards_alloc();
	while (!err && (zone = lmm_zone_after(zone)))
		err = depot_alloc(zone);
	return err;
}

static int zonelock_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
			   size_t len)
{
	int err;

	set_knobs(cfg);
	err = zonelock_alloc();
	if (err) {
		scnprintf(why, len, "out of memory for the depots");
		zonelock_free();
		return err;
	}
	atomic_set(&zonelock.ticking, 0);
	err = lmm_worker_hear_oom(&zonelock.worker);
	if (err) {
		scnprintf(why, len, "no OOM notifier (%d)", err);
		zonelock_free();
	}
	return err;
}

/* Without a way out pages would lie in the depots until they are old. */
static int zonelock_armed(struct lmm_policy *policy, char *why, size_t len)
{
	zonelock.topup = !lmm_hook_armed(policy->id, LMM_HOOK_REFILL);
	if (!zonelock.topup || lmm_hook_armed(policy->id, LMM_HOOK_REQUEST))
		return 0;
	scnprintf(why, len, "neither refills nor requests can be hooked now");
	return -EOPNOTSUPP;
}

static void zonelock_disable(struct lmm_policy *policy)
{
	struct zone *zone = NULL;

	lmm_worker_stop(&zonelock.worker);
	WRITE_ONCE(lmm_request_wants.call, 0);
	while ((zone = lmm_zone_after(zone)))
		zonelock_return_zone(zone, DEPOT_BY_OFF);
	zonelock_free();
}

static const char *zonelock_basis(void)
{
	return zonelock.topup ? "drains and requests; refills cannot be hooked here" :
				"refills and drains";
}

/* What would become of a batch. */
static const char *zone_word(const struct zone *zone, const struct depot_view *view)
{
	if (!zonelock_of(zone)->depot.nr_shards)
		return "new";
	if (READ_ONCE(zonelock_of(zone)->broken))
		return "broken";
	return verdict_words[depot_judge(view, 1)];
}

static void zonelock_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct zone *zone = NULL;
	struct depot_view view;
	long held = 0;

	seq_printf(m, "# %s\n", zonelock_basis());
	while ((zone = lmm_zone_after(zone))) {
		long pages = atomic_long_read(&zonelock_of(zone)->depot.pages);

		lmm_show_held(m, zone, pages);
		held += pages;
	}
	seq_printf(m, "# held_pages %ld (free, but not in MemFree)\n", held);
	seq_printf(m, "%-5s%-9s%9s%9s%9s%11s%11s  %s\n", "node", "zone", "batches", "pages", "max",
		   "free", "mark", "why");
	while ((zone = lmm_zone_after(zone))) {
		const struct depot *depot = &zonelock_of(zone)->depot;

		zonelock_view(zone, zonelock_of(zone), &view);
		seq_printf(m, "%-5d%-9s%9u%9lu%9lu%11lu%11lu  %s\n", zone_to_nid(zone), zone->name,
			   depot_batches(depot), view.held, view.max, view.free, view.mark,
			   zone_word(zone, &view));
	}
}

static void zonelock_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
	scnprintf(why, len, "%s", zonelock_basis());
}

LMM_ON_KPROBE(ZONELOCK, PAGE_BREAKS, zonelock_on_page_breaks(LMM_PROBED(0)))

static const struct lmm_subscription zonelock_subscriptions[] = {
	LMM_USES(REFILL, "nothing: hook request stands in"),
	LMM_NEEDS(DRAIN, "all of the policy"),
	LMM_NEEDS(DRAIN_ZONE, "all of the policy: drains would miss depot pages"),
	LMM_NEEDS(DRAIN_ALL, "all of the policy: drains would miss depot pages"),
	LMM_NEEDS(COMPACT, "all of the policy: compaction would not find its pages"),
	LMM_USES(WAKE_KSWAPD, "the begin of reclaim is noticed at a tick instead of at once"),
	LMM_USES(HUGE_WANTED, "huge pages without MADV_HUGEPAGE may fail while depots hold pages"),
	LMM_USES(PAGE_BREAKS, "a page that breaks may leave a depot for a user",
		 .handler = probe_PAGE_BREAKS),
	LMM_USES(SHARE_CACHE, "CPUs share a part of a depot by node, whatever their caches"),
	LMM_USES_BPF_LINKS,
	LMM_USES_FOR(REQUEST, REFILL, "filling an empty list where refills cannot be hooked"),
};

static const struct lmm_hook_client zonelock_uses = LMM_HOOK_CLIENT(zonelock);

static const struct lmm_events zonelock_events = {
	.refill_stock = zonelock_on_refill_stock,
	.refill_split = zonelock_on_refill_split,
	.drain_store = zonelock_on_drain_store,
	.request = zonelock_on_request,
	.give_back = zonelock_on_give_back,
	.zone_lacks = zonelock_on_zone_lacks,
};

struct lmm_policy lmm_zonelock_policy = {
	LMM_POLICY(ZONELOCK, zonelock),
	.mode_knob = -1,
	.supported = zonelock_supported,
	.armed = zonelock_armed,
};
