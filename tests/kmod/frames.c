// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_frames.ko - large blocks asked for as a network card's driver refills a receive ring
 *
 * Loading takes free memory, until the zones hold no more than `leave` pages in free blocks of
 * `order` or larger.  The requests do not wake kswapd, and what depots hold does not count.
 *
 * A write to `go`, on the CPU that has loaded the module, starts a timer there.  The timer's
 * interrupt asks for `burst` blocks a tick, GFP_ATOMIC, and keeps the `ring` newest, until
 * `requests` have been made.  `failed` counts requests that got no block.  With `movable` the
 * requests that fill the ring are for movable blocks, which the next requests then replace.
 * Unloading gives everything back.
 */
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

#define TICK_NS		1000000U
/* Higher than any order of which CPUs keep lists, but for huge pages. */
#define LARGE_ORDER	5U
#define MOST_BLOCKS	65536U

LMM_PARAM(uint, order, 3, "order of a block, 1..3");
LMM_PARAM(ulong, leave, 0, "pages to leave in free blocks of that order or larger");
LMM_PARAM(uint, ring, 512, "blocks to keep, 1..65536");
LMM_PARAM(uint, burst, 16, "requests a tick");
LMM_PARAM(ulong, requests, 1024, "requests to make");
LMM_PARAM(bool, movable, false, "fill the ring with movable blocks");

LMM_PARAM(ulong, spare, 0, "pages in such blocks when the module was loaded");
LMM_PARAM(ulong, begun, 0, "pages in such blocks when the requests began");
LMM_PARAM(ulong, small, 0, "pages in smaller free blocks when the requests began");
/* These belong to the timer. */
LMM_PARAM(ulong, made, 0, "requests made so far");
LMM_PARAM(ulong, failed, 0, "requests that got no block");
LMM_PARAM(ulong, failed_first, 0, "those of them that were made to fill the ring");
LMM_PARAM(ulong, spare_after, 0, "pages in large enough blocks after the requests");
LMM_PARAM(ulong, small_after, 0, "pages in smaller free blocks after the requests");

/* What was got at each place, NULL where there was nothing. */
static struct page **frames;
static unsigned int newest;
static struct hrtimer timer;

/* Pages taken before, by order. */
static struct list_head taken[LARGE_ORDER + 1];

/* Pages in free blocks of orders from @from on, below @end, of node 0 without zone DMA. */
static unsigned long pages_free(unsigned int from, unsigned int end)
{
	unsigned long pages = 0;
	unsigned int i, j;

	for (i = ZONE_DMA32; i < MAX_NR_ZONES; i++) {
		struct zone *zone = &NODE_DATA(0)->node_zones[i];

		for (j = from; j < end; j++)
			pages += READ_ONCE(zone->free_area[j].nr_free) << j;
	}
	return pages;
}

static unsigned long pages_spare(void)
{
	return pages_free(order, ARRAY_SIZE(((struct zone *)NULL)->free_area));
}

static bool take(gfp_t gfp, unsigned int from)
{
	struct page *page = alloc_pages(gfp | __GFP_NOWARN, from);

	if (page)
		list_add(&page->lru, &taken[from]);
	return page;
}

static void take_spare(void)
{
	unsigned long before;
	unsigned int from;

	/* First this CPU's list for such requests: taking that leaves the zones as they are. */
	do
		before = pages_spare();
	while (take(0, order) && pages_spare() >= before);
	/* Zone DMA is small, and most of its pages are promised to others. */
	while (take(__GFP_DMA, LARGE_ORDER))
		;
	for (from = LARGE_ORDER; from >= order; from--)
		while (pages_spare() > leave && take(__GFP_MOVABLE, from))
			cond_resched();
}

static void give_back(void)
{
	struct page *page, *next;
	unsigned int i;

	for (i = 0; i <= LARGE_ORDER; i++)
		list_for_each_entry_safe(page, next, &taken[i], lru)
			__free_pages(page, i);
}

static void frame_drop(struct page *page)
{
	if (page)
		__free_pages(page, order);
}

static enum hrtimer_restart frames_arrive(struct hrtimer *unused)
{
	unsigned int i;

	if (!made) {
		begun = pages_spare();
		small = pages_free(0, order);
	}
	for (i = 0; i < burst && made < requests; i++, made++) {
		gfp_t type = movable && made < ring ? __GFP_MOVABLE : 0;

		frame_drop(frames[newest]);
		frames[newest] = alloc_pages(GFP_ATOMIC | __GFP_NOWARN | type, order);
		if (!frames[newest]) {
			failed++;
			failed_first += made < ring;
		}
		newest = (newest + 1) % ring;
	}
	if (made == requests) {
		spare_after = pages_spare();
		small_after = pages_free(0, order);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(&timer, ns_to_ktime(TICK_NS));
	return HRTIMER_RESTART;
}

static int frames_go(const char *unused, const struct kernel_param *kp)
{
	hrtimer_start(&timer, ns_to_ktime(TICK_NS), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}
LMM_PARAM_SET(go, frames_go, "any text starts the requests, once");

static int __init lmm_frames_init(void)
{
	unsigned int i;

	if (!order || order >= LARGE_ORDER - 1 || !ring || ring > MOST_BLOCKS || !burst)
		return -EINVAL;
	frames = vzalloc(array_size(ring, sizeof(*frames)));
	if (!frames)
		return -ENOMEM;
	for (i = 0; i <= LARGE_ORDER; i++)
		INIT_LIST_HEAD(&taken[i]);
	take_spare();
	spare = pages_spare();
	lmm_hrtimer_setup(&timer, frames_arrive, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void __exit lmm_frames_exit(void)
{
	unsigned int i;

	hrtimer_cancel(&timer);
	for (i = 0; i < ring; i++)
		frame_drop(frames[i]);
	vfree(frames);
	give_back();
}

module_init(lmm_frames_init);
module_exit(lmm_frames_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: atomic requests of a high order, as of a receive ring");
