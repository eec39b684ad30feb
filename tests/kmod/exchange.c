// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_exchange.ko - pages that many threads allocate and others free, each checked
 *
 * Writing a number to `run` has two threads make so many random steps together, and
 * returns when they have; a timer's interrupt does so too, all the while.  A step allocates
 * some single pages, of any migratetype, into random places of a table that all share, and
 * frees what was there; or it frees, or asks for eight pages in one piece.  A bit a page says
 * that it is had: one that is handed out twice, or freed twice, is one of `errors`, and so
 * is one that is not as its owner left it, with its number in it.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

#define SLOTS		8192U
#define THREADS		2
#define MOST_PAGES	16U	/* of a step */
#define PIECE_ORDER	3
#define SHORTEST_NS	500000U	/* between two interrupts */

static atomic_long_t steps_left, steps_made, page_errors, pages_moved;

static struct page *table[SLOTS];
static unsigned long *owned;
static unsigned long nr_owned;
static atomic_t running;
static DECLARE_COMPLETION(all_done);

static bool page_is_ours(struct page *page)
{
	return page_to_pfn(page) < nr_owned;
}

static void page_claim(struct page *page)
{
	unsigned long *word;

	if (page_is_ours(page) && test_and_set_bit(page_to_pfn(page), owned))
		atomic_long_inc(&page_errors);
	word = kmap_local_page(page);
	*word = page_to_pfn(page);
	kunmap_local(word);
}

static void page_drop(struct page *page)
{
	unsigned long *word;

	if (!page)
		return;
	word = kmap_local_page(page);
	if (*word != page_to_pfn(page))
		atomic_long_inc(&page_errors);
	*word = ~0UL;
	kunmap_local(word);
	if (page_is_ours(page) && !test_and_clear_bit(page_to_pfn(page), owned))
		atomic_long_inc(&page_errors);
	__free_page(page);
	atomic_long_inc(&pages_moved);
}

static void page_exchange(struct page *page, u32 random)
{
	if (page)
		page_claim(page);
	page_drop(xchg(&table[random % SLOTS], page));
}

static struct rnd_state timer_random;
static struct hrtimer timer;

/* As a network card's interrupt would, in the middle of whatever a CPU does. */
static enum hrtimer_restart exchange_atomic(struct hrtimer *unused)
{
	u32 random = prandom_u32_state(&timer_random);

	page_exchange(alloc_page(GFP_ATOMIC | __GFP_NOWARN), random);
	page_exchange(NULL, random >> 16);
	hrtimer_forward_now(&timer, ns_to_ktime(SHORTEST_NS + random % SHORTEST_NS));
	return HRTIMER_RESTART;
}

static void step(struct rnd_state *rnd)
{
	static const gfp_t kinds[] = {
		GFP_KERNEL, GFP_HIGHUSER_MOVABLE, GFP_KERNEL | __GFP_RECLAIMABLE, GFP_NOWAIT,
	};
	u32 bits = prandom_u32_state(rnd);
	unsigned int count = 1 + (bits >> 8) % MOST_PAGES;
	gfp_t gfp = kinds[bits >> 4 & 3] | __GFP_NOWARN | __GFP_NORETRY;
	struct page *page;

	switch (bits & 15) {
	case 0:
		page = alloc_pages(gfp & ~__GFP_RECLAIMABLE, PIECE_ORDER);
		if (page)
			__free_pages(page, PIECE_ORDER);
		break;
	case 1 ... 7:
		while (count--)
			page_exchange(NULL, prandom_u32_state(rnd));
		break;
	default:
		while (count--)
			page_exchange(alloc_page(gfp), prandom_u32_state(rnd));
		break;
	}
}

static int work(void *data)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, (unsigned long)data);
	while (atomic_long_dec_return(&steps_left) >= 0) {
		step(&rnd);
		atomic_long_inc(&steps_made);
		cond_resched();
	}
	if (atomic_dec_and_test(&running))
		complete(&all_done);
	return 0;
}

static void table_empty(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		page_drop(xchg(&table[i], NULL));
}

static int run_set(const char *text, const struct kernel_param *kp)
{
	struct task_struct *task;
	unsigned long steps;
	unsigned int i;
	int err;

	err = kstrtoul(text, 0, &steps);
	if (err)
		return err;
	atomic_long_set(&steps_left, steps);
	atomic_set(&running, THREADS);
	reinit_completion(&all_done);
	hrtimer_start(&timer, ns_to_ktime(SHORTEST_NS), HRTIMER_MODE_REL_HARD);
	for (i = 0; i < THREADS; i++) {
		task = kthread_run(work, (void *)(20181017UL + i), "lmm_exchange/%u", i);
		if (IS_ERR(task) && atomic_dec_and_test(&running))
			complete(&all_done);
	}
	/* Not in one go: who waits for minutes is reported as hung. */
	while (!wait_for_completion_timeout(&all_done, 10 * HZ))
		;
	hrtimer_cancel(&timer);
	table_empty();
	return 0;
}

LMM_PARAM_SET(run, run_set, "steps to make");

module_param_named(steps, steps_made.counter, ullong, 0400);
MODULE_PARM_DESC(steps, "steps made so far");
module_param_named(errors, page_errors.counter, ullong, 0400);
MODULE_PARM_DESC(errors, "pages that somebody else had too");
module_param_named(moved, pages_moved.counter, ullong, 0400);
MODULE_PARM_DESC(moved, "pages allocated and freed so far");

static int __init exchange_init(void)
{
	/* A little more than there is: memory may come. */
	nr_owned = 2 * (totalram_pages() + (1UL << 20));
	owned = vzalloc(BITS_TO_LONGS(nr_owned) * sizeof(long));
	if (!owned)
		return -ENOMEM;
	prandom_seed_state(&timer_random, 20181016);
	lmm_hrtimer_setup(&timer, exchange_atomic, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	return 0;
}

static void __exit exchange_exit(void)
{
	vfree(owned);
}

module_init(exchange_init);
module_exit(exchange_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm's tests: pages that change hands, each checked");
