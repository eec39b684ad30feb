// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay.c - what the lists of a recorded host do with policies pcp and zonelock
 *
 * A recording says how many pages a list had at each refill, drain and look.  Between two such
 * moments the list's CPU has allocated or freed the difference.  A CPU asks for the same pages
 * whatever its lists hold, so these are taken from and given to the list of the model.
 */
#include <stdlib.h>

#include "model.h"

#define PCP_TYPES	3
/* MIGRATE_MOVABLE */
#define MOVABLE		1
/* The kernel's vmstat work, which lowers lists that the kernel tunes. */
#define VMSTAT_NS	(1000 * NS_PER_MS)
/* Most times that a CPU takes and gives by turns between two looks. */
#define TURNS_MAX	64L
/*
 * Most pages that a CPU takes or gives between two moments: 1 TiB.  A CPU whose counts move by more
 * has got those of a CPU that went offline.
 */
#define MOVED_MAX	(1L << 28)

/* Everything that happens by the clock up to @time. */
static void clock_run(struct model *model, int64_t time)
{
	int64_t tick = model->config->decay_ms * NS_PER_MS / PCP_USE_TICKS;
	int slot;

	for (;;) {
		int64_t next = min(model->next_vmstat, model->next_tick);
		bool depots = false;
		struct zone *due = NULL;

		if (model->depot_tick && model->depot_tick <= next) {
			next = model->depot_tick;
			depots = true;
		}
		if (model->depot_kick && model->depot_kick <= next) {
			next = model->depot_kick;
			depots = true;
		}

		for (slot = 0; slot < model->nr_slots; slot++) {
			struct zone *zone = &model->zones[slot];

			if (zone->known && zone->pass_at && zone->pass_at <= next) {
				next = zone->pass_at;
				due = zone;
			}
		}
		if (next > time)
			break;
		model->result->kept_area += (double)model->kept * (next - model->now);
		model->now = next;
		if (depots && !due) {
			depot_pass(model);
			continue;
		}
		if (due) {
			due->pass_at = 0;
			model_pass(model, due, false);
			continue;
		}
		for (slot = 0; slot < model->nr_slots; slot++) {
			struct zone *zone = &model->zones[slot];

			if (!zone->known)
				continue;
			if (next == model->next_tick && model->config->enabled)
				model_pass(model, zone, true);
			if (next == model->next_vmstat && model->tunes)
				model_vmstat(model, zone);
		}
		if (next == model->next_tick)
			model->next_tick += tick;
		if (next == model->next_vmstat)
			model->next_vmstat += VMSTAT_NS;
	}
	model->result->kept_area += (double)model->kept * (time - model->now);
	model->now = time;
}

static struct list *list_of(struct model *model, int64_t slot, int64_t cpu)
{
	struct zone *zone;

	if (slot < 0 || slot >= WHATIF_SLOTS || cpu < 0 || cpu >= WHATIF_CPUS)
		return NULL;
	zone = &model->zones[slot];
	if (!zone->known)
		return NULL;
	if (!zone->lists[cpu])
		zone->lists[cpu] = calloc(1, sizeof(struct list));
	model->nr_cpus = max(model->nr_cpus, (int)cpu + 1);
	return zone->lists[cpu];
}

/*
 * The list has come from list->seen pages to @count: @took and @gave is what its CPU has allocated
 * and freed meanwhile.
 *
 * A CPU that was freeing when the list was last drained frees on, and then allocates; a CPU that
 * was allocating does the opposite.  The list was neither full nor empty in between, which limits
 * the swing.  What a CPU took and gave beyond the swing evens out.
 */
static void swing(struct model *model, struct zone *zone, struct list *list, int count, int high,
		  long took, long gave)
{
	long delta = count - list->seen, room = max(high - 1L - list->seen, 0L), first;

	if (list->freed_last) {
		first = clamp(gave, max(delta, 0L), max(room, delta));
		model_give(model, zone, list, first);
		model_take(model, zone, list, first - delta);
	} else {
		first = clamp(took, max(-delta, 0L), max((long)list->seen - list->floor, -delta));
		model_take(model, zone, list, first);
		model_give(model, zone, list, first + delta);
	}
}

