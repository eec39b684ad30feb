// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_census_test.c - kinds of pages, classes of blocks, and their sums
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>

#include "../module/policy/pageblock/core_census.c"

/* Pages of a block of 2 MiB. */
#define WHOLE	512

/* Facts about a page, and its kind. */
static const struct kind_case {
	const char *name;
	struct census_page page;
	enum census_kind kind;
} kind_cases[] = {
	{ "free", { .free = true }, CENSUS_FREE },
	{ "in a per-CPU list", { }, CENSUS_LOOSE },
	{ "in a list, with the mapping it had", { .mapped = true }, CENSUS_LOOSE },
	{ "anonymous or of a file", { .lru = true, .mapped = true, .held = true }, CENSUS_MOVABLE },
	{ "on its way to the LRU list", { .mapped = true, .held = true }, CENSUS_MOVABLE },
	{ "truncated, on the LRU list", { .lru = true, .held = true }, CENSUS_MOVABLE },
	{ "leaving the LRU list", { .lru = true }, CENSUS_MOVABLE },
	{ "movable without a list", { .mapped = true, .held = true }, CENSUS_MOVABLE },
	{ "in a balloon", { .offline = true, .mapped = true, .held = true }, CENSUS_MOVABLE },
	{ "of hugetlb", { .hugetlb = true, .mapped = true, .held = true }, CENSUS_MOVABLE },
	{ "in hugetlb's pool", { .hugetlb = true }, CENSUS_MOVABLE },
	{ "slab", { .slab = true, .held = true }, CENSUS_SLAB },
	{ "slab, what it calls mapping", { .slab = true, .mapped = true, .held = true },
	  CENSUS_SLAB },
	{ "page table", { .table = true, .held = true }, CENSUS_TABLE },
	{ "page table with a lock there", { .table = true, .mapped = true, .held = true },
	  CENSUS_TABLE },
	{ "other kernel", { .held = true }, CENSUS_OTHER },
	{ "reserved", { .reserved = true, .held = true }, CENSUS_RESERVED },
	{ "reserved, freed", { .reserved = true }, CENSUS_RESERVED },
	{ "broken", { .broken = true, .held = true }, CENSUS_RESERVED },
	{ "broken, on the LRU list", { .broken = true, .lru = true, .held = true },
	  CENSUS_RESERVED },
	{ "broken while free", { .broken = true, .free = true }, CENSUS_RESERVED },
	{ "lent to the hypervisor", { .offline = true, .held = true }, CENSUS_RESERVED },
	{ "lent, never there", { .offline = true }, CENSUS_RESERVED },
	/* Facts of two moments, read while a page changes hands. */
	{ "freed while looked at", { .free = true, .lru = true, .mapped = true }, CENSUS_FREE },
	{ "freed slab", { .free = true, .slab = true }, CENSUS_FREE },
};

NAMED_CASES(kind, kind_cases);

static void kind_of_a_page(struct kunit *test)
{
	const struct kind_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, pageblock_census_page_kind(&c->page), c->kind);
}

/* Any combination of the ten facts. */
static void every_page_has_a_kind(struct kunit *test)
{
	bool seen[CENSUS_NR_KINDS] = { };
	unsigned int facts;
	int kind;

	for (facts = 0; facts < BIT(10); facts++) {
		const struct census_page page = {
			.free = facts & BIT(0), .reserved = facts & BIT(1),
			.broken = facts & BIT(2), .offline = facts & BIT(3),
			.slab = facts & BIT(4), .table = facts & BIT(5),
			.hugetlb = facts & BIT(6), .lru = facts & BIT(7),
			.mapped = facts & BIT(8), .held = facts & BIT(9),
		};

		kind = pageblock_census_page_kind(&page);
		KUNIT_ASSERT_GE(test, kind, 0);
		KUNIT_ASSERT_LT(test, kind, CENSUS_NR_KINDS);
		seen[kind] = true;
		if (kind == CENSUS_LOOSE || kind == CENSUS_FREE)
			KUNIT_ASSERT_FALSE(test, page.reserved || page.broken);
		if (kind == CENSUS_OTHER)
			KUNIT_ASSERT_FALSE(test, page.lru || page.mapped || !page.held);
	}
	for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
		KUNIT_EXPECT_TRUE(test, seen[kind]);
}

static const char *const class_words[CENSUS_NR_CLASSES] = {
	[CENSUS_PURE] = "pure", [CENSUS_MIXED] = "mixed", [CENSUS_NEUTRAL] = "neutral",
	[CENSUS_ABSENT] = "absent",
};

