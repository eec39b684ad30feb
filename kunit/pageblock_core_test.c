// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_core_test.c - which requests may mix, and which pages of a block can leave
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/pageblock/core.c"

#define TOP	10	/* the highest order of 6.1 and 6.12 */

#define SAME(verdict)	.claim = PAGEBLOCK_##verdict, .strict = PAGEBLOCK_##verdict
/* In the slow path, without and with direct reclaim. */
#define SLOW		.slow = true
#define WAITS		.waits = true, SLOW

/* A request, and its verdicts in modes claim and strict. */
static const struct verdict_case {
	const char *name;
	struct pageblock_request request;
	enum pageblock_verdict claim, strict;
} verdict_cases[] = {
	/* Nobody may mix in the fast path. */
	{ "fast", { .waits = true }, SAME(REFUSE_FAST) },
	{ "fast, atomic", { .high = true }, SAME(REFUSE_FAST) },
	{ "fast, memalloc", { .memalloc = true }, SAME(REFUSE_FAST) },
	{ "fast, after rounds", { .waits = true, .rounds = 9 },
	  SAME(REFUSE_FAST) },
	/* In the slow path, requests that cannot wait or must not be made to wait. */
	{ "atomic", { SLOW, .high = true }, SAME(ALLOW_ATOMIC) },
	{ "nowait", { SLOW }, SAME(ALLOW_ATOMIC) },
	{ "highatomic", { SLOW, .high = true, .highatomic = true }, SAME(ALLOW_ATOMIC) },
	{ "memalloc", { WAITS, .memalloc = true }, SAME(ALLOW_URGENT) },
	{ "victim", { WAITS, .victim = true }, SAME(ALLOW_URGENT) },
	{ "last", { WAITS, .last = true }, SAME(ALLOW_URGENT) },
	{ "nofail", { WAITS, .nofail = true }, SAME(ALLOW_URGENT) },
	{ "deferred", { WAITS, .compact_deferred = true }, SAME(REFUSE_SLOW) },
	{ "deferred, tried", { WAITS, .compact_deferred = true, .rounds = 1 },
	  SAME(ALLOW_COMPACT_DEFERRED) },
	/* Pages of other types are free, and movable pages can leave them again. */
	{ "above high", { WAITS, .above_high = true },
	  PAGEBLOCK_ALLOW_ABOVE_HIGH, PAGEBLOCK_REFUSE_SLOW },
	{ "above high, tried", { WAITS, .above_high = true, .rounds = PAGEBLOCK_MAX_ROUNDS },
	  PAGEBLOCK_ALLOW_ABOVE_HIGH, PAGEBLOCK_ALLOW_TRIED },
	{ "above high, fast", { .waits = true, .above_high = true },
	  SAME(REFUSE_FAST) },
	{ "above high, has fallback", { WAITS, .above_high = true, .has_fallback = true },
	  SAME(REFUSE_HAS_FALLBACK) },
	{ "above high, cleans", { WAITS, .above_high = true, .cleans = true },
	  SAME(REFUSE_HAS_FALLBACK) },
	/* The reserve is not for movable pages that could be reclaimed instead. */
	{ "guarded", { WAITS, .guarded = true }, SAME(REFUSE_SLOW) },
	{ "guarded, above high", { WAITS, .above_high = true, .guarded = true },
	  PAGEBLOCK_REFUSE_GUARDED, PAGEBLOCK_REFUSE_SLOW },
	{ "guarded, above high, fast", { .waits = true, .above_high = true,
					 .guarded = true }, SAME(REFUSE_FAST) },
	{ "guarded, above high, away", { WAITS, .above_high = true, .guarded = true,
					 .away = true }, SAME(ALLOW_NODE) },
	{ "guarded, tried", { WAITS, .above_high = true, .guarded = true, .rounds = 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_SLOW },
	{ "guarded, atomic", { .slow = true, .guarded = true },
	  SAME(ALLOW_ATOMIC) },
	{ "guarded, last", { WAITS, .guarded = true, .last = true }, SAME(ALLOW_URGENT) },
	/* So much is free that reclaim would be for nothing. */
	{ "much free", { WAITS, .much_free = true },
	  PAGEBLOCK_ALLOW_MUCH_FREE, PAGEBLOCK_REFUSE_SLOW },
	{ "much free, fast", { .waits = true, .much_free = true },
	  SAME(REFUSE_FAST) },
	{ "much free, has fallback", { WAITS, .much_free = true, .has_fallback = true },
	  SAME(REFUSE_HAS_FALLBACK) },
	{ "much free, cleans", { WAITS, .much_free = true, .cleans = true },
	  SAME(REFUSE_HAS_FALLBACK) },
	/* Whoever would be sent to another node may mix, in the fast path too. */
	{ "away, fast", { .waits = true, .away = true }, SAME(ALLOW_NODE) },
	{ "away", { WAITS, .away = true }, SAME(ALLOW_NODE) },
	{ "away, has fallback", { WAITS, .away = true, .has_fallback = true }, SAME(ALLOW_NODE) },
	{ "away, tried", { WAITS, .away = true, .rounds = 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_ALLOW_NODE },
	{ "away, nofail", { WAITS, .away = true, .nofail = true }, SAME(ALLOW_URGENT) },
	/* A caller with a fallback is refused, but not a network card's interrupt. */
	{ "has fallback", { WAITS, .has_fallback = true }, SAME(REFUSE_HAS_FALLBACK) },
	{ "has fallback, nowait", { SLOW, .has_fallback = true }, SAME(REFUSE_HAS_FALLBACK) },
	{ "has fallback, atomic", { SLOW, .has_fallback = true, .high = true },
	  SAME(ALLOW_ATOMIC) },
	{ "has fallback, interrupt", { SLOW, .has_fallback = true, .interrupt = true },
	  SAME(ALLOW_ATOMIC) },
	{ "has fallback, nofail", { WAITS, .has_fallback = true, .nofail = true },
	  SAME(ALLOW_URGENT) },
	{ "has fallback, deferred", { WAITS, .has_fallback = true, .compact_deferred = true },
	  SAME(REFUSE_HAS_FALLBACK) },
	{ "has fallback, tried", { WAITS, .has_fallback = true, .rounds = 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_SLOW },
	/* The policy's own worker must not mix: it is there to undo mixes. */
	{ "cleans", { WAITS, .cleans = true, .rounds = 9 },
	  SAME(REFUSE_HAS_FALLBACK) },
	{ "cleans, away", { WAITS, .cleans = true, .away = true }, SAME(REFUSE_HAS_FALLBACK) },
	/* But for requests that its reclaim depends on. */
	{ "cleans, memalloc", { WAITS, .cleans = true, .memalloc = true }, SAME(ALLOW_URGENT) },
	{ "cleans, nofail", { WAITS, .cleans = true, .nofail = true }, SAME(ALLOW_URGENT) },
	/* Other requests may mix after trying to make room. */
	{ "not tried", { WAITS }, SAME(REFUSE_SLOW) },
	{ "tried", { WAITS, .rounds = 1 }, PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_SLOW },
	{ "nearly for ever", { WAITS, .rounds = PAGEBLOCK_MAX_ROUNDS - 1 },
	  PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_REFUSE_SLOW },
	{ "for ever", { WAITS, .rounds = PAGEBLOCK_MAX_ROUNDS }, SAME(ALLOW_TRIED) },
};

NAMED_CASES(verdict, verdict_cases);

static void verdict_of_a_request(struct kunit *test)
{
	const struct verdict_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, pageblock_judge(&c->request, PAGEBLOCK_MODE_CLAIM), c->claim);
	KUNIT_EXPECT_EQ(test, pageblock_judge(&c->request, PAGEBLOCK_MODE_STRICT), c->strict);
}

/* All combinations: requests that must never be refused are allowed. */
static void all_requests(struct kunit *test)
{
	static const unsigned int counts[] = {
		0, 1, 2, PAGEBLOCK_MAX_ROUNDS - 1, PAGEBLOCK_MAX_ROUNDS, 2 * PAGEBLOCK_MAX_ROUNDS,
	};
	unsigned int bits, i, rounds, refused = 0, allowed = 0;

	for (bits = 0; bits < 1U << 16; bits++) {
		for (i = 0; i < ARRAY_SIZE(counts); i++) {
			rounds = counts[i];
			const struct pageblock_request r = {
				.slow = bits & 1, .waits = bits & 2, .high = bits & 4,
				.highatomic = bits & 8, .memalloc = bits & 16, .last = bits & 32,
				.victim = bits & 64, .nofail = bits & 128,
				.has_fallback = bits & 256,
				.compact_deferred = bits & 512,
				.cleans = bits & 1024, .above_high = bits & 2048,
				.much_free = bits & 4096, .interrupt = bits & 8192,
				.away = bits & 16384, .guarded = bits & 32768,
				.rounds = rounds,
			};
			bool may = pageblock_allows(pageblock_judge(&r, PAGEBLOCK_MODE_CLAIM));
			bool may_strictly =
				pageblock_allows(pageblock_judge(&r, PAGEBLOCK_MODE_STRICT));

			KUNIT_ASSERT_TRUE(test, may || !may_strictly);
			if (r.away && !r.cleans)
				KUNIT_ASSERT_TRUE(test, may_strictly);
			else if (!r.slow)
				KUNIT_ASSERT_FALSE(test, may);
			else if (r.memalloc || r.last || r.victim || r.nofail)
				KUNIT_ASSERT_TRUE(test, may_strictly);
			else if (r.cleans)
				KUNIT_ASSERT_FALSE(test, may);
			else if (r.highatomic || rounds >= PAGEBLOCK_MAX_ROUNDS ||
				 (!r.waits && (r.high || r.interrupt || !r.has_fallback)))
				KUNIT_ASSERT_TRUE(test, may_strictly);
			refused += !may;
			allowed += may;
		}
	}
	KUNIT_EXPECT_GT(test, refused, 0U);
	KUNIT_EXPECT_GT(test, allowed, 0U);
}

/* Page cache takes any page that is free; a huge page and the kernel's own pages may. */
static void the_reserve_is_not_for_page_cache(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, pageblock_guards(true, 0, 9, 1, 16));
	KUNIT_EXPECT_TRUE(test, pageblock_guards(true, 8, 9, 16, 16));
	KUNIT_EXPECT_FALSE(test, pageblock_guards(true, 9, 9, 1, 16));
	KUNIT_EXPECT_FALSE(test, pageblock_guards(true, 10, 9, 1, 16));
	KUNIT_EXPECT_FALSE(test, pageblock_guards(false, 0, 9, 1, 16));
	/* More blocks than the reserve should have are free for all. */
	KUNIT_EXPECT_FALSE(test, pageblock_guards(true, 0, 9, 17, 16));
	KUNIT_EXPECT_FALSE(test, pageblock_guards(true, 0, 9, 1, 0));
}

/*
 * The search of 6.1: from the highest order down to the first order with a block.  A small
 * movable request then splits a block, from its own order up.  Return the last order, or -1.
 */
static int search(struct kunit *test, struct pageblock_search *s, unsigned long has,
		  unsigned int order, bool movable, enum pageblock_verdict verdict, bool guarded)
{
	unsigned int judged = 0;
	int at, up;

	for (at = TOP; at >= (int)order; at--) {
		bool found = has & BIT(at);

		if (pageblock_search_asks(s, at, TOP, found) && (at < 9 || guarded)) {
			judged += s->pass == PAGEBLOCK_PASS_BEGUN;
			found = pageblock_search_answer(s, at, verdict, movable, at >= 9);
		}
		KUNIT_EXPECT_LE(test, judged, 1U);
		if (found)
			break;
	}
	if (at < (int)order)
		return -1;
	if (!movable || at >= 9 || (at >= 4 && !s->parts) || at == (int)order)
		return at;
	for (up = order; up <= TOP; up++) {
		bool found = has & BIT(up);

		if (pageblock_search_asks(s, up, TOP, found) && (up < 9 || guarded))
			found = pageblock_search_answer(s, up, verdict, movable, up >= 9);
		if (found)
			return up;
	}
	KUNIT_FAIL(test, "6.1 would now take what is not there");
	return -1;
}

/* For any set of free blocks: one verdict a search, and 6.1 finds again what it has found. */
static void a_search_has_one_answer(struct kunit *test)
{
	struct pageblock_search s = { };
	unsigned long has;
	static const enum pageblock_verdict verdicts[] = {
		PAGEBLOCK_REFUSE_SLOW, PAGEBLOCK_ALLOW_TRIED, PAGEBLOCK_ALLOW_ABOVE_HIGH,
		PAGEBLOCK_ALLOW_NODE,
	};
	unsigned int order, kind;

	for (has = 0; has < BIT(TOP + 1); has++) {
		for (order = 0; order < 4; order++) {
			for (kind = 0; kind < 2 * ARRAY_SIZE(verdicts); kind++) {
				enum pageblock_verdict verdict = verdicts[kind / 2];
				bool movable = kind & 1, allowed = pageblock_allows(verdict);
				unsigned long whole = has & ~GENMASK(8, 0);
				unsigned long there = has & ~GENMASK(order, 0);
				int got = search(test, &s, has, order, movable, verdict, false);

				there |= has & BIT(order);
				if (!allowed && !whole)
					KUNIT_ASSERT_EQ(test, got, -1);
				else
					KUNIT_ASSERT_EQ(test, got >= 0, !!there);
				/* A whole block is claimed, and nothing is mixed. */
				if (whole)
					KUNIT_ASSERT_GE(test, got, 9);
				else if (got >= 0)
					KUNIT_ASSERT_EQ(test, s.parts, movable &&
							verdict != PAGEBLOCK_ALLOW_TRIED);
			}
		}
	}
}

/* Blocks of the reserve are passed by, and pages of partly used blocks are found again. */
static void a_search_may_pass_guarded_blocks_by(struct kunit *test)
{
	struct pageblock_search s = { };
	unsigned int order;
	unsigned long has;

	for (has = 0; has < BIT(TOP); has++) {
		for (order = 0; order < 4; order++) {
			int got = search(test, &s, has, order, true, PAGEBLOCK_REFUSE_GUARDED,
					 true);
			unsigned long parts = has & GENMASK(8, order);

			KUNIT_ASSERT_EQ(test, got >= 0, !!parts);
			KUNIT_ASSERT_LT(test, got, 9);
			if (got >= 0)
				KUNIT_ASSERT_TRUE(test, s.parts);
			/* Any other verdict is for whole blocks, too. */
			got = search(test, &s, has, order, true, PAGEBLOCK_ALLOW_TRIED, true);
			KUNIT_ASSERT_EQ(test, got >= 9, has >= BIT(9));
		}
	}
}

static void a_search_under_way_is_let_be(struct kunit *test)
{
	struct pageblock_search s = { };

	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, 3, TOP, true));
	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, 0, TOP, true));
	/* The next search is judged. */
	KUNIT_EXPECT_FALSE(test, pageblock_search_asks(&s, TOP, TOP, false));
	KUNIT_EXPECT_TRUE(test, pageblock_search_asks(&s, 3, TOP, true));
}

