// SPDX-License-Identifier: GPL-2.0-only
/*
 * depots.c - a model of the glue of policy zonelock (handlers.c, giveback.c, hand.c)
 *
 * The depot is module/policy/zonelock/depot.c itself, and the decisions are those of core.c.  A
 * batch of the model is a count without pages, which the depot never looks at.  Each zone has one
 * shard: a CPU takes from and stores in the others' shards where its own has no batch or no room,
 * so several differ from one only in which batch is taken first.
 */
#include <stdlib.h>

#include "policy/common/drain.h"
#include "model.h"

/* HZ of Debian's kernels is 250. */
#define JIFFY_NS	(4 * NS_PER_MS)
/* Of zonelock/handlers.c, giveback.c, urgent.c and hand.h. */
#define HAND_BLOCKS	64
/* Neighbours make blocks of order 3 at least. */
#define NEIGHBOURS	8

static LIST_HEAD(nothing);
static const u16 first_shard[WHATIF_CPUS];

static unsigned long jiffies_of(const struct model *model)
{
	return model->now / JIFFY_NS;
}

static long blocks_of(long pages)
{
	return DIV_ROUND_UP(pages, NEIGHBOURS);
}

/* Make the depot of a zone, empty. */
int depot_begin(const struct model *model, struct zone *zone)
{
	unsigned long nr = depot_batches_for(zone->managed * model->zonelock->max_tenths / 1000, 1);

	zone->shard = aligned_alloc(64, sizeof(*zone->shard));
	zone->batches = calloc(nr, sizeof(*zone->batches));
	if (!zone->shard || !zone->batches)
		return -1;
	memset(zone->shard, 0, sizeof(*zone->shard));
	depot_init(&zone->depot, zone->shard, 1, first_shard);
	depot_supply(&zone->depot, zone->batches, nr);
	zone->reckoned = model->now;
	return 0;
}

void depot_end(struct zone *zone)
{
	free(zone->shard);
	free(zone->batches);
}

/* As zonelock_view(). */
static struct depot_view view_of(const struct model *model, const struct zone *zone)
{
	struct depot_view view = {
		.free = max(model_free(zone), 0L),
		.mark = zone->mark,
		.held = atomic_long_read(&zone->depot.pages),
		.closed = time_before(jiffies_of(model), zone->open_at),
	};

	view.reclaim = zone->reclaim && view.free < view.mark + zone->gap &&
		       view.free >= view.mark;
	view.max = depot_bound(&view, zone->managed * model->zonelock->max_tenths / 1000,
			       zone->took + atomic_long_read(&zone->depot.taken));
	return view;
}

static void kick(struct model *model)
{
	if (!model->depot_kick)
		model->depot_kick = model->now + NS_PER_MS;
}

static enum depot_verdict judge(struct model *model, const struct zone *zone, int asked)
{
	struct depot_view view = view_of(model, zone);
	enum depot_verdict verdict = depot_judge(&view, min(asked, DEPOT_BATCH_MAX));

	if (verdict == DEPOT_STORE)
		return verdict;
	model->result->refused++;
	if (view.held && verdict != DEPOT_FULL)
		kick(model);
	return verdict;
}

/* list_store(): a batch goes into the depot; returns its pages. */
static int store(struct model *model, struct zone *zone, struct list *list, int asked)
{
	int cut = min3(asked, DEPOT_BATCH_MAX, list->count - min(list->floor, list->count));

	if (!depot_has_room(&zone->depot, 0))
		return 0;
	if (cut <= 0 || !depot_put(&zone->depot, 0, 0, &nothing, cut, jiffies_of(model)))
		return 0;
	list->count -= cut;
	list->changed = true;
	model->result->stored_pages += cut;
	if (!model->depot_tick)
		model->depot_tick = model->now + NS_PER_MS;
	return cut;
}

