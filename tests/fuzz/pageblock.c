// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock.c - fuzz the filter, the worker's pace, budget and choice, and the census
 */
#include "input.h"

#include "policy/common/core_budget.c"
#include "policy/common/core_move.c"
#include "policy/pageblock/core.c"
#include "policy/pageblock/core_census.c"
#include "policy/pageblock/core_reserve.c"

#define WHOLE	512
#define TOP	10
#define BLOCK	9	/* order of a pageblock */

static struct pageblock_request take_request(struct input *input)
{
	unsigned int flags = take(input, 3);

	return (struct pageblock_request){
		.slow = flags & BIT(0),
		.waits = flags & BIT(1),
		.high = flags & BIT(2),
		.highatomic = flags & BIT(3),
		.memalloc = flags & BIT(4),
		.last = flags & BIT(5),
		.victim = flags & BIT(6),
		.nofail = flags & BIT(7),
		.has_fallback = flags & BIT(8),
		.cleans = flags & BIT(9),
		.compact_deferred = flags & BIT(11),
		.above_high = flags & BIT(12),
		.much_free = flags & BIT(13),
		.interrupt = flags & BIT(14),
		.away = flags & BIT(15),
		.guarded = flags & BIT(16),
		.rounds = take(input, 1),
	};
}

static void verdicts(struct input *input)
{
	struct pageblock_request request = take_request(input);
	enum pageblock_mode mode = take_within(input, 0, PAGEBLOCK_MODE_STRICT);
	enum pageblock_verdict verdict = pageblock_judge(&request, mode);

	MUST(verdict, <, PAGEBLOCK_NR_VERDICTS);
	if (!pageblock_allows(verdict)) {
		/* No refusal sends a page to another node; the worker's requests name the node. */
		MUST_BE(!request.away || request.cleans);
		/* In the slow path nobody is refused who cannot wait or helps to free memory. */
		if (request.slow)
			MUST_BE(!request.last && !request.victim && !request.memalloc &&
				!request.nofail);
		if (verdict == PAGEBLOCK_REFUSE_SLOW)
			MUST(request.rounds, <, PAGEBLOCK_MAX_ROUNDS);
		MUST_BE(!request.slow || request.waits || request.cleans || request.has_fallback);
	}
	/* Mode claim refuses nothing that mode strict allows. */
	if (pageblock_allows(verdict))
		MUST_BE(pageblock_allows(pageblock_judge(&request, PAGEBLOCK_MODE_CLAIM)));
	/* Who has tried for long enough is refused no more, in either mode. */
	request.slow = true;
	request.rounds = PAGEBLOCK_MAX_ROUNDS;
	if (!request.cleans)
		MUST_BE(pageblock_allows(pageblock_judge(&request, mode)));
}

/*
 * The kernel's search, for each page of a list: down over the orders; the answer that ends the
 * descent may be followed by a climb from the request's order, which must find a block: the kernel
 * has a VM_BUG_ON() there.
 */
