// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - a host whose controller died goes back to stock by itself
 *
 * A spinlock protects the deadline; the timer only says when to look at the deadline.  When a
 * renewal meets a timer that has fired, the first holder of the lock decides.  The end of a lease
 * waits for nobody: policies are cut at once, and a worker tidies up later.
 *
 * Time is boot time: a lease runs on while the host is suspended.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

#include "compat/compat.h"
#include "lease.h"
#include "look.h"
#include "policies.h"

static DEFINE_SPINLOCK(lmm_lease_lock);

/* In ns of boot time; 0: no lease. */
static u64 lmm_lease_deadline;

static struct hrtimer lmm_lease_timer;

/* A lease is read as a knob is. */
const struct lmm_knob lmm_lease_knob = LMM_UINT("lease", 0, 7 * 24 * 3600, 0);

static enum hrtimer_restart lmm_lease_fires(struct hrtimer *timer)
{
	bool ran_out;

	spin_lock(&lmm_lease_lock);
	ran_out = lmm_lease_deadline && ktime_get_boottime_ns() >= lmm_lease_deadline;
	if (ran_out)
		lmm_lease_deadline = 0;
	spin_unlock(&lmm_lease_lock);
	if (ran_out) {
		lmm_policies_cut(LMM_ALL_POLICIES);
		pr_info("lease ran out: every policy is switched off\n");
	}
	return HRTIMER_NORESTART;
}

/**
 * lmm_lease_init() - prepare for leases
 *
 * Context: process.
 */
void lmm_lease_init(void)
{
	lmm_hrtimer_setup(&lmm_lease_timer, lmm_lease_fires, CLOCK_BOOTTIME, HRTIMER_MODE_ABS_SOFT);
}

/**
 * lmm_lease_set() - begin, renew or end the lease
 * @seconds: length from now, within lmm_lease_knob's range; 0 ends the lease
 *
 * Context: process.
 */
void lmm_lease_set(u32 seconds)
{
	u64 deadline = ktime_get_boottime_ns() + (u64)seconds * NSEC_PER_SEC;

	spin_lock_irq(&lmm_lease_lock);
	lmm_lease_deadline = seconds ? deadline : 0;
	/* A timer that fires too early finds no deadline, or a later deadline. */
	if (seconds)
		hrtimer_start(&lmm_lease_timer, ns_to_ktime(deadline), HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irq(&lmm_lease_lock);
}

/**
 * lmm_lease_left() - time until the lease ends
 *
 * Context: process.
 * Return: seconds, rounded up; 0 when there is no lease.
 */
u32 lmm_lease_left(void)
{
	u64 now = ktime_get_boottime_ns();
	u64 deadline;

	spin_lock_irq(&lmm_lease_lock);
	deadline = lmm_lease_deadline;
	spin_unlock_irq(&lmm_lease_lock);
	if (!deadline)
		return 0;
	/* The deadline has passed and the timer has not run yet: the lease still holds. */
	if (now >= deadline)
		return 1;
	return div_u64(deadline - now + NSEC_PER_SEC - 1, NSEC_PER_SEC);
}

/**
 * lmm_lease_cancel() - end the lease and wait for its timer
 *
 * The caller guarantees that nobody calls lmm_lease_set() any more.
 *
 * Context: process, may sleep.
 */
void lmm_lease_cancel(void)
{
	spin_lock_irq(&lmm_lease_lock);
	lmm_lease_deadline = 0;
	spin_unlock_irq(&lmm_lease_lock);
	hrtimer_cancel(&lmm_lease_timer);
}