/* list_drain(): pages go to the buddy under one hold, neighbours as blocks; @keep stay. */
static int drain_joined(struct model *model, struct zone *zone, struct list *list, int asked,
			int keep)
{
	struct drain_view view = { .asked = asked, .batch = list->batch, .keep = keep };
	int cut;

	do {
		view.have = list->count;
		cut = min((int)drain_cut(&view), list->count - min(list->floor, list->count));
		model_add(model, zone, list, -cut);
		view.have -= cut;
		view.gone += cut;
		view.blocks = blocks_of(view.gone);
	} while (cut == asked && drain_goes_on(&view));
	list->changed = true;
	model->result->drain_pages += view.gone;
	model->result->drains += view.gone > 0;
	return view.gone;
}

/*
 * zonelock_on_list_shrink(): pcp, or the kernel's decay, gives back what a list does not need.
 * Returns 0 if few pages are to go.
 */
int depot_shrink(struct model *model, struct zone *zone, struct list *list, int keep)
{
	int over = list->count - keep;

	if (!zone->depot.nr_shards || over <= list->batch)
		return 0;
	over = min(over, lmm_give_pages(list->limits.def, list->batch, model->tunes));
	return drain_joined(model, zone, list, over, keep);
}

/* A free has filled the list: pages that need not be drained any more. */
int depot_store(struct model *model, struct zone *zone, struct list *list, int asked)
{
	int gone = 0;

	if (!zone->depot.nr_shards || asked <= 1)
		return 0;
	list->refills = 0;
	if (judge(model, zone, asked) == DEPOT_STORE)
		gone = store(model, zone, list, asked);
	if (!gone)
		gone = drain_joined(model, zone, list, asked, 0);
	return gone >= min(asked / 2, DEPOT_BATCH_MAX) ? max(gone, asked) : gone;
}

/* A block of a higher order was freed in a burst: the depot stores such blocks, which are few. */
int depot_exit(struct model *model, struct zone *zone, struct list *list, int asked)
{
	enum depot_verdict verdict;

	if (!zone->depot.nr_shards || asked <= 1)
		return 0;
	list->refills = 0;
	verdict = judge(model, zone, asked);
	if (verdict == DEPOT_STORE && depot_has_room(&zone->depot, 0)) {
		list->changed = true;
		return asked;
	}
	if ((verdict != DEPOT_STORE && verdict != DEPOT_FULL) || model->tunes)
		return 0;
	return asked - lmm_drain_limit(asked, list->count, list->batch);
}

/* A list is empty: it gets a batch of the depot; returns its pages. */
int depot_fill(struct model *model, struct zone *zone, struct list *list)
{
	int count;

	if (!zone->depot.nr_shards)
		return 0;
	model_meanwhile(model, zone, list);
	if (!depot_stocked(&zone->depot))
		return 0;
	if (model_free(zone) < zone->mark)
		kick(model);
	count = depot_get(&zone->depot, 0, 0, &nothing);
	list->count += count;
	list->changed |= count > 0;
	model->result->taken_pages += count;
	return count;
}

/*
 * zonelock_on_refill_split(): pages of a refill by the buddy, taken as larger blocks.  Which blocks
 * are free is not recorded; the model has large ones.
 */
int depot_split(struct model *model, struct zone *zone, struct list *list, int asked, int high)
{
	struct depot_view state;
	struct refill_view view;
	unsigned long want;
	unsigned int order;

	/* The policy leaves refills of other types alone. */
	if (!zone->depot.nr_shards || model->tunes || asked <= 1 || !list->movable)
		return asked;
	state = view_of(model, zone);
	if (state.reclaim || state.closed)
		return asked;
	view = (struct refill_view){
		.asked = asked,
		.successive = list->refills,
		.room = high / 2 - list->count,
		.spare = (long)(state.free - state.mark),
		.large = state.free,
	};
	if (list->refills < REFILL_DOUBLES)
		list->refills++;
	want = refill_pages(&view);
	order = refill_order(want);
	if (!order || !refill_splits(&view, want, 0))
		return asked;
	return want >> order << order;
}

