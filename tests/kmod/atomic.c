// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_atomic.ko - pages asked for as a network card's driver asks for them
 *
 * A timer asks for BURST blocks a tick, in softirq, and keeps the HELD newest: GFP_ATOMIC,
 * without a warning when there are none.  `served` and `failed` count the requests.
 * Their orders are 0 to `most_order` in turn: jumbo frames have more than one page each.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/timer.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

#define BURST	64U
#define HELD	1024U

/* All of these belong to the timer. */
LMM_PARAM(ulong, served, 0, "requests that got their page");
LMM_PARAM(ulong, failed, 0, "requests that did not");
LMM_PARAM(uint, most_order, 0, "the largest order that is asked for");

/* A ring: what was got at each place, NULL where there was nothing. */
static struct page *packets[HELD];
static unsigned int newest;

static void packet_drop(unsigned int at)
{
	if (packets[at])
		__free_pages(packets[at], at % (most_order + 1));
}

static void packets_arrive(struct timer_list *timer)
{
	unsigned int i;

	for (i = 0; i < BURST; i++) {
		packet_drop(newest);
		packets[newest] = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN,
					      newest % (most_order + 1));
		if (packets[newest])
			served++;
		else
			failed++;
		newest = (newest + 1) % HELD;
	}
	mod_timer(timer, jiffies + 1);
}

static DEFINE_TIMER(arrival, packets_arrive);

static int __init lmm_atomic_init(void)
{
	mod_timer(&arrival, jiffies + 1);
	return 0;
}

static void __exit lmm_atomic_exit(void)
{
	unsigned int i;

	/* That only the timer itself arms it again does not matter to this. */
	timer_delete_sync(&arrival);
	for (i = 0; i < HELD; i++)
		packet_drop(i);
}

module_init(lmm_atomic_init);
module_exit(lmm_atomic_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: atomic requests from softirq, as of packets");
