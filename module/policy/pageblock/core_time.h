/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_time.h - how long requests are in the slow path
 *
 * Pure: no kernel state, lock or clock.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_TIME_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_TIME_H

#include <linux/types.h>

/**
 * enum pageblock_class - requests whose times are told apart
 * @PAGEBLOCK_CLASS_ATOMIC: may not reclaim directly, of any type and order
 * @PAGEBLOCK_CLASS_UNMOVABLE: may reclaim, of a type that cannot be moved
 * @PAGEBLOCK_CLASS_MOVABLE: may reclaim, movable
 * @PAGEBLOCK_CLASS_COSTLY: may reclaim, of an order for which the kernel rather fails than
 *	tries hard, as for huge pages; of any type
 * @PAGEBLOCK_NR_CLASSES: number of classes
 */
enum pageblock_class {
	PAGEBLOCK_CLASS_ATOMIC,
	PAGEBLOCK_CLASS_UNMOVABLE,
	PAGEBLOCK_CLASS_MOVABLE,
	PAGEBLOCK_CLASS_COSTLY,
	PAGEBLOCK_NR_CLASSES
};

/* A bucket for each doubling; the last has all from 2^38 ns on, which is 4.6 minutes. */
#define PAGEBLOCK_BUCKETS_OF_TIME	40U

/**
 * struct pageblock_times - times of a class
 * @bucket: number of times: of 0 ns in bucket 0, from 2^(i-1) ns to below 2^i ns in bucket i
 * @total: their sum, in ns
 * @longest: the longest, in ns
 */
struct pageblock_times {
	u64 bucket[PAGEBLOCK_BUCKETS_OF_TIME];
	u64 total;
	u64 longest;
};

enum pageblock_class pageblock_time_class(bool waits, bool movable, bool costly);
unsigned int pageblock_time_bucket(u64 ns);
void pageblock_times_sum(struct pageblock_times *sum, const struct pageblock_times *part);
u64 pageblock_times_count(const struct pageblock_times *times);
u64 pageblock_times_within(const struct pageblock_times *times, unsigned int percent);

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_TIME_H */