static void to_buddy(struct model *model, struct zone *zone, long pages)
{
	model_keep(model, zone, -pages);
	model->result->returned_pages += pages;
	model->result->drain_pages += pages;
	model->result->drains += DIV_ROUND_UP(blocks_of(pages), HAND_BLOCKS);
}

/* return_batch() */
static long return_batch(struct model *model, struct zone *zone, unsigned long before)
{
	unsigned int kind, count = depot_return(&zone->depot, before, &kind, &nothing);

	if (count)
		to_buddy(model, zone, count);
	return count;
}

/* zonelock_return_zone() */
long depot_return_zone(struct model *model, struct zone *zone, enum depot_reason reason)
{
	unsigned long before = jiffies_of(model), age;
	struct depot_view view;
	long count, sum = 0;

	if (!zone->depot.nr_shards)
		return 0;
	age = max(model->zonelock->max_age_ms * NS_PER_MS / JIFFY_NS, 4LL);
	if (reason == DEPOT_BY_AGE)
		before -= age / 2;
	view = view_of(model, zone);
	while (depot_stocked(&zone->depot)) {
		if (reason == DEPOT_BY_SIZE &&
		    (unsigned long)atomic_long_read(&zone->depot.pages) <= view.max)
			break;
		count = return_batch(model, zone, before);
		if (!count)
			break;
		sum += count;
	}
	if (reason == DEPOT_BY_AGE)
		model->result->returned_age += sum;
	return sum;
}

/* took_reckon() */
static void took_reckon(const struct model *model, struct zone *zone)
{
	int64_t part = model->zonelock->max_age_ms * NS_PER_MS / DEPOT_TOOK_PARTS;
	unsigned long times = (model->now - zone->reckoned) / part;

	if (!times)
		return;
	zone->took = depot_took(zone->took, atomic_long_read(&zone->depot.taken), times);
	atomic_long_set(&zone->depot.taken, 0);
	zone->reckoned = model->now;
}

/* zone_pass() */
static void zone_pass(struct model *model, struct zone *zone)
{
	struct depot_view view;
	enum depot_reason reason;

	took_reckon(model, zone);
	if (!depot_stocked(&zone->depot)) {
		zone->wanted = false;
		return;
	}
	view = view_of(model, zone);
	view.closed |= zone->wanted;
	zone->wanted = false;
	reason = depot_duty(&view);
	depot_return_zone(model, zone, reason);
	if (reason == DEPOT_BY_SIZE)
		depot_return_zone(model, zone, DEPOT_BY_AGE);
}

/* zonelock_pass(), by the clock or because a hook asked for one. */
void depot_pass(struct model *model)
{
	bool stocked = false;
	int slot;

	for (slot = 0; slot < model->nr_slots; slot++) {
		struct zone *zone = &model->zones[slot];

		if (!zone->depot.nr_shards)
			continue;
		zone_pass(model, zone);
		stocked |= depot_stocked(&zone->depot);
	}
	if (model->depot_kick && model->depot_kick <= model->now)
		model->depot_kick = 0;
	if (!stocked)
		model->depot_tick = 0;
	else if (model->depot_tick <= model->now)
		model->depot_tick = model->now + model->zonelock->max_age_ms * NS_PER_MS / 4;
}

/* A request wakes kswapd: zones that are short get back what their depots hold. */
void depot_wanted(struct model *model)
{
	int slot;

	for (slot = 0; slot < model->nr_slots; slot++) {
		struct zone *zone = &model->zones[slot];

		if (!zone->depot.nr_shards || !depot_stocked(&zone->depot) ||
		    model_free(zone) >= zone->mark)
			continue;
		zone->wanted = true;
		return_batch(model, zone, jiffies_of(model));
		kick(model);
	}
}
