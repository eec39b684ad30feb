// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_atomic.ko - pages asked for as a network card's driver asks for them
 *
 * A timer asks `burst` times a tick, in softirq, for 2^0 to 2^`order` pages in turn, and
 * keeps the `held` newest: GFP_ATOMIC, without a warning when there are none.  `served`
 * and `failed` count the requests, `failed_order` the failed ones of each order.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timer.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

/* As large as a driver's fragment of several packets. */
#define MOST_ORDER	3U
#define MOST_HELD	65536U
#define MOST_BURST	4096U

LMM_PARAM(uint, burst, 64, "requests a tick, 1..4096");
LMM_PARAM(uint, order, MOST_ORDER, "largest order asked for, 0..3");
LMM_PARAM(uint, held, 512, "how many requests are kept, 1..65536");

/* All of these belong to the timer. */
LMM_PARAM(ulong, served, 0, "requests that got their pages");
LMM_PARAM(ulong, failed, 0, "requests that did not");

static unsigned long failed_order[MOST_ORDER + 1];
module_param_array(failed_order, ulong, NULL, 0400);
MODULE_PARM_DESC(failed_order, "those by order, from 0 on");

/* A ring: what was asked for at each place, NULL where there was nothing. */
static struct packet {
	struct page *page;
	unsigned int order;
} *packets;

static unsigned int newest;

static void packet_drop(struct packet *packet)
{
	if (packet->page)
		__free_pages(packet->page, packet->order);
	packet->page = NULL;
}

static void packet_take(struct packet *packet, unsigned int wanted)
{
	packet->order = wanted;
	packet->page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN, wanted);
	if (packet->page) {
		served++;
		return;
	}
	failed++;
	failed_order[wanted]++;
}

static void packets_arrive(struct timer_list *timer)
{
	unsigned int i;

	for (i = 0; i < burst; i++) {
		struct packet *packet = &packets[newest];

		packet_drop(packet);
		packet_take(packet, newest % (order + 1));
		newest = (newest + 1) % held;
	}
	mod_timer(timer, jiffies + 1);
}

static DEFINE_TIMER(arrival, packets_arrive);

static int __init lmm_atomic_init(void)
{
	if (!burst || burst > MOST_BURST || order > MOST_ORDER || !held || held > MOST_HELD)
		return -EINVAL;
	packets = kvcalloc(held, sizeof(*packets), GFP_KERNEL);
	if (!packets)
		return -ENOMEM;
	mod_timer(&arrival, jiffies + 1);
	return 0;
}

static void __exit lmm_atomic_exit(void)
{
	unsigned int i;

	/* That only the timer itself arms it again does not matter to this. */
	lmm_timer_delete_sync(&arrival);
	for (i = 0; i < held; i++)
		packet_drop(&packets[i]);
	kvfree(packets);
}

module_init(lmm_atomic_init);
module_exit(lmm_atomic_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: atomic requests from softirq, as of packets");
