// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa.c - fuzz the scans of a process: mode quiet, mode period, mode promote
 */
#include "input.h"

#include "policy/numa/core.c"
#include "policy/numa/core_promote.c"
#include "policy/numa/core_trend.c"

static void take_counts(struct input *input, struct numa_counts *counts, unsigned int bytes)
{
	int i;

	for (i = 0; i < NUMA_NR_CLASSES; i++)
		counts->pages[i] += take(input, bytes);
	counts->moved += take(input, bytes);
	counts->faults += take(input, bytes);
}

static void quiet(struct input *input)
{
	struct numa_counts now = { }, closed, window;
	struct numa_quiet quiet = { };

	/* About to wrap. */
	memset(&now, 0xff, sizeof(now));
	closed = now;
	while (input->left) {
		u32 longest = take(input, 2), own = take_within(input, 1, 100000), period;
		u8 before = max_t(u8, quiet.factor, 1), what = take(input, 1);

		take_counts(input, &now, what & 2 ? 4 : 1);
		if (numa_counts_since(&closed, &now, &window)) {
			bool change = numa_quiet_look(&quiet, &window, what & 1);

			MUST(quiet.factor, <=, change ? 1 : 2 * before);
			MUST(quiet.factor, <=, NUMA_FACTOR_MAX);
			MUST(quiet.share, <=, 100);
			if (what & 1)
				closed = now;
		}
		period = numa_quiet_period(&quiet, own, longest);
		MUST(period, >=, own);
		MUST(period, <=, (u64)own * NUMA_FACTOR_MAX);
		MUST_BE(numa_is_due(period, own, period));
	}
}

static void trend(struct input *input)
{
	struct numa_trend trend = { };

	while (input->left) {
		struct numa_counts window = { };

		take_counts(input, &window, 1 + take_within(input, 0, 7));
		numa_trend_window(&trend, &window, take(input, 1));
		MUST_BE(trend.rate >= 1 && trend.rate <= 100);
		MUST(numa_trend_period(&trend), >=, NUMA_PERIOD_MIN_MS);
		MUST(numa_trend_period(&trend), <=, NUMA_PERIOD_MAX_MS);
		MUST(numa_trend_back(take_within(input, 1, 60000), 0), >=, NUMA_PERIOD_KERNEL_MS);
	}
}

static void promote(struct input *input)
{
	struct numa_promote promote = { };
	u64 faults = 0, promoted = 0;
	u32 left = take(input, 4);

	while (input->left) {
		u32 before = promote.period_ms, period;
		u64 pages = take(input, 3), since = take(input, 1 + pages % 8);

		faults += take(input, 4);
		promoted += take(input, 3);
		period = numa_promote_next(&promote, faults, promoted, take(input, 4), since);
		MUST(period, >=, NUMA_PROMOTE_MIN_MS);
		MUST(period, <=, max(2 * before, NUMA_PROMOTE_MIN_MS));
		MUST(period, <=, NUMA_PROMOTE_CIRCLES_MS);
		MUST(promote.recent, <=, promoted);
		MUST(numa_promote_charge(left, pages, take(input, 3)), <=, left);
	}
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = { quiet, trend, promote };
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
