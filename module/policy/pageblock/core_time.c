// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_time.c - how long requests are in the slow path; see core_time.h
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "core_time.h"

/**
 * pageblock_time_class() - the class of a request
 * @waits: the request may reclaim directly
 * @movable: the request is for movable pages
 * @costly: the order is above PAGE_ALLOC_COSTLY_ORDER
 *
 * Return: the class.
 */
enum pageblock_class pageblock_time_class(bool waits, bool movable, bool costly)
{
	if (!waits)
		return PAGEBLOCK_CLASS_ATOMIC;
	if (costly)
		return PAGEBLOCK_CLASS_COSTLY;
	return movable ? PAGEBLOCK_CLASS_MOVABLE : PAGEBLOCK_CLASS_UNMOVABLE;
}

/**
 * pageblock_time_bucket() - the bucket of a time
 * @ns: the time
 *
 * Return: index of the bucket.
 */
unsigned int pageblock_time_bucket(u64 ns)
{
	return min_t(unsigned int, fls64(ns), PAGEBLOCK_BUCKETS_OF_TIME - 1);
}

/**
 * pageblock_times_sum() - add times to a sum
 * @sum: the sum; grows
 * @part: times of a CPU, which may grow meanwhile
 */
void pageblock_times_sum(struct pageblock_times *sum, const struct pageblock_times *part)
{
	unsigned int i;

	for (i = 0; i < PAGEBLOCK_BUCKETS_OF_TIME; i++)
		sum->bucket[i] += READ_ONCE(part->bucket[i]);
	sum->total += READ_ONCE(part->total);
	sum->longest = max(sum->longest, READ_ONCE(part->longest));
}

/**
 * pageblock_times_count() - number of times
 * @times: the times
 *
 * Return: the number.
 */
u64 pageblock_times_count(const struct pageblock_times *times)
{
	u64 count = 0;
	unsigned int i;

	for (i = 0; i < PAGEBLOCK_BUCKETS_OF_TIME; i++)
		count += times->bucket[i];
	return count;
}

/**
 * pageblock_times_within() - within what time was a share of the requests served?
 * @times: the times
 * @percent: the share, 1 to 100
 *
 * Return: upper limit of the bucket that the share ends in, or the longest time if that is less, in
 * ns; 0 if there are no times.
 */
u64 pageblock_times_within(const struct pageblock_times *times, unsigned int percent)
{
	u64 count = pageblock_times_count(times), seen = 0;
	unsigned int i;

	for (i = 0; i < PAGEBLOCK_BUCKETS_OF_TIME - 1; i++) {
		seen += times->bucket[i];
		if (seen * 100 >= count * percent)
			return min((1ULL << i) - 1, times->longest);
	}
	return times->longest;
}
