// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock.c - fuzz the filter, the worker's pace and budget, and the census
 */
#include "input.h"

#include "policy/common/core_budget.c"
#include "policy/common/core_move.h"
#include "policy/pageblock/core.c"
#include "policy/pageblock/core_census.c"
#include "policy/pageblock/core_reserve.c"

#define WHOLE	512

static struct pageblock_request take_request(struct input *input)
{
	unsigned int flags = take(input, 2);

	return (struct pageblock_request){
		.slow = flags & BIT(0),
		.waits = flags & BIT(1),
		.highatomic = flags & BIT(2),
		.memalloc = flags & BIT(3),
		.last = flags & BIT(4),
		.victim = flags & BIT(5),
		.has_fallback = flags & BIT(6),
		.cleans = flags & BIT(7),
		.free = flags & BIT(8),
		.away = flags & BIT(9),
		.tried = flags & BIT(10),
	};
}

static void verdicts(struct input *input)
{
	struct pageblock_request request = take_request(input);
	enum pageblock_verdict verdict = pageblock_judge(&request);
	struct pageblock_search search = { };
	bool movable = take_bool(input);

	MUST(verdict, <, PAGEBLOCK_NR_VERDICTS);
	pageblock_search_judged(&search, verdict, movable);
	MUST_BE(search.pass == PAGEBLOCK_PASS_JUDGED);
	MUST_BE(movable || !search.parts);
	MUST_BE(pageblock_search_may(&search) == pageblock_allows(verdict));
	if (!pageblock_allows(verdict)) {
		/* No refusal sends a page to another node; the worker's requests name the node. */
		MUST_BE(!request.away || request.cleans);
		/* In the slow path nobody is refused who cannot wait or helps to free memory. */
		if (request.slow)
			MUST_BE(!request.last && !request.victim && !request.memalloc);
		MUST_BE(!request.slow || request.waits || request.cleans);
	}
	/* Who has tried is refused no more. */
	request.slow = true;
	request.tried = true;
	if (!request.cleans)
		MUST_BE(pageblock_allows(pageblock_judge(&request)));
}

static void boosts(struct input *input)
{
	unsigned long block = 1UL << take_within(input, 0, 18);
	unsigned long high = take(input, 4), managed = take(input, 4), boost = 0, more;
	int factor = (int)take(input, 4), i;

	for (i = 0; i < 8; i++, boost = more) {
		more = pageblock_boost(boost, high, factor, managed, block);
		MUST(more, >=, boost);
		MUST(more, <=, boost + block);
		if (factor <= 0 || !high || managed < block * 4)
			MUST(more, ==, 0);
	}
}

/* Attempts at any time, with any result: the next is neither too early nor too late. */
static void pacing(struct input *input)
{
	struct pageblock_pace pace = { };
	u64 now = take(input, 4);

	while (input->left) {
		unsigned int what = take(input, 1);

		now += take(input, 2);
		if (what & BIT(0)) {
			pageblock_pace_wake(&pace, now);
			MUST(pageblock_pace_due(&pace), <=, now);
		}
		if (pageblock_pace_due(&pace) > now)
			continue;
		pageblock_pace_note(&pace, what & BIT(1), now);
		MUST(pace.gap, <=, PAGEBLOCK_MAX_GAP_MS);
		MUST(pace.due, ==, now + pace.gap);
		MUST(pace.vain, <=, PAGEBLOCK_MAX_VAIN);
		if (what & BIT(1))
			MUST(pageblock_pace_due(&pace), ==, now);
		else
			MUST(pace.gap, >=, PAGEBLOCK_GAP_MS);
	}
}

/* Spend at any time: never more than the highest rate gives in the time, and a bucket. */
static void budgets(struct input *input)
{
	u32 most = take_within(input, 0, 1000000);
	struct lmm_budget budget;
	u64 now = take(input, 4), start = now, spent = 0;

	lmm_budget_start(&budget, now, LMM_BUDGET_MS);
	while (input->left) {
		u32 rate = take_within(input, 0, most);
		u64 left, tokens;

		now += take(input, 2);
		lmm_budget_fill(&budget, rate, now);
		left = lmm_budget_left(&budget);
		MUST(left, <=, rate);
		tokens = take_within(input, 0, left);
		if (rate) {
			u64 wait = lmm_budget_wait(&budget, rate, tokens + 1);

			MUST(wait, <=, LMM_BUDGET_MS);
			MUST_BE(tokens < left ? !wait : wait || left == rate);
		}
		lmm_budget_take(&budget, tokens);
		MUST(lmm_budget_left(&budget), ==, left - tokens);
		spent += tokens;
		MUST(spent * 1000, <=, (now - start) * most);
	}
}

static struct census_block take_block(struct input *input)
{
	struct census_block block = {
		.type = take_within(input, 0, CENSUS_NR_TYPES - 1),
		.huge = take_bool(input),
	};
	unsigned int left = WHOLE;

