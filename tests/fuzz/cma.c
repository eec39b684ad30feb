// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma.c - fuzz where refills come from, and the ranges that are kept for their owner
 */
#include "input.h"

#include "policy/cma/core.c"
#include "policy/cma/core_balance.c"
#include "policy/cma/core_ahead.c"

#define BLOCK	512
#define BATCH	63

static struct cma_view take_view(struct input *input)
{
	struct cma_view view = {
		.managed = take(input, 3),
		.cma = take(input, 3),
		.free = take(input, 3),
		.high = take(input, 2),
		.slack = take(input, 1),
		.allocating = take_bool(input),
		.unguarded = take_bool(input),
	};

	/* Counts of pages drift: free_cma may be negative, or above what there is. */
	view.free_cma = (long)take_within(input, 0, view.cma + view.slack) - view.slack;
	view.kept = take_within(input, 0, max(view.free_cma, 0L) + view.slack);
	return view;
}

static void verdicts(struct input *input)
{
	struct cma_view view = take_view(input);
	const struct cma_settings settings = {
		.mode = take_within(input, CMA_MODE_RATIO, CMA_MODE_KEEP),
		.cap_pct = take_within(input, 0, 100),
	};
	const struct cma_ratio ratio = { .lending = take_bool(input) };
	enum cma_verdict verdict = cma_judge(&view, &settings, &ratio);

	MUST(verdict, <, CMA_NR_VERDICTS);
	MUST(cma_share(&view), <=, CMA_SHARE_ONE);
	MUST(cma_lends(verdict) + cma_wants_regular(verdict), <=, 1);
	if (cma_lends(verdict)) {
		MUST_BE(!view.allocating && !view.unguarded && cma_mode_lends(settings.mode));
		MUST(view.free_cma, >, view.kept);
		/* A share of less than one part of CMA_SHARE_ONE is none. */
		if ((u64)(view.free_cma - view.kept) * CMA_SHARE_ONE >= view.free)
			MUST(cma_share(&view), >, 0);
	}
	/* Requests that can use nothing else are not short of regular memory. */
	if (cma_wants_regular(verdict))
		MUST(cma_room(&view), >, 0);
}

/* No wake-up is lost and no look put off; searches in vain rest longer and longer. */
static void waits(struct input *input)
{
	unsigned long now = take(input, 8);
	long soonest = (long)take(input, 2) - 0x8000, planned = (long)take(input, 2) - 0x8000;
	unsigned long after = cma_woken_after(now, now + soonest, now + planned);
	unsigned int vain = take(input, 3);
	struct cma_search search = { .vain_ms = vain, .warm = take_bool(input) };

	MUST(after, ==, max(min(soonest, planned), 0L));
	cma_search_rests(&search);
	MUST(search.vain_ms, >=, CMA_VAIN_MIN_MS);
	MUST(search.vain_ms, <=, CMA_VAIN_MAX_MS);
	MUST_BE(search.vain_ms > vain || search.vain_ms == CMA_VAIN_MAX_MS);
	MUST_BE(!search.warm);
	cma_search_ends(&search);
	MUST(search.vain_ms, ==, 0U);
}

/* What is moved fits into what is free, and stops where the kernel's own rule does. */
static void balances(struct input *input)
{
	struct cma_view view = take_view(input);
	const struct cma_aim aim = {
		.free_pct = take_within(input, 0, 50),
		.cap_pct = take_within(input, 0, 100),
	};
	bool moving = take_bool(input);
	long want = cma_balance_want(&view, &aim, moving);
	long can = cma_balance_can(&view, &aim);

	MUST(want, >=, 0);
	MUST(can, >=, 0);
	if (want)
		MUST(cma_room(&view) + want, ==, cma_balance_goal(&view, &aim));
	if (want && cma_balance_goal(&view, &aim))
		MUST_BE(cma_balance_near(&view, &aim));
	if (can) {
		MUST_BE(!view.allocating);
		MUST(can, <=, view.free_cma - view.kept);
		/* Within a zone, a move takes a page of CMA memory and frees one of the rest. */
		MUST(2 * (view.free_cma - can), >=, view.free);
	}
	waits(input);
}

/* Far pages alone are reported so often in a row; near pages always count, and end the row. */
static void oom_reports(struct input *input)
{
	struct cma_oom oom = { };
	u64 now = take(input, 8) >> 1, last = now;
	unsigned int row = 0;

	while (input->left) {
		u64 near = take_bool(input) ? take(input, 2) : 0, far = take(input, 2), said;

		now += take(input, 2);
		if (near || now > last + CMA_OOM_ROW_MS)
			row = 0;
		last = now;
		said = cma_oom_report(&oom, now, near, far);
		if (near || !far) {
			MUST(said, ==, near + far);
		} else {
			row++;
			MUST(said, ==, row > CMA_OOM_FAR ? 0 : far);
		}
		MUST(oom.far, <=, CMA_OOM_FAR);
	}
}

