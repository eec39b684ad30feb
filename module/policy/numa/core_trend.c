// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_trend.c - arithmetic of mode period; see core_trend.h
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_trend.h"

/* Larger sums lose their low bits, so that nothing wraps; a window of 2^40 pages is 4 PiB. */
#define MOST_PAGES	BIT_ULL(40)

static void add(u64 *sum, unsigned int shift, u64 pages)
{
	*sum = min(*sum - (*sum >> shift) + min(pages, MOST_PAGES), 4 * MOST_PAGES);
}

static u32 ratio(u32 of, u32 to)
{
	return div_u64((u64)of * NUMA_SLOPE_ONE, to);
}

/* The rate has moved; return whether the period changes. */
static bool rate_moved(struct numa_trend *trend, u8 rate, u8 before, bool fell, u32 by_share,
		       bool shared)
{
	bool intended = trend->intended;

	trend->intended = fell;
	if (intended != fell) {
		/* The intentions of two windows differ: only what is shared turns the trend. */
		if (!trend->lengthening && shared) {
			trend->intended = true;
			trend->lengthening = true;
			trend->slope = by_share;
		}
		return false;
	}
	if (trend->lengthening == fell) {
		trend->slope = ratio(rate, trend->rate);
	} else if (!fell && shared) {
		trend->intended = true;
	} else {
		trend->lengthening = fell;
		trend->slope = ratio(trend->rate, before);
	}
	return true;
}

/* The rate is stable; return whether the period changes. */
static bool rate_stable(struct numa_trend *trend, u8 rate, u8 before, u32 passes, u32 by_share,
			bool shared)
{
	bool intended = trend->intended;
	bool settled = before >= trend->rate && trend->rate >= rate && passes > 1;

	trend->intended = false;
	if (trend->lengthening)
		return false;
	if (!shared && !settled)
		return true;
	trend->intended = true;
	if (!intended)
		return false;
	trend->lengthening = true;
	trend->slope = shared ? by_share : ratio(100, 110);
	return true;
}

/**
 * numa_trend_window() - a window has ended
 * @trend: of the process; updated
 * @window: the faults, enough of them
 * @passes: passes over the address space so far
 */
void numa_trend_window(struct numa_trend *trend, const struct numa_counts *window, u32 passes)
{
	const u64 *pages = window->pages;
	u32 private, by_share;
	u8 before, rate;
	bool shared, changes;
	int moved;

	add(&trend->local, 2, pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_LOCAL_SHARED]);
	add(&trend->remote, 2, pages[NUMA_REMOTE_PRIVATE] + pages[NUMA_REMOTE_SHARED]);
	add(&trend->private, 1, pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_REMOTE_PRIVATE]);
	add(&trend->shared, 1, pages[NUMA_LOCAL_SHARED] + pages[NUMA_REMOTE_SHARED]);
	/* Rates are divided by each other. */
	rate = max_t(u64, div64_u64(trend->remote * 100, trend->local + trend->remote + 1), 1);
	private = div64_u64(trend->private * 10, trend->private + trend->shared + 1);
	shared = private < NUMA_PRIVATE_TENTHS;
	by_share = shared ? ratio(100, 100 + 10 * (NUMA_PRIVATE_TENTHS - private)) : 0;
	trend->rate = max_t(u8, trend->rate, 1);
	before = max_t(u8, trend->older, 1);
	moved = rate - before;
	if (abs(moved) <= NUMA_STABLE_POINTS)
		changes = rate_stable(trend, rate, before, passes, by_share, shared);
	else
		changes = rate_moved(trend, rate, before, moved < 0, by_share, shared);
	trend->older = trend->rate;
	trend->rate = rate;
	trend->period_us = trend->period_us ?: NUMA_PERIOD_FIRST_MS * 1000;
	if (changes && trend->slope)
		trend->period_us = clamp_t(u64, div_u64((u64)trend->period_us * NUMA_SLOPE_ONE,
							trend->slope),
					   NUMA_PERIOD_MIN_MS * 1000, NUMA_PERIOD_MAX_MS * 1000);
}
