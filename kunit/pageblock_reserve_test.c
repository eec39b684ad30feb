// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_reserve_test.c - how many blocks to have, and when and how much the worker works
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

static void lists_are_emptied_seldom(struct kunit *test)
{
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

	for (now = 0; now < 600000; now += 25) {
		if (now < pageblock_pace_due(&pace))
			continue;
		tried++;
		pageblock_pace_note(&pace, false, now);
		if (tried == 5)
			KUNIT_EXPECT_EQ(test, now, 375ULL);
		KUNIT_ASSERT_LE(test, pace.gap, PAGEBLOCK_MAX_GAP_MS);
	}
	KUNIT_EXPECT_EQ(test, pace.gap, PAGEBLOCK_MAX_GAP_MS);
	KUNIT_EXPECT_EQ(test, tried, PAGEBLOCK_MAX_VAIN);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), U64_MAX);
}

/* An event has the worker try soon; without another the gaps are as long as before. */
static void an_event_ends_the_rest(struct kunit *test)
{
	struct pageblock_pace pace = { };

	pageblock_pace_note(&pace, false, 1000);
	pageblock_pace_wake(&pace, 1010);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), 1010ULL);
	/* Nothing is put off. */
	pageblock_pace_wake(&pace, 1020);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), 1010ULL);
	while (pageblock_pace_due(&pace) != U64_MAX)
		pageblock_pace_note(&pace, false, 1100);
	pageblock_pace_wake(&pace, 1200);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), 1200ULL);
	pageblock_pace_note(&pace, false, 1200);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), 2800ULL);
}

static void progress_makes_it_prompt(struct kunit *test)
{
	struct pageblock_pace pace = { };
	unsigned int i;

	for (i = 0; i < 20; i++)
		pageblock_pace_note(&pace, false, 1000);
	pageblock_pace_note(&pace, true, 2000);
	KUNIT_EXPECT_EQ(test, pageblock_pace_due(&pace), 2000ULL);
	KUNIT_EXPECT_EQ(test, pace.gap, 0U);
	pageblock_pace_note(&pace, false, 2000);
	KUNIT_EXPECT_EQ(test, pace.gap, PAGEBLOCK_GAP_MS);
}

static struct kunit_case pageblock_reserve_cases[] = {
	KUNIT_CASE(a_budget_bounds_what_is_spent),
	KUNIT_CASE(a_budget_saves_a_second_at_most),
	KUNIT_CASE(a_deep_bucket_saves_for_when_memory_becomes_full),
	KUNIT_CASE(a_budget_follows_its_knob),
	KUNIT_CASE(a_wait_is_as_long_as_needed),
	KUNIT_CASE(lists_are_emptied_seldom),
	KUNIT_CASE(what_a_zone_shall_have),
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