/* A search ends after two rounds in which nothing was found. */
static void searches(struct input *input)
{
	unsigned long blocks = take_within(input, 1, 20);
	struct cma_search search = { };
	unsigned long vain = 0;

	while (cma_search_goes_on(&search, blocks)) {
		bool found = take_bool(input);

		search.seen++;
		cma_search_moved(&search, found);
		vain = found ? 0 : vain + 1;
		MUST(vain, <=, 3 * blocks);
		if (!input->left)
			break;
	}
}

/* Refills by the ratio: what is lent is the share, give or take a run. */
static void runs(struct input *input)
{
	struct cma_ratio ratio = { };
	unsigned int share = take_within(input, 0, CMA_SHARE_ONE);
	s64 rest = CMA_SHARE_ONE - share;
	s64 longest = (s64)BLOCK * max_t(s64, share, rest);
	s64 lent = 0, regular = 0;

	while (input->left) {
		long pages = take_within(input, 1, BATCH);

		if (ratio.lending) {
			cma_charge(&ratio, share, 0, pages, BLOCK);
			lent += pages;
		} else {
			cma_charge(&ratio, share, pages, 0, BLOCK);
			regular += pages;
		}
		MUST(atomic64_read(&ratio.owed), ==, regular * share - lent * rest);
		MUST(atomic64_read(&ratio.owed), <=, longest + (s64)BATCH * share);
		MUST(atomic64_read(&ratio.owed), >=, -BATCH * rest);
	}
}

/* Any pages, any share: the debt is bounded. */
static void charges(struct input *input)
{
	struct cma_ratio ratio = { };
	s64 most = (s64)CMA_OWED_BLOCKS * BLOCK * CMA_SHARE_ONE;

	while (input->left) {
		cma_charge(&ratio, take_within(input, 0, CMA_SHARE_ONE), take(input, 2),
			   take(input, 2), BLOCK);
		MUST(abs(atomic64_read(&ratio.owed)), <=, most);
	}
}

static void ranges_hold(const struct cma_range *ranges, unsigned long now, unsigned long max)
{
	int i, j;

	MUST(pages_remembered(ranges, now), <=, max);
	for (i = 0; i < CMA_RANGES; i++) {
		MUST(ranges[i].start, <=, ranges[i].end);
		if (!range_is_used(&ranges[i], now))
			continue;
		MUST(ranges[i].free, <=, ranges[i].end - ranges[i].start);
		for (j = 0; j < i; j++)
			MUST_BE(!range_is_used(&ranges[j], now) ||
				!overlap(&ranges[i], &ranges[j]));
	}
}

static void kept(struct input *input)
{
	struct cma_range ranges[CMA_RANGES] = { };
	unsigned long now = take(input, 8), max = take_within(input, 1, 4096);

	while (input->left) {
		unsigned long start = take_within(input, 0, 4096);
		unsigned long end = start + take_within(input, 1, 1024), pages, sum = 0;
		int i;

		switch (take(input, 1) % 5) {
		case 0:
			cma_taken(ranges, start, end);
			/* Nothing of the owner's range is kept as free. */
			for (i = 0; i < CMA_RANGES; i++)
				if (start <= ranges[i].start && ranges[i].end <= end)
					MUST(ranges[i].start, ==, ranges[i].end);
			break;
		case 1:
			pages = cma_forget(ranges, now);
			for (i = 0; i < CMA_RANGES; i++)
				sum += range_is_used(&ranges[i], now) ? ranges[i].free : 0;
			MUST(pages, ==, sum);
			MUST(pages, <=, max);
			break;
		case 2:
			now += take(input, 2);
			break;
		case 3:
			max = take_within(input, 1, 4096);
			cma_limit(ranges, now, take(input, 2), max);
			break;
		default: {
			const struct cma_range range = {
				.start = start,
				.end = end,
				.until = now + take(input, 2),
				.free = take_within(input, 0, 1024),
			};

			cma_remember(ranges, &range, now, max);
		}
		}
		ranges_hold(ranges, now, max);
	}
}

/* The last word of the bitmap is used in part. */
#define OWNED_BITS	100

