// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock.c - fuzz the rules of the depot, and the depot itself against a count of its pages
 */
#include "input.h"

#include "policy/zonelock/core.c"
#include "policy/zonelock/depot.c"

#define SHARDS	3
#define CPUS	(SHARDS * 2)
#define PAGES	3072
/* Either more than are needed for all pages, or so few that shards are full. */
#define BATCHES	60
#define FEW	7

static struct list_head pages[PAGES];
static struct depot_shard shards[SHARDS];
static struct depot_batch batches[BATCHES];
static u16 shard_of[CPUS];

static struct depot_view take_view(struct input *input)
{
	u8 flags = take(input, 1);

	return (struct depot_view){
		.free = take(input, 3),
		.mark = take(input, 3),
		.held = take(input, 3),
		.max = take(input, 3),
		.disabled = flags & 1,
		.isolated = flags & 2,
		.reclaim = flags & 4,
		.closed = flags & 8,
	};
}

/* Somebody waits for the pages, or the depot may keep no more. */
static bool unwanted(const struct depot_view *view)
{
	return view->isolated || view->reclaim || view->free < view->mark || view->closed;
}

static void rules(struct input *input)
{
	struct depot_view view = take_view(input);
	unsigned int count = take_within(input, 1, DEPOT_BATCH_MAX);
	bool stores = depot_judge(&view, count) == DEPOT_STORE;
	enum depot_reason duty = depot_duty(&view);

	MUST(stores, ==, !view.disabled && !unwanted(&view) && view.held + count <= view.max);
	MUST(duty == DEPOT_BY_AGE || duty == DEPOT_BY_SIZE, ==, !unwanted(&view));
	if (!unwanted(&view))
		MUST(duty == DEPOT_BY_SIZE, ==, view.held > view.max);
	MUST(duty, <=, DEPOT_BY_DRAIN);
	/* All that was just stored stays until the pages are old. */
	if (stores) {
		view.held += count;
		MUST(depot_duty(&view), ==, DEPOT_BY_AGE);
	}
}

/* What lists pass on: no more than CPUs have taken, in half of the time, and nothing twice. */
static void passing(struct input *input)
{
	unsigned long took = 0, sum = 0, taken, held, wants;

	while (input->left) {
		taken = take(input, 3);
		sum += taken;
		took = depot_took(took, taken, take(input, 1));
		held = take(input, 3);
		wants = depot_wants(took, held);
		MUST(took, >=, taken);
		MUST(took, <=, sum);
		MUST(depot_took(took, 0, 1), <=, took);
		MUST(depot_took(took, 0, DEPOT_TOOK_TIMES), ==, 0);
		MUST(wants, <=, took / 2);
		if (wants)
			MUST(held + wants, <=, took / 2);
	}
}

/* What a depot may hold: within the limit, the room of the zone, and what CPUs take. */
static void bounds(struct input *input)
{
	struct depot_view view = take_view(input);
	unsigned long limit = take(input, 3), took = take(input, 3);
	unsigned long bound = depot_bound(&view, limit, took), whole = view.free + view.held;
	unsigned long room = whole > view.mark ? (whole - view.mark) / DEPOT_FREE_SHARE : 0;

	MUST(bound, <=, limit);
	MUST(bound, <=, room);
	MUST(bound, >=, min(limit / DEPOT_TRIAL_SHARE, room));
	MUST(bound, >=, min3(limit, DEPOT_TRIAL_PAGES, room));
	MUST(bound, <=, depot_bound(&view, limit, took + 1));
}

/* What goes under one hold: few blocks, or no more than is asked; the lists keep what they may. */
static void holds(struct input *input)
{
	struct drain_view view = {
		.asked = take_within(input, 2, DRAIN_PAGES),
		.batch = take_within(input, 1, 63),
		.keep = take_within(input, 0, 4096),
		.is_part = take_within(input, 0, 1),
	};
	const unsigned int in_block = take_within(input, 1, 512);
	unsigned int cut;

	/* A drain asks for less than the lists hold. */
	view.have = view.keep + view.asked + take(input, 2);
	do {
		cut = drain_cut(&view);
		MUST(cut, >, 0);
		MUST(cut, <=, view.asked);
		view.have -= cut;
		view.gone += cut;
		view.blocks = DIV_ROUND_UP(view.gone, in_block);
		MUST(view.have, >=, view.keep);
		MUST(view.gone, <=, max(view.asked, JOIN_PAGES));
		MUST(view.blocks, <=, max(view.asked, JOIN_BLOCKS / 2 + view.asked));
	} while (cut == view.asked && drain_goes_on(&view));
}

