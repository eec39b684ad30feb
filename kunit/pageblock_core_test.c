// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_core_test.c - which requests may mix
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "../module/policy/pageblock/core.c"

#define IS(verdict)	PAGEBLOCK_##verdict
/* In the slow path, without and with direct reclaim. */
#define SLOW		.slow = true
#define WAITS		.waits = true, SLOW

/* A request, and its verdict. */
static const struct verdict_case {
	const char *name;
	struct pageblock_request request;
	enum pageblock_verdict verdict;
} verdict_cases[] = {
	/* Nobody may mix in the fast path. */
	{ "fast", { .waits = true }, IS(REFUSE_FAST) },
	{ "fast, atomic", { }, IS(REFUSE_FAST) },
	{ "fast, memalloc", { .memalloc = true }, IS(REFUSE_FAST) },
	{ "fast, tried", { .waits = true, .tried = true }, IS(REFUSE_FAST) },
	{ "fast, much free", { .waits = true, .free = true }, IS(REFUSE_FAST) },
	/* In the slow path, requests that cannot wait or must not be made to wait. */
	{ "nowait", { SLOW }, IS(ALLOW_ATOMIC) },
	{ "nowait, has fallback", { SLOW, .has_fallback = true }, IS(ALLOW_ATOMIC) },
	{ "highatomic", { WAITS, .highatomic = true }, IS(ALLOW_ATOMIC) },
	{ "memalloc", { WAITS, .memalloc = true }, IS(ALLOW_URGENT) },
	{ "victim", { WAITS, .victim = true }, IS(ALLOW_URGENT) },
	{ "last", { WAITS, .last = true }, IS(ALLOW_URGENT) },
	/* Others may mix after trying to make room. */
	{ "not tried", { WAITS }, IS(REFUSE_SLOW) },
	{ "tried", { WAITS, .tried = true }, IS(ALLOW_TRIED) },
	{ "much free", { WAITS, .free = true }, IS(ALLOW_FREE) },
	{ "much free, tried", { WAITS, .free = true, .tried = true }, IS(ALLOW_TRIED) },
	/* A caller with a fallback does without at first. */
	{ "has fallback", { WAITS, .has_fallback = true }, IS(REFUSE_CASUAL) },
	{ "has fallback, much free", { WAITS, .has_fallback = true, .free = true },
	  IS(REFUSE_CASUAL) },
	{ "has fallback, tried", { WAITS, .has_fallback = true, .tried = true }, IS(ALLOW_TRIED) },
	{ "has fallback, memalloc", { WAITS, .has_fallback = true, .memalloc = true },
	  IS(ALLOW_URGENT) },
	/* Whoever would be sent to another node may mix, in the fast path too. */
	{ "away, fast", { .waits = true, .away = true }, IS(ALLOW_NODE) },
	{ "away", { WAITS, .away = true }, IS(ALLOW_NODE) },
	{ "away, has fallback", { WAITS, .away = true, .has_fallback = true }, IS(ALLOW_NODE) },
	{ "away, tried", { WAITS, .away = true, .tried = true }, IS(ALLOW_TRIED) },
	/* The policy's own worker must not mix. */
	{ "cleans", { WAITS, .cleans = true, .tried = true }, IS(REFUSE_CASUAL) },
	{ "cleans, nowait", { SLOW, .cleans = true }, IS(REFUSE_CASUAL) },
	{ "cleans, much free", { SLOW, .cleans = true, .free = true }, IS(REFUSE_CASUAL) },
	{ "cleans, away", { WAITS, .cleans = true, .away = true }, IS(REFUSE_CASUAL) },
	/* But for requests that its reclaim depends on. */
	{ "cleans, memalloc", { WAITS, .cleans = true, .memalloc = true }, IS(ALLOW_URGENT) },
};

NAMED_CASES(verdict, verdict_cases);

static void verdict_of_a_request(struct kunit *test)
{
	const struct verdict_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, pageblock_judge(&c->request), c->verdict);
}

