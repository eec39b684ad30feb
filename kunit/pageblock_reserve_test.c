// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_reserve_test.c - when the worker works, on which blocks, and how much it may spend
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/common/core_budget.c"
#include "../module/policy/pageblock/core_reserve.c"

#define RATE	1500

/* Whoever spends all there is, whenever something is there, spends the rate, and no more. */
static void a_budget_bounds_what_is_spent(struct kunit *test)
{
	static const u32 rates[] = { 1, 7, 100, RATE, 1000000 };
	static const unsigned int steps[] = { 1, 3, 10, 100, 999 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			struct lmm_budget budget;
			u64 now = 5000000, spent = 0, end = now + 20000, left;

			lmm_budget_start(&budget, now, LMM_BUDGET_MS);
			for (; now <= end; now += steps[j]) {
				lmm_budget_fill(&budget, rates[i], now);
				left = lmm_budget_left(&budget);
				lmm_budget_take(&budget, left);
				spent += left;
			}
			KUNIT_EXPECT_LE(test, spent, rates[i] * 20ULL);
			/* Parts of tokens are not lost unless the bucket is full. */
			if (steps[j] <= 100)
				KUNIT_EXPECT_GE(test, spent + 1 + rates[i] / 10,
						rates[i] * 20ULL);
		}
	}
}

static void a_budget_saves_a_second_at_most(struct kunit *test)
{
	struct lmm_budget budget;

	lmm_budget_start(&budget, 1000, LMM_BUDGET_MS);
	lmm_budget_fill(&budget, RATE, 1000);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), 0ULL);
	lmm_budget_fill(&budget, RATE, 1500);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), RATE / 2ULL);
	lmm_budget_fill(&budget, RATE, ~0ULL);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), (u64)RATE);
	/* More than is left can be taken only by mistake. */
	lmm_budget_take(&budget, RATE + 1);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), 0ULL);
}

/* A deep bucket holds more, after a time of quiet; what is spent in all is bounded as before. */
static void a_deep_bucket_saves_for_when_memory_becomes_full(struct kunit *test)
{
	struct lmm_budget budget;
	u64 now, spent = 0;

	lmm_budget_start(&budget, 0, PAGEBLOCK_SAVE_MS);
	for (now = 0; now <= 4000; now += 100)
		lmm_budget_fill(&budget, RATE, now);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), RATE * 4ULL);
	lmm_budget_fill(&budget, RATE, 60000);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), RATE * 5ULL);
	KUNIT_EXPECT_EQ(test, lmm_budget_wait(&budget, RATE, 10 * RATE), 0ULL);
	for (now = 60000; now <= 70000; now += 100) {
		lmm_budget_fill(&budget, RATE, now);
		spent += lmm_budget_left(&budget);
		lmm_budget_take(&budget, lmm_budget_left(&budget));
	}
	KUNIT_EXPECT_EQ(test, spent, RATE * 15ULL);
}

/* A lower rate cuts what was saved; a clock that seems to go back adds nothing. */
static void a_budget_follows_its_knob(struct kunit *test)
{
	struct lmm_budget budget;

	lmm_budget_start(&budget, 0, LMM_BUDGET_MS);
	lmm_budget_fill(&budget, RATE, 5000);
	lmm_budget_fill(&budget, 100, 5000);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), 100ULL);
	lmm_budget_fill(&budget, 0, 6000);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), 0ULL);
	lmm_budget_fill(&budget, RATE, 5500);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), 0ULL);
	lmm_budget_fill(&budget, RATE, 6100);
	KUNIT_EXPECT_EQ(test, lmm_budget_left(&budget), RATE / 10ULL);
}

/* After the time that a wait takes, the tokens are there, and not before. */
static void a_wait_is_as_long_as_needed(struct kunit *test)
{
	static const u32 rates[] = { 1, 31, RATE, 1000000 };
	struct lmm_budget budget;
	u64 wait, tokens;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (tokens = 1; tokens <= 64; tokens++) {
			u64 want = min_t(u64, tokens, rates[i]);

			lmm_budget_start(&budget, 0, LMM_BUDGET_MS);
			wait = lmm_budget_wait(&budget, rates[i], tokens);
			KUNIT_ASSERT_LE(test, wait, 1000ULL);
			lmm_budget_fill(&budget, rates[i], wait - 1);
			KUNIT_ASSERT_LT(test, lmm_budget_left(&budget), want);
			lmm_budget_fill(&budget, rates[i], wait);
			KUNIT_ASSERT_GE(test, lmm_budget_left(&budget), want);
			KUNIT_ASSERT_EQ(test, lmm_budget_wait(&budget, rates[i], want), 0ULL);
		}
	}
}

