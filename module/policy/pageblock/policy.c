// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - whole blocks of one mobility type: knobs, switching on and off, state
 *
 * Lifetimes: all of "struct pageblock_state" exists before any hook is armed.  After the hooks
 * are disarmed no handler runs; then the worker is cancelled, and its memory is freed.
 */
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "compat/compat.h"
#include "flow/events.h"
#include "flow/probe.h"
#include "hook/entry.h"
#include "hook/hook.h"
#include "state.h"
#include "policy/common/zones.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

struct pageblock_state pageblock;

/* Knobs change one by one: a verdict by an old and a new setting does no harm. */
static void set_knobs(const struct lmm_config *cfg)
{
	WRITE_ONCE(pageblock.reserve_blocks, cfg->value[KNOB_RESERVE_BLOCKS]);
	WRITE_ONCE(pageblock.move_rate, cfg->value[KNOB_MOVE_PAGES_PER_S]);
}

static void pageblock_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	set_knobs(cfg);
	pageblock_reserve_configure();
}

static int pageblock_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
			    size_t len)
{
	int err;

	set_knobs(cfg);
	pageblock.boost_factor = (const int *)lmm_hook_address(LMM_HOOK_BOOST_FACTOR);
	pageblock_filter_start();
	/* The filter has to know the request that asks for a fallback. */
	WRITE_ONCE(lmm_request_wants.note, 1);
	lmm_buffers_unmovable(LMM_PAGEBLOCK, true);
	pageblock.hotplug = NULL;
	if (lmm_hook_available(LMM_HOOK_BLOCK_FLAGS))
		pageblock.hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	err = pageblock_reserve_start();
	if (err) {
		scnprintf(why, len, "out of memory for %u zones", lmm_zone_slots());
		WRITE_ONCE(lmm_request_wants.note, 0);
		lmm_buffers_unmovable(LMM_PAGEBLOCK, false);
	}
	return err;
}

static void pageblock_disable(struct lmm_policy *policy)
{
	pageblock_reserve_stop();
	WRITE_ONCE(lmm_request_wants.note, 0);
	lmm_buffers_unmovable(LMM_PAGEBLOCK, false);
}

static void pageblock_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct zone *zone;

	pageblock_reserve_show(m);
	seq_printf(m, "%-5s%-9s%10s%10s%8s\n", "node", "zone", "free", "reserve", "gap");
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		const struct pageblock_zone *pz = &pageblock.zones[lmm_zone_slot(zone)];

		seq_printf(m, "%-5d%-9s%10lu%10lu%8u\n", zone_to_nid(zone), zone->name,
			   pageblock_free_blocks(zone), pageblock_wanted_blocks(zone),
			   READ_ONCE(pz->pace.gap));
	}
}

/* A policy that is on is at work. */
static void pageblock_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
}

LMM_ON_TRACEPOINT(PAGEBLOCK, RECLAIM_END, (void *data, unsigned long pages),
		  pageblock_on_reclaim_end(pages))
LMM_ON_TRACEPOINT(PAGEBLOCK, COMPACT_BEGIN, (void *data), pageblock_on_compact_begin())
LMM_ON_TRACEPOINT(PAGEBLOCK, MIXED, (void *data, struct page *page, int order, int got_order),
		  pageblock_on_mixed(page, got_order))

static const struct lmm_subscription pageblock_subscriptions[] = {
	LMM_USES_BPF_LINKS,
	LMM_NEEDS(FALLBACK, "all of the policy, which could refuse nothing"),
	LMM_NEEDS(REQUEST, "all of the policy, which would not know the request"),
	LMM_USES(BUFFER, "blocks for huge pages: pages that file systems pin stay movable"),
	LMM_NEEDS(RECLAIM_END,
		  "all of the policy, which would not know who has tried to make room",
		  .handler = probe_RECLAIM_END),
	LMM_NEEDS(COMPACT_BEGIN,
		  "all of the policy, which would not know who has tried to make room",
		  .handler = probe_COMPACT_BEGIN),
	LMM_USES(MIXED, "counters claimed and mixed", .handler = probe_MIXED),
	LMM_NEEDS(BOOST_FACTOR,
		  "all of the policy, which could not wake kswapd as a mix would have done"),
	LMM_USES(MEM_HOTPLUG, "census, reserve: memory could go while it is looked at"),
	LMM_USES(BLOCK_FLAGS, "census, reserve: the type of a block"),
	LMM_USES(ISOLATE, "the reserve"),
	LMM_USES(MIGRATE, "the reserve"),
	LMM_USES(PUTBACK, "the reserve"),
	LMM_USES(BLOCK_ISOLATE, "the reserve"),
	LMM_USES(BLOCK_RELEASE, "the reserve"),
	LMM_USES(LRU_DRAIN, "the reserve, of blocks with pages on their way to an LRU list"),
	LMM_USES(EMPTY_LISTS, "the reserve, of blocks with pages in per-CPU lists"),
};

static const struct lmm_hook_client pageblock_uses = LMM_HOOK_CLIENT(pageblock);

static const struct lmm_events pageblock_events = {
	.fallback = pageblock_on_fallback,
};

/* The policy's row in the registry. */
struct lmm_policy lmm_pageblock_policy = {
	LMM_POLICY(PAGEBLOCK, pageblock),
	.mode_knob = -1,
	.census_show = pageblock_census_show,
};