/* All combinations: requests that must never be refused are allowed. */
static void all_requests(struct kunit *test)
{
	unsigned int bits, refused = 0, allowed = 0;

	for (bits = 0; bits < 1U << 11; bits++) {
		const struct pageblock_request r = {
			.slow = bits & 1, .waits = bits & 2, .highatomic = bits & 4,
			.memalloc = bits & 8, .last = bits & 16, .victim = bits & 32,
			.has_fallback = bits & 64, .cleans = bits & 128, .free = bits & 256,
			.away = bits & 512, .tried = bits & 1024,
		};
		bool may = pageblock_allows(pageblock_judge(&r));

		if (r.away && !r.cleans)
			KUNIT_ASSERT_TRUE(test, may);
		else if (!r.slow)
			KUNIT_ASSERT_FALSE(test, may);
		else if (r.memalloc || r.last || r.victim)
			KUNIT_ASSERT_TRUE(test, may);
		else if (r.cleans)
			KUNIT_ASSERT_FALSE(test, may);
		else if (r.highatomic || r.tried || !r.waits)
			KUNIT_ASSERT_TRUE(test, may);
		refused += !may;
		allowed += may;
	}
	KUNIT_EXPECT_GT(test, refused, 0U);
	KUNIT_EXPECT_GT(test, allowed, 0U);
}

/* Below half a block, a movable request that may not claim takes the smallest part, going up. */
static void who_claims_a_block(struct kunit *test)
{
	struct pageblock_search search = { };
	enum pageblock_verdict verdict;

	for (verdict = 0; verdict < PAGEBLOCK_NR_VERDICTS; verdict++) {
		pageblock_search_judged(&search, verdict, false);
		KUNIT_EXPECT_EQ(test, !!search.left, pageblock_allows(verdict));
		KUNIT_EXPECT_FALSE(test, search.parts);
		pageblock_search_judged(&search, verdict, true);
		KUNIT_EXPECT_EQ(test, !!search.left, pageblock_allows(verdict));
		KUNIT_EXPECT_EQ(test, search.parts, verdict != PAGEBLOCK_ALLOW_TRIED);
	}
}

/* A refill of a long list asks again and again: the right ends with a usual refill. */
static void the_right_is_for_a_refill(struct kunit *test)
{
	struct pageblock_search search = { };
	unsigned int got = 0, page;

	pageblock_search_judged(&search, PAGEBLOCK_ALLOW_FREE, true);
	for (page = 0; page < 2016; page++)
		got += pageblock_search_may(&search);
	KUNIT_EXPECT_EQ(test, got, PAGEBLOCK_REFILL + 0U);
	pageblock_search_judged(&search, PAGEBLOCK_ALLOW_FREE, true);
	KUNIT_EXPECT_TRUE(test, pageblock_search_may(&search));
	pageblock_search_judged(&search, PAGEBLOCK_REFUSE_SLOW, true);
	KUNIT_EXPECT_FALSE(test, pageblock_search_may(&search));
}

#define LIFE	250	/* ticks, as 1 s */

/* A task asks for pages, and reclaims whenever it is refused.  Return its reclaims. */
static unsigned int reclaims_for(struct pageblock_tried *tried, unsigned int pages,
				 unsigned int refill, bool found, unsigned long now)
{
	unsigned int reclaims = 0, page;

	for (page = 0; page < pages; page++) {
		struct pageblock_request request = { WAITS };
		enum pageblock_verdict verdict = PAGEBLOCK_REFUSE_FAST;

		/* A new request begins in the fast path. */
		if (page % refill == 0)
			pageblock_tried_judged(tried, tried, verdict);
		while (!pageblock_allows(verdict)) {
			request.tried = pageblock_tried_has(tried, tried, now, LIFE);
			verdict = pageblock_judge(&request);
			pageblock_tried_judged(tried, tried, verdict);
			if (pageblock_allows(verdict))
				break;
			pageblock_tried_add(tried, tried, now, !found);
			reclaims++;
		}
	}
	return reclaims;
}

static void one_reclaim_serves_a_refill(struct kunit *test)
{
	struct pageblock_tried tried = { };
	unsigned long now = -10UL;

	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, 63, true, now), 10U);
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 10, 1, true, now), 10U);
	/* Nothing is found: for a second, nobody has to try again. */
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, 63, false, now), 1U);
	now += LIFE + 1;
	KUNIT_EXPECT_EQ(test, reclaims_for(&tried, 630, 63, false, now), 1U);
}