/* 7.2 fills a list by going up again and again: the right is for a refill, and for no more. */
static void the_right_is_for_a_refill(struct kunit *test)
{
	struct pageblock_search s = { };
	unsigned int got = 0, i;

	pageblock_search_asks(&s, TOP, TOP, false);
	for (i = 0; i < 4 * PAGEBLOCK_REFILL; i++) {
		if (!pageblock_search_asks(&s, 0, TOP, true))
			continue;
		got += pageblock_search_answer(&s, 0, PAGEBLOCK_ALLOW_TRIED, false, false);
		if (i < 62)
			KUNIT_ASSERT_EQ(test, got, i + 1);
	}
	KUNIT_EXPECT_GE(test, got, (unsigned int)PAGEBLOCK_REFILL);
	KUNIT_EXPECT_LE(test, got, PAGEBLOCK_REFILL + 1U);
}

#define LIFE	250	/* ticks, as 1 s */

/* A task asks for pages, and reclaims whenever it is refused.  Return its reclaims. */
static unsigned int reclaims_for(struct pageblock_tried *tried, unsigned int pages, bool refills,
				 bool found, unsigned long now)
{
	unsigned int reclaims = 0, page;

	for (page = 0; page < pages; page++) {
		struct pageblock_request request = { WAITS };
		enum pageblock_verdict verdict = PAGEBLOCK_REFUSE_FAST;

		/* A new request begins in the fast path. */
		if (!refills || page % 63 == 0)
			pageblock_tried_judged(tried, verdict);
		while (!pageblock_allows(verdict)) {
			request.rounds = pageblock_tried_rounds(tried, tried, now, LIFE);
			verdict = pageblock_judge(&request, PAGEBLOCK_MODE_CLAIM);
			pageblock_tried_judged(tried, verdict);
			if (pageblock_allows(verdict))
				break;
			pageblock_tried_add(tried, tried, now, LIFE);
			tried->vain = !found;
			reclaims++;
		}
	}
	return reclaims;
}

