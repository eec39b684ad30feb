// SPDX-License-Identifier: GPL-2.0-only
/*
 * zonelock_core_test.c - what goes into a depot, what comes out, and in which order
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/zonelock/core.c"
#include "../module/policy/zonelock/depot.c"
#include "../module/policy/zonelock/shards.c"

/* Pages of the model.  A page is just a list_head. */
#define MODEL_PAGES	4096
#define MODEL_SHARDS	3
/* CPUs of each shard; MODEL_BATCHES batches for each shard. */
#define MODEL_CPUS	8
#define MODEL_BATCHES	20
/* Too large for two to be joined. */
#define MODEL_LARGE	(DEPOT_BATCH_MAX / 2 + 1)

static const u16 model_shard_of[MODEL_SHARDS * MODEL_CPUS] = {
	0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
};

/* A depot and all pages of the test; @free has those that are not in the depot. */
struct depot_model {
	struct depot depot;
	struct depot_shard shards[MODEL_SHARDS];
	struct depot_batch batches[MODEL_SHARDS * MODEL_BATCHES];
	struct list_head free;
	struct list_head page[MODEL_PAGES];
};

static struct depot_model *model_new(struct kunit *test)
{
	struct depot_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	depot_init(&m->depot, m->shards, MODEL_SHARDS, model_shard_of);
	depot_supply(&m->depot, m->batches, MODEL_SHARDS * MODEL_BATCHES);
	INIT_LIST_HEAD(&m->free);
	for (i = 0; i < MODEL_PAGES; i++)
		list_add_tail(&m->page[i], &m->free);
	return m;
}

static unsigned int length(const struct list_head *list)
{
	const struct list_head *pos;
	unsigned int n = 0;

	list_for_each(pos, list)
		n++;
	return n;
}

/* Move the first @count free pages to a chain. */
static void chain(struct depot_model *m, unsigned int count, struct list_head *to)
{
	while (count--)
		list_move_tail(m->free.next, to);
}

static bool store(struct depot_model *m, unsigned int cpu, unsigned int kind,
		  unsigned int count, unsigned long now)
{
	LIST_HEAD(pages);
	bool stored;

	chain(m, count, &pages);
	stored = depot_put(&m->depot, cpu, kind, &pages, count, now);
	list_splice(&pages, &m->free);
	return stored;
}

/* Take a batch; returns the index of its first page, -1 if there is none. */
static int take(struct depot_model *m, unsigned int cpu, unsigned int kind)
{
	LIST_HEAD(to);
	unsigned int count = depot_get(&m->depot, cpu, kind, &to);
	int first = count ? to.next - m->page : -1;

	if (count != length(&to))
		return -2;
	list_splice_tail(&to, &m->free);
	return first;
}

/* Count the pages and the batches in the rings, and check what shards say of themselves. */
static unsigned int stocked(struct kunit *test, const struct depot_model *m, unsigned int *batches)
{
	unsigned int kind, nr, pages = 0;
	const struct depot_shard *shard;
	const struct depot_batch *batch;

	*batches = 0;
	for (shard = m->shards; shard < m->shards + MODEL_SHARDS; shard++) {
		nr = 0;
		for (kind = 0; kind < DEPOT_KINDS; kind++) {
			KUNIT_EXPECT_EQ(test, !list_empty(&shard->ring[kind]),
					!!(shard->kinds & BIT(kind)));
			list_for_each_entry(batch, &shard->ring[kind], link) {
				KUNIT_EXPECT_EQ(test, length(&batch->pages), batch->count);
				pages += batch->count;
				nr++;
			}
		}
		KUNIT_EXPECT_EQ(test, shard->nr, nr);
		KUNIT_EXPECT_EQ(test, shard->nr_spare, length(&shard->spare));
		KUNIT_EXPECT_EQ(test, nr + shard->nr_spare, (unsigned int)MODEL_BATCHES);
		*batches += nr;
	}
	return pages;
}

/* Free pages of a zone and their mark; pages in the depot, and the most there may be. */
#define VIEW(f, m, h, most)	{ .free = f, .mark = m, .held = h, .max = most }