/* Facts about a page, and what a move costs. */
static const struct price_case {
	const char *name;
	struct lmm_page_facts page;
	u64 price;
} price_cases[] = {
	{ "cold", { .mapped = 1, .pages = 1 }, 4 },
	{ "active", { .active = true, .pages = 1 }, 5 },
	{ "dirty", { .dirty = true, .pages = 1 }, 5 },
	{ "shared", { .mapped = 3, .pages = 1 }, 6 },
	{ "of libc", { .mapped = 5000, .pages = 1 }, 8 },
	{ "all of that", { .active = true, .dirty = true, .mapped = 2, .pages = 1 }, 7 },
	{ "read while freed", { .mapped = -1, .pages = 1 }, 4 },
	{ "larger folio", { .pages = 32 }, 128 },
	{ "larger folio, mapped once", { .mapped = 32, .pages = 32 }, 128 },
	{ "larger folio, mapped in part", { .mapped = 3, .pages = 8 }, 32 },
	{ "larger folio, shared", { .mapped = 64, .pages = 32 }, 160 },
	{ "larger folio, one page shared", { .mapped = 33, .pages = 32 }, 160 },
	{ "larger folio, dirty", { .dirty = true, .pages = 8 }, 40 },
};

NAMED_CASES(price, price_cases);

static void what_a_page_costs(struct kunit *test)
{
	const struct price_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, pageblock_page_price(&c->page), c->price);
}

/* The fewer pages may be moved, the cheaper a block has to be. */
static void dear_blocks_have_to_wait(struct kunit *test)
{
	u64 cold = PAGEBLOCK_PRICE, tokens, most = 0;

	KUNIT_EXPECT_EQ(test, pageblock_price_limit(0, false), 0ULL);
	KUNIT_EXPECT_EQ(test, pageblock_price_limit(0, true), 0ULL);
	/* A full bucket is enough for any block; a third is not, for a block of cold pages. */
	KUNIT_EXPECT_GE(test, pageblock_price_limit(RATE, false), 512 * (cold + 1));
	KUNIT_EXPECT_LT(test, pageblock_price_limit(RATE / 3, false), 300 * cold);
	KUNIT_EXPECT_GE(test, pageblock_price_limit(RATE / 3, true), 300 * cold);
	for (tokens = 0; tokens <= 2 * RATE; tokens++) {
		u64 limit = pageblock_price_limit(tokens, false);

		KUNIT_ASSERT_GE(test, limit, most);
		/* A block that may be taken can be emptied with what is left. */
		KUNIT_ASSERT_LE(test, limit, tokens * cold);
		/* What is urgent may use up all that is left. */
		KUNIT_ASSERT_EQ(test, pageblock_price_limit(tokens, true), tokens * cold);
		most = limit;
	}
}

/* Dear blocks only, at a second's budget: the worker moves them, but few at a time. */
static void dear_blocks_do_not_use_up_the_budget(struct kunit *test)
{
	struct lmm_budget budget;
	unsigned int dear = 0, cheap = 0;

	lmm_budget_start(&budget, 0, LMM_BUDGET_MS);
	lmm_budget_fill(&budget, RATE, 1000);
	while (400 * PAGEBLOCK_PRICE <=
	       pageblock_price_limit(lmm_budget_left(&budget), false)) {
		lmm_budget_take(&budget, 400);
		dear++;
	}
	while (20 * PAGEBLOCK_PRICE <=
	       pageblock_price_limit(lmm_budget_left(&budget), false)) {
		lmm_budget_take(&budget, 20);
		cheap++;
	}
	KUNIT_EXPECT_EQ(test, dear, 2U);
	KUNIT_EXPECT_GE(test, cheap, 25U);
}