/* The right to mix is the task's own, and ends when the round is old. */
static void a_right_has_one_owner(struct kunit *test)
{
	struct pageblock_tried tried = { };
	static const int one, two;

	KUNIT_EXPECT_FALSE(test, pageblock_tried_has(&tried, &one, 0, LIFE));
	pageblock_tried_add(&tried, &one, 10, false);
	KUNIT_EXPECT_FALSE(test, pageblock_tried_has(&tried, &two, 10, LIFE));
	/* A CPU that read the time earlier finds a round of the next tick, which is not old. */
	KUNIT_EXPECT_TRUE(test, pageblock_tried_has(&tried, &one, 9, LIFE));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_has(&tried, &one, 10 + LIFE, LIFE));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_has(&tried, &one, 11 + LIFE, LIFE));
	/* A verdict on another task that shares the place takes no right; a round does. */
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &two, PAGEBLOCK_REFUSE_SLOW));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &two, PAGEBLOCK_REFUSE_FAST));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_has(&tried, &one, 10, LIFE));
	pageblock_tried_add(&tried, &two, 10, false);
	KUNIT_EXPECT_FALSE(test, pageblock_tried_has(&tried, &one, 10, LIFE));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_has(&tried, &two, 10, LIFE));
}

/* A request raises the watermarks once, in the slow path, however often it is searched for. */
static void who_raises_the_watermarks(struct kunit *test)
{
	struct pageblock_tried tried;
	enum pageblock_verdict verdict;
	static const int one, two;

	for (verdict = 0; verdict < PAGEBLOCK_NR_VERDICTS; verdict++) {
		tried = (struct pageblock_tried){ };
		KUNIT_EXPECT_EQ(test, pageblock_tried_judged(&tried, &one, verdict),
				verdict == PAGEBLOCK_REFUSE_SLOW);
	}
	tried = (struct pageblock_tried){ };
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_REFUSE_FAST));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	/* It may mix after a reclaim; its next request raises them again. */
	pageblock_tried_add(&tried, &one, 10, false);
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_ALLOW_TRIED));
	KUNIT_EXPECT_FALSE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_REFUSE_FAST));
	KUNIT_EXPECT_TRUE(test, pageblock_tried_judged(&tried, &one, PAGEBLOCK_REFUSE_SLOW));
	/* A task that shares the place. */
	KUNIT_EXPECT_TRUE(test, pageblock_tried_judged(&tried, &two, PAGEBLOCK_REFUSE_SLOW));
}

static void what_is_much_free(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(false, 0, 0));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(false, 4 * 1536, 1536));
	KUNIT_EXPECT_TRUE(test, pageblock_much_is_free(false, 4 * 1537, 1536));
	/* What kswapd leaves free after the largest boost is not. */
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(false, 1536 + 1536 * 3 / 2, 1536));
	/* 1 TiB: the high watermark is 2 GiB, and 2.3 GiB are free. */
	KUNIT_EXPECT_TRUE(test, pageblock_much_is_free(false, 600000, 524288));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(false, 580000, 524288));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(false, ~0UL / 2, ~0UL));
	/* Movable pages can leave again. */
	KUNIT_EXPECT_TRUE(test, pageblock_much_is_free(true, 1537, 1536));
	KUNIT_EXPECT_FALSE(test, pageblock_much_is_free(true, 1536, 1536));
}

/* CMA memory is no help to a request for unmovable pages. */
static void cma_memory_does_not_count(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(9000, 0), 9000UL);
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(9000, 8000), 1000UL);
	KUNIT_EXPECT_EQ(test, pageblock_pages_but_cma(8000, 8001), 0UL);
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

static struct kunit_case pageblock_core_cases[] = {
	KUNIT_CASE_PARAM(verdict_of_a_request, verdict_gen_params),
	KUNIT_CASE(all_requests),
	KUNIT_CASE(who_claims_a_block),
	KUNIT_CASE(the_right_is_for_a_refill),
	KUNIT_CASE(one_reclaim_serves_a_refill),
	KUNIT_CASE(a_right_has_one_owner),
	KUNIT_CASE(who_raises_the_watermarks),
	KUNIT_CASE(what_is_much_free),
	KUNIT_CASE(cma_memory_does_not_count),
	KUNIT_CASE(watermarks_rise_as_the_kernel_raises_them),
	{ }
};

static struct kunit_suite pageblock_core_suite = {
	.name = "livemm_pageblock_core",
	.test_cases = pageblock_core_cases,
};