static void one_reclaim_serves_a_refill(struct kunit *test)
{
	struct pageblock_tried tried = { };
	unsigned long now = -10UL;

	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, true, true, now), 10U);
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 10, false, true, now), 10U);
	/* Nothing is found: for a second, nobody has to try again. */
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, true, false, now), 1U);
	now += LIFE + 1;
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, true, false, now), 1U);
}

/* Mode strict: tasks that have rounds by turns, one each @apart ticks.  Return the most rounds. */
static unsigned int rounds_until_allowed(struct kunit *test, unsigned int tasks,
					 unsigned long apart)
{
	unsigned int turn, most = 0, rounds[8] = { };
	struct pageblock_tried tried = { };
	unsigned long now = -10UL;
	bool allowed[8] = { };

	for (turn = 0; turn < tasks * 64; turn++, now += apart) {
		unsigned int task = turn % tasks;
		struct pageblock_request request = { WAITS };

		if (allowed[task])
			continue;
		pageblock_tried_add(&tried, &rounds[task], now, LIFE);
		request.rounds = pageblock_tried_rounds(&tried, &rounds[task], now, LIFE);
		allowed[task] = pageblock_allows(pageblock_judge(&request, PAGEBLOCK_MODE_STRICT));
		most = max(most, ++rounds[task]);
	}
	for (turn = 0; turn < tasks; turn++)
		KUNIT_EXPECT_TRUE(test, allowed[turn]);
	return most;
}

