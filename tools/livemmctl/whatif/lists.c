// SPDX-License-Identifier: GPL-2.0-only
/*
 * lists.c - a model of the kernel's lists (mm/page_alloc.c of 6.1 and of 6.12), and of the glue of
 * policy pcp in mode `event` (handlers.c, size.c)
 *
 * The decisions are those of module/policy/pcp/core.c and core_event.c, which this library is built
 * from.  Where zonelock is on too, pcp is asked first, and the depot next (depots.c).
 */
#include "policy/common/drain.h"
#include "model.h"

/* KICK_GAP_MS of pcp/handlers.c. */
#define KICK_GAP_NS	(10 * NS_PER_MS)

static bool is_near(const struct model *model, const struct zone *zone)
{
	return model_free(zone) < zone->mark + (zone->reclaim ? zone->gap : 0);
}

/* Lists and depots of a zone have @pages more. */
void model_keep(struct model *model, struct zone *zone, long pages)
{
	zone->more += pages;
	model->kept += pages;
	model->result->kept_max = max(model->result->kept_max, (int64_t)model->kept);
}

void model_add(struct model *model, struct zone *zone, struct list *list, int pages)
{
	list->count += pages;
	model_keep(model, zone, pages);
}

/* pages of a list that are drained, for whatever reason */
void model_drain(struct model *model, struct zone *zone, struct list *list, int pages)
{
	pages = min(pages, list->count);
	if (pages <= 0)
		return;
	model_add(model, zone, list, -pages);
	model->result->drains++;
	model->result->drain_pages += pages;
}

/* The CPU's allocations are counted for the zones of a kind, not for all. */
static struct pcp_sample sample_of(const struct list *list)
{
	return (struct pcp_sample){
		.count = list->count,
		.net = list->net,
		.allocated = list->allocated,
	};
}

static int bound(const struct model *model, const struct zone *zone, const struct list *list)
{
	return model->tunes ? list->tuned : list->written ?: zone->high;
}

/* As pcp_list_raised(). */
static int raised(const struct model *model, const struct zone *zone, const struct list *list)
{
	return model->tunes ? pcp_event_tuned(list->tuned, zone->low, list->batch) :
			      list->written;
}

static struct pcp_limits limits_now(const struct model *model, const struct zone *zone,
				    const struct list *list)
{
	struct pcp_limits limits = list->limits;

	limits.now = raised(model, zone, list);
	limits.batch = list->batch;
	limits.near = is_near(model, zone);
	limits.sees_refills = model->config->sees_refills;
	return limits;
}

static bool by_policy(const struct model *model, const struct list *list)
{
	return model->config->enabled && list->limits.max;
}

static void kick(struct model *model, struct zone *zone)
{
	if (!model->config->enabled || model_free(zone) >= zone->mark ||
	    zone->raised <= 0 || model->now < zone->kicked + KICK_GAP_NS)
		return;
	zone->kicked = model->now;
	zone->pass_at = model->now + NS_PER_MS;
}

/* nr_pcp_alloc() of 6.12, and of 6.1. */
static int nr_alloc(const struct model *model, const struct zone *zone, struct list *list)
{
	int high, batch, most;

	if (!model->tunes)
		return list->batch;
	high = bound(model, zone, list);
	if (high < list->batch)
		return 1;
	batch = list->batch << list->alloc_factor;
	if (model_free(zone) >= zone->high_mark) {
		high = min(high + batch, zone->high);
		list->tuned = high;
	}
	most = max(high - list->count - list->batch, list->batch);
	if (batch <= most && list->alloc_factor < SCALE_MAX)
		list->alloc_factor++;
	return min(batch, most);
}

/* Pages that the buddy has given to a list */
void model_came(struct model *model, struct zone *zone, struct list *list, int pages)
{
	model_add(model, zone, list, pages);
	model->result->refills++;
	model->result->refill_pages += pages;
}

static void refill(struct model *model, struct zone *zone, struct list *list)
{
	struct pcp_sample sample = sample_of(list);
	bool sized = by_policy(model, list) && model->config->sees_refills;
	int asked, got = depot_fill(model, zone, list);

	if (got) {
		if (sized)
			pcp_event_refill(&list->event, &sample, got);
		return;
	}
	asked = nr_alloc(model, zone, list);
	kick(model, zone);
	got = depot_split(model, zone, list, asked, bound(model, zone, list));
	if (sized)
		pcp_event_refill(&list->event, &sample, got);
	if (list->due > 0 && model_follows(model, list))
		got = min_t(long, got, list->due);
	list->due -= got;
	model_came(model, zone, list, got);
}

void model_take(struct model *model, struct zone *zone, struct list *list, long pages)
{
	while (pages > 0) {
		long part = min(pages, (long)list->count - list->floor);

		if (part <= 0) {
			refill(model, zone, list);
			part = min(pages, max((long)list->count - list->floor, 1L));
		}
		model_add(model, zone, list, -part);
		list->net += part;
		list->allocated += part;
		pages -= part;
		list->free_factor >>= min(part, 31L);
		list->free_count >>= min(part, 31L);
	}
}

