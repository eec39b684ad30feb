// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_core_test.c - who may mix blocks, and when free ones are made
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "../module/policy/pageblock_core.c"

#define TOP	10	/* the highest order of 6.1 and 6.12 */

static const struct pageblock_settings claim = { PAGEBLOCK_MODE_CLAIM, 3 };
static const struct pageblock_settings strict = { PAGEBLOCK_MODE_STRICT, 3 };

/* A request, and what mode claim and mode strict say to it. */
struct verdict_case {
	const char *name;
	struct pageblock_request request;
	enum pageblock_verdict claim, strict;
};

#define SAME(verdict)	.claim = PAGEBLOCK_##verdict, .strict = PAGEBLOCK_##verdict
/* In the slow path; and one that may reclaim there. */
#define SLOW		.grouped = true, .slow = true
#define WAITS		.waits = true, SLOW

static const struct verdict_case verdict_cases[] = {
	/* In the fast path nobody, whatever else there is to say. */
	{ "fast", { .grouped = true, .waits = true }, SAME(REFUSE_FAST) },
	{ "fast, atomic", { .grouped = true, .high = true }, SAME(REFUSE_FAST) },
	{ "fast, memalloc", { .grouped = true, .memalloc = true }, SAME(REFUSE_FAST) },
	{ "fast, after rounds", { .grouped = true, .waits = true, .rounds = 9, .stuck = 9 },
	  SAME(REFUSE_FAST) },
	/* In the slow path at once, who cannot wait or must not be made to. */
	{ "atomic", { SLOW, .high = true }, SAME(ALLOW_ATOMIC) },
	{ "nowait", { SLOW }, SAME(ALLOW_ATOMIC) },
	{ "highatomic", { SLOW, .high = true, .highatomic = true }, SAME(ALLOW_HIGHATOMIC) },
	{ "memalloc", { WAITS, .memalloc = true }, SAME(ALLOW_MEMALLOC) },
	{ "victim", { WAITS, .victim = true }, SAME(ALLOW_OOM) },
	{ "last", { WAITS, .last = true }, SAME(ALLOW_OOM) },
	{ "nofail", { WAITS, .nofail = true }, SAME(ALLOW_NOFAIL) },
	{ "hopeless", { WAITS, .hopeless = true }, SAME(REFUSE_SLOW) },
	{ "hopeless, tried", { WAITS, .hopeless = true, .rounds = 1 }, SAME(ALLOW_HOPELESS) },
	{ "crowded", { WAITS, .crowded = true }, SAME(ALLOW_CROWDED) },
	/* Who can do with less does; not what a network card asks for in an interrupt. */
	{ "spare", { WAITS, .spare = true }, SAME(REFUSE_SPARE) },
	{ "spare, nowait", { SLOW, .spare = true }, SAME(REFUSE_SPARE) },
	{ "spare, atomic", { SLOW, .spare = true, .high = true }, SAME(ALLOW_ATOMIC) },
	{ "spare, nofail", { WAITS, .spare = true, .nofail = true }, SAME(ALLOW_NOFAIL) },
	{ "spare, hopeless", { WAITS, .spare = true, .hopeless = true }, SAME(REFUSE_SPARE) },
	{ "spare, tried", { WAITS, .spare = true, .rounds = 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	/* The others when it has been tried to make room. */
	{ "not tried", { WAITS }, SAME(REFUSE_SLOW) },
	{ "tried", { WAITS, .rounds = 1 }, PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	{ "tried in vain", { WAITS, .rounds = 1, .stuck = 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	{ "not often enough", { WAITS, .rounds = 2, .stuck = 2 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	{ "often enough", { WAITS, .rounds = 3, .stuck = 3 }, SAME(ALLOW_TRIED) },
	{ "not in a row", { WAITS, .rounds = 9, .stuck = 2 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	{ "nearly for ever", { WAITS, .rounds = PAGEBLOCK_MAX_ROUNDS - 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_STUCK },
	{ "for ever", { WAITS, .rounds = PAGEBLOCK_MAX_ROUNDS }, SAME(ALLOW_TRIED) },
	/* Where the kernel does not group, nor do we. */
	{ "ungrouped, fast", { .waits = true }, SAME(ALLOW_UNGROUPED) },
	{ "ungrouped, slow", { .slow = true, .waits = true, .spare = true },
	  SAME(ALLOW_UNGROUPED) },
};

static void verdict_name(const struct verdict_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(verdict, verdict_cases, verdict_name);

static void verdict_of_a_request(struct kunit *test)
{
	const struct verdict_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, pageblock_judge(&c->request, &claim), c->claim);
	KUNIT_EXPECT_EQ(test, pageblock_judge(&c->request, &strict), c->strict);
}

/* Every request that can be: what must never be refused is not. */
static void all_requests(struct kunit *test)
{
	unsigned int bits, rounds, refused = 0, allowed = 0;

	for (bits = 0; bits < 1U << 12; bits++) {
		for (rounds = 0; rounds <= 2 * PAGEBLOCK_MAX_ROUNDS; rounds++) {
			const struct pageblock_request r = {
				.slow = bits & 1, .waits = bits & 2, .high = bits & 4,
				.highatomic = bits & 8, .memalloc = bits & 16, .last = bits & 32,
				.victim = bits & 64, .nofail = bits & 128, .spare = bits & 256,
				.grouped = bits & 512, .hopeless = bits & 1024,
				.crowded = bits & 2048, .rounds = rounds, .stuck = rounds / 2,
			};
			bool may = pageblock_allows(pageblock_judge(&r, &claim));
			bool may_strictly = pageblock_allows(pageblock_judge(&r, &strict));

			KUNIT_ASSERT_TRUE(test, may || !may_strictly);
			if (!r.grouped)
				KUNIT_ASSERT_TRUE(test, may_strictly);
			else if (!r.slow)
				KUNIT_ASSERT_FALSE(test, may);
			else if (r.memalloc || r.last || r.victim || r.nofail || r.highatomic ||
				 (!r.waits && (r.high || !r.spare)) ||
				 rounds >= PAGEBLOCK_MAX_ROUNDS)
				KUNIT_ASSERT_TRUE(test, may_strictly);
			refused += !may;
			allowed += may;
		}
	}
	KUNIT_EXPECT_GT(test, refused, 0U);
	KUNIT_EXPECT_GT(test, allowed, 0U);
}

static void attempts_are_the_knob(struct kunit *test)
{
	struct pageblock_settings settings = strict;
	struct pageblock_request request = { WAITS };
	unsigned int attempts;

	for (attempts = 1; attempts <= PAGEBLOCK_MAX_ROUNDS; attempts++) {
		settings.max_attempts = attempts;
		request.rounds = attempts - 1;
		request.stuck = attempts - 1;
		KUNIT_EXPECT_FALSE(test, pageblock_allows(pageblock_judge(&request, &settings)));
		request.rounds = attempts;
		request.stuck = attempts;
		KUNIT_EXPECT_TRUE(test, pageblock_allows(pageblock_judge(&request, &settings)));
	}
}

/*
 * The kernel's search as 6.1 makes it: from the highest order down to the first that has
 * something; if that is to be split (a movable request, small), from the request's order
 * up.  Returns the order it ends with, or -1.
 */
static int search(struct kunit *test, struct pageblock_search *s, unsigned long has,
		  unsigned int order, bool movable, bool allowed)
{
	unsigned int judged = 0;
	int at, up;

	for (at = TOP; at >= (int)order; at--) {
		bool found = has & BIT(at);

		if (pageblock_search_asks(s, at, TOP, found) && at < 9) {
			judged += s->pass == PAGEBLOCK_PASS_BEGUN;
			found = pageblock_search_answer(s, at, allowed);
		}
		KUNIT_EXPECT_LE(test, judged, 1U);
		if (found)
			break;
	}
	if (at < (int)order)
		return -1;
	if (!movable || at >= 4 || at == (int)order)
		return at;
	for (up = order; up <= TOP; up++) {
		bool found = has & BIT(up);

		if (pageblock_search_asks(s, up, TOP, found) && up < 9)
			found = pageblock_search_answer(s, up, allowed);
		if (found)
			return up;
	}
	KUNIT_FAIL(test, "6.1 would now take what is not there");
	return -1;
}

/* Whatever there is: one answer a search, and 6.1 finds again what it has found. */
static void a_search_has_one_answer(struct kunit *test)
{
	struct pageblock_search s = { };
	unsigned long has;
	unsigned int order, kind;

	for (has = 0; has < BIT(TOP + 1); has++) {
		for (order = 0; order < 4; order++) {
			for (kind = 0; kind < 4; kind++) {
				bool movable = kind & 1, allowed = kind & 2;
				unsigned long whole = has & ~GENMASK(8, 0);
				unsigned long there = has & ~GENMASK(order, 0);
				int got = search(test, &s, has, order, movable, allowed);

				there |= has & BIT(order);
				if (!allowed && !whole)
					KUNIT_ASSERT_EQ(test, got, -1);
				else
					KUNIT_ASSERT_EQ(test, got >= 0, !!there);
				/* What is whole is claimed and nothing is mixed. */
				if (whole)
					KUNIT_ASSERT_GE(test, got, 9);
			}
		}
	}
}

static void a_search_under_way_is_let_be(struct kunit *test)
{
	struct pageblock_search s = { };

	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, 3, TOP, true));
	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, 0, TOP, true));
	/* The next is not. */
	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, TOP, TOP, false));
	KUNIT_EXPECT_TRUE(test, pageblock_search_asks(&s, 3, TOP, true));
}

/* 6.12 fills a list by going up again and again: the right is for a page, or two. */
static void the_right_is_used_up(struct kunit *test)
{
	struct pageblock_search s = { };
	unsigned int got = 0, i;

	pageblock_search_asks(&s, TOP, TOP, false);
	for (i = 0; i < 63; i++) {
		if (pageblock_search_asks(&s, 0, TOP, true))
			got += pageblock_search_answer(&s, 0, true);
	}
	KUNIT_EXPECT_GE(test, got, 1U);
	KUNIT_EXPECT_LE(test, got, 2U);
}

static void a_reserve_that_is_full_is_left_alone(struct kunit *test)
{
	struct pageblock_reserve reserve = { };

	KUNIT_EXPECT_FALSE(test, pageblock_reserve_tick(&reserve, 8, 8));
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_tick(&reserve, 0, 0));
	KUNIT_EXPECT_TRUE(test, pageblock_reserve_tick(&reserve, 7, 8));
}

static void without_progress_the_gap_doubles(struct kunit *test)
{
	struct pageblock_reserve reserve = { };
	unsigned int tick, woken = 0;

	for (tick = 0; tick < 1000; tick++)
		woken += pageblock_reserve_tick(&reserve, 1, 8);
	/* At ticks 0, 1, 3, 6, 11, 20, 37 and 70, then after 64 more each time. */
	KUNIT_EXPECT_EQ(test, reserve.gap, (unsigned int)PAGEBLOCK_MAX_GAP);
	KUNIT_EXPECT_EQ(test, woken, 8U + (999U - 70) / (PAGEBLOCK_MAX_GAP + 1));
}

static void progress_makes_it_prompt(struct kunit *test)
{
	struct pageblock_reserve reserve = { };
	unsigned int tick, blocks, woken = 0;

	for (tick = 0; tick < 200; tick++)
		pageblock_reserve_tick(&reserve, 1, 8);
	while (!pageblock_reserve_tick(&reserve, 2, 8))
		;
	KUNIT_EXPECT_EQ(test, reserve.gap, 0U);
	for (blocks = 3; blocks < 8; blocks++)
		woken += pageblock_reserve_tick(&reserve, blocks, 8);
	KUNIT_EXPECT_EQ(test, woken, 5U);
	KUNIT_EXPECT_FALSE(test, pageblock_reserve_tick(&reserve, 8, 8));
	KUNIT_EXPECT_FALSE(test, reserve.trying);
}

static struct kunit_case pageblock_core_cases[] = {
	KUNIT_CASE_PARAM(verdict_of_a_request, verdict_gen_params),
	KUNIT_CASE(all_requests),
	KUNIT_CASE(attempts_are_the_knob),
	KUNIT_CASE(a_search_has_one_answer),
	KUNIT_CASE(a_search_under_way_is_let_be),
	KUNIT_CASE(the_right_is_used_up),
	KUNIT_CASE(a_reserve_that_is_full_is_left_alone),
	KUNIT_CASE(without_progress_the_gap_doubles),
	KUNIT_CASE(progress_makes_it_prompt),
	{ }
};

static struct kunit_suite pageblock_core_suite = {
	.name = "livemm_pageblock_core",
	.test_cases = pageblock_core_cases,
};
