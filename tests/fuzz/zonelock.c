// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock.c - fuzz the rules of the depot, and the depot itself against a count of its pages
 */
#include "input.h"

#include "policy/zonelock/core.c"
#include "policy/zonelock/depot.c"

#define SHARDS	3
#define CPUS	(SHARDS * DEPOT_SHARD_CPUS)
/* A ring holds 64 batches, of 33 pages at the least where none are joined. */
#define PAGES	3072

static struct list_head pages[PAGES];
static struct depot_shard shards[SHARDS];

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
	unsigned int asked = take_within(input, 1, 4096), on_list = take_within(input, 0, 4096);
	bool stores = depot_judge(&view, count) == DEPOT_STORE;
	enum depot_reason duty = depot_duty(&view);
	unsigned int cut = depot_cut(asked, on_list);

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
	MUST(cut, >=, 1);
	MUST(cut, <=, DEPOT_BATCH_MAX);
	if (cut != on_list)
		MUST(cut, <=, asked);
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
	struct depot depot;

	memset(shards, 0, sizeof(shards));
	depot_init(&depot, shards, take_within(input, 1, SHARDS));
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
		if (busy)
			spin_lock(&shard_of(&depot, cpu)->lock);
		switch (what % 4) {
		case 0:
		case 1:
			/* Bursts fill a ring. */
			for (i = what >> 2 & 15 ? 1 : DEPOT_BATCHES + 2; i; i--) {
				chain(&loose, &moved, count);
				put = length(&moved);
				if (put && depot_put(&depot, cpu, kind, &moved, put, now)) {
					MUST_BE(list_empty(&moved) && !busy);
					held += put;
				}
				MUST_BE(list_empty(&moved) || length(&moved) == put);
			}
			break;
		case 2:
			count = depot_get(&depot, cpu, kind, &moved);
			MUST(length(&moved), ==, count);
			held -= count;
			break;
		default:
			now += count;
			if (busy)
				break;
			count = depot_return(&depot, now - take(input, 2), &kind, &moved);
			MUST(length(&moved), ==, count);
			held -= count;
		}
		if (busy)
			spin_unlock(&shard_of(&depot, cpu)->lock);
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
	MUST(atomic_read(&depot.batches), ==, 0);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };

	if (take_bool(&input))
		depot_of_pages(&input);
	else
		rules(&input);
	return 0;
}
