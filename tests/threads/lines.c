// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines.c - cache lines that many CPUs write, and get from each other, at one depot
 *
 * The depot is compiled with calls at each access to memory (-fsanitize=thread).  This program has
 * the functions that are called, and keeps for each cache line who has a copy.  CPUs take turns, so
 * no CPU waits for a lock: what grows with the number of CPUs is the number of lines.
 *
 * Half of the CPUs free pages and half allocate.  All share one zone, in caches of eight CPUs.
 *
 * Prints a line a machine, then a line a check, "ok NAME" or "not ok NAME".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/policy/zonelock/depot.h"
#include "module/policy/zonelock/shards.h"

#define MOST_CPUS	512
#define CACHE_CPUS	8
#define BATCH		63	/* pages of a drain: pcp->batch of large zones */
#define TURNS		64	/* of each CPU, counted */
#define LINE		64
#define LINES		BIT(22)	/* places in the table of lines, a power of two */

/* A cache line that was touched. */
struct line {
	unsigned long number;	/* its address / LINE; 0: a free place */
	unsigned long op;	/* the last one that wrote the line */
	u64 copies[MOST_CPUS / 64];
};

/* What was counted. */
struct counts {
	unsigned long written;	/* lines, once an operation */
	unsigned long got;	/* lines whose content another CPU had, or had to give up */
	unsigned long read;	/* the same, of lines that are read only */
	unsigned long pages;
};

/* Stands for struct page, of which it has the size. */
struct page {
	struct list_head list;
} ____cacheline_aligned_in_smp;

static struct line *lines;
static struct counts counts;
static unsigned int cpu;	/* that runs now */
static unsigned long op;

static struct line *line_at(unsigned long number)
{
	unsigned long i = number * 0x9e3779b97f4a7c15UL >> 42;

	while (lines[i].number && lines[i].number != number)
		i = (i + 1) % LINES;
	lines[i].number = number;
	return &lines[i];
}

static bool copied(const struct line *line)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(line->copies); i++)
		if (line->copies[i])
			return true;
	return false;
}

/* Has the CPU a copy, and with @alone nobody else? */
static bool has_copy(const struct line *line, bool alone)
{
	struct line mine = { .number = 0 };

	mine.copies[cpu / 64] = 1UL << cpu % 64;
	if (alone)
		return !memcmp(mine.copies, line->copies, sizeof(mine.copies));
	return line->copies[cpu / 64] & mine.copies[cpu / 64];
}

static void touch(unsigned long at, bool writes)
{
	struct line *line = line_at(at / LINE);

	if (!has_copy(line, writes) && copied(line)) {
		counts.got++;
		counts.read += !writes;
	}
	if (writes) {
		memset(line->copies, 0, sizeof(line->copies));
		counts.written += line->op != op;
		line->op = op;
	}
	line->copies[cpu / 64] |= 1UL << cpu % 64;
}

/* What the compiler calls. */
#define ACCESS(bytes)							\
void __tsan_read##bytes(void *at)					\
{									\
	touch((unsigned long)at, false);				\
}									\
void __tsan_write##bytes(void *at)					\
{									\
	touch((unsigned long)at, true);					\
}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)

#define ATOMIC(bits, type)						\
type __tsan_atomic##bits##_load(const type *at, int order)	\
{									\
	touch((unsigned long)at, false);				\
	return *at;							\
}									\
void __tsan_atomic##bits##_store(type *at, type v, int order)	\
{									\
	touch((unsigned long)at, true);					\
	*at = v;							\
}									\
type __tsan_atomic##bits##_exchange(type *at, type v, int order) \
{									\
	type old = *at;							\
									\
	touch((unsigned long)at, true);					\
	*at = v;							\
	return old;							\
}									\
type __tsan_atomic##bits##_fetch_add(type *at, type v, int order) \
{									\
	touch((unsigned long)at, true);					\
	*at += v;							\
	return *at - v;							\
}

long __tsan_atomic64_fetch_or(long *at, long v, int order)
{
	touch((unsigned long)at, true);
	*at |= v;
	return 0;
}

long __tsan_atomic64_fetch_and(long *at, long v, int order)
{
	touch((unsigned long)at, true);
	*at &= v;
	return 0;
}

ATOMIC(8, char)
ATOMIC(16, short)
ATOMIC(32, int)
ATOMIC(64, long)

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
}

