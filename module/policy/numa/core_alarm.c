// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_alarm.c - arithmetic of alarms; see core_alarm.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_alarm.h"

/**
 * numa_sample_area() - the area that a sampling scan takes
 * @turn: which slice of each range, see struct numa_sampling
 * @stride: number of slices, at least 1
 * @scan: scans of this pass before
 * @scans: scans of a pass, at least 1
 *
 * In a process of one scan an area is a slice, or some neighbouring slices.  In a larger process
 * an area is also a place in the address space.  In a very large process an area is a place alone.
 *
 * Return: number below NUMA_SAMPLE_AREAS.
 */
unsigned int numa_sample_area(u32 turn, u32 stride, u32 scan, u32 scans)
{
	u32 places = min_t(u32, scans, NUMA_SAMPLE_AREAS);
	u32 slices = min_t(u32, stride, NUMA_SAMPLE_AREAS / places);
	u64 place = min(scan, scans - 1);

	return div_u64(place * places, scans) * slices + turn % stride * slices / stride;
}

/* Half of what is expected is what the last sample said. */
static void learn(struct numa_alarm *alarm, unsigned int area, unsigned int expected,
		  unsigned int share)
{
	alarm->expected[area] = (expected + share + 1) / 2 + 1;
}

static void not_helped(struct numa_alarm *alarm, u32 now_ms)
{
	u32 wait = 2 * alarm->wait_ms;

	/* Long ago: that was another time. */
	if (now_ms - alarm->since_ms > 4 * alarm->wait_ms)
		wait = 0;
	alarm->pending = false;
	alarm->wait_ms = clamp_t(u32, wait, NUMA_ALARM_WAIT_MS, NUMA_ALARM_WAIT_MAX_MS);
	alarm->since_ms = now_ms;
}

/**
 * numa_alarm_judge() - judge a sample
 * @alarm: of the address space
 * @area: the area sampled, below NUMA_SAMPLE_AREAS
 * @share: percent of remote faults of the sample, 0..100
 * @rate: percent of remote faults of the address space, expected of an area never sampled
 * @now_ms: the time; may wrap
 *
 * Return: whether full passes should follow.
 */
enum numa_verdict numa_alarm_judge(struct numa_alarm *alarm, unsigned int area,
				   unsigned int share, unsigned int rate, u32 now_ms)
{
	unsigned int expected = alarm->expected[area] ? alarm->expected[area] - 1 : rate;
	bool more = share > expected + NUMA_RESAMPLE_POINTS;

	if (alarm->pending && area == alarm->area && 2 * share > alarm->share) {
		not_helped(alarm, now_ms);
		alarm->expected[area] = share + 1;
		return NUMA_HELD_BACK;
	}
	if (alarm->pending && area == alarm->area) {
		alarm->pending = false;
		alarm->wait_ms = 0;
		more = false;
	} else if (more && !alarm->pending &&
		   (!alarm->wait_ms || now_ms - alarm->since_ms >= alarm->wait_ms)) {
		alarm->pending = true;
		alarm->area = area;
		alarm->share = share;
		alarm->raised_ms = now_ms;
		return NUMA_ALARM;
	}
	learn(alarm, area, expected, share);
	return more ? NUMA_HELD_BACK : NUMA_AS_EXPECTED;
}

/**
 * numa_alarm_expire() - stop waiting for the answer to an old alarm that has had pages moved
 * @alarm: of the address space
 * @moved: pages that the kernel has moved so far
 * @resident: resident pages
 * @now_ms: the time; may wrap
 *
 * The next sample then speaks of another change, if of any.
 */
void numa_alarm_expire(struct numa_alarm *alarm, u64 moved, u64 resident, u32 now_ms)
{
	if (!alarm->pending || now_ms - alarm->raised_ms < NUMA_ALARM_WAIT_MS ||
	    moved - alarm->moved < max(resident / NUMA_ALARM_MOVED_PART, 1ULL))
		return;
	alarm->pending = false;
	alarm->wait_ms = 0;
}

/**
 * numa_alarm_unanswered() - a pass of sampling scans has ended
 * @alarm: of the address space
 * @now_ms: the time; may wrap
 *
 * When the area of the last alarm had too few faults to be judged, the alarm counts as one that
 * did not help.
 */
void numa_alarm_unanswered(struct numa_alarm *alarm, u32 now_ms)
{
	if (alarm->pending)
		not_helped(alarm, now_ms);
}
