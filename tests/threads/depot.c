// SPDX-License-Identifier: GPL-2.0-only
/*
 * depot.c - many threads at one depot, to be built with ThreadSanitizer
 *
 * Every thread has pages of its own.  It writes to each without any lock before it stores
 * it and after it has taken it: if a depot ever gave a page to two, or without what its
 * last owner did to it being seen, that is a data race and reported as such.
 *
 * Prints a line a check, "ok NAME" or "not ok NAME".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "module/policy/zonelock/depot.c"

#define THREADS		4
#define SHARDS		2
#define BATCHES		512	/* more than there can be */
#define PAGES		4096	/* of each thread at the start */
#define STEPS		500000	/* of each thread */
#define BATCH		64	/* at most */
#define KINDS		3	/* so few that threads meet */

/* What changes hands. */
struct page {
	struct list_head list;	/* in a thread's list or in the depot */
	int owner;		/* who has it; nobody else may look */
	unsigned int moves;	/* how often it was taken */
};

/* A thread. */
struct worker {
	pthread_t thread;
	int number;		/* from 0 on; the last one only gives back */
	u64 random;
	struct list_head pages;	/* what it has */
	unsigned int count;	/* how many */
	unsigned long moved;	/* that it took */
};

static struct page pages[THREADS * PAGES];
static struct depot_shard shards[SHARDS];
static struct depot_batch batches[BATCHES];
/* Of each thread. */
static const u16 shard_of[THREADS] = { 0, 1, 0, 1 };
static struct depot depot;
static struct worker workers[THREADS];

/* xorshift64: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003. */
static u32 next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random >> 16;
}

/* Move the first page of a list to the end of another, and say who has it. */
static struct page *hand_over(struct list_head *from, struct list_head *to, int owner)
{
	struct page *page = list_first_entry(from, struct page, list);

	page->owner = owner;
	list_move_tail(&page->list, to);
	return page;
}

/* What came out of the depot is ours. */
static void own(struct worker *w, struct list_head *batch, unsigned int count)
{
	unsigned int found = 0;

	for (; !list_empty(batch); found++)
		hand_over(batch, &w->pages, w->number)->moves++;
	if (found != count) {
		printf("not ok a batch has as many pages as it says (%u of %u)\n", found, count);
		exit(1);
	}
	w->count += count;
	w->moved += count;
}

static void store(struct worker *w, unsigned long now)
{
	unsigned int count = 1 + next_random(w) % BATCH;
	unsigned int i;
	LIST_HEAD(batch);

	if (count > w->count)
		return;
	for (i = 0; i < count; i++)
		hand_over(&w->pages, &batch, -1);
	if (depot_has_room(&depot, w->number) &&
	    depot_put(&depot, w->number, next_random(w) % KINDS, &batch, count, now))
		w->count -= count;
	while (!list_empty(&batch))
		hand_over(&batch, &w->pages, w->number);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned long now;
	unsigned int kind;

	for (now = 0; now < STEPS; now++) {
		LIST_HEAD(batch);
		u32 what = next_random(w) % 16;

		if (w->number == THREADS - 1 && what < 8)
			own(w, &batch, what & 1 ? depot_return(&depot, now, &kind, &batch) :
						  depot_try_return(&depot, &kind, &batch));
		else if (what & 1)
			store(w, now);
		else
			own(w, &batch, depot_get(&depot, w->number, what % KINDS, &batch));
	}
	return NULL;
}

static void say(bool ok, const char *name)
{
	printf("%s %s\n", ok ? "ok" : "not ok", name);
}

int main(void)
{
	unsigned long found = 0, moved = 0, moves = 0;
	struct worker *last = &workers[THREADS - 1];
	bool mine = true, all_worked = true;
	unsigned int kind, count;
	int i;

	depot_init(&depot, shards, SHARDS, shard_of);
	depot_supply(&depot, batches, BATCHES);
	for (i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];
		int j;

		w->number = i;
		w->random = 20181017 + i;
		w->count = PAGES;
		INIT_LIST_HEAD(&w->pages);
		for (j = 0; j < PAGES; j++) {
			pages[i * PAGES + j].owner = i;
			list_add_tail(&pages[i * PAGES + j].list, &w->pages);
		}
		if (pthread_create(&w->thread, NULL, work, w)) {
			fprintf(stderr, "error: no thread can be made\n");
			return 2;
		}
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);

	do {
		LIST_HEAD(batch);

		count = depot_return(&depot, STEPS, &kind, &batch);
		own(last, &batch, count);
	} while (count);
	for (i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];
		struct page *page;

		moved += w->moved;
		all_worked &= w->moved > STEPS / 10;
		list_for_each_entry(page, &w->pages, list) {
			mine &= page->owner == i;
			found++;
		}
	}
	for (i = 0; i < THREADS * PAGES; i++)
		moves += pages[i].moves;
	say(found == THREADS * PAGES, "every page is somewhere, once");
	say(mine, "and where its last owner put it");
	say(moves == moved, "as many were taken as changed hands");
	say(all_worked, "every thread took part");
	say(!depot_stocked(&depot) && !depot_batches(&depot),
	    "the depot is empty and knows it");
	return 0;
}