/* A zone, a batch of @count pages, whether the batch is stored, and why a pass gives pages back. */
static void bounds_of_a_depot(struct kunit *test)
{
	static const struct {
		struct depot_view view;
		unsigned int count;
		enum depot_verdict verdict;
		enum depot_reason duty;
	} cases[] = {
		{ VIEW(1000, 500, 10, 100), 90, DEPOT_STORE, DEPOT_BY_AGE },
		{ VIEW(500, 500, 0, 63), 63, DEPOT_STORE, DEPOT_BY_AGE },
		{ VIEW(1000, 500, 10, 100), 91, DEPOT_FULL, DEPOT_BY_AGE },
		{ VIEW(1000, 500, 0, 0), 1, DEPOT_FULL, DEPOT_BY_AGE },
		{ VIEW(1000, 500, 100, 100), 1, DEPOT_FULL, DEPOT_BY_AGE },
		{ VIEW(1000, 500, 101, 100), 1, DEPOT_FULL, DEPOT_BY_SIZE },
		{ VIEW(499, 500, 0, 100), 1, DEPOT_WATERMARK, DEPOT_BY_WATERMARK },
		{ VIEW(0, 0, 0, 100), 1, DEPOT_STORE, DEPOT_BY_AGE },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		KUNIT_EXPECT_EQ_MSG(test, c->verdict, depot_judge(&c->view, c->count), "case %zu",
				    c - cases);
		KUNIT_EXPECT_EQ_MSG(test, c->duty, depot_duty(&c->view), "case %zu", c - cases);
	}
}

/*
 * A process that only allocates: the pages of refills double, and those of more than 64 pages come
 * in at most 64 blocks.  24,576 pages take 12 refills instead of 391.
 */
static void refills_double(struct kunit *test)
{
	struct refill_view view = { .asked = 63, .room = 3464, .spare = 190000, .large = 190000 };
	unsigned long pages, sum = 0;
	unsigned int order;

	for (; sum < 24576; view.successive++, sum += pages) {
		pages = refill_pages(&view);
		order = refill_order(pages);
		KUNIT_EXPECT_LE(test, pages >> order, REFILL_BLOCKS);
		KUNIT_EXPECT_GT(test, pages >> order, order ? REFILL_BLOCKS / 2 : 0);
		KUNIT_EXPECT_LE(test, pages, 3464UL);
		KUNIT_EXPECT_TRUE(test, refill_splits(&view, pages, 63));
	}
	KUNIT_EXPECT_EQ(test, 12U, view.successive);
}

