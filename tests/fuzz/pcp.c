// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp.c - fuzz the sizing of lists by depth: tracks against a model that keeps every count
 */
#include "input.h"

#include "policy/pcp/core.c"

#define EVENTS	256

/* A count after an event, and its period. */
struct event {
	u32 epoch;
	long count;
	bool rose;
};

/* The largest rise and fall that end in a period and began at most the window ago. */
static void model_depths(const struct event *events, unsigned int nr, u32 epoch, u32 window,
			 long *rise, long *fall)
{
	unsigned int i, j;

	*rise = 0;
	*fall = 0;
	for (i = 1; i < nr; i++) {
		if (events[i].epoch != epoch)
			continue;
		for (j = i; j-- > 0;) {
			long change = events[i].count - events[j].count;

			if (events[i].rose)
				*rise = max(*rise, change);
			else
				*fall = max(*fall, -change);
			/* The count at the beginning of the first period of the window counts. */
			if (epoch - events[j].epoch >= window)
				break;
		}
	}
}

static void tracks(struct input *input)
{
	struct pcp_clock clock = {
		.epoch = take(input, 4),
		.window = take_within(input, 1, PCP_WINDOW_MAX),
	};
	struct pcp_track track = { .epoch = clock.epoch, .last_epoch = clock.epoch - 1 };
	struct event events[EVENTS] = { { .epoch = clock.epoch } };
	unsigned int nr = 1;
	u32 first = clock.epoch;

	while (input->left && nr < EVENTS) {
		long pages = take_within(input, 1, 512), rise, fall, alloc, free;
		u8 what = take(input, 1);

		if (what % 8 == 0) {
			clock.epoch += 1 + what / 128;
			continue;
		}
		if (what & 1)
			pages = -pages;
		pcp_track_page(&track, &clock, pages);
		events[nr] = (struct event){
			.epoch = clock.epoch,
			.count = events[nr - 1].count + pages,
			.rose = pages > 0,
		};
		nr++;
		/* The window does not reach back before the track began. */
		model_depths(events, nr, clock.epoch, min(clock.window, clock.epoch - first + 1),
			     &rise, &fall);
		MUST(track.alloc_depth, ==, rise);
		MUST(track.free_depth, ==, fall);
		/* A reader finds the period just as well when the next one has begun. */
		pcp_track_collect(&track, clock.epoch, &alloc, &free);
		MUST(alloc, ==, rise);
		MUST(free, ==, fall);
		if (what & 64) {
			struct pcp_track later = track;
			struct pcp_clock next = clock;

			next.epoch++;
			pcp_track_page(&later, &next, 1);
			pcp_track_collect(&later, clock.epoch, &alloc, &free);
			MUST(alloc, ==, rise);
			MUST(free, ==, fall);
			MUST_BE(!pcp_track_collect(&later, clock.epoch - 1, &alloc, &free));
			MUST(alloc + free, ==, 0);
		}
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
	struct pcp_depth depth = { };

	while (input->left) {
		struct pcp_limits limits = take_limits(input);
		long alloc = take(input, 4), free = take(input, 4);
		struct pcp_decision decision;
		bool reset;

		reset = pcp_depth_period(&depth, take_bool(input), alloc, free);
		if (reset)
			MUST(depth.alloc + depth.free, ==, 0);
		MUST(depth.idle, <=, PCP_IDLE_PERIODS);
		decision = pcp_depth_decide(&depth, &limits, true);
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
