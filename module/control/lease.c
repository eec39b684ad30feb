// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - a host whose controller died goes back to stock by itself
 *
 * The deadline is the truth and belongs to the control mutex; the timer only
 * says when to look at it.  So a renewal that meets a timer already fired is
 * decided by who takes the mutex first, and never half.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/workqueue.h>

#include "control.h"

static void lmm_lease_work(struct work_struct *work);

static DECLARE_DELAYED_WORK(lmm_lease_timer, lmm_lease_work);

/* In jiffies; 0: no lease. */
static u64 lmm_lease_deadline;

/* The text of a lease is read like a knob's. */
const struct lmm_knob lmm_lease_knob = {
	.name = "lease",
	.kind = LMM_KNOB_UINT,
	.max = 7 * 24 * 3600,
};

/*
 * A timer may be late by an eighth of its delay (kernel/time/timer.c, "timer wheel"): of a
 * lease of an hour seven minutes.  So it is woken early, and armed again for the rest.
 */
static void lmm_lease_arm(u64 delay)
{
	/* Switching off may wait for a livepatch transition: not system_wq. */
	mod_delayed_work(system_long_wq, &lmm_lease_timer, delay - delay / 8);
}

static void lmm_lease_work(struct work_struct *work)
{
	u64 now;

	mutex_lock(&lmm_control_mutex);
	now = get_jiffies_64();
	if (lmm_lease_deadline && now < lmm_lease_deadline) {
		lmm_lease_arm(lmm_lease_deadline - now);
	} else if (lmm_lease_deadline) {
		lmm_lease_deadline = 0;
		pr_info("lease ran out: every policy is switched off\n");
		lmm_policies_disable_all();
	}
	mutex_unlock(&lmm_control_mutex);
}

/**
 * lmm_lease_set() - begin, renew or end the lease
 * @seconds: from now, within lmm_lease_knob's range; 0 ends it
 *
 * Context: process, control mutex held.
 */
void lmm_lease_set(u32 seconds)
{
	u64 delay = (u64)seconds * HZ;

	lockdep_assert_held(&lmm_control_mutex);
	if (!seconds) {
		lmm_lease_deadline = 0;
		cancel_delayed_work(&lmm_lease_timer);
		return;
	}
	lmm_lease_deadline = get_jiffies_64() + delay;
	lmm_lease_arm(delay);
}

/**
 * lmm_lease_left() - how long the lease still runs
 *
 * Context: process, control mutex held.
 * Return: seconds, rounded up; 0 when there is no lease.
 */
u32 lmm_lease_left(void)
{
	u64 now = get_jiffies_64();

	lockdep_assert_held(&lmm_control_mutex);
	if (!lmm_lease_deadline)
		return 0;
	/* Run out, but the timer has not been served yet: still a lease. */
	if (now >= lmm_lease_deadline)
		return 1;
	return div_u64(lmm_lease_deadline - now + HZ - 1, HZ);
}

/**
 * lmm_lease_cancel() - end the lease and wait for its timer
 *
 * The caller has seen to it that nobody can call lmm_lease_set() any more.
 *
 * Context: process, may sleep, control mutex NOT held (the timer takes it).
 */
void lmm_lease_cancel(void)
{
	mutex_lock(&lmm_control_mutex);
	lmm_lease_deadline = 0;
	mutex_unlock(&lmm_control_mutex);
	cancel_delayed_work_sync(&lmm_lease_timer);
}