/* An owner gets the first run of whole bits that nobody has, and that is long enough. */
static void first_range(const struct cma_owners *owners, unsigned long pages)
{
	unsigned long bit = 1UL << owners->order, wanted = DIV_ROUND_UP(pages, bit) * bit;
	unsigned long start = owners->start;
	struct cma_range range = { };
	bool found;

	while (start + wanted <= owners->end && cma_owned(owners, start, start + wanted))
		start += bit;
	found = start + wanted <= owners->end;
	MUST(cma_first_range(owners, pages, &range), ==, found);
	MUST(range.start, ==, found ? start : 0);
	MUST(range.end, ==, found ? start + wanted : 0);
}

/* What the bitmap says of any pages is what a look at each page says. */
static void owners(struct input *input)
{
	unsigned long bitmap[2] = { take(input, 8), take(input, 8) };
	const unsigned int order = take_within(input, 0, 3);
	const unsigned long first = take_within(input, 0, 4096);
	const struct cma_owners owners = {
		bitmap, first, first + ((unsigned long)OWNED_BITS << order), order,
	};

	while (input->left) {
		unsigned long start = take_within(input, 0, 8192);
		unsigned long end = start + take_within(input, 0, 128), pfn;
		bool owned = false;

		for (pfn = max(start, owners.start); pfn < min(end, owners.end); pfn++) {
			unsigned long bit = (pfn - first) >> order;

			owned |= bitmap[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
		}
		MUST(cma_owned(&owners, start, end), ==, owned);
		first_range(&owners, end - start + 1);
	}
}

/* What is held has whole blocks of the area, and all that the owner is expected to ask for. */
static void hold(const struct cma_range *range)
{
	const struct cma_owners area = {
		.start = range->start & ~511UL,
		.end = (range->end + 511) & ~511UL,
	};
	struct cma_range blocks = *range;

	cma_hold_blocks(&area, 1024, &blocks);
	MUST(blocks.start, <=, range->start);
	MUST(range->end, <=, blocks.end);
	MUST(area.start, <=, blocks.start);
	MUST(blocks.end, <=, area.end);
}

/* Of areas that meet inside a block, neither holds that block; nothing else is left out. */
static void apart(struct input *input)
{
	const unsigned long block = 1UL << take_within(input, 0, 10);
	const unsigned long start = take(input, 3) + block, border = start + take(input, 2) + 1;
	const unsigned long gap = take_bool(input) ? take(input, 1) : 0;
	const struct cma_owners first = { .start = start, .end = border };
	const struct cma_owners next = { .start = border + gap, .end = border + gap + 1 };
	struct cma_owners low = first, high = next;

	cma_hold_apart(&low, &next, block);
	cma_hold_apart(&high, &first, block);
	MUST(low.start, ==, first.start);
	MUST(high.end, ==, next.end);
	if (gap || border % block == 0) {
		MUST(low.end, ==, first.end);
		MUST(high.start, ==, next.start);
		return;
	}
	MUST(low.end, ==, border - border % block);
	MUST(high.start, ==, low.end + block);
}

/* Movement is due in time, ends before the expected request, and is of pages that are kept. */
static void rhythms(struct input *input)
{
	struct cma_range ranges[CMA_RANGES] = { }, range;
	struct cma_rhythm rhythm = { };
	u64 now = take(input, 4), end, due;
	unsigned int rate, i;

	while (input->left) {
		unsigned long start = take_within(input, 0, 4096), wanted = take(input, 2), lent;
		const struct cma_range one = {
			.start = start,
			.end = start + take_within(input, 1, 1024),
			.until = 1 + take(input, 1),
			.free = take_within(input, 0, 1024),
		};

		now += take(input, 2);
		if (take_bool(input))
			cma_rhythm_asks(&rhythm, now, wanted);
		else
			cma_rhythm_releases(&rhythm, now);
		cma_remember(ranges, &one, 0, 4096);
		lent = cma_ahead_range(ranges, 0, rhythm.wanted, &range);
		MUST(range.end - range.start, <=, rhythm.wanted);
		MUST(lent, <=, range.end - range.start);
		for (i = 0; range.start < range.end && i < CMA_RANGES; i++)
			MUST_BE(ranges[i].end - ranges[i].start < rhythm.wanted ||
				!range_is_used(&ranges[i], 0) || range.start <= ranges[i].start);
		if (range.start < range.end)
			hold(&range);
		end = cma_ahead_first_end(&rhythm, now);
		MUST_BE(!end || now < end);
		rate = take(input, 3);
		end = cma_ahead_end(&rhythm);
		due = cma_ahead_due(&rhythm, now, lent, rate);
		if (!rate || !end)
			MUST(due, ==, CMA_AHEAD_NEVER);
		if (due != CMA_AHEAD_NEVER) {
			MUST(now + due, <=, end);
			MUST(end, <, rhythm.released + rhythm.gap);
		}
	}
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = {
		verdicts, runs, charges, kept, owners, balances, searches, rhythms,
		oom_reports, apart,
	};
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
