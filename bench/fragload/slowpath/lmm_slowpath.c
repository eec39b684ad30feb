// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long does a request for one page take, once it could not be served at once?
 *
 * A slow path that may wake kswapd begins by calling wakeup_kswapd(), and each
 * allocation ends at tracepoint mm_page_alloc, one that failed included.  The time
 * between is of the whole request, with every round of reclaim and compaction; hist
 * triggers could not tell it from the requests that reclaim itself makes meanwhile.
 *
 * Parameters, read-only but for `drain`: `unmovable` and `movable` are histograms of
 * requests that may reclaim, by the type they ask for, and `atomic` of those that may not,
 * a line "ns count" for each bucket in use;
 * `failed` counts what failed at small orders, `casual` who has another way; writing
 * `drain` empties the per-CPU lists.
 *
 * A movable request that may not reclaim is of somebody who moves pages: the policy's
 * worker, or NUMA balancing.  Such a request is no atomic one, and nobody waits for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

/* Four buckets to each doubling. */
#define FINE		2
#define BUCKETS		(64 << FINE)
#define REQUESTS	128

/* Requests under way, by who makes them: see requester(). */
static struct request {
	unsigned long key;
	u64 began;
} requests[REQUESTS];

static unsigned int nr_requests;

static DEFINE_RAW_SPINLOCK(lock);

static struct times {
	unsigned long buckets[BUCKETS];
} unmovable, movable, hasty;

static bool is_for_a_move(gfp_t gfp)
{
	return gfp & __GFP_MOVABLE && !(gfp & __GFP_DIRECT_RECLAIM);
}

static struct times *times_of(gfp_t gfp)
{
	if (!(gfp & __GFP_DIRECT_RECLAIM))
		return &hasty;
	return gfp & __GFP_MOVABLE ? &movable : &unmovable;
}

/*
 * Who asks without being ready to wait, nor in need of reserves, has another way, and so has who
 * moves pages.
 */
static unsigned long failed_waiting, failed_atomic, failed_casual, dropped;

static unsigned long *failed_of(gfp_t gfp)
{
	if (gfp & __GFP_DIRECT_RECLAIM)
		return &failed_waiting;
	return gfp & __GFP_HIGH && !is_for_a_move(gfp) ? &failed_atomic : &failed_casual;
}

/*
 * A task, and what stands above it: an interrupt has requests of its own, and so has
 * reclaim, which runs within a request that began before.
 */
static unsigned long requester(void)
{
	unsigned long key = (unsigned long)current;

	if (in_hardirq())
		key |= BIT(0);
	if (in_serving_softirq())
		key |= BIT(1);
	if (current->flags & PF_MEMALLOC)
		key |= BIT(2);
	return key;
}

static struct request *request_of(unsigned long key)
{
	unsigned int i;

	for (i = 0; i < nr_requests; i++)
		if (requests[i].key == key)
			return &requests[i];
	return NULL;
}

static unsigned int bucket_of(u64 ns)
{
	unsigned int log = ns ? ilog2(ns) : 0;

	if (log < FINE)
		return ns;
	return (log - FINE + 1) << FINE | (ns >> (log - FINE) & (BIT(FINE) - 1));
}

/* The largest time that belongs there. */
static u64 bucket_end(unsigned int bucket)
{
	unsigned int log = bucket >> FINE;
	u64 part = bucket & (BIT(FINE) - 1);

	if (!log)
		return part;
	return ((part + BIT(FINE) + 1) << (log - 1)) - 1;
}

