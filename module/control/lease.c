// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - a host whose controller died goes back to stock by itself
 *
 * The timer is the lease.  The end of a lease waits for nobody: policies are cut at once, and a
 * worker tidies up later.  A renewal that comes when the timer has fired is late.
 *
 * Time is boot time: a lease runs on while the host is suspended.
 */
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/printk.h>

#include "compat/compat.h"
#include "lease.h"
#include "look.h"
#include "switch.h"

static struct hrtimer lmm_lease_timer;

/* A lease is read as a knob is. */
const struct lmm_knob lmm_lease_knob = LMM_UINT("lease", 0, 7 * 24 * 3600, 0);

static enum hrtimer_restart lmm_lease_fires(struct hrtimer *timer)
{
	lmm_policies_cut(LMM_ALL_POLICIES);
	pr_info("livemm: lease ran out: every policy is switched off\n");
	return HRTIMER_NORESTART;
}

/**
 * lmm_lease_init() - prepare for leases
 *
 * Context: process.
 */
void lmm_lease_init(void)
{
	lmm_hrtimer_setup(&lmm_lease_timer, lmm_lease_fires, CLOCK_BOOTTIME, HRTIMER_MODE_REL_SOFT);
}

/**
 * lmm_lease_set() - begin, renew or end the lease
 * @seconds: length from now, within lmm_lease_knob's range; 0 ends the lease
 *
 * Waits for the end of a lease that has run out, when @seconds is 0.
 *
 * Context: process, may sleep.
 */
void lmm_lease_set(u32 seconds)
{
	if (seconds)
		hrtimer_start(&lmm_lease_timer, ktime_set(seconds, 0), HRTIMER_MODE_REL_SOFT);
	else
		hrtimer_cancel(&lmm_lease_timer);
}

/**
 * lmm_lease_left() - time until the lease ends
 *
 * Context: process.
 * Return: seconds, rounded up; 0 when there is no lease.
 */
u32 lmm_lease_left(void)
{
	/* When the time is up and the timer has not run yet, the lease still holds. */
	s64 left = max_t(s64, hrtimer_get_remaining(&lmm_lease_timer), 1);

	return hrtimer_active(&lmm_lease_timer) ? DIV_ROUND_UP_ULL(left, NSEC_PER_SEC) : 0;
}