/* What the kernel wants comes in any case; more only within the room and the free pages. */
static void refills_are_limited(struct kunit *test)
{
	static const struct {
		struct refill_view view;
		unsigned long pages;
	} cases[] = {
		{ { .asked = 63, .successive = 2, .room = 3464, .spare = 190000 }, 252 },
		{ { .asked = 63, .successive = 9, .room = 100000, .spare = 190000 }, 4032 },
		{ { .asked = 2016, .successive = 9, .room = 100000, .spare = 190000 }, 4096 },
		{ { .asked = 63, .successive = 9, .room = 100, .spare = 190000 }, 100 },
		{ { .asked = 63, .successive = 9, .room = -5, .spare = 190000 }, 63 },
		{ { .asked = 63, .successive = 9, .room = 3464, .spare = 400 }, 100 },
		{ { .asked = 63, .successive = 9, .room = 3464, .spare = -400 }, 63 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		KUNIT_EXPECT_EQ_MSG(test, c->pages, refill_pages(&c->view), "case %zu", c - cases);
}

/* Large blocks are split only where they are many, and small ones few. */
static void few_small_blocks_are_left(struct kunit *test)
{
	const struct refill_view many = { .large = 64000 }, none = { };

	KUNIT_EXPECT_TRUE(test, refill_splits(&many, 2016, 1000));
	KUNIT_EXPECT_FALSE(test, refill_splits(&many, 2016, 1001));
	KUNIT_EXPECT_TRUE(test, refill_splits(&many, 16000, 0));
	KUNIT_EXPECT_FALSE(test, refill_splits(&many, 16001, 0));
	KUNIT_EXPECT_FALSE(test, refill_splits(&none, 63, 0));
}

/* Free pages, mark, pages held, the admin's limit, pages taken: pages that may be held. */
static void bound_of_a_depot(struct kunit *test)
{
	static const struct {
		unsigned long free, mark, held, limit;
		unsigned long took, bound;
	} cases[] = {
		/* Much memory is free: the limit, as far as CPUs take what is stored. */
		{ 400000, 1519, 0, 10000, 5000, 10000 },
		{ 400000, 1519, 0, 10000, 3000, 6000 },
		{ 400000, 1519, 0, 100000, 0, 3125 },
		{ 400000, 1519, 0, 10000, 0, 1008 },
		/* Half of what would be free above the mark, wherever it is. */
		{ 2519, 1519, 0, 10000, 9999, 500 },
		{ 2019, 1519, 500, 10000, 9999, 500 },
		{ 1519, 1519, 300, 10000, 9999, 150 },
		{ 1500, 1519, 19, 10000, 9999, 0 },
		{ 400000, 0, 0, 0, 9999, 0 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		const struct depot_view view = VIEW(c->free, c->mark, c->held, 0);

		KUNIT_EXPECT_EQ_MSG(test, c->bound, depot_bound(&view, c->limit, c->took),
				    "case %zu", c - cases);
	}
}

/* Every combination of reasons: one is enough, and of several the weightiest is named. */
static void every_reason(struct kunit *test)
{
	static const enum depot_verdict refusals[] = {
		DEPOT_DISABLED, DEPOT_ISOLATED, DEPOT_WATERMARK, DEPOT_CLOSED, DEPOT_FULL,
		DEPOT_STORE
	};
	/* The same without DEPOT_DISABLED, which is no reason to give pages back. */
	static const enum depot_reason duties[] = {
		DEPOT_BY_DRAIN, DEPOT_BY_WATERMARK, DEPOT_BY_ORDER, DEPOT_BY_SIZE, DEPOT_BY_AGE,
	};

	/* The last bit says how a zone is short. */
	for (unsigned int bits = 0; bits < BIT(DEPOT_NR_VERDICTS); bits++) {
		bool shortage = bits & BIT(2), reclaim = bits & BIT(5);
		const struct depot_view view = {
			.disabled = bits & BIT(0),
			.isolated = bits & BIT(1),
			.reclaim = shortage && reclaim,
			.free = shortage && !reclaim ? 499 : 1000,
			.mark = 500,
			.closed = bits & BIT(3),
			.held = 10,
			.max = bits & BIT(4) ? 0 : ULONG_MAX / 2,
		};

		KUNIT_EXPECT_EQ_MSG(test, refusals[__ffs(bits | BIT(5))], depot_judge(&view, 1),
				    "bits %#x", bits);
		KUNIT_EXPECT_EQ_MSG(test, duties[__ffs(bits >> 1 | BIT(4))], depot_duty(&view),
				    "bits %#x", bits);
	}
}

/* A chain keeps its order; the newest batch comes first, of the wanted kind only. */
static void newest_first_and_in_order(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	struct list_head *pos;
	LIST_HEAD(to);
	int i = 0;

	KUNIT_EXPECT_TRUE(test, store(m, 0, 1, 450, 100));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 1, 70, 101));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 2, 30, 102));
	KUNIT_EXPECT_EQ(test, 550L, atomic_long_read(&m->depot.pages));
	KUNIT_EXPECT_EQ(test, 0U, depot_get(&m->depot, 0, 0, &to));
	KUNIT_EXPECT_EQ(test, 70U, depot_get(&m->depot, 0, 1, &to));
	list_for_each(pos, &to)
		KUNIT_EXPECT_PTR_EQ(test, &m->page[450 + i++], pos);
	KUNIT_EXPECT_EQ(test, 70, i);
	KUNIT_EXPECT_EQ(test, 0, take(m, 0, 1));
	KUNIT_EXPECT_EQ(test, -1, take(m, 0, 1));
	KUNIT_EXPECT_EQ(test, 520, take(m, 0, 2));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&m->depot.pages));
	KUNIT_EXPECT_EQ(test, 550L, atomic_long_read(&m->depot.taken));
	KUNIT_EXPECT_EQ(test, 0U, depot_batches(&m->depot));
}

static void taken_behind_what_is_there(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	LIST_HEAD(to);

	chain(m, 2, &to);
	KUNIT_EXPECT_TRUE(test, store(m, 0, 0, 3, 0));
	KUNIT_EXPECT_EQ(test, 3U, depot_get(&m->depot, 0, 0, &to));
	KUNIT_EXPECT_EQ(test, 5U, length(&to));
	KUNIT_EXPECT_PTR_EQ(test, &m->page[0], to.next);
	KUNIT_EXPECT_PTR_EQ(test, &m->page[4], to.prev);
}