/* The mean of two bounds, where there is room between them; else the first. */
static long between(long least, long most)
{
	return (least + max(most, least)) / 2;
}

static void move(struct model *model, struct zone *zone, struct list *list, bool take, long pages)
{
	if (take)
		model_take(model, zone, list, pages);
	else
		model_give(model, zone, list, pages);
}

/* Pages by which the list swings, as far as looks before and after say. */
static long swing_of(const struct model *model, const struct list *list)
{
	return max(model->span.high - model->span.low, max(list->batch, 1));
}

/*
 * The same where refills are not recorded, and @came pages came: the CPU takes, and gives before or
 * after.  Where pages came, the list was empty once, and has on average half of the largest refill
 * left when the CPU begins to give.  Before a drain the CPU gave.  A CPU that takes more than the
 * list swings has given in between.
 */
static void turn(struct model *model, struct zone *zone, struct list *list, int count, int high,
		 long took, long gave, long came)
{
	long room = max(high - 1L - list->seen, 0L), first;
	long half = list->batch << (SCALE_MAX - 1);
	long nr = clamp(DIV_ROUND_UP(took, swing_of(model, list)), 1L, TURNS_MAX), i;

	first = came > 0 ? max(gave - count + half, 0L) : max(took - list->seen, 0L);
	if (!list->took_last)
		first = between(first, min3(gave, room, came > 0 ? took - list->seen : gave));
	first = clamp(first, 0L, gave);
	if (!list->took_last || came <= 0 || nr == 1) {
		model_give(model, zone, list, first);
		model_take(model, zone, list, took);
	} else {
		for (i = 1; i < nr; i++) {
			model_take(model, zone, list, took / nr);
			model_give(model, zone, list, first * i / (nr - 1) -
						      first * (i - 1) / (nr - 1));
		}
		model_take(model, zone, list, took - took / nr * (nr - 1));
	}
	model_give(model, zone, list, gave - first);
}

/*
 * The same where no page came, and none went: a CPU that took before takes on, gives, and takes the
 * rest.  The CPU gives in so many parts that each is about as large as looks before and after say
 * that the list swings.  How much the CPU takes first is not known: the mean of the least and the
 * most with which the list is neither empty nor full.  A CPU that gave before does the opposite.
 */
static void turns(struct model *model, struct zone *zone, struct list *list, int high, long took,
		  long gave)
{
	bool take = list->took_last;
	long seen = list->seen, room = high - 1L - seen;
	long inner = take ? gave : took, outer = take ? took : gave;
	long swings = swing_of(model, list);
	long nr = clamp((inner + swings / 2) / swings, 1L, TURNS_MAX);
	long part = inner / nr, pause = min(part, outer / nr), first, i;

	outer -= pause * (nr - 1);
	if (take)
		first = between(max(part - room, 0L), min(outer, seen));
	else
		first = between(max(part - seen, 0L), min(outer, room));
	first = clamp(first, 0L, outer);
	move(model, zone, list, take, first);
	for (i = 1; i < nr; i++) {
		move(model, zone, list, !take, part);
		move(model, zone, list, take, pause);
	}
	move(model, zone, list, !take, inner - part * (nr - 1));
	move(model, zone, list, take, outer - first);
}

/*
 * The list had @count pages just now: take and give what its CPU has since the moment before.
 * Where refills are not recorded, the CPU's counts say how many pages came.
 */