#define P CENSUS_PURE
#define M CENSUS_MIXED
#define N CENSUS_NEUTRAL

/* The class of a block of each type with pages of one kind, the other pages free. */
static const struct home_case {
	const char *name;
	enum census_type type;
	/* free, loose, movable, slab, table, other, reserved */
	enum census_class class[CENSUS_NR_KINDS];
} home_cases[] = {
	{ "unmovable", CENSUS_TYPE_UNMOVABLE, { N, P, M, P, P, P, P } },
	{ "movable", CENSUS_TYPE_MOVABLE, { N, P, P, M, M, M, P } },
	{ "reclaimable", CENSUS_TYPE_RECLAIMABLE, { N, P, M, P, M, M, P } },
	{ "highatomic", CENSUS_TYPE_HIGHATOMIC, { N, P, M, P, P, P, P } },
	{ "cma", CENSUS_TYPE_CMA, { N, P, P, M, M, P, P } },
	{ "isolate", CENSUS_TYPE_ISOLATE, { N, P, P, M, M, M, P } },
};

#undef P
#undef M
#undef N

NAMED_CASES(home, home_cases);

static void pages_of_one_kind_in_a_block(struct kunit *test)
{
	const struct home_case *c = test->param_value;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++) {
		bool kernel = kind == CENSUS_SLAB || kind == CENSUS_TABLE || kind == CENSUS_OTHER;
		struct census_block block = { .type = c->type }, full = block;
		struct census_row row = { };
		enum census_class class;

		census_block_add(&full, kind, WHOLE);
		class = pageblock_census_block_class(&full, WHOLE);
		KUNIT_EXPECT_STREQ_MSG(test, class_words[class],
				       class_words[kind == CENSUS_RESERVED ? CENSUS_ABSENT :
						   c->class[kind]], "full of kind %d", kind);

		census_block_add(&block, CENSUS_FREE, WHOLE - 1);
		census_block_add(&block, kind, 1);
		class = pageblock_census_block_class(&block, WHOLE);
		KUNIT_EXPECT_STREQ_MSG(test, class_words[class], class_words[c->class[kind]],
				       "kind %d", kind);
		KUNIT_EXPECT_EQ(test, pageblock_census_foreign(c->type, kind),
				class == CENSUS_MIXED);

		pageblock_census_row_add(&row, &block, WHOLE);
		KUNIT_EXPECT_EQ(test, row.blocks, 1ULL);
		KUNIT_EXPECT_EQ(test, row.class[class], 1ULL);
		KUNIT_EXPECT_EQ(test, row.pages[kind], kind == CENSUS_FREE ? WHOLE : 1ULL);
		KUNIT_EXPECT_EQ(test, row.foreign[kind], class == CENSUS_MIXED ? 1ULL : 0ULL);
		KUNIT_EXPECT_EQ(test, row.held, kernel ? 1ULL : 0ULL);
	}
}

static void edges_of_memory(struct kunit *test)
{
	struct census_block block = { .type = CENSUS_TYPE_MOVABLE };

	/* No page of the block was counted. */
	KUNIT_EXPECT_EQ(test, pageblock_census_block_class(&block, WHOLE), CENSUS_ABSENT);
	/* All pages are free, but there are too few for a whole block. */
	census_block_add(&block, CENSUS_FREE, WHOLE - 1);
	KUNIT_EXPECT_EQ(test, pageblock_census_block_class(&block, WHOLE), CENSUS_PURE);
	census_block_add(&block, CENSUS_FREE, 1);
	KUNIT_EXPECT_EQ(test, pageblock_census_block_class(&block, WHOLE), CENSUS_NEUTRAL);
	/* A block of another size. */
	KUNIT_EXPECT_EQ(test, pageblock_census_block_class(&block, 2 * WHOLE), CENSUS_PURE);
}

/* A census as the policy's seed reports one: blocks, and foreign pages in some. */
struct seed_type {
	enum census_type type;
	unsigned int blocks, mixed;
	/* Foreign pages by kind, spread over the mixed blocks. */
	unsigned int pages[CENSUS_NR_KINDS];
	/* Kind of the pages in the other blocks. */
	enum census_kind home;
};