/* Rounds end, however long each takes, and however many tasks share a place. */
static void rounds_of_mode_strict_end(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rounds_until_allowed(test, 1, 1), PAGEBLOCK_MAX_ROUNDS);
	KUNIT_EXPECT_EQ(test, rounds_until_allowed(test, 1, 5 * LIFE), PAGEBLOCK_MAX_ROUNDS);
	KUNIT_EXPECT_LE(test, rounds_until_allowed(test, 8, 1), PAGEBLOCK_MAX_ROUNDS);
}

/* Rounds of long ago, perhaps of a task that had the same address, count for no request of now. */
static void rounds_of_long_ago_are_forgotten(struct kunit *test)
{
	struct pageblock_tried tried = { };
	unsigned long now = -10UL;
	unsigned int round;

	for (round = 0; round < 2 * PAGEBLOCK_MAX_ROUNDS; round++, now += 3600 * LIFE) {
		pageblock_tried_add(&tried, &now, now, LIFE);
		KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &now, now, LIFE), 1U);
	}
}

/* The right to mix is the task's own, and ends when the round is old. */
static void a_right_has_one_owner(struct kunit *test)
{
	struct pageblock_tried tried = { };
	static const int one, two;

	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &one, 0, LIFE), 0U);
	pageblock_tried_add(&tried, &one, 10, LIFE);
	tried.vain = true;
	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &two, 10, LIFE), 0U);
	/* A CPU that read the time earlier finds a round of the next tick, which is not old. */
	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &one, 9, LIFE), 1U);
	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &one, 10 + LIFE, LIFE), 1U);
	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &one, 11 + LIFE, LIFE), 0U);
	/* A compaction says nothing of a reclaim in vain, unless that was long ago. */
	pageblock_tried_add(&tried, &one, 20, LIFE);
	KUNIT_EXPECT_TRUE(test, tried.vain);
	pageblock_tried_add(&tried, &one, 21 + LIFE, LIFE);
	KUNIT_EXPECT_FALSE(test, tried.vain);
	tried.vain = true;
	pageblock_tried_add(&tried, &two, 21 + LIFE, LIFE);
	KUNIT_EXPECT_FALSE(test, tried.vain);
	KUNIT_EXPECT_EQ(test, pageblock_tried_rounds(&tried, &one, 21 + LIFE, LIFE), 0U);
}