/* Of any sequence of blocks, the cheapest remain, in order, each once. */
static void the_cheapest_come_first(struct kunit *test)
{
	static u64 prices[512];
	u64 random = 7;
	unsigned int round, i, blocks, cheaper;

	for (round = 0; round < 200; round++) {
		struct pageblock_choice choice = { };

		blocks = round % 40;
		for (i = 0; i < blocks; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			prices[i] = 1 + (random >> 33) % 50;
			pageblock_choice_add(&choice, i, prices[i]);
			if (i % 3 == 0)
				pageblock_choice_add(&choice, i / 2, prices[i / 2]);
		}
		KUNIT_ASSERT_EQ(test, choice.found, min_t(unsigned int, blocks, 8));
		for (i = 1; i < choice.found; i++)
			KUNIT_ASSERT_LE(test, choice.best[i - 1].price, choice.best[i].price);
		while (choice.found) {
			u64 dearest = choice.best[choice.found - 1].price;
			unsigned int found = choice.found;

			for (i = 0, cheaper = 0; i < blocks; i++)
				cheaper += prices[i] < dearest;
			KUNIT_ASSERT_LT(test, cheaper, 8U);
			KUNIT_ASSERT_EQ(test, choice.best[0].price, prices[choice.best[0].pfn]);
			pageblock_choice_drop(&choice);
			KUNIT_ASSERT_EQ(test, choice.found, found - 1);
		}
	}
}

/* A price that is known to be at least so high need not be looked up if that is too high. */
static void a_full_choice_wants_cheaper_blocks(struct kunit *test)
{
	struct pageblock_choice choice = { };
	unsigned int i;

	for (i = 0; i < PAGEBLOCK_CANDIDATES; i++) {
		KUNIT_EXPECT_EQ(test, pageblock_choice_limit(&choice), ~0ULL);
		pageblock_choice_add(&choice, i, 100 + i);
	}
	KUNIT_EXPECT_EQ(test, pageblock_choice_limit(&choice), 107ULL);
	/* The dearest goes for a cheaper block, not for an equal one. */
	pageblock_choice_add(&choice, 20, 107);
	KUNIT_EXPECT_EQ(test, choice.best[PAGEBLOCK_CANDIDATES - 1].pfn, 7UL);
	pageblock_choice_add(&choice, 21, 50);
	KUNIT_EXPECT_EQ(test, choice.best[0].pfn, 21UL);
	KUNIT_EXPECT_EQ(test, pageblock_choice_limit(&choice), 106ULL);
	pageblock_choice_drop(&choice);
	KUNIT_EXPECT_EQ(test, pageblock_choice_limit(&choice), ~0ULL);
}

/* A choice is kept from one attempt to the next, and prices change meanwhile. */
static void a_block_has_its_last_price(struct kunit *test)
{
	struct pageblock_choice choice = { };
	unsigned int i;

	for (i = 0; i < PAGEBLOCK_CANDIDATES; i++)
		pageblock_choice_add(&choice, i, 100 + i);
	pageblock_choice_add(&choice, 7, 50);
	KUNIT_EXPECT_EQ(test, choice.best[0].pfn, 7UL);
	KUNIT_EXPECT_EQ(test, choice.best[0].price, 50ULL);
	pageblock_choice_add(&choice, 7, 300);
	KUNIT_EXPECT_EQ(test, choice.best[0].pfn, 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_choice_limit(&choice), 300ULL);
	KUNIT_EXPECT_EQ(test, choice.found, PAGEBLOCK_CANDIDATES);
}

/* With few free blocks left, fewer blocks have to do. */
static void the_choice_is_made_sooner_when_blocks_are_few(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_is_low(16, 16));
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_is_low(4, 16));
	KUNIT_EXPECT_TRUE(test, pageblock_reserve_is_low(3, 16));
	KUNIT_EXPECT_TRUE(test, pageblock_reserve_is_low(0, 1));
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_is_low(1, 1));
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_is_low(0, 0));
	KUNIT_EXPECT_EQ(test, pageblock_window(false), 64U);
	KUNIT_EXPECT_EQ(test, pageblock_window(true), 32U);
	KUNIT_EXPECT_EQ(test, pageblock_lists_gap(1), 1000U);
	KUNIT_EXPECT_EQ(test, pageblock_lists_gap(50), 1000U);
	KUNIT_EXPECT_EQ(test, pageblock_lists_gap(512), 10240U);
}

static void what_a_zone_shall_have(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(16, 500, false), 16UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(16, 255, false), 15UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(16, 7, false), 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(0, 500, false), 0UL);
	/* In ZONE_MOVABLE nobody would claim a block of the reserve for another type. */
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(16, 500, true), 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_want(4096, ~0UL, true), 0UL);
}