static void search(struct input *input)
{
	struct pageblock_search state = { };
	enum pageblock_verdict verdict = take_within(input, 0, PAGEBLOCK_NR_VERDICTS - 1);
	unsigned int page, pages = take_within(input, 1, 4), mixed = 0;
	unsigned int wanted = take_within(input, 0, TOP - 1);
	bool seen = take_bool(input), movable = take_bool(input), guarded = take_bool(input);

	for (page = 0; page < pages && (page || seen); page++) {
		unsigned int found = take(input, 2);
		bool climbs = take_bool(input), got = false;
		int order;

		for (order = TOP; order >= (int)wanted && !got; order--) {
			got = found & BIT(order);
			if (pageblock_search_asks(&state, order, TOP, got))
				got = pageblock_search_answer(&state, order, verdict, movable,
							      guarded && order >= BLOCK);
		}
		if (!got || !climbs)
			continue;
		got = false;
		for (order = wanted; order <= TOP && !got; order++) {
			got = found & BIT(order);
			if (got && order < TOP && pageblock_search_asks(&state, order, TOP, got)) {
				got = pageblock_search_answer(&state, order, verdict, movable,
							      guarded && order >= BLOCK);
				mixed += got;
				MUST_BE(!got || order < BLOCK || !guarded ||
					verdict != PAGEBLOCK_REFUSE_GUARDED);
			}
		}
	}
	if (!pageblock_allows(verdict) && verdict != PAGEBLOCK_REFUSE_GUARDED && seen)
		MUST(mixed, ==, 0);
	/* Where the beginning was not seen, nothing is refused. */
	if (!seen)
		MUST_BE(!pageblock_search_asks(&state, wanted, TOP, take_bool(input)));
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
			MUST_BE(pageblock_pace_due(&pace, now));
		}
		if (!pageblock_pace_due(&pace, now))
			continue;
		pageblock_pace_note(&pace, what & BIT(1), now);
		MUST(pace.gap, <=, PAGEBLOCK_PERIOD_MS * PAGEBLOCK_MAX_GAP);
		MUST(pace.due, ==, now + pace.gap);
		MUST(pace.vain, <=, PAGEBLOCK_MAX_VAIN);
		if (what & BIT(1))
			MUST_BE(pageblock_pace_due(&pace, now));
		else
			MUST(pace.gap, >=, PAGEBLOCK_PERIOD_MS);
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
		u64 left, tokens, begun;

		now += take(input, 2);
		lmm_budget_fill(&budget, rate, now);
		left = lmm_budget_left(&budget);
		MUST(left, <=, rate);
		tokens = take_within(input, 0, left);
		begun = pageblock_price_limit(left, true);
		MUST(pageblock_price_limit(left, false), <=, begun);
		MUST(begun, <=, left * PAGEBLOCK_PRICE);
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

/* Of blocks at any price, those that are kept are in order, and none that was let go is cheaper. */
static void choices(struct input *input)
{
	struct pageblock_choice choice = { };
	u64 cheapest = (u64)1 << 30, cheapest_lost = (u64)1 << 30;
	unsigned long pfn = 0;

	while (input->left) {
		u64 price = take_within(input, 1, 9000), dearest;
		unsigned int i;

		dearest = choice.found ? choice.best[choice.found - 1].price : 0;
		if (choice.found == PAGEBLOCK_CANDIDATES)
			cheapest_lost = min(cheapest_lost, max(price, dearest));
		pageblock_choice_add(&choice, pfn++, price);
		cheapest = min(cheapest, price);
		MUST(choice.found, <=, PAGEBLOCK_CANDIDATES);
		MUST(choice.best[0].price, ==, cheapest);
		for (i = 1; i < choice.found; i++)
			MUST(choice.best[i].price, >=, choice.best[i - 1].price);
		MUST(choice.best[choice.found - 1].price, <=, cheapest_lost);
	}
	while (choice.found) {
		MUST(choice.best[0].price, >=, cheapest);
		cheapest = choice.best[0].price;
		pageblock_choice_drop(&choice);
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
		u64 cost = pageblock_vacate_cost(&block, WHOLE);
		u64 out = pageblock_out_of_place(&block, WHOLE);

		/* A look at a candidate does not end early. */
		MUST_BE(!cost || !pageblock_vacate_hopeless(&block));
		pages += pages_of(block.pages);
		blocks++;
		MUST(cost + out, <=, block.pages[CENSUS_MOVABLE]);
		/* A block is emptied, or its pages are out of place, never both. */
		MUST_BE(!cost || !out);
		/* A block that zones share is left alone. */
		MUST_BE(!out || pages_of(block.pages) == WHOLE);
		if (cost)
			MUST(pageblock_census_block_class(&block, WHOLE), ==, CENSUS_PURE);
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
		u64 price = pageblock_page_price(&page);

		MUST(price, >=, PAGEBLOCK_PRICE * page.pages);
		MUST(price, <=, (PAGEBLOCK_PRICE + 6) * page.pages);
		MUST(why, <, LMM_NR_SKIPS);
		if (why != LMM_SKIP_NONE)
			continue;
		MUST_BE(page.listed && page.uptodate);
		MUST_BE(!page.locked && !page.writeback && !page.unevictable && !page.large);
		MUST(page.refs, <=, page.mapped + 2 + (long)page.pages);
		MUST_BE(!lmm_skip_passes(why));
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
		unsigned int had, has;

		now += take_within(input, 0, 300);
		had = pageblock_tried_rounds(&tried, task, now, life);
		pageblock_tried_add(&tried, task, now, life);
		tried.vain = take_bool(input);
		/* A round is known right after it was noted, and may end with any verdict. */
		has = pageblock_tried_rounds(&tried, task, now, life);
		MUST(has, >, had);
		pageblock_tried_judged(&tried, verdict);
		if (!pageblock_tried_rounds(&tried, task, now, life))
			MUST_BE(!tried.vain && verdict == PAGEBLOCK_REFUSE_FAST);
	}
}