static void what_is_much_free(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(0, 0));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(4 * 1536, 1536));
	KUNIT_EXPECT_TRUE(test, pageblock_much_is_free(4 * 1537, 1536));
	/* What kswapd leaves free after the largest boost is not. */
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(1536 + 1536 * 3 / 2, 1536));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(~0UL, ~0UL / 2));
}

/* CMA memory is no help to a request for unmovable pages. */
static void cma_memory_does_not_count(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(9000, 0), 9000UL);
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(9000, 8000), 1000UL);
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(8000, 8001), 0UL);
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(pageblock_pages_but_cma(9000, 8000), 1536));
}

/* An order, the lowest order that failed, requests deferred so far, and the shift. */
static void what_is_deferred(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, pageblock_compaction_rests(9, 9, 0, 6));
	KUNIT_EXPECT_TRUE(test, pageblock_compaction_rests(9, 3, 0, 6));
	/* That no huge page could be made says nothing about a smaller request. */
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(3, 9, 0, 6));
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(0, 9, 0, 6));
	/* A zone that never failed, and a single page. */
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(9, 0, 0, 0));
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(0, 0, 0, 6));
	/* The kernel counts the request itself before it compares. */
	KUNIT_EXPECT_TRUE(test, pageblock_compaction_rests(3, 3, 62, 6));
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(3, 3, 63, 6));
	KUNIT_EXPECT_FALSE(test, pageblock_compaction_rests(3, 3, ~0U, 6));
}

