// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp.c - fuzz the limits of lists, and mode `depth`: tracks against a model that keeps each count
 */
#include "input.h"

#include "policy/pcp/core.c"
#include "policy/pcp/core_depth.c"

#define EVENTS	256

/* The largest rise and fall of a period, by the counts after each of its events. */
static void model_depths(const long *counts, unsigned int nr, long *rise, long *fall)
{
	unsigned int i, j;

	*rise = 0;
	*fall = 0;
	for (i = 1; i < nr; i++) {
		for (j = 0; j < i; j++) {
			*rise = max(*rise, counts[i] - counts[j]);
			*fall = max(*fall, counts[j] - counts[i]);
		}
	}
}

static void tracks(struct input *input)
{
	u32 period = take(input, 4);
	struct pcp_track track = { .period = period };
	struct pcp_depth average = { }, got;
	long counts[EVENTS] = { }, rise, fall;
	unsigned int nr = 1;

	while (input->left && nr < EVENTS) {
		long pages = take_within(input, 1, 512);
		u8 what = take(input, 1);

		if (what % 8 == 0) {
			/* A period without a page is none that ends. */
			u32 gap = 1 + what / 128;

			model_depths(counts, nr, &rise, &fall);
			average.alloc = (average.alloc + rise) / 2;
			average.free = (average.free + fall) / 2;
			period += gap;
			got = pcp_track_depth(&track, period);
			MUST(got.alloc, ==, average.alloc);
			MUST(got.free, ==, average.free);
			got = pcp_track_depth(&track, track.period + PCP_IDLE_PERIODS + 1);
			MUST(got.alloc + got.free, ==, 0);
			nr = 1;
			pcp_track_page(&track, period, pages);
			counts[nr++] = pages;
			continue;
		}
		if (what & 1)
			pages = -pages;
		pcp_track_page(&track, period, pages);
		counts[nr] = counts[nr - 1] + pages;
		nr++;
		model_depths(counts, nr, &rise, &fall);
		MUST(track.alloc_depth, ==, rise);
		MUST(track.free_depth, ==, fall);
	}
}

static struct pcp_limits take_limits(struct input *input)
{
	u8 flags = take(input, 1);
	struct pcp_limits limits = {
		.def = take_within(input, 0, 4096),
		.max = take_within(input, 0, INT_MAX),
		.now = take_within(input, 0, INT_MAX),
		.batch = take_within(input, 1, 4096),
		.disabled = !(flags & 7),
		.sysctl = (flags & 15) == 1,
		.oom = (flags & 15) == 2,
		.reclaim = (flags & 15) == 3,
		.near = flags & 16,
	};

	return limits;
}

static void depths(struct input *input)
{
	while (input->left) {
		struct pcp_limits limits = take_limits(input);
		struct pcp_depth depth = { .alloc = take(input, 4), .free = take(input, 4) };
		struct pcp_decision decision = pcp_depth_decide(&depth, &limits);

		MUST(decision.reason, <, PCP_NR_REASONS);
		MUST(decision.hands_off, ==, limits.disabled || limits.sysctl);
		if (pcp_blocked(&limits)) {
			MUST(decision.high, ==, limits.def);
			continue;
		}
		MUST(decision.high, >=, limits.def);
		MUST(decision.high, <=, max3(limits.max, limits.def, 0));
		if (limits.near)
			MUST(decision.high, <=, max(limits.now, limits.def));
	}
}

/* Lists of one zone: together they give back what the zone lacks, as far as they hold so much. */
static void shares(struct input *input)
{
	int def = take_within(input, 0, 2048), batch = take_within(input, 1, 512);
	unsigned long managed = take(input, 5);
	u32 tenths = take_within(input, 0, 1000);
	unsigned int cpus = take_within(input, 1, 512), i;
	int max_high = pcp_max_high(managed, tenths, cpus, def, batch), count[16];
	long held = 0, kept = 0, missing = (long)take(input, 4) - (1 << 16);

	MUST(max_high, >=, def);
	MUST(max_high, >=, 4 * batch);
	if (max_high > def && max_high > 4 * batch)
		MUST((u64)max_high * cpus, <=, managed);
	for (i = 0; i < ARRAY_SIZE(count); i++) {
		count[i] = take_within(input, def, max_high);
		held += count[i] - def;
	}
	for (i = 0; i < ARRAY_SIZE(count); i++) {
		int keep = pcp_keep(count[i], def, held, missing);

		MUST(keep, >=, def);
		MUST(keep, <=, count[i]);
		if (missing <= 0)
			MUST(keep, ==, count[i]);
		kept += keep - def;
	}
	MUST(kept, <=, max(held - max(missing, 0L), 0L));
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = { tracks, depths, shares };
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