/* What a refill takes: at least what the kernel wants, more only where there is room and spare. */
static void refills(struct input *input)
{
	const struct refill_view view = {
		.asked = take_within(input, 1, 4096),
		.successive = take_within(input, 0, 2 * REFILL_DOUBLES),
		.room = (long)take(input, 2) - 4096,
		.spare = (long)take(input, 3) - 65536,
		.large = take(input, 3),
	};
	unsigned long small = take(input, 3), pages = refill_pages(&view);
	unsigned int order = refill_order(pages);

	MUST(pages, >=, view.asked);
	if (pages > view.asked) {
		MUST((long)pages, <=, view.room);
		MUST((long)pages, <=, view.spare / 4);
		MUST(pages, <=, REFILL_BLOCKS << REFILL_DOUBLES);
	}
	MUST(pages >> order, <=, REFILL_BLOCKS);
	if (order)
		MUST(pages, >, REFILL_BLOCKS << (order - 1));
	if (refill_splits(&view, pages, small)) {
		MUST(view.large, >=, 4 * pages);
		MUST(view.large, >=, small * REFILL_SMALL_SHARE);
	}
}

/* Pages in a list, none of which may be elsewhere too. */
static unsigned int length(const struct list_head *list)
{
	const struct list_head *at;
	unsigned int count = 0;

	for (at = list->next; at != list; at = at->next) {
		MUST_BE(at->next->prev == at);
		count++;
	}
	return count;
}

static void chain(struct list_head *from, struct list_head *to, unsigned int count)
{
	while (count-- && !list_empty(from)) {
		struct list_head *page = from->next;

		list_del(page);
		list_add_tail(page, to);
	}
}

static void depot_of_pages(struct input *input)
{
	LIST_HEAD(loose);
	unsigned long now = take(input, 8);
	unsigned int held = 0, i;
	struct depot_shard *own;
	struct depot depot;
	bool few;

	memset(shards, 0, sizeof(shards));
	memset(batches, 0, sizeof(batches));
	depot_init(&depot, shards, take_within(input, 1, SHARDS), shard_of);
	for (i = 0; i < CPUS; i++)
		shard_of[i] = i % depot.nr_shards;
	few = take_bool(input);
	MUST(depot_batches_for(PAGES, depot.nr_shards), <=, BATCHES);
	depot_supply(&depot, batches, few ? FEW : BATCHES);
	for (i = 0; i < PAGES; i++)
		list_add_tail(&pages[i], &loose);
	while (input->left) {
		unsigned int cpu = take_within(input, 0, CPUS - 1);
		unsigned int kind = take_within(input, 0, DEPOT_KINDS - 1);
		unsigned int count = take_within(input, 1, DEPOT_BATCH_MAX), put;
		u8 what = take(input, 1);
		bool busy = what & 0x80;
		LIST_HEAD(moved);

		/* A CPU that is interrupted holds the lock of its shard. */
		own = &depot.shards[shard_of[cpu]];
		if (busy)
			spin_lock(&own->lock);
		switch (what % 4) {
		case 0:
		case 1:
			/* Bursts fill a ring. */
			for (i = what >> 2 & 15 ? 1 : PAGES; i; i--) {
				chain(&loose, &moved, count);
				put = length(&moved);
				if (!put)
					break;
				if (depot_put(&depot, cpu, kind, &moved, put, now)) {
					MUST_BE(list_empty(&moved));
					held += put;
				} else {
					/* Never with batches left and nobody in the way. */
					MUST_BE(few || busy);
					MUST(length(&moved), ==, put);
					break;
				}
			}
			break;
		case 2:
			count = depot_get(&depot, cpu, kind, &moved);
			MUST(length(&moved), ==, count);
			/* Nothing was to be had. */
			for (i = 0; !count && !busy && i < depot.nr_shards; i++)
				MUST_BE(!(shards[i].kinds & BIT(kind)));
			held -= count;
			break;
		default:
			now += count;
			if (busy)
				count = depot_try_return(&depot, &kind, &moved);
			else
				count = depot_return(&depot, now - take(input, 2), &kind, &moved);
			MUST(length(&moved), ==, count);
			held -= count;
		}
		if (busy)
			spin_unlock(&own->lock);
		list_splice_tail_init(&moved, &loose);
		MUST(atomic_long_read(&depot.pages), ==, held);
	}
	MUST(length(&loose) + held, ==, PAGES);
	/* Old or not, all pages can be had back. */
	for (i = 0; held; i++) {
		LIST_HEAD(moved);
		unsigned int kind, count = depot_return(&depot, now, &kind, &moved);

		MUST(count, >, 0);
		MUST(length(&moved), ==, count);
		held -= count;
		list_splice_tail_init(&moved, &loose);
	}
	MUST(length(&loose), ==, PAGES);
	MUST(atomic_long_read(&depot.pages), ==, 0);
	MUST(depot_batches(&depot), ==, 0);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = {
		depot_of_pages, rules, bounds, refills, holds, passing
	};
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