/* The seed's numbers; its "kmem" counts as page tables here. */
static const struct seed_case {
	const char *name;
	struct seed_type types[3];
	unsigned int neutral;
} seed_cases[] = {
	{ "vanilla", {
		{ CENSUS_TYPE_UNMOVABLE, 50, 13,
		  { [CENSUS_MOVABLE] = 19, [CENSUS_SLAB] = 17 }, CENSUS_OTHER },
		{ CENSUS_TYPE_MOVABLE, 701, 77,
		  { [CENSUS_SLAB] = 4257, [CENSUS_TABLE] = 77, [CENSUS_OTHER] = 2 },
		  CENSUS_MOVABLE },
		{ CENSUS_TYPE_RECLAIMABLE, 149, 16,
		  { [CENSUS_MOVABLE] = 37, [CENSUS_TABLE] = 311, [CENSUS_OTHER] = 26 },
		  CENSUS_SLAB },
	}, 0 },
	{ "patched", {
		{ CENSUS_TYPE_UNMOVABLE, 65, 22, { [CENSUS_MOVABLE] = 38 }, CENSUS_OTHER },
		{ CENSUS_TYPE_MOVABLE, 457, 0, { }, CENSUS_MOVABLE },
		{ CENSUS_TYPE_RECLAIMABLE, 159, 3,
		  { [CENSUS_MOVABLE] = 36, [CENSUS_OTHER] = 23 }, CENSUS_SLAB },
	}, 219 },
};

NAMED_CASES(seed, seed_cases);

/* Pages of a kind for the nth block, dealt as evenly as possible. */
static unsigned int dealt(unsigned int pages, unsigned int blocks, unsigned int nth)
{
	return pages / blocks + (nth < pages % blocks);
}

static void seed_add(const struct seed_type *seed, struct census_row *row)
{
	unsigned int nth;
	int kind;

	for (nth = 0; nth < seed->blocks; nth++) {
		struct census_block block = { .type = seed->type };
		unsigned int used = 0;

		for (kind = 0; nth < seed->mixed && kind < CENSUS_NR_KINDS; kind++) {
			unsigned int pages = dealt(seed->pages[kind], seed->mixed, nth);

			census_block_add(&block, kind, pages);
			used += pages;
		}
		census_block_add(&block, seed->home, (WHOLE - used) / 2);
		census_block_add(&block, CENSUS_FREE, WHOLE - used - (WHOLE - used) / 2);
		pageblock_census_row_add(row, &block, WHOLE);
	}
}

static void the_seed_gives_its_numbers(struct kunit *test)
{
	const struct seed_case *c = test->param_value;
	struct census_row movable = { };
	struct census_row all = { };
	unsigned int i, blocks = 0;
	int kind;

	for (i = 0; i < ARRAY_SIZE(c->types); i++) {
		const struct seed_type *seed = &c->types[i];
		struct census_row row = { };

		seed_add(seed, &row);
		KUNIT_EXPECT_EQ(test, row.blocks, (u64)seed->blocks);
		KUNIT_EXPECT_EQ(test, row.class[CENSUS_MIXED], (u64)seed->mixed);
		KUNIT_EXPECT_EQ(test, row.class[CENSUS_PURE], (u64)seed->blocks - seed->mixed);
		for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
			KUNIT_EXPECT_EQ_MSG(test, row.foreign[kind],
					    pageblock_census_foreign(seed->type, kind) ?
					    (u64)seed->pages[kind] : 0ULL, "kind %d", kind);
		blocks += seed->blocks;
		pageblock_census_row_sum(&all, &row);
	}
	/* The seed's blocks of type "free" may be of any type on a kernel without that type. */
	for (i = 0; i < c->neutral; i++) {
		struct census_block block = { .type = CENSUS_TYPE_MOVABLE };

		census_block_add(&block, CENSUS_FREE, WHOLE);
		pageblock_census_row_add(&movable, &block, WHOLE);
	}
	pageblock_census_row_sum(&all, &movable);
	KUNIT_EXPECT_EQ(test, all.class[CENSUS_NEUTRAL], (u64)c->neutral);
	KUNIT_EXPECT_EQ(test, all.blocks, (u64)blocks + c->neutral);
	KUNIT_EXPECT_EQ(test, 900ULL, all.blocks);
}

