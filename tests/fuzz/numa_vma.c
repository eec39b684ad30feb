// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_vma.c - fuzz mode vma: what a sampling scan takes, alarms, and the account of scans
 */
#include "input.h"

#include "policy/numa/core_alarm.c"
#include "policy/numa/core_credit.c"
#include "policy/numa/core_sample.c"

#define REGIONS	80
#define REGION	(1ULL << NUMA_REGION_SHIFT)

/* What maps each region. */
static u8 backing[REGIONS];

static enum numa_backing backing_of(void *arg, u64 region)
{
	MUST(region, <, REGIONS);
	return backing[region];
}

static struct numa_range take_range(struct input *input)
{
	struct numa_range range = { .start = take_within(input, 0, REGIONS * REGION - 1) };

	range.end = take_within(input, range.start + 1, REGIONS * REGION);
	return range;
}

/* Sampling scans: after a round of all turns each mapped page was taken, in one run a scan. */
static void samples(struct input *input)
{
	struct numa_sampling sampling = {
		.stride = take_within(input, 1, 512),
		.turn = take(input, 3),
	};
	static u8 taken[REGIONS * REGION];
	struct numa_range range = take_range(input);
	u32 turn, gap = 0, i;
	u64 page;

	for (i = 0; i < REGIONS; i++)
		backing[i] = take_within(input, NUMA_UNMAPPED, NUMA_HUGE);
	/* A huge page lies in one VMA, and the kernel cuts none. */
	if (range.start % REGION)
		backing[range.start / REGION] = NUMA_SMALL;
	if (range.end % REGION)
		backing[range.end / REGION] = NUMA_SMALL;
	memset(taken, 0, sizeof(taken));
	for (turn = 0; turn < sampling.stride; turn++, sampling.turn++) {
		struct numa_range run;

		if (!numa_sampling_slice(&sampling, &range, backing_of, NULL, &run))
			continue;
		MUST(run.start, >=, range.start);
		MUST(run.start, <, run.end);
		MUST(run.end, <=, range.end);
		for (page = run.start; page < run.end; page++)
			taken[page]++;
	}
	for (page = range.start; page < range.end; page++)
		if (backing[page / REGION] != NUMA_UNMAPPED)
			MUST(taken[page], ==, 1);
	for (i = 0; i < 64; i++) {
		u32 next = numa_sampling_gap(gap);

		MUST(next, >=, gap);
		MUST(next, <=, NUMA_GAP_MAX_MS);
		gap = next;
	}
	MUST(gap, ==, NUMA_GAP_MAX_MS);
	i = numa_sampling_faults(take(input, 5), sampling.stride);
	MUST_BE(i >= NUMA_RESAMPLE_FAULTS_MIN && i <= NUMA_RESAMPLE_FAULTS_MAX);
}

/* Alarms: two in a minute at the most that did not help. */
static void alarms(struct input *input)
{
	u32 stride = take_within(input, 1, 512), scans = take_within(input, 1, 300), now = 0;
	struct numa_alarm alarm = { };
	bool helped = true;
	u32 last = 0;

	while (input->left) {
		u32 area = numa_sample_area(take(input, 2), stride, take_within(input, 0, 400),
					    scans);
		bool pending;

		if (take_within(input, 0, 15) == 15) {
			numa_alarm_expire(&alarm, take(input, 4), take(input, 4), now);
			helped |= !alarm.pending && !alarm.wait_ms;
		}
		pending = alarm.pending;
		MUST(area, <, NUMA_SAMPLE_AREAS);
		now += take(input, 2);
		if (take_within(input, 0, 15) == 15) {
			numa_alarm_unanswered(&alarm, now);
		} else if (numa_alarm_judge(&alarm, area, take_within(input, 0, 100),
					  take_within(input, 1, 100), now) == NUMA_ALARM) {
			MUST_BE(!pending);
			MUST_BE(helped || now - last >= NUMA_ALARM_WAIT_MS);
			last = now;
			continue;
		}
		if (pending && !alarm.pending)
			helped = !alarm.wait_ms;
		MUST(alarm.wait_ms, <=, NUMA_ALARM_WAIT_MAX_MS);
	}
}

/* Scans that the account covers are never more than the kernel's own would have been. */
static void credits(struct input *input)
{
	u64 kernel = 0, made = 0, busy = 0;
	struct numa_credit credit = { };

	while (input->left) {
		struct numa_ask ask = {
			.ran_ms = take(input, 2),
			.own_ms = take(input, 2),
			.elapsed_ms = take(input, 2),
			.brought = take_bool(input),
		};
		u32 stride = take_within(input, 1, 512), ran = min(ask.ran_ms, ask.elapsed_ms);

		numa_credit_ask(&credit, &ask);
		kernel += ask.brought && ran < ask.own_ms ?
			  (u64)ran * NUMA_CREDIT_SCAN / ask.own_ms : NUMA_CREDIT_SCAN;
		busy += ran;
		MUST(credit.busy_ms, ==, busy);
		MUST(credit.saved, <=, NUMA_CREDIT_MAX);
		MUST(credit.part, <, NUMA_CREDIT_SCAN);
		MUST_BE(!numa_credit_covers(&credit, 1) || numa_credit_covers(&credit, stride));
		if (numa_credit_full(&credit, take(input, 3))) {
			MUST_BE(numa_credit_covers(&credit, 1));
			numa_credit_pass(&credit);
			busy = 0;
			stride = 1;
		} else if (take_bool(input)) {
			/* After an alarm, whatever the account says. */
			numa_credit_spend(&credit, 1);
			continue;
		} else if (!numa_credit_covers(&credit, stride)) {
			continue;
		}
		numa_credit_spend(&credit, stride);
		made += NUMA_CREDIT_SCAN / stride;
		MUST(made, <=, kernel);
	}
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };

	switch (take_within(&input, 0, 2)) {
	case 0:
		samples(&input);
		break;
	case 1:
		alarms(&input);
		break;
	default:
		credits(&input);
	}
	return 0;
}