void __tsan_func_exit(void)
{
}

static int node_of(unsigned int number)
{
	return 0;
}

static bool share_cache(unsigned int a, unsigned int b)
{
	return a / CACHE_CPUS == b / CACHE_CPUS;
}

static void *zeroed(size_t size)
{
	void *at = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);

	if (!at) {
		fprintf(stderr, "error: no memory for %zu bytes\n", size);
		exit(2);
	}
	return memset(at, 0, size);
}

/* Each CPU that frees stores a batch, and each that allocates takes one; returns batches taken. */
static unsigned long turn(struct depot *depot, unsigned int nr_cpus, struct page *pages,
			  unsigned long now)
{
	unsigned long taken = 0;
	unsigned int i;

	for (cpu = 0; cpu < nr_cpus; cpu += 2) {
		LIST_HEAD(batch);

		for (i = 0; i < BATCH; i++)
			list_add_tail(&pages[cpu / 2 * BATCH + i].list, &batch);
		op++;
		if (depot_has_room(depot, cpu) &&
		    depot_put(depot, cpu, 0, &batch, BATCH, now))
			counts.pages += BATCH;
	}
	for (cpu = 1; cpu < nr_cpus; cpu += 2) {
		LIST_HEAD(batch);

		op++;
		taken += depot_get(depot, cpu, 0, &batch) > 0;
	}
	return taken;
}

/* Lines that @nr_cpus CPUs write and get, for each page that is stored. */
static struct counts machine(unsigned int nr_cpus, struct page *pages)
{
	const struct shard_topology topology = { .node_of = node_of, .share_cache = share_cache };
	u16 *shard_of = zeroed(nr_cpus * sizeof(*shard_of));
	unsigned int nr = shards_assign(&topology, nr_cpus, shard_of);
	struct depot_shard *shards = zeroed(nr * sizeof(*shards));
	unsigned long i, taken = 0, batches = depot_batches_for(BATCH * nr_cpus * 16UL, nr);
	struct depot_batch *memory = zeroed(batches * sizeof(*memory));
	struct depot *depot = zeroed(sizeof(*depot));

	memset(lines, 0, LINES * sizeof(*lines));
	depot_init(depot, shards, nr, shard_of);
	depot_supply(depot, memory, batches);
	for (i = 0; i <= TURNS; i++) {
		/* The first turn touches everything for the first time. */
		if (i == 1)
			counts = (struct counts){ 0 };
		taken += turn(depot, nr_cpus, pages, i);
	}
	printf("%u CPUs, %u shards, %lu batches taken; a batch of %u pages in and out: ",
	       nr_cpus, nr, taken, BATCH);
	printf("%.2f lines written, %.2f got from another CPU (%.2f of them to read)\n",
	       1.0 * counts.written * BATCH / counts.pages,
	       1.0 * counts.got * BATCH / counts.pages, 1.0 * counts.read * BATCH / counts.pages);
	free(depot);
	free(memory);
	free(shards);
	free(shard_of);
	return counts;
}

static void say(bool ok, const char *name)
{
	printf("%s %s\n", ok ? "ok" : "not ok", name);
}

int main(void)
{
	static const unsigned int machines[] = { 2, 4, 8, 16, 64, 128, 512 };
	struct page *pages = zeroed(MOST_CPUS / 2 * BATCH * sizeof(*pages));
	struct counts found[ARRAY_SIZE(machines)];
	const struct counts *most = &found[ARRAY_SIZE(machines) - 1];
	const struct counts *cache = &found[2], *some = &found[4];
	unsigned int i;

	lines = zeroed(LINES * sizeof(*lines));
	for (i = 0; i < ARRAY_SIZE(machines); i++)
		found[i] = machine(machines[i], pages);
	say(cache->pages && most->pages == 64 * cache->pages, "every batch is stored");
	say(cache->written && most->written * cache->pages <= cache->written * most->pages * 1.2,
	    "512 CPUs write hardly more lines a page than the 8 of one cache");
	/* A CPU that finds no batch has read a word of each shard. */
	say(cache->got && some->got * cache->pages <= cache->got * some->pages * 2,
	    "64 CPUs get at most twice the lines a page from each other");
	free(lines);
	free(pages);
	return 0;
}