/* nr_pcp_high() of 6.12, and of 6.1. */
static int high_now(const struct model *model, const struct zone *zone, struct list *list)
{
	int high = bound(model, zone, list);
	int freed = max(list->free_count, list->batch);

	if (!model->tunes)
		return zone->reclaim ? min(list->batch << 2, high) : high;
	if (zone->reclaim) {
		list->tuned = max(high - freed, zone->low);
		return min(list->batch << 2, bound(model, zone, list));
	}
	if (model_free(zone) < zone->high_mark) {
		list->tuned = max(high - freed, zone->low);
		return max(list->count, zone->low);
	}
	if (list->count >= high && list->tuned < list->free_count + list->batch)
		list->tuned = clamp(list->free_count + list->batch, zone->low, zone->high);
	return high;
}

/* nr_pcp_free() of 6.12, and of 6.1. */
static int nr_free(const struct model *model, struct list *list, int high)
{
	int batch = list->batch, most = high - batch;

	if (high < batch)
		return 1;
	if (model->tunes)
		return clamp(list->free_count, batch, max(most, batch));
	batch <<= list->free_factor;
	if (batch < most && list->free_factor < SCALE_MAX)
		list->free_factor++;
	return clamp(batch, list->batch, max(most, list->batch));
}

/* list_grow() of pcp/handlers.c. */
static void grow(struct model *model, struct zone *zone, struct list *list,
		 const struct pcp_sample *sample, struct pcp_limits *limits)
{
	int now = limits->now ?: limits->def;
	struct pcp_decision decision;

	decision = pcp_event_drain(&list->event, sample, limits);
	if (decision.reason == PCP_BY_WATERMARK) {
		model->result->limited_watermark++;
		kick(model, zone);
	} else if (decision.reason == PCP_BY_MAX) {
		model->result->limited_max++;
	}
	if (decision.high <= now || decision.high <= bound(model, zone, list))
		return;
	list->written = decision.high;
	list->changed = true;
	list->tuned = decision.high;
	zone->raised += decision.high - now;
	limits->now = decision.high;
	model->result->grown++;
}

/* A free has filled the list: drain_decide() of pcp/handlers.c. */
static void drain_full(struct model *model, struct zone *zone, struct list *list, int high)
{
	int pages = nr_free(model, list, high), before = list->count;
	bool full = list->count >= bound(model, zone, list);

	if (!model->tunes && model->config->enabled)
		pages = lmm_drain_hold(pages, list->count, list->limits.def, list->batch);
	/* As free_drain_count(). */
	if (by_policy(model, list) && !full && !is_near(model, zone))
		return;
	if (by_policy(model, list) && full && pages < list->count) {
		struct pcp_sample sample = sample_of(list);
		struct pcp_limits limits = limits_now(model, zone, list);

		grow(model, zone, list, &sample, &limits);
		pages = pcp_event_drain_count(&list->event, &sample, pages, &limits);
	}
	if (pages > 0)
		pages -= depot_store(model, zone, list, pages);
	model_drain(model, zone, list, pages);
	if (by_policy(model, list))
		pcp_event_drained(&list->event, before - list->count);
}

void model_give(struct model *model, struct zone *zone, struct list *list, long pages)
{
	while (pages > 0) {
		int high = high_now(model, zone, list);
		long part = min(pages, max((long)high - list->count, 1L));

		model_add(model, zone, list, part);
		list->net -= part;
		pages -= part;
		list->alloc_factor >>= min(part, 31L);
		list->free_count = min(list->free_count + part, (long)list->batch << SCALE_MAX);
		high = high_now(model, zone, list);
		if (list->count >= high)
			drain_full(model, zone, list, high);
	}
}

/*
 * A CPU asks for pages that other CPUs may have freed.  What a list has more at its next recorded
 * moment has come evenly since the one before: bring what has come up to now.  Where refills are
 * not recorded, a refill may have brought the pages.
 */
void model_meanwhile(struct model *model, struct zone *zone, const struct list *asks)
{
	int cpu;

	for (cpu = 0; model->config->sees_refills && cpu < model->nr_cpus; cpu++) {
		struct list *list = zone->lists[cpu];
		long came;

		if (!list || list == asks || model->now <= list->since || list->next <= model->now)
			continue;
		came = (long)(list->next_count - list->seen) * (model->now - list->since) /
		       (list->next - list->since);
		if (came <= 0)
			continue;
		list->since = model->now;
		list->seen += came;
		zone->more -= came;
		model_give(model, zone, list, came);
	}
}