static int on_wakeup_kswapd(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long flags, key = requester();
	gfp_t gfp = regs->si;
	int order = regs->dx;

	/* Without flags it is no request: watermarks were boosted. */
	if (order || !gfp)
		return 0;
	raw_spin_lock_irqsave(&lock, flags);
	if (request_of(key)) {
		/* Another zone, or another round. */
	} else if (nr_requests == REQUESTS) {
		dropped++;
	} else {
		requests[nr_requests].key = key;
		requests[nr_requests++].began = local_clock();
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

NOKPROBE_SYMBOL(on_wakeup_kswapd);

static void on_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype)
{
	unsigned long flags, key = requester();
	struct request *request;

	if (order && page)
		return;
	if (page && !READ_ONCE(nr_requests))
		return;
	raw_spin_lock_irqsave(&lock, flags);
	if (!page && order <= PAGE_ALLOC_COSTLY_ORDER)
		++*failed_of(gfp);
	request = order ? NULL : request_of(key);
	if (request) {
		if (!is_for_a_move(gfp))
			times_of(gfp)->buckets[bucket_of(local_clock() - request->began)]++;
		*request = requests[--nr_requests];
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static int times_get(char *buf, const struct kernel_param *kp)
{
	const struct times *times = kp->arg;
	unsigned int i;
	int used = 0;

	for (i = 0; i < BUCKETS; i++)
		if (times->buckets[i])
			used += scnprintf(buf + used, PAGE_SIZE - used, "%llu %lu\n",
					  bucket_end(i), times->buckets[i]);
	return used;
}

static const struct kernel_param_ops times_ops = { .get = times_get };
module_param_cb(unmovable, &times_ops, &unmovable, 0400);
MODULE_PARM_DESC(unmovable, "times of requests that may reclaim, for pages that stay");
module_param_cb(movable, &times_ops, &movable, 0400);
MODULE_PARM_DESC(movable, "times of requests that may reclaim, for movable pages");
module_param_cb(atomic, &times_ops, &hasty, 0400);
MODULE_PARM_DESC(atomic, "times of requests that may not");

static int failed_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "waiting %lu\natomic %lu\ncasual %lu\ndropped %lu\n",
			 failed_waiting, failed_atomic, failed_casual, dropped);
}

static const struct kernel_param_ops failed_ops = { .get = failed_get };
module_param_cb(failed, &failed_ops, NULL, 0400);
MODULE_PARM_DESC(failed, "requests that failed, by what they may do; times not taken");

DEFINE_STATIC_CALL_NULL(slowpath_drain, void (struct zone *));

static int drain_set(const char *text, const struct kernel_param *kp)
{
	static_call(slowpath_drain)(NULL);
	return 0;
}

static const struct kernel_param_ops drain_ops = { .set = drain_set };
module_param_cb(drain, &drain_ops, NULL, 0200);
MODULE_PARM_DESC(drain, "empty all per-CPU lists of pages");

static struct tracepoint *page_alloc;

static void match_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "mm_page_alloc"))
		page_alloc = tp;
}

/* No post_handler: with one, a kprobe conflicts with a livepatch of its site. */
static struct kprobe kprobe_wakeup = {
	.symbol_name = "wakeup_kswapd",
	.pre_handler = on_wakeup_kswapd,
};

static int __init slowpath_init(void)
{
	struct kprobe found = { .symbol_name = "drain_all_pages" };
	int err;

	err = register_kprobe(&found);
	if (err)
		return err;
	static_call_update(slowpath_drain, (void (*)(struct zone *))found.addr);
	unregister_kprobe(&found);
	for_each_kernel_tracepoint(match_tracepoint, NULL);
	if (!page_alloc)
		return -ENOENT;
	err = tracepoint_probe_register(page_alloc, on_page_alloc, NULL);
	if (err)
		return err;
	err = register_kprobe(&kprobe_wakeup);
	if (err) {
		tracepoint_probe_unregister(page_alloc, on_page_alloc, NULL);
		tracepoint_synchronize_unregister();
	}
	return err;
}

static void __exit slowpath_exit(void)
{
	unregister_kprobe(&kprobe_wakeup);
	tracepoint_probe_unregister(page_alloc, on_page_alloc, NULL);
	tracepoint_synchronize_unregister();
}

module_init(slowpath_init);
module_exit(slowpath_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Times requests for a page that take the slow path");