/* A zone, and its boost after the first mix and after many. */
static void watermarks_rise_as_the_kernel_raises_them(struct kunit *test)
{
	static const struct {
		unsigned long high, managed, first, last;
		int factor;
	} zones[] = {
		/* 1 GiB with a high watermark of 6 MiB, the default of 150 % */
		{ 1536, 241000, 512, 2304, 15000 },
		/* a limit below one block: one block is allowed */
		{ 100, 241000, 512, 512, 15000 },
		/* switched off, by 0 and by a negative factor */
		{ 1536, 241000, 0, 0, 0 },
		{ 1536, 241000, 0, 0, -1 },
		/* fewer than four blocks, and four */
		{ 1536, 2047, 0, 0, 15000 },
		{ 1536, 2048, 512, 2304, 15000 },
		/* watermarks are not set up yet */
		{ 0, 241000, 0, 0, 15000 },
		/* 8 TiB: nothing overflows */
		{ 1UL << 31, 1UL << 31, 512, 64 * 512, 15000 },
	};
	unsigned int i, step;

	for (i = 0; i < ARRAY_SIZE(zones); i++) {
		unsigned long boost = 0;

		for (step = 0; step < 64; step++) {
			boost = pageblock_boost(boost, zones[i].high, zones[i].factor,
						zones[i].managed, 512);
			if (!step)
				KUNIT_EXPECT_EQ(test, boost, zones[i].first);
		}
		KUNIT_EXPECT_EQ(test, boost, zones[i].last);
	}
	/* A lowered limit does not lower the boost. */
	KUNIT_EXPECT_EQ(test, pageblock_boost(4096, 1536, 15000, 241000, 512), 4096UL);
}

/* A block of 512 pages, the pages to move to empty it, and the pages out of place. */
static const struct block_case {
	const char *name;
	enum census_type type;
	u64 movable, free, loose, slab, reserved;
	bool huge;
	u64 clear, out_of_place;
} block_cases[] = {
	{ "movable, half full", CENSUS_TYPE_MOVABLE, .movable = 256, .free = 256, .clear = 256 },
	{ "one page", CENSUS_TYPE_MOVABLE, .movable = 1, .free = 511, .clear = 1 },
	{ "full", CENSUS_TYPE_MOVABLE, .movable = 512, .clear = 512 },
	{ "a huge page", CENSUS_TYPE_MOVABLE, .movable = 512, .huge = true },
	{ "free", CENSUS_TYPE_MOVABLE, .free = 512, .huge = true },
	{ "the upper half of a larger one", CENSUS_TYPE_MOVABLE, .loose = 512 },
	{ "some in lists", CENSUS_TYPE_MOVABLE, .movable = 100, .free = 400, .loose = 12,
	  .clear = 100 },
	{ "one that stays", CENSUS_TYPE_MOVABLE, .movable = 100, .free = 411, .slab = 1 },
	{ "one broken", CENSUS_TYPE_MOVABLE, .movable = 100, .free = 411, .reserved = 1 },
	{ "at the edge of memory", CENSUS_TYPE_MOVABLE, .movable = 100, .free = 156 },
	{ "unmovable, mixed", CENSUS_TYPE_UNMOVABLE, .movable = 30, .free = 82, .slab = 400,
	  .out_of_place = 30 },
	{ "reclaimable, mixed", CENSUS_TYPE_RECLAIMABLE, .movable = 30, .free = 82, .slab = 400,
	  .out_of_place = 30 },
	{ "unmovable by name only", CENSUS_TYPE_UNMOVABLE, .movable = 30, .free = 482,
	  .out_of_place = 30 },
	{ "unmovable, pure", CENSUS_TYPE_UNMOVABLE, .free = 112, .slab = 400 },
	{ "unmovable, a huge page", CENSUS_TYPE_UNMOVABLE, .movable = 512, .huge = true },
	{ "unmovable, and of another zone", CENSUS_TYPE_UNMOVABLE, .movable = 30, .free = 82,
	  .slab = 144 },
	{ "highatomic", CENSUS_TYPE_HIGHATOMIC, .movable = 30, .free = 482, .out_of_place = 30 },
	{ "of a driver", CENSUS_TYPE_CMA, .movable = 30, .free = 482 },
	{ "being emptied", CENSUS_TYPE_ISOLATE, .movable = 30, .free = 482 },
};