/* Blocks are to be guarded, up to a number, and free; what is lacking of either counts. */
static void what_a_reserve_lacks(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(0, 0, 16), 16UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(0, 500, 16), 16UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(13, 500, 16), 3UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(16, 16, 16), 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(17, 500, 16), 0UL);
	/* Of a larger reserve, the rest is not guarded. */
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(64, 4096, 4096), 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(60, 4096, 4096), 4UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(64, 1000, 4096), 3096UL);
	KUNIT_EXPECT_EQ(test, pageblock_reserve_lacks(0, 0, 0), 0UL);
}

/* The buddy never joins a block of the reserve with a movable one by what the worker does. */
static void a_part_has_one_type(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, pageblock_may_guard(true, false, false));
	KUNIT_EXPECT_TRUE(test, pageblock_may_guard(true, false, true));
	KUNIT_EXPECT_TRUE(test, pageblock_may_guard(true, true, true));
	KUNIT_EXPECT_FALSE(test, pageblock_may_guard(true, true, false));
	KUNIT_EXPECT_FALSE(test, pageblock_may_guard(false, false, false));
	KUNIT_EXPECT_FALSE(test, pageblock_may_guard(false, true, true));
}

static enum pageblock_fate fate(u64 free, u64 movable, u64 loose, u64 slab)
{
	const struct pageblock_kept_block block = {
		.unmovable = true,
		.content.pages = {
			[CENSUS_FREE] = free, [CENSUS_MOVABLE] = movable, [CENSUS_LOOSE] = loose,
			[CENSUS_SLAB] = slab,
		},
	};

	return pageblock_fate_of(&block, 512);
}

/* Whatever the kernel does to a block of the reserve, its type is right in the end. */
static void what_becomes_of_a_block_of_the_reserve(struct kunit *test)
{
	struct pageblock_kept_block block = { .unmovable = true, .free = true };

	KUNIT_EXPECT_EQ(test, pageblock_fate_of(&block, 512), PAGEBLOCK_FATE_KEEP);
	/* 6.1 joins a block with a movable neighbour, and gives both to movable requests. */
	block.joined = true;
	KUNIT_EXPECT_EQ(test, pageblock_fate_of(&block, 512), PAGEBLOCK_FATE_RESTORE);
	/* Claimed by a huge page, or joined on 6.12. */
	block.unmovable = false;
	KUNIT_EXPECT_EQ(test, pageblock_fate_of(&block, 512), PAGEBLOCK_FATE_FORGET);

	KUNIT_EXPECT_EQ(test, fate(500, 0, 0, 12), PAGEBLOCK_FATE_FORGET);
	KUNIT_EXPECT_EQ(test, fate(400, 100, 0, 12), PAGEBLOCK_FATE_MIXED);
	KUNIT_EXPECT_EQ(test, fate(412, 100, 0, 0), PAGEBLOCK_FATE_RESTORE);
	KUNIT_EXPECT_EQ(test, fate(0, 512, 0, 0), PAGEBLOCK_FATE_RESTORE);
	KUNIT_EXPECT_EQ(test, fate(400, 100, 12, 0), PAGEBLOCK_FATE_RESTORE);
	KUNIT_EXPECT_EQ(test, fate(500, 0, 12, 0), PAGEBLOCK_FATE_KEEP);
	/* A part of the block is not of the zone, or not online. */
	KUNIT_EXPECT_EQ(test, fate(0, 0, 0, 0), PAGEBLOCK_FATE_FORGET);
}

/* Blocks that only some requests may have are no reserve. */
static void blocks_kept_for_others_do_not_count(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(20, 0, 0, 512), 20UL);
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(20, 2 * 512, 0, 512), 18UL);
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(20, 0, 3, 512), 17UL);
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(20, 2 * 512 + 511, 3, 512), 15UL);
	/* More may be kept than is free. */
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(4, 4 * 512, 1, 512), 0UL);
	KUNIT_EXPECT_EQ(test, pageblock_usable_blocks(0, 512, 0, 512), 0UL);
}

