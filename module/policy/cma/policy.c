// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - use CMA memory before memory is short: knobs, switching on and off, state
 *
 * Lifetimes: all of "struct cma_state" exists before any hook is armed.  After the hooks are
 * disarmed no handler runs, since handlers have preemption off; then the worker is cancelled and
 * the memory freed.
 */
#include <linux/gfp.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "flow/events.h"
#include "flow/probe.h"
#include "hook/entry.h"
#include "hook/hook.h"
#include "state.h"
#include "policy/common/move.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define RATIO	BIT(CMA_MODE_RATIO)

struct cma_state cma;

static bool any_reserved(void)
{
	struct zone *zone = NULL;

	while ((zone = lmm_zone_after(zone)))
		if (zone_cma_pages(zone))
			return true;
	return false;
}

static bool cma_supported(struct lmm_policy *policy, char *why, size_t len)
{
	if (!IS_ENABLED(CONFIG_CMA)) {
		scnprintf(why, len, "this kernel was built without CMA (CONFIG_CMA)");
		return false;
	}
	if (!any_reserved()) {
		scnprintf(why, len,
			  "no memory is reserved for CMA; cma=SIZE on the kernel command line does that");
		return false;
	}
	return true;
}

static enum cma_mode mode_of(const struct lmm_config *cfg)
{
	return cfg->value[KNOB_MODE];
}

static int cma_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
			size_t len)
{
	char words[LMM_WHY_LEN];

	/* If no mode is supported, cma_supported() gives a better reason. */
	if (!cfg->enabled || mode_of(cfg) != CMA_MODE_RATIO ||
	    !cma_supported(policy, words, sizeof(words)) ||
	    cma_ratio_possible(words, sizeof(words)))
		return 0;
	scnprintf(why, len, "mode: ratio: %s", words);
	return -EOPNOTSUPP;
}

static void set_knobs(const struct lmm_config *cfg)
{
	WRITE_ONCE(cma.mode, mode_of(cfg));
	WRITE_ONCE(cma.keep, msecs_to_jiffies(cfg->value[KNOB_KEEP_MS]));
	cma_balance_configure(cfg->value[KNOB_MOVE_PAGES_PER_S]);
}

static void cma_configure(struct lmm_policy *policy, const struct lmm_config *cfg)
{
	unsigned long keep = cma.keep;

	set_knobs(cfg);
	if (cma.keep < keep)
		cma_areas_forget();
}

static void cma_disable(struct lmm_policy *policy)
{
	cma_balance_stop();
	cma_areas_stop();
	kvfree(cma.zones);
	cma.zones = NULL;
	lmm_buffers_unmovable(LMM_CMA, false);
}

static int cma_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
		      size_t len)
{
	int err;

	set_knobs(cfg);
	lmm_buffers_unmovable(LMM_CMA, true);
	cma.zones = kvcalloc(lmm_zone_slots(), sizeof(*cma.zones), GFP_KERNEL);
	if (cma.zones) {
		err = cma_areas_find(why, len);
	} else {
		scnprintf(why, len, "out of memory for the zones");
		err = -ENOMEM;
	}
	if (!err) {
		err = cma_balance_start();
		if (err)
			scnprintf(why, len, "no worker to move pages (%d)", err);
	}
	if (err)
		cma_disable(policy);
	return err;
}

static void cma_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct zone *zone = NULL;
	struct cma_view view;

	cma_areas_show(m);
	seq_printf(m, "%-5s%-9s%9s%9s%9s%9s%11s%9s\n", "node", "zone", "cma", "free_cma",
		   "used_pct", "kept", "room", "share");
	while ((zone = lmm_zone_after(zone))) {
		cma_view_zone(zone, &view);
		if (!view.cma)
			continue;
		seq_printf(m, "%-5d%-9s%9ld%9ld%9ld%9ld%11ld%8lu%%\n", zone_to_nid(zone),
			   zone->name, view.cma, view.free_cma,
			   (view.cma - view.free_cma) * 100 / view.cma, view.kept,
			   cma_room(&view), cma_share(&view) * 100UL / CMA_SHARE_ONE);
	}
	cma_balance_show(m);
}

static void cma_reason_show(struct lmm_policy *policy, char *why, size_t len)
{
	if (cma.mode == CMA_MODE_KEEP)
		scnprintf(why, len, "refills come from where the kernel takes them; %s",
			  cma_balance_rate() ? "pages are moved to CMA memory" :
					       "no page is moved to CMA memory");
}

/* Of a range; @page is NULL where nothing was got. */
#define RANGE	(void *data, const char *name, unsigned long pfn, const struct page *page,	\
		 unsigned long count)

LMM_ON_TRACEPOINT(CMA, CMA_START, (void *data, const char *name, unsigned long count),
		  cma_on_start(name, count))
LMM_ON_TRACEPOINT(CMA, CMA_BUSY, RANGE, cma_on_busy(name, pfn, count))
LMM_ON_TRACEPOINT(CMA, CMA_FINISH, RANGE, cma_on_finish(name, pfn, page, count))
LMM_ON_TRACEPOINT(CMA, CMA_RELEASE, RANGE, cma_on_release(name, pfn, page, count))

static const struct lmm_subscription cma_subscriptions[] = {
	LMM_USES_IN(RATIO, RATIO, REFILL, "mode ratio"),
	LMM_USES_BPF_LINKS,
	LMM_USES_IN(RATIO, RATIO, FALLBACK, "mode ratio"),
	LMM_USES(BUFFER, "pages that file systems pin may lie in CMA memory"),
	LMM_NEEDS(CMA_START, "all of the policy, which would move pages where an owner works",
		  .handler = probe_CMA_START),
	LMM_NEEDS(CMA_BUSY, "all of the policy, which would fill what could not be emptied",
		  .handler = probe_CMA_BUSY),
	LMM_NEEDS(CMA_FINISH, "all of the policy, which would never move pages again",
		  .handler = probe_CMA_FINISH),
	LMM_USES(CMA_RELEASE, "pages that an owner has released are not kept for the owner",
		 .handler = probe_CMA_RELEASE),
	LMM_NEEDS(CMA_AREAS, "all of the policy, which would not know the areas"),
	LMM_NEEDS(DRAIN_LIST, "all of the policy, which could not give back what a list holds"),
	LMM_NEEDS(BLOCK_FLAGS, "all of the policy: the type of a block"),
	LMM_USES(WAKE_KSWAPD, "moving pages at once when memory is short"),
	LMM_USES(MEM_HOTPLUG, "moving pages to CMA memory: memory could go meanwhile"),
	LMM_USES(ISOLATE, "moving pages to CMA memory"),
	LMM_USES(MIGRATE, "moving pages to CMA memory"),
	LMM_USES(PUTBACK, "moving pages to CMA memory"),
};

static const struct lmm_hook_client cma_uses = LMM_HOOK_CLIENT(cma);

static const struct lmm_events cma_events = {
	.refill_from = cma_on_refill_from,
	.zone_is_taken = cma_slot_is_taken,
	.kswapd_woken = cma_on_kswapd_woken,
};

/* The policy's row in the registry. */
struct lmm_policy lmm_cma_policy = {
	LMM_POLICY(CMA, cma),
	.mode_knob = KNOB_MODE,
	.supported = cma_supported,
	.validate = cma_validate,
};
