// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma.c - fuzz where refills come from, the range that is kept for its owner, and movement
 */
#include "input.h"

#include "policy/cma/core.c"
#include "policy/cma/core_balance.c"
#include "policy/cma/core_ratio.c"

#define BLOCK	512
#define BATCH	63
#define SLACK	125

static struct cma_view take_view(struct input *input)
{
	struct cma_view view = {
		.managed = take(input, 3),
		.cma = take(input, 3),
		.free = take(input, 3),
		.high = take(input, 2),
		.allocating = take_bool(input),
	};

	/* Counts of pages drift: free_cma may be negative, or above what there is. */
	view.free_cma = (long)take_within(input, 0, view.cma + SLACK) - SLACK;
	view.kept = take_within(input, 0, max(view.free_cma, 0L) + SLACK);
	return view;
}

static void sources(struct input *input)
{
	struct cma_view view = take_view(input);
	const struct cma_ratio ratio = { .lending = take_bool(input) };
	enum cma_source source = cma_source(&view, &ratio);

	MUST(cma_share(&view), <=, CMA_SHARE_ONE);
	if (source == CMA_LENT) {
		MUST_BE(!view.allocating);
		MUST(view.free_cma, >, view.kept);
		/* A share of less than one part of CMA_SHARE_ONE is none. */
		if ((u64)(view.free_cma - view.kept) * CMA_SHARE_ONE >= view.free)
			MUST(cma_share(&view), >, 0);
	}
	/* Requests that can use nothing else are not short of regular memory. */
	if (source == CMA_REGULAR)
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
	bool moving = take_bool(input);
	long want = cma_balance_want(&view, moving);
	long can = cma_balance_can(&view);

	MUST(want, >=, 0);
	MUST(can, >=, 0);
	if (want)
		MUST(cma_room(&view) + want, ==, cma_balance_goal(&view));
	if (want && cma_balance_goal(&view))
		MUST_BE(cma_balance_near(&view));
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

		if (ratio.lending)
			lent += pages;
		else
			regular += pages;
		cma_charge(&ratio, share, ratio.lending ? CMA_LENT : CMA_REGULAR, pages, BLOCK);
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
		cma_charge(&ratio, take_within(input, 0, CMA_SHARE_ONE),
			   take_bool(input) ? CMA_LENT : CMA_REGULAR, take(input, 2), BLOCK);
		MUST(abs(atomic64_read(&ratio.owed)), <=, most);
	}
}

static void kept(struct input *input)
{
	struct cma_range range = { };
	unsigned long now = take(input, 8), max = take_within(input, 1, 4096);

	while (input->left) {
		unsigned long start = take_within(input, 0, 4096);
		unsigned long end = start + take_within(input, 1, 1024);

		switch (take(input, 1) % 4) {
		case 0:
			cma_taken(&range, start, end);
			/* Nothing of the owner's range is kept. */
			MUST_BE(!cma_keeps(&range, start, end, now));
			break;
		case 1:
			MUST_BE(!cma_forget(&range, now) || cma_keeps(&range, 0, ULONG_MAX, now));
			break;
		case 2:
			now += take(input, 2);
			break;
		default: {
			const struct cma_range wanted = {
				.start = start,
				.end = end,
				.until = now + take(input, 2),
				.free = take_within(input, 0, 1024),
			};

			cma_remember(&range, &wanted, now, max);
			MUST(range.start, <=, start);
			MUST(range.end - range.start, <=, max);
		}
		}
		MUST(range.start, <=, range.end);
		MUST(range.free, <=, range.end - range.start);
	}
}

/* The last word of the bitmap is used in part. */
#define OWNED_BITS	100

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
	}
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = {
		sources, runs, charges, kept, owners, balances, searches, oom_reports,
	};
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
