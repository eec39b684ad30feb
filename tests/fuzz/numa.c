// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa.c - fuzz the period of an address space
 */
#include "input.h"

#include "policy/numa/core.c"

static struct numa_settings take_settings(struct input *input)
{
	u32 low = take_within(input, 1, 60000);

	return (struct numa_settings){
		.period_min_ms = low,
		.period_max_ms = take_within(input, low, 3600000),
		.step_max_pct = take_within(input, 100, 10000),
		.steady_pct = take_within(input, 100, 1000),
	};
}

/* Counters begin anywhere, and wrap. */
static void take_counts(struct input *input, struct numa_counts *counts, unsigned int bytes)
{
	int i;

	counts->faults += take(input, 2);
	for (i = 0; i < NUMA_NR_CLASSES; i++)
		counts->pages[i] += take(input, bytes);
}

static void periods(struct input *input)
{
	struct numa_settings settings = take_settings(input);
	struct numa_facts facts = { .pass = take(input, 4), .kernel_ms = take(input, 2) };
	struct numa_counts now = { };
	struct numa_period period;

	take_counts(input, &now, 8);
	numa_period_begin(&period, &now, &facts, &settings);
	while (input->left) {
		u32 low = settings.period_min_ms, high = settings.period_max_ms;
		struct numa_decision decision;
		u8 what = take(input, 1);

		if (what < 8) {
			settings = take_settings(input);
			continue;
		}
		take_counts(input, &now, what < 16 ? 8 : 2);
		facts.pass += what & 1;
		facts.scanned += take(input, 2);
		facts.resident = take(input, 2);
		facts.lived_ms += take(input, 2);
		facts.run_ms += take(input, 2);
		facts.kernel_ms = take(input, 2);
		decision = numa_period_window(&period, &now, &facts, &settings);
		MUST(decision.period_ms, >=, low);
		MUST(decision.period_ms, <=, high);
		MUST(decision.learnt_ms, >=, low);
		MUST(decision.learnt_ms, <=, high);
		MUST(period.period_us, >=, low * 1000ULL);
		MUST(period.period_us, <=, high * 1000ULL);
		MUST_BE(decision.rate >= 1 && decision.rate <= 100);
		MUST(decision.recent, <=, 100);
		MUST(decision.private, <=, 10);
		MUST_BE(numa_reason_words[decision.reason] && numa_limit_words[decision.limit]);
		MUST((u64)decision.slope * 100, <=, (u64)NUMA_SLOPE_ONE * settings.step_max_pct);
		MUST((u64)(decision.slope + 1) * settings.step_max_pct, >=,
		     NUMA_SLOPE_ONE * 100ULL);
		/* Young address spaces are not scanned faster than by the kernel. */
		if (!numa_past_scan_delay(&facts))
			MUST(decision.period_ms, >=, clamp(facts.kernel_ms, low, high));
	}
}

/* Each fault is in one window, or in the window that goes on. */
static void windows(struct input *input)
{
	struct numa_counts now = { }, closed, begun, window;
	u64 faults = 0, local = 0;

	take_counts(input, &now, 8);
	closed = now;
	begun = now;
	while (input->left) {
		take_counts(input, &now, 2);
		if (!numa_counts_take(&closed, &now, &window))
			continue;
		faults += window.faults;
		local += window.pages[NUMA_LOCAL_PRIVATE];
		MUST_BE(!memcmp(&closed, &now, sizeof(now)));
	}
	MUST(faults, ==, closed.faults - begun.faults);
	MUST(local, ==, closed.pages[NUMA_LOCAL_PRIVATE] - begun.pages[NUMA_LOCAL_PRIVATE]);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = { periods, windows };
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