/* What is free is not much if the high watermark is a fourth of what is free. */
static void plenty(struct input *input)
{
	unsigned long pages = take(input, 4), cma = take(input, 4);

	MUST_BE(!pageblock_much_is_free(pages, pages / PAGEBLOCK_MUCH));
	MUST(pageblock_pages_but_cma(pages, cma), ==, pages > cma ? pages - cma : 0);
}

/* Compaction rests only after failures, for orders that have failed, and not for ever. */
static void deferrals(struct input *input)
{
	unsigned int order = take_within(input, 0, TOP), considered = take(input, 1);
	unsigned int shift = take_within(input, 0, 6);
	int failed = take_within(input, 0, TOP);

	if (pageblock_compaction_rests(order, failed, considered, shift)) {
		MUST_BE(order && (int)order >= failed && shift);
		MUST_BE(!pageblock_compaction_rests(order, failed, 1 << shift, shift));
	}
}

/* A request for a whole block has the reserve, and so has anybody once the reserve is too large. */
static void guards(struct input *input)
{
	unsigned int order = take(input, 1), whole = take_within(input, 1, 13);
	unsigned long kept = take(input, 2), want = take(input, 2);

	if (pageblock_guards(take_bool(input), order, whole, kept, want)) {
		MUST(order, <, whole);
		MUST(kept, <=, want);
	}
	if (kept > want)
		MUST_BE(pageblock_reserve_lacks(kept, kept, want) == 0);
}

/* What a zone should have, and what of it is lacking. */
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
	MUST(pageblock_reserve_lacks(blocks, usable, want), <=, want);
	MUST_BE(!pageblock_reserve_lacks(want, want, want));
	MUST_BE(!pageblock_reserve_is_low(want, want));
	MUST(pageblock_window(true), <=, pageblock_window(pageblock_reserve_is_low(usable, want)));
}

/* A block of the reserve becomes movable again only if none of its pages has to stay. */
static void fates(struct input *input)
{
	struct pageblock_kept_block block = {
		.unmovable = take_bool(input),
		.free = take_bool(input),
		.joined = take_bool(input),
	};
	enum pageblock_fate fate;
	u64 stays = 0, whole;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++) {
		block.content.pages[kind] = take_bool(input) ? take_within(input, 0, 64) : 0;
		if (kind != CENSUS_FREE && kind != CENSUS_LOOSE && kind != CENSUS_MOVABLE)
			stays += block.content.pages[kind];
	}
	whole = take_bool(input) ? WHOLE : pageblock_census_pages(block.content.pages);
	fate = pageblock_fate_of(&block, whole);
	if (fate == PAGEBLOCK_FATE_RESTORE) {
		MUST_BE(block.unmovable);
		MUST_BE(block.free ? block.joined : !stays);
	}
	if (pageblock_may_guard(take_bool(input), true, take_bool(input)))
		MUST_BE(pageblock_may_guard(true, true, true));
	MUST_BE(!pageblock_may_guard(true, true, false));
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = {
		verdicts, search, boosts, pacing, census, moves, rounds, plenty, budgets, choices,
		guards, fates, reserves, deferrals,
	};
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