/* The oldest batch comes first, and none that is too young; also when jiffies wrap. */
static void given_back_by_age(struct kunit *test)
{
	unsigned long born = -2UL;
	struct depot_model *m = model_new(test);
	unsigned int kind = 9;
	LIST_HEAD(to);

	KUNIT_EXPECT_TRUE(test, store(m, 0, 1, 450, born));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 1, 70, born + 4));
	KUNIT_EXPECT_EQ(test, 0U, depot_return(&m->depot, born - 1, &kind, &to));
	KUNIT_EXPECT_EQ(test, 450U, depot_return(&m->depot, born + 3, &kind, &to));
	KUNIT_EXPECT_EQ(test, 1U, kind);
	KUNIT_EXPECT_EQ(test, 0U, depot_return(&m->depot, born + 3, &kind, &to));
	KUNIT_EXPECT_EQ(test, 70U, depot_return(&m->depot, born + 4, &kind, &to));
	KUNIT_EXPECT_EQ(test, 0U, depot_return(&m->depot, born + 100, &kind, &to));
	KUNIT_EXPECT_EQ(test, 520U, length(&to));
}

/* Without waiting: the oldest batch, of a part of the depot that nobody is at work in. */
static void given_back_at_once(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	unsigned int kind = 99;
	LIST_HEAD(to);

	KUNIT_EXPECT_EQ(test, 0U, depot_try_return(&m->depot, &kind, &to));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 4, 450, 100));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 4, 70, 101));
	KUNIT_EXPECT_TRUE(test, store(m, MODEL_CPUS, 2, 30, 102));
	KUNIT_EXPECT_TRUE(test, depot_stocked(&m->depot));
	spin_lock(&m->shards[0].lock);
	KUNIT_EXPECT_EQ(test, 30U, depot_try_return(&m->depot, &kind, &to));
	KUNIT_EXPECT_EQ(test, 2U, kind);
	KUNIT_EXPECT_EQ(test, 0U, depot_try_return(&m->depot, &kind, &to));
	spin_unlock(&m->shards[0].lock);
	KUNIT_EXPECT_EQ(test, 450U, depot_try_return(&m->depot, &kind, &to));
	KUNIT_EXPECT_EQ(test, 4U, kind);
	KUNIT_EXPECT_EQ(test, 70U, depot_try_return(&m->depot, &kind, &to));
	KUNIT_EXPECT_EQ(test, 550U, length(&to));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&m->depot.pages));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&m->depot.taken));
	KUNIT_EXPECT_FALSE(test, depot_stocked(&m->depot));
}

/* A full shard has the next one store; when all are full nothing is stored. */
static void full_shards_refuse(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	unsigned int i, kind, shard;
	LIST_HEAD(to);

	for (i = 0; i < MODEL_SHARDS * MODEL_BATCHES; i++) {
		shard = i / MODEL_BATCHES;
		KUNIT_EXPECT_TRUE(test, depot_has_room(&m->depot, 0));
		KUNIT_EXPECT_TRUE(test, store(m, 0, 1, 1, i));
		/* The model has too few pages to fill each batch. */
		list_last_entry(&m->shards[shard].ring[1], struct depot_batch, link)->count =
			DEPOT_BATCH_MAX;
		KUNIT_EXPECT_EQ(test, m->shards[shard].nr, i % MODEL_BATCHES + 1);
	}
	KUNIT_EXPECT_FALSE(test, depot_has_room(&m->depot, 0));
	KUNIT_EXPECT_FALSE(test, store(m, 0, 1, 1, i));
	KUNIT_EXPECT_FALSE(test, store(m, MODEL_CPUS, 2, 1, i));
	KUNIT_EXPECT_EQ(test, (u32)DEPOT_BATCH_MAX, depot_return(&m->depot, i, &kind, &to));
	KUNIT_EXPECT_TRUE(test, store(m, 2 * MODEL_CPUS, 2, 1, i));
	KUNIT_EXPECT_FALSE(test, store(m, 0, 1, 1, i));
}

/*
 * Batches last for as many pages as the depot may hold, however small the drains are, whatever
 * their kinds, and wherever they come from.
 */