/* A block of a higher order was freed in a burst of frees: the kernel empties the list. */
void model_exit(struct model *model, struct zone *zone, struct list *list)
{
	int pages = list->count;

	/* From 6.7 on what the list holds does not matter for that. */
	if (!model->tunes && !list->free_factor)
		return;
	if (model->tunes) {
		pages = min(pages, list->batch << SCALE_MAX);
		list->tuned = max(list->tuned - (list->batch << SCALE_MAX), zone->low);
	} else if (model->config->enabled && !is_near(model, zone)) {
		pages = lmm_drain_limit(pages, list->count, list->batch);
	} else if (model->config->enabled) {
		pages = lmm_drain_hold(pages, list->count, list->limits.def, list->batch);
	}
	pages -= depot_exit(model, zone, list, pages);
	if (pages > 0)
		model->result->exit_drains++;
	model_drain(model, zone, list, pages);
}

/* Pages above a bound go, as larger blocks if zonelock is on, else up to @most under a hold. */
static void shrink(struct model *model, struct zone *zone, struct list *list, int high, int most)
{
	if (!depot_shrink(model, zone, list, high))
		model_drain(model, zone, list, min(list->count - high, most));
}

/* Give back what a list holds above its bound, as list_drain_excess() of pcp/lists.c. */
static long excess_drain(struct model *model, struct zone *zone, struct list *list, int high)
{
	long before = list->count;

	while (list->count > high)
		shrink(model, zone, list, high,
		       lmm_give_pages(list->limits.def, list->batch, model->tunes));
	model->result->excess_pages += before - list->count;
	return before - list->count;
}

/* Where the kernel tunes, it bounds lists whatever the policy may. */
static int max_high(const struct model *model, const struct zone *zone, const struct list *list)
{
	int max = pcp_max_high(zone->managed, model->config->high_max_tenths, zone->cpus, zone->low,
			       list->batch);

	return model->tunes ? min(max, zone->high) : max;
}

/* list_act() of pcp/size.c. */
static void act(struct model *model, struct zone *zone, struct list *list)
{
	const struct pcp_decision *decision = &list->decision;
	int before = list->written;

	if (decision->hands_off)
		return;
	if (decision->high > list->limits.def ? decision->high != list->limits.now :
						list->limits.now) {
		if (decision->high != bound(model, zone, list) && before > decision->high)
			model->result->lowered++;
		list->written = decision->high;
		list->changed = true;
		list->tuned = decision->high;
		excess_drain(model, zone, list, decision->high);
	}
	if (decision->high <= list->limits.def && list->written) {
		list->written = 0;
		list->tuned = max(list->limits.def, zone->low);
	}
}

/* pcp_pass() of pcp/size.c, for one zone. */
void model_pass(struct model *model, struct zone *zone, bool tick)
{
	const struct whatif_pcp *config = model->config;
	long held = 0, lacks, kept = 0;
	bool near = is_near(model, zone);
	int cpu;

	for (cpu = 0; cpu < model->nr_cpus; cpu++) {
		struct list *list = zone->lists[cpu];
		struct pcp_sample sample;
		bool fresh;

		if (!list)
			continue;
		sample = sample_of(list);
		fresh = !list->limits.max;
		list->limits = (struct pcp_limits){
			.def = zone->low,
			.max = max_high(model, zone, list),
			.batch = list->batch,
			.now = raised(model, zone, list),
			.near = near,
		};
		if (fresh)
			pcp_event_begin(&list->event, &sample, list->allocated);
		if (tick && !fresh)
			list->decision = pcp_event_tick(&list->event, &sample, list->allocated,
							&list->limits);
		else
			list->decision = pcp_event_hold(&list->limits);
		held += max(list->count - zone->low, 0);
	}
	lacks = zone->mark - model_free(zone) + max(zone->gap, held / 8);
	for (cpu = 0; cpu < model->nr_cpus; cpu++) {
		struct list *list = zone->lists[cpu];
		int keep;

		if (!list)
			continue;
		keep = pcp_keep(list->count, zone->low, held, lacks);
		if (near && !list->decision.hands_off && keep < list->decision.high) {
			list->decision.high = keep;
			list->decision.reason = PCP_BY_ROOM;
			model->result->limited_room++;
		}
		act(model, zone, list);
		kept += list->decision.high - list->limits.def;
	}
	zone->raised = kept;
}

/* decay_pcp_high() of 6.12, once a second. */
void model_vmstat(struct model *model, struct zone *zone)
{
	int cpu;

	for (cpu = 0; cpu < model->nr_cpus; cpu++) {
		struct list *list = zone->lists[cpu];
		int high;

		if (!list || model_follows(model, list))
			continue;
		if (list->tuned > zone->low)
			list->tuned = max3(list->count - (list->batch << SCALE_MAX),
					   list->tuned - (list->tuned >> 3), zone->low);
		high = bound(model, zone, list);
		while (list->count > high)
			shrink(model, zone, list, high, list->batch);
	}
}
