/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_alarm.h - arithmetic of alarms: is what a sampling scan found worth full scans?
 *
 * An alarm makes the next passes full and soon, so that the kernel moves pages that have become
 * remote.  Some pages cannot be helped: two nodes share them, or memory of the node is used up.
 * So every sample is compared with what was expected of the same area: the part of the memory
 * that a sampling scan takes at this place of a pass, in this turn.
 *
 * After an alarm the same area is sampled once more.  The alarm helped if the share of remote
 * faults there has halved.  If not, no alarm is raised for NUMA_ALARM_WAIT_MS, and for twice as
 * long after each further alarm that did not help.  While no alarm may be raised, samples teach
 * what to expect.
 *
 * In a large process full passes take minutes, and the use of memory may change again before the
 * area is sampled once more.  So an alarm older than NUMA_ALARM_WAIT_MS is taken for one that
 * helped where the kernel has since moved one resident page in NUMA_ALARM_MOVED_PART.  Where pages
 * move to and fro, one such alarm follows another, so who calls numa_alarm_expire() bounds the
 * scans by an account.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_ALARM_H
#define LIVEMM_POLICY_NUMA_CORE_ALARM_H

#include <linux/types.h>

/*
 * Percentage points by which the remote faults of a sample must exceed the expected share: four
 * standard deviations of a share that is taken of 100 faults.
 */
#define NUMA_RESAMPLE_POINTS	20

/* Areas of an address space; those of a larger one are larger. */
#define NUMA_SAMPLE_AREAS	64

/*
 * Milliseconds without an alarm after an alarm that did not help, so at most two such alarms a
 * minute, and the longest such time.
 */
#define NUMA_ALARM_WAIT_MS	30000
#define NUMA_ALARM_WAIT_MAX_MS	480000

/*
 * Pages that the kernel has moved since an alarm that helped: one resident page in so many.  Where
 * a part of the memory cannot move, and the rest is settled, far fewer pages move.
 */
#define NUMA_ALARM_MOVED_PART	8

/**
 * enum numa_verdict - what a sample says
 * @NUMA_AS_EXPECTED: no more remote faults than expected
 * @NUMA_HELD_BACK: more, but an alarm would not help, or may not be raised now
 * @NUMA_ALARM: more: full passes should follow soon
 */
enum numa_verdict {
	NUMA_AS_EXPECTED,
	NUMA_HELD_BACK,
	NUMA_ALARM,
};

/**
 * struct numa_alarm - alarms of an address space
 * @expected: percent of remote faults to expect in an area, plus 1; 0: not known
 * @area: area of the last alarm
 * @share: percent of remote faults then
 * @pending: whether the last alarm helped is not known yet
 * @raised_ms: time of the last alarm
 * @moved: pages that the kernel had moved by then
 * @wait_ms: time without an alarm from @since_ms on; 0: none
 * @since_ms: time at which the last alarm was found not to have helped
 */
struct numa_alarm {
	u8 expected[NUMA_SAMPLE_AREAS];
	u8 area;
	u8 share;
	bool pending;
	u32 raised_ms;
	u64 moved;
	u32 wait_ms;
	u32 since_ms;
};

unsigned int numa_sample_area(u32 turn, u32 stride, u32 scan, u32 scans);
enum numa_verdict numa_alarm_judge(struct numa_alarm *alarm, unsigned int area,
				   unsigned int share, unsigned int rate, u32 now_ms);
void numa_alarm_expire(struct numa_alarm *alarm, u64 moved, u64 resident, u32 now_ms);
void numa_alarm_unanswered(struct numa_alarm *alarm, u32 now_ms);

#endif /* LIVEMM_POLICY_NUMA_CORE_ALARM_H */