static void batches_last_for_all_pages(struct kunit *test)
{
	static const struct {
		unsigned int count;
		unsigned int kinds;
		unsigned int cpus;
	} drains[] = {
		{ DEPOT_BATCH_MAX, 1, 1 }, { MODEL_LARGE, 1, 1 }, { 63, 1, 1 }, { 8, 12, 24 },
		{ MODEL_LARGE, 12, 24 }, { 1, 12, 24 },
	}, *d;

	for (d = drains; d < drains + ARRAY_SIZE(drains); d++) {
		struct depot_model *m = model_new(test);
		unsigned long batches = depot_batches_for(MODEL_PAGES, MODEL_SHARDS);
		unsigned int i, stored = 0;

		KUNIT_ASSERT_GE(test, (unsigned long)MODEL_SHARDS * MODEL_BATCHES, batches);
		for (i = 0; stored + d->count <= MODEL_PAGES; i++, stored += d->count)
			KUNIT_ASSERT_TRUE_MSG(test, store(m, i % d->cpus, i % d->kinds, d->count,
							  i),
					      "case %zu after %u pages", d - drains, stored);
		KUNIT_EXPECT_LE(test, (unsigned long)depot_batches(&m->depot), batches);
	}
	/* 4 percent of a zone of 256 GiB, 224 CPUs: 48 bytes each, 516 KiB. */
	KUNIT_EXPECT_EQ(test, 11004UL, depot_batches_for(2684354, 28));
	KUNIT_EXPECT_EQ(test, 15UL, depot_batches_for(0, 1));
}

/* Batches are joined up to the largest, and the result is as old as the first. */
static void small_ones_join(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	struct list_head *pos;
	unsigned int kind;
	LIST_HEAD(to);
	int i;

	for (i = 0; i < DEPOT_BATCH_MAX / 63; i++)
		KUNIT_EXPECT_TRUE(test, store(m, 0, 11, 63, 100 + i));
	KUNIT_EXPECT_EQ(test, 1U, depot_batches(&m->depot));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 11, 8, 200));
	KUNIT_EXPECT_EQ(test, 2U, depot_batches(&m->depot));
	KUNIT_EXPECT_EQ(test, DEPOT_BATCH_MAX + 8L, atomic_long_read(&m->depot.pages));
	/* What would be too large together is not joined. */
	KUNIT_EXPECT_TRUE(test, store(m, 0, 11, DEPOT_BATCH_MAX - 7, 201));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 11, 8, 202));
	KUNIT_EXPECT_EQ(test, 4U, depot_batches(&m->depot));
	KUNIT_EXPECT_EQ(test, 8U, depot_get(&m->depot, 0, 11, &to));
	KUNIT_EXPECT_EQ(test, DEPOT_BATCH_MAX - 7U, depot_get(&m->depot, 0, 11, &to));
	/* An emptied batch is used again, empty. */
	KUNIT_EXPECT_EQ(test, 8U, depot_get(&m->depot, 0, 11, &to));
	KUNIT_EXPECT_TRUE(test, store(m, 0, 11, 16, 203));
	KUNIT_EXPECT_EQ(test, 16U, depot_get(&m->depot, 0, 11, &to));
	INIT_LIST_HEAD(&to);
	KUNIT_EXPECT_EQ(test, 0U, depot_return(&m->depot, 99, &kind, &to));
	KUNIT_EXPECT_EQ(test, (u32)DEPOT_BATCH_MAX, depot_return(&m->depot, 100, &kind, &to));
	i = 0;
	list_for_each(pos, &to)
		KUNIT_EXPECT_PTR_EQ(test, &m->page[i++], pos);
	KUNIT_EXPECT_EQ(test, DEPOT_BATCH_MAX, i);
	KUNIT_EXPECT_EQ(test, 0U, depot_batches(&m->depot));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&m->depot.pages));
}

/* The own shard comes first, then its neighbour, then the others. */
static void nearest_shard_first(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	unsigned int shard;

	for (shard = 0; shard < MODEL_SHARDS; shard++)
		KUNIT_EXPECT_TRUE(test, store(m, shard * MODEL_CPUS + 1, 0, 10, 0));
	KUNIT_EXPECT_EQ(test, 10, take(m, MODEL_CPUS, 0));
	KUNIT_EXPECT_EQ(test, 0, take(m, MODEL_CPUS + 7, 0));
	KUNIT_EXPECT_EQ(test, 20, take(m, MODEL_CPUS, 0));
	KUNIT_EXPECT_EQ(test, -1, take(m, MODEL_CPUS, 0));
	KUNIT_EXPECT_TRUE(test, store(m, 2 * MODEL_CPUS + 7, 0, 4, 0));
	KUNIT_EXPECT_EQ(test, 1U, m->shards[2].nr);
}