static void advance(struct model *model, struct zone *zone, struct list *list, int count, int high,
		    int batch, long net, unsigned long allocated, bool drain)
{
	long took = allocated - list->allocated, gave, came = 0;

	list->batch = batch;
	if (!list->known) {
		list->known = true;
		/* What a load does first. */
		list->took_last = true;
		list->tuned = high;
		model_add(model, zone, list, count);
		zone->more -= count;
		list->net = net;
		list->allocated = allocated;
		list->seen = count;
		/* As when the policy is switched on: the list's limits come with a pass. */
		if (model->config->enabled)
			zone->pass_at = model->now;
		return;
	}
	gave = took - (net - list->net);
	if (max(labs(took), labs(gave)) > MOVED_MAX) {
		model->leapt = true;
		return;
	}
	gave = max(gave, 0L);
	took = max(took, 0L);
	if (!model->config->sees_refills) {
		list->floor = model_follows(model, list) ? 0 :
			      min3(model->others, count, list->seen);
		came = whatif_came(net - list->net, took, count - list->seen, batch);
	}
	if (model_follows(model, list)) {
		list->tuned = high;
		/* The kernel's own refills, as long as the list is as recorded. */
		list->due = list->count == list->seen ? came : 0;
	}
	if (model->config->sees_refills)
		swing(model, zone, list, count, high, took, gave);
	else if (came > 0 || drain)
		turn(model, zone, list, count, high, took,
		     max(took + count - list->seen - came, 0L), came);
	else
		turns(model, zone, list, high, took, max(took + count - list->seen, 0L));
	if (list->due > 0 && model_follows(model, list))
		model_came(model, zone, list, list->due);
	list->due = 0;
	if (drain || took != gave)
		list->took_last = !drain && took > gave;
	/* The model's zone has what the recorded zone has, and what its lists hold more. */
	zone->more -= count - list->seen;
	list->net = net;
	list->allocated = allocated;
	list->seen = count;
}

static void on_refill(struct model *model, const int64_t *f)
{
	struct list *list = list_of(model, f[0], f[10]);
	struct zone *zone = &model->zones[f[0]];

	if (!list)
		return;
	zone->free = f[9] + f[3];
	/* The request could not use what the list had. */
	if (!f[1]) {
		list->floor = f[4];
		list->movable = f[2] == MOVABLE;
	}
	advance(model, zone, list, f[4], f[5], f[6], f[7], f[8], false);
	if (f[1]) {
		/* Blocks of a higher order: few, and the same in the model. */
		model_add(model, zone, list, f[3]);
		model->result->refills++;
		model->result->refill_pages += f[3];
	}
	zone->more -= f[3];
	zone->free -= f[3];
	list->seen += f[3];
	list->freed_last = false;
	if (f[1])
		return;
	/* The page that the refill was for. */
	model_take(model, zone, list, 1);
	zone->more++;
	list->seen--;
}

/* Somebody drains all lists of the zone, to have their pages; zonelock gives back too. */
static void all_drain(struct model *model, struct zone *zone, struct list *list)
{
	model_drain(model, zone, list, list->count);
	depot_return_zone(model, zone, DEPOT_BY_DRAIN);
}

/* Of no free: the kernel has lowered the bound to @high, and gives back what is above in parts. */
static void decay(struct model *model, struct zone *zone, struct list *list, int part, int high)
{
	if (!depot_shrink(model, zone, list, high))
		model_drain(model, zone, list, part);
}

static void on_drain(struct model *model, const int64_t *f)
{
	struct list *list = list_of(model, f[0], f[1]);
	struct zone *zone = &model->zones[f[0]];
	int left = f[4] - f[3], high = f[5];

	if (!list)
		return;
	zone->free = f[9];
	/* From 6.7 on the kernel has already lowered the bound for a block of a higher order. */
	if (model->tunes && f[2] >= PCP_TYPES)
		high = high > zone->low ? high + (f[6] << SCALE_MAX) : max(high, list->tuned);
	advance(model, zone, list, f[4], high, f[6], f[7], f[8], true);
	if (f[2] >= PCP_TYPES && f[3] >= min(f[4], (int64_t)f[6] << SCALE_MAX))
		model_exit(model, zone, list);
	else if (f[3] >= f[4])
		all_drain(model, zone, list);
	else if (model_follows(model, list) && list->count == f[4])
		decay(model, zone, list, f[3], high);
	else if (!model->tunes && f[4] < f[5] && !zone->reclaim)
		model_drain(model, zone, list, min((int)f[3], list->count));
	list->freed_last = true;
	list->floor = min(list->floor, max(left, 0));
	list->seen = max(left, 0);
	zone->more += f[4] - list->seen;
	zone->free += f[4] - list->seen;
}