/* Kernel pages, other pages, and the share in tenths of a percent. */
static void shares_of_memory(struct kunit *test)
{
	static const struct {
		u64 kernel, free, reserved;
		u32 tenths;
	} cases[] = {
		{ 0, 0, 0, 0 }, { 0, 0, 512, 0 }, { 0, 512, 0, 0 }, { 512, 0, 0, 1000 },
		{ 70, 930, 0, 70 }, { 70, 930, 5000, 70 }, { 1, 1, 0, 500 },
		{ 1, 2, 0, 333 }, { 2, 1, 0, 667 }, { 1, 1999, 0, 1 }, { 1, 2000, 0, 0 },
		{ 1, 999, 0, 1 }, { 1999, 1, 0, 1000 }, { 1998, 2, 0, 999 },
		/* 2^40 pages are 4 PiB. */
		{ BIT_ULL(40), 0, 0, 1000 }, { BIT_ULL(40), BIT_ULL(40), 0, 500 },
		{ BIT_ULL(40) / 16, BIT_ULL(40) / 16 * 15, BIT_ULL(40), 63 },
		{ BIT_ULL(53), BIT_ULL(53), 0, 500 },
	}, *c;
	static const int kinds[] = { CENSUS_SLAB, CENSUS_TABLE, CENSUS_OTHER };
	int i;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			struct census_row row = { };

			row.pages[kinds[i]] = c->kernel;
			row.pages[CENSUS_FREE] = c->free / 2;
			row.pages[CENSUS_LOOSE] = c->free / 4;
			row.pages[CENSUS_MOVABLE] = c->free - c->free / 2 - c->free / 4;
			row.pages[CENSUS_RESERVED] = c->reserved;
			KUNIT_EXPECT_EQ_MSG(test, pageblock_census_memory_share(&row), c->tenths,
					    "%llu and %llu", c->kernel, c->free);
		}
	}
}

static void shares_of_blocks(struct kunit *test)
{
	static const struct {
		u64 held, blocks, absent;
		u32 tenths;
	} cases[] = {
		{ 0, 0, 0, 0 }, { 0, 7, 7, 0 }, { 0, 100, 0, 0 }, { 34, 100, 0, 340 },
		{ 34, 150, 50, 340 }, { 1, 3, 0, 333 }, { 2, 3, 0, 667 }, { 3, 3, 0, 1000 },
		{ 1, 2000, 0, 1 }, { 1, 2001, 0, 0 }, { BIT_ULL(31), BIT_ULL(31), 0, 1000 },
		{ BIT_ULL(30), BIT_ULL(31), 0, 500 },
	}, *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		const struct census_row row = {
			.blocks = c->blocks, .held = c->held,
			.class[CENSUS_ABSENT] = c->absent,
		};

		KUNIT_EXPECT_EQ_MSG(test, pageblock_census_block_share(&row), c->tenths,
				    "%llu of %llu", c->held, c->blocks);
	}
}

/* 2^40 pages of a kind, added block by block and at once. */
static void large_machines_do_not_overflow(struct kunit *test)
{
	const u64 blocks = BIT_ULL(40) / WHOLE;
	struct census_block block = { .type = CENSUS_TYPE_MOVABLE };
	struct census_row row = { }, all = { };
	int i;

	census_block_add(&block, CENSUS_SLAB, WHOLE);
	pageblock_census_row_add(&row, &block, WHOLE);
	/* One block, doubled 31 times below. */
	KUNIT_ASSERT_EQ(test, BIT_ULL(31), blocks);
	for (i = 0; i < 31; i++) {
		const struct census_row twice = row;

		pageblock_census_row_sum(&row, &twice);
	}
	pageblock_census_row_sum(&all, &row);
	KUNIT_EXPECT_EQ(test, all.blocks, blocks);
	KUNIT_EXPECT_EQ(test, all.class[CENSUS_MIXED], blocks);
	KUNIT_EXPECT_EQ(test, all.held, blocks);
	KUNIT_EXPECT_EQ(test, all.pages[CENSUS_SLAB], BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, all.foreign[CENSUS_SLAB], BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, pageblock_census_memory_share(&all), 1000U);
	KUNIT_EXPECT_EQ(test, pageblock_census_block_share(&all), 1000U);
}

static struct kunit_case pageblock_census_cases[] = {
	KUNIT_CASE_PARAM(kind_of_a_page, kind_gen_params),
	KUNIT_CASE(every_page_has_a_kind),
	KUNIT_CASE_PARAM(pages_of_one_kind_in_a_block, home_gen_params),
	KUNIT_CASE(edges_of_memory),
	KUNIT_CASE_PARAM(the_seed_gives_its_numbers, seed_gen_params),
	KUNIT_CASE(shares_of_memory),
	KUNIT_CASE(shares_of_blocks),
	KUNIT_CASE(large_machines_do_not_overflow),
	{ }
};

static struct kunit_suite pageblock_census_suite = {
	.name = "livemm_pageblock_census",
	.test_cases = pageblock_census_cases,
};