/* Another CPU holds a shard's lock in the middle of a store or a take. */
static void nobody_waits(struct kunit *test)
{
	struct depot_model *m = model_new(test);

	KUNIT_EXPECT_TRUE(test, store(m, 0, 0, 10, 0));
	KUNIT_EXPECT_TRUE(test, store(m, MODEL_CPUS, 0, 20, 0));

	/* A store goes to the next shard. */
	spin_lock(&m->shards[0].lock);
	KUNIT_EXPECT_TRUE(test, store(m, 1, 0, 5, 0));
	KUNIT_EXPECT_EQ(test, MODEL_PAGES - 35U, length(&m->free));
	/*
	 * With all shards locked a store is refused, and leaves the chain alone.  Only the test
	 * holds two of these locks, so the test tries, as lockdep knows no order of them.
	 */
	KUNIT_ASSERT_TRUE(test, spin_trylock(&m->shards[1].lock));
	KUNIT_ASSERT_TRUE(test, spin_trylock(&m->shards[2].lock));
	KUNIT_EXPECT_FALSE(test, store(m, 1, 0, 5, 0));
	KUNIT_EXPECT_EQ(test, MODEL_PAGES - 35U, length(&m->free));
	spin_unlock(&m->shards[2].lock);
	spin_unlock(&m->shards[1].lock);
	/* A take goes to the next shard, and gets nothing once that is empty too. */
	KUNIT_EXPECT_EQ(test, 10, take(m, 1, 0));
	KUNIT_EXPECT_EQ(test, -1, take(m, 1, 0));
	KUNIT_EXPECT_EQ(test, 10L, atomic_long_read(&m->depot.pages));
	spin_unlock(&m->shards[0].lock);

	/* The other CPU's store has added to the sum, but its batch is not there yet. */
	spin_lock(&m->shards[1].lock);
	atomic_long_add(7, &m->depot.pages);
	KUNIT_EXPECT_EQ(test, 0, take(m, MODEL_CPUS, 0));
	KUNIT_EXPECT_EQ(test, -1, take(m, MODEL_CPUS, 0));
	KUNIT_EXPECT_EQ(test, 7L, atomic_long_read(&m->depot.pages));
	KUNIT_EXPECT_TRUE(test, depot_stocked(&m->depot));
	spin_unlock(&m->shards[1].lock);
}

/* Topologies: node of a CPU, and its cache; -1 shares with none. */
static struct {
	int (*node)(unsigned int cpu);
	int (*cache)(unsigned int cpu);
} model_machine;

static int model_node_of(unsigned int cpu)
{
	return model_machine.node(cpu);
}

static bool model_share_cache(unsigned int a, unsigned int b)
{
	return model_machine.cache(a) >= 0 && model_machine.cache(a) == model_machine.cache(b);
}

static int none(unsigned int cpu)
{
	return -1;
}

static int zero(unsigned int cpu)
{
	return 0;
}

static int parity(unsigned int cpu)
{
	return cpu % 2;
}

/* 64 cores with two threads each, whose numbers lie 64 apart; eight cores share a cache. */
static int eight_cores(unsigned int cpu)
{
	return cpu % 64 / 8;
}

static int quarter(unsigned int cpu)
{
	return cpu / 4;
}

static int first_four(unsigned int cpu)
{
	return cpu < 4 ? 0 : -1;
}

static unsigned int shards_of(struct kunit *test, int (*node)(unsigned int cpu),
			      int (*cache)(unsigned int cpu), unsigned int nr_cpus, u16 *shard_of)
{
	static const struct shard_topology topology = {
		.node_of = model_node_of,
		.share_cache = model_share_cache,
	};
	unsigned int cpu, other, nr;

	model_machine.node = node;
	model_machine.cache = cache;
	nr = shards_assign(&topology, nr_cpus, shard_of);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		unsigned int members = 0;

		KUNIT_EXPECT_LT(test, shard_of[cpu], nr);
		for (other = 0; other < nr_cpus; other++) {
			if (shard_of[other] != shard_of[cpu])
				continue;
			members++;
			KUNIT_EXPECT_EQ(test, node(cpu), node(other));
			KUNIT_EXPECT_EQ(test, cache(cpu), cache(other));
		}
		KUNIT_EXPECT_LE(test, members, (unsigned int)SHARD_CPUS);
	}
	return nr;
}