static int on_zone(struct model *model, const int64_t *f)
{
	struct zone *zone;

	if (f[0] < 0 || f[0] >= WHATIF_SLOTS)
		return 0;
	zone = &model->zones[f[0]];
	model->nr_slots = max(model->nr_slots, (int)f[0] + 1);
	zone->known = true;
	zone->cpus = f[1];
	zone->reclaim = f[2];
	zone->low = f[3];
	zone->high = f[4];
	zone->managed = f[5];
	zone->free = f[6];
	zone->high_mark = f[7];
	zone->mark = f[8];
	zone->gap = f[9];
	if (zone->low != zone->high)
		model->tunes = true;
	return model->zonelock->enabled && !zone->shard ? depot_begin(model, zone) : 0;
}

/* Row @at has told of a list: note when row @next, or none, tells of the list again. */
static void look_ahead(struct model *model, const int64_t *rows, int64_t at, int64_t next)
{
	const int64_t *row = rows + next * WHATIF_COLUMNS;
	int64_t count = 0;
	long place = whatif_list(rows + at * WHATIF_COLUMNS, &count);
	struct list *list;

	if (place < 0)
		return;
	list = model->zones[place / WHATIF_CPUS].lists[place % WHATIF_CPUS];
	if (!list)
		return;
	if (next)
		whatif_list(row, &count);
	list->since = model->now;
	list->next = next ? row[0] : 0;
	list->next_count = count;
}

/*
 * Replay @nr rows, sorted by time, with a configuration; returns 0, -1 without memory, or
 * WHATIF_LEAPT for a CPU that takes or gives more between two moments than any can.  The
 * first row's CPU must be known to have no earlier rows.
 */
int whatif_replay(const int64_t *rows, int64_t nr, const struct whatif_pcp *config,
		  const struct whatif_zonelock *zonelock, struct whatif_result *result)
{
	struct model *model = calloc(1, sizeof(*model));
	int64_t *before = calloc(WHATIF_CPUS, sizeof(*before));
	struct whatif_span *spans = config->sees_refills ? NULL : whatif_spans(rows, nr);
	int32_t *floors = config->sees_refills ? NULL : whatif_floors(rows, nr);
	int64_t *ahead = whatif_ahead(rows, nr);
	int64_t i;
	int slot, cpu, err = 0;

	memset(result, 0, sizeof(*result));
	if (!model || !before || !ahead || ((!spans || !floors) && !config->sees_refills) ||
	    !nr) {
		free(model);
		free(before);
		free(spans);
		free(floors);
		free(ahead);
		return nr ? -1 : 0;
	}
	model->config = config;
	model->zonelock = zonelock;
	model->result = result;
	model->now = rows[0];
	model->next_tick = model->now + config->decay_ms * NS_PER_MS / PCP_USE_TICKS;
	model->next_vmstat = model->now + VMSTAT_NS;
	for (i = 0; i < nr && !err; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS;
		int64_t fields[WHATIF_FIELDS];
		struct list *list;

		memcpy(fields, row + 3, sizeof(fields));
		clock_run(model, row[0]);
		if (spans) {
			model->span = spans[i];
			model->others = floors[i];
		}
		switch (row[2]) {
		case WHATIF_REFILL:
			fields[10] = row[1];
			on_refill(model, fields);
			break;
		case WHATIF_DRAIN:
			on_drain(model, fields);
			break;
		case WHATIF_LIST:
			list = list_of(model, fields[0], fields[1]);
			if (list)
				advance(model, &model->zones[fields[0]], list, fields[2],
					fields[3], fields[4], fields[5], fields[6], false);
			break;
		case WHATIF_ZONE:
			err |= on_zone(model, fields);
			break;
		case WHATIF_CPU:
			whatif_faults(before, fields[0], fields[1], &result->faults);
			break;
		case WHATIF_WAKEUP_KSWAPD:
			depot_wanted(model);
			break;
		}
		if (model->leapt)
			err = WHATIF_LEAPT;
		look_ahead(model, rows, i, ahead[i]);
	}
	result->ns = model->now - rows[0];
	for (slot = 0; slot < model->nr_slots; slot++) {
		depot_end(&model->zones[slot]);
		for (cpu = 0; cpu < model->nr_cpus; cpu++)
			free(model->zones[slot].lists[cpu]);
	}
	free(model);
	free(before);
	free(spans);
	free(floors);
	free(ahead);
	return err;
}