NAMED_CASES(block, block_cases);

static void what_is_to_be_moved(struct kunit *test)
{
	const struct block_case *c = test->param_value;
	struct census_block block = { .type = c->type, .huge = c->huge };

	block.pages[CENSUS_MOVABLE] = c->movable;
	block.pages[CENSUS_FREE] = c->free;
	block.pages[CENSUS_LOOSE] = c->loose;
	block.pages[CENSUS_SLAB] = c->slab;
	block.pages[CENSUS_RESERVED] = c->reserved;
	KUNIT_EXPECT_EQ(test, pageblock_vacate_cost(&block, 512), c->clear);
	/* No look at a candidate ends early. */
	if (c->clear)
		KUNIT_EXPECT_FALSE(test, pageblock_vacate_hopeless(&block));
	/* A page that stays ends the look, and so does the type of the block. */
	if (c->slab || c->reserved || c->huge || c->type != CENSUS_TYPE_MOVABLE)
		KUNIT_EXPECT_TRUE(test, pageblock_vacate_hopeless(&block));
	KUNIT_EXPECT_EQ(test, pageblock_out_of_place(&block, 512), c->out_of_place);
}

/* A request raises the watermarks once, in the slow path, however often it is searched for. */
static void who_raises_the_watermarks(struct kunit *test)
{
	struct pageblock_tried tried = { };
	enum pageblock_verdict verdict;
	static const int one, two;

	for (verdict = 0; verdict < PAGEBLOCK_NR_VERDICTS; verdict++) {
		tried = (struct pageblock_tried){ };
		KUNIT_EXPECT_EQ(test, pageblock_tried_boosts(&tried, &one, verdict),
				verdict == PAGEBLOCK_REFUSE_SLOW ||
				verdict == PAGEBLOCK_REFUSE_GUARDED);
	}
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_FALSE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_FAST));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_GUARDED));
	/* It may mix after a reclaim; its next request raises them again. */
	pageblock_tried_add(&tried, &one, 10, LIFE);
	KUNIT_EXPECT_FALSE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_ALLOW_TRIED));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_FAST));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_boosts(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	/* A task that shares the place. */
	KUNIT_EXPECT_TRUE(test, pageblock_tried_boosts(&tried, &two, PAGEBLOCK_REFUSE_SLOW));
}

static struct kunit_case pageblock_core_cases[] = {
	KUNIT_CASE(who_raises_the_watermarks),
	KUNIT_CASE_PARAM(verdict_of_a_request, verdict_gen_params),
	KUNIT_CASE(all_requests),
	KUNIT_CASE(the_reserve_is_not_for_page_cache),
	KUNIT_CASE(a_search_has_one_answer),
	KUNIT_CASE(a_search_may_pass_guarded_blocks_by),
	KUNIT_CASE(a_search_under_way_is_let_be),
	KUNIT_CASE(the_right_is_for_a_refill),
	KUNIT_CASE(one_reclaim_serves_a_refill),
	KUNIT_CASE(rounds_of_mode_strict_end),
	KUNIT_CASE(rounds_of_long_ago_are_forgotten),
	KUNIT_CASE(a_right_has_one_owner),
	KUNIT_CASE(what_is_much_free),
	KUNIT_CASE(cma_memory_does_not_count),
	KUNIT_CASE(what_is_deferred),
	KUNIT_CASE(watermarks_rise_as_the_kernel_raises_them),
	KUNIT_CASE_PARAM(what_is_to_be_moved, block_gen_params),
	{ }
};

static struct kunit_suite pageblock_core_suite = {
	.name = "livemm_pageblock_core",
	.test_cases = pageblock_core_cases,
};