static void shards_by_cache_and_node(struct kunit *test)
{
	u16 of[128];
	unsigned int cpu;

	/* A guest: no two CPUs share a cache. */
	KUNIT_EXPECT_EQ(test, 1U, shards_of(test, zero, none, 2, of));
	KUNIT_EXPECT_EQ(test, 3U, shards_of(test, zero, none, 17, of));
	/* Two sockets of 56 CPUs, node 0 has the even ones; each socket has one cache. */
	KUNIT_EXPECT_EQ(test, 14U, shards_of(test, parity, parity, 112, of));
	for (cpu = 0; cpu < 112; cpu++)
		KUNIT_EXPECT_EQ(test, cpu % 2, of[cpu] / 7U);
	/* Threads of a core are in neighbouring shards of one cache. */
	KUNIT_EXPECT_EQ(test, 16U, shards_of(test, zero, eight_cores, 128, of));
	for (cpu = 0; cpu < 64; cpu++)
		KUNIT_EXPECT_EQ(test, of[cpu] / 2, of[cpu + 64] / 2);
	/* Caches of four CPUs. */
	KUNIT_EXPECT_EQ(test, 8U, shards_of(test, zero, quarter, 32, of));
	/* Four CPUs share a cache; the others are isolated or offline, and share a shard. */
	KUNIT_EXPECT_EQ(test, 2U, shards_of(test, zero, first_four, 12, of));
}

static void random_steps_lose_nothing(struct kunit *test)
{
	struct depot_model *m = model_new(test);
	unsigned long now = -1000UL;
	struct rnd_state rnd;
	unsigned int batches;
	unsigned int kind;
	int i;

	prandom_seed_state(&rnd, 20181017);
	for (i = 0; i < 20000; i++) {
		u32 bits = prandom_u32_state(&rnd);
		unsigned int cpu = bits % 32 % (MODEL_SHARDS * MODEL_CPUS);
		LIST_HEAD(to);

		kind = bits >> 5 & 15;
		now += bits >> 30;
		switch (bits >> 8 & 7) {
		case 0:
			spin_lock(&m->shards[bits >> 11 & 1].lock);
			take(m, cpu, kind % DEPOT_KINDS);
			spin_unlock(&m->shards[bits >> 11 & 1].lock);
			break;
		case 1:
			if (depot_return(&m->depot, now - (bits >> 11 & 63), &kind, &to))
				KUNIT_ASSERT_LT(test, kind, (unsigned int)DEPOT_KINDS);
			list_splice(&to, &m->free);
			break;
		case 2:
		case 3:
		case 4:
			KUNIT_ASSERT_NE(test, -2, take(m, cpu, kind % DEPOT_KINDS));
			break;
		default:
			if (length(&m->free) >= 80)
				store(m, cpu, kind % DEPOT_KINDS, 1 + (bits >> 17) % 80, now);
			break;
		}
		if (i % 1000)
			continue;
		KUNIT_ASSERT_EQ(test, (long)stocked(test, m, &batches),
				atomic_long_read(&m->depot.pages));
		KUNIT_ASSERT_EQ(test, batches, depot_batches(&m->depot));
		KUNIT_ASSERT_EQ(test, (unsigned int)MODEL_PAGES,
				stocked(test, m, &batches) + length(&m->free));
	}
}

static struct kunit_case zonelock_core_cases[] = {
	KUNIT_CASE(bounds_of_a_depot),
	KUNIT_CASE(refills_double),
	KUNIT_CASE(refills_are_limited),
	KUNIT_CASE(few_small_blocks_are_left),
	KUNIT_CASE(bound_of_a_depot),
	KUNIT_CASE(every_reason),
	KUNIT_CASE(newest_first_and_in_order),
	KUNIT_CASE(taken_behind_what_is_there),
	KUNIT_CASE(given_back_by_age),
	KUNIT_CASE(given_back_at_once),
	KUNIT_CASE(full_shards_refuse),
	KUNIT_CASE(batches_last_for_all_pages),
	KUNIT_CASE(small_ones_join),
	KUNIT_CASE(nearest_shard_first),
	KUNIT_CASE(nobody_waits),
	KUNIT_CASE(shards_by_cache_and_node),
	KUNIT_CASE(random_steps_lose_nothing),
	{}
};

static struct kunit_suite zonelock_core_suite = {
	.name = "livemm-zonelock-core",
	.test_cases = zonelock_core_cases,
};