/* Attempts in vain, one after the other: the gap doubles, and they end. */
static void attempts_in_vain_become_rare_and_end(struct kunit *test)
{
	struct pageblock_pace pace = { };
	unsigned int tried = 0;
	u64 now;

	for (now = 0; now < 600000; now += 100) {
		if (!pageblock_pace_due(&pace, now))
			continue;
		tried++;
		pageblock_pace_note(&pace, false, now);
		if (tried == 5)
			KUNIT_EXPECT_EQ(test, now, 1500ULL);
		KUNIT_ASSERT_LE(test, pace.gap, 1600U);
	}
	KUNIT_EXPECT_EQ(test, pace.gap, PAGEBLOCK_PERIOD_MS * PAGEBLOCK_MAX_GAP);
	KUNIT_EXPECT_EQ(test, tried, PAGEBLOCK_MAX_VAIN);
	KUNIT_EXPECT_TRUE(test, pageblock_pace_rests(&pace));
	KUNIT_EXPECT_FALSE(test, pageblock_pace_due(&pace, ~0ULL));
}

static void an_event_ends_the_rest(struct kunit *test)
{
	struct pageblock_pace pace = { };
	u64 now = 1000;

	while (!pageblock_pace_rests(&pace))
		pageblock_pace_note(&pace, false, now);
	pageblock_pace_wake(&pace, 1200);
	KUNIT_EXPECT_FALSE(test, pageblock_pace_rests(&pace));
	KUNIT_EXPECT_TRUE(test, pageblock_pace_due(&pace, 1200));
	/* Put off, and so in vain no more often. */
	pageblock_pace_put_off(&pace, 1300);
	KUNIT_EXPECT_FALSE(test, pageblock_pace_due(&pace, 1299));
	KUNIT_EXPECT_TRUE(test, pageblock_pace_due(&pace, 1300));
	pageblock_pace_wake(&pace, 1200);
	/* Without another event the gaps are as long as before. */
	pageblock_pace_note(&pace, false, 1200);
	KUNIT_EXPECT_FALSE(test, pageblock_pace_due(&pace, 1200 + 1599));
	KUNIT_EXPECT_TRUE(test, pageblock_pace_due(&pace, 1200 + 1600));
}

static void progress_makes_it_prompt(struct kunit *test)
{
	struct pageblock_pace pace = { };
	unsigned int i;

	for (i = 0; i < 20; i++)
		pageblock_pace_note(&pace, false, 1000);
	KUNIT_EXPECT_EQ(test, pace.gap, PAGEBLOCK_PERIOD_MS * PAGEBLOCK_MAX_GAP);
	pageblock_pace_note(&pace, true, 2000);
	KUNIT_EXPECT_TRUE(test, pageblock_pace_due(&pace, 2000));
	KUNIT_EXPECT_EQ(test, pace.gap, 0U);
	pageblock_pace_note(&pace, false, 2000);
	KUNIT_EXPECT_EQ(test, pace.gap, PAGEBLOCK_PERIOD_MS);
}

static struct kunit_case pageblock_reserve_cases[] = {
	KUNIT_CASE(a_budget_bounds_what_is_spent),
	KUNIT_CASE(a_budget_saves_a_second_at_most),
	KUNIT_CASE(a_deep_bucket_saves_for_when_memory_becomes_full),
	KUNIT_CASE(a_budget_follows_its_knob),
	KUNIT_CASE(a_wait_is_as_long_as_needed),
	KUNIT_CASE_PARAM(what_a_page_costs, price_gen_params),
	KUNIT_CASE(dear_blocks_have_to_wait),
	KUNIT_CASE(dear_blocks_do_not_use_up_the_budget),
	KUNIT_CASE(the_cheapest_come_first),
	KUNIT_CASE(a_full_choice_wants_cheaper_blocks),
	KUNIT_CASE(a_block_has_its_last_price),
	KUNIT_CASE(the_choice_is_made_sooner_when_blocks_are_few),
	KUNIT_CASE(what_a_zone_shall_have),
	KUNIT_CASE(what_a_reserve_lacks),
	KUNIT_CASE(a_part_has_one_type),
	KUNIT_CASE(what_becomes_of_a_block_of_the_reserve),
	KUNIT_CASE(blocks_kept_for_others_do_not_count),
	KUNIT_CASE(attempts_in_vain_become_rare_and_end),
	KUNIT_CASE(an_event_ends_the_rest),
	KUNIT_CASE(progress_makes_it_prompt),
	{ }
};

static struct kunit_suite pageblock_reserve_suite = {
	.name = "livemm_pageblock_reserve",
	.test_cases = pageblock_reserve_cases,
};