	while (left && input->left) {
		unsigned int pages = take_within(input, 1, left);
		u8 flags = take(input, 1), more = take(input, 1);
		const struct census_page page = {
			.free = flags & BIT(0),
			.reserved = flags & BIT(1),
			.broken = flags & BIT(2),
			.offline = flags & BIT(3),
			.slab = flags & BIT(4),
			.table = flags & BIT(5),
			.hugetlb = flags & BIT(6),
			.lru = flags & BIT(7),
			.mapped = more & BIT(0),
			.held = more & BIT(1),
		};

		census_block_add(&block, pageblock_census_page_kind(&page), pages);
		left -= pages;
		if (more & BIT(7))
			break;
	}
	return block;
}

static u64 pages_of(const u64 pages[CENSUS_NR_KINDS])
{
	u64 sum = 0;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
		sum += pages[kind];
	return sum;
}

static void census(struct input *input)
{
	struct census_row rows[2] = { }, all = { }, sum = { };
	u64 pages = 0, blocks = 0, classes = 0;
	int i;

	while (input->left) {
		struct census_block block = take_block(input);

		pages += pages_of(block.pages);
		blocks++;
		pageblock_census_row_add(&rows[take_bool(input)], &block, WHOLE);
		pageblock_census_row_add(&all, &block, WHOLE);
	}
	pageblock_census_row_sum(&sum, &rows[0]);
	pageblock_census_row_sum(&sum, &rows[1]);
	MUST_BE(!memcmp(&sum, &all, sizeof(sum)));
	for (i = 0; i < CENSUS_NR_CLASSES; i++)
		classes += sum.class[i];
	MUST(classes, ==, blocks);
	MUST(sum.blocks, ==, blocks);
	MUST(pages_of(sum.pages), ==, pages);
	MUST(pages_of(sum.foreign), <=, pages);
	MUST(sum.held, <=, blocks);
	MUST(pageblock_census_memory_share(&sum), <=, 1000);
	MUST(pageblock_census_block_share(&sum), <=, 1000);
}

static void moves(struct input *input)
{
	while (input->left) {
		unsigned int flags = take(input, 2);
		const struct lmm_page_facts page = {
			.listed = flags & BIT(0),
			.large = flags & BIT(1),
			.unevictable = flags & BIT(2),
			.locked = flags & BIT(3),
			.writeback = flags & BIT(4),
			.uptodate = flags & BIT(5),
			.dirty = flags & BIT(6),
			.bound = flags & BIT(7),
			.migrates = flags & BIT(8),
			.private = flags & BIT(9),
			.cached = flags & BIT(10),
			.mapped = (int)take(input, 4),
			.refs = (int)take(input, 4),
			.pages = 1U << take(input, 1) % (PAGEBLOCK_FOLIO_ORDER + 1),
		};
		enum lmm_skip why = lmm_page_skip(&page);

		MUST(why, <, LMM_NR_SKIPS);
		if (why != LMM_SKIP_NONE)
			continue;
		MUST_BE(page.listed && page.uptodate);
		MUST_BE(!page.locked && !page.writeback && !page.unevictable && !page.large);
		MUST(page.refs, <=, page.mapped + 2 + (long)page.pages);
	}
}

/* Rounds of a few tasks that share a place, at times that may wrap. */
static void rounds(struct input *input)
{
	unsigned long now = take(input, 4) - 1000, life = take_within(input, 1, 1000);
	struct pageblock_tried tried = { };
	static const int tasks[4];

	while (input->left) {
		const int *task = &tasks[take_within(input, 0, ARRAY_SIZE(tasks) - 1)];
		enum pageblock_verdict verdict = take_within(input, 0, PAGEBLOCK_NR_VERDICTS - 1);
		bool vain = take_bool(input);

		now += take_within(input, 0, 300);
		pageblock_tried_add(&tried, task, now, vain);
		/* A round is known right after it was noted, and ends with the next request. */
		MUST_BE(pageblock_tried_has(&tried, task, now, life));
		if (verdict == PAGEBLOCK_REFUSE_SLOW)
			continue;
		MUST_BE(!pageblock_tried_judged(&tried, task, verdict));
		MUST_BE(pageblock_tried_has(&tried, task, now, life) ==
			(vain || verdict != PAGEBLOCK_REFUSE_FAST));
	}
}

/* What is free is not much below the high watermark. */
static void plenty(struct input *input)
{
	unsigned long pages = take(input, 4), cma = take(input, 4), high = take(input, 4);

	if (pageblock_much_is_free(take_bool(input), pages, high))
		MUST(pages, >, high);
	MUST(pageblock_pages_but_cma(pages, cma), ==, pages > cma ? pages - cma : 0);
}

/* What a zone should have. */
static void reserves(struct input *input)
{
	unsigned long blocks = take(input, 2), knob = take(input, 2), block = 512;
	unsigned long apart = take(input, 3), isolated = take(input, 1);
	unsigned long want = pageblock_reserve_want(knob, blocks, take_bool(input));
	unsigned long usable = pageblock_usable_blocks(blocks, apart, isolated, block);

	MUST(want, <=, knob);
	MUST(want, <=, blocks);
	MUST(usable, <=, blocks);
	MUST_BE(apart / block + isolated >= blocks || usable + apart / block + isolated == blocks);
	MUST(pageblock_lists_gap(isolated + 1), >=, 1000U);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = {
		verdicts, boosts, pacing, census, moves, rounds, plenty, budgets, reserves,
	};
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
