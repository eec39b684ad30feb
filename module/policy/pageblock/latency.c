// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - times of requests in the slow path, for file `state`
 *
 * The slow path takes many thousand instructions, and most requests never get there, so this is the
 * place to read a clock.  Each CPU adds to its own figures, by single instructions, because an
 * interrupt may have a request of its own in between.
 */
#include <linux/gfp.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/time64.h>
#include <linux/math64.h>

#include "core_time.h"
#include "state.h"

/* What a CPU has seen. */
struct cpu_times {
	struct pageblock_times of[PAGEBLOCK_NR_CLASSES];
};

static struct cpu_times __percpu *times;

static const char *const class_names[PAGEBLOCK_NR_CLASSES] = {
	[PAGEBLOCK_CLASS_ATOMIC] = "atomic",
	[PAGEBLOCK_CLASS_UNMOVABLE] = "unmovable",
	[PAGEBLOCK_CLASS_MOVABLE] = "movable",
	[PAGEBLOCK_CLASS_COSTLY] = "costly",
};

/**
 * pageblock_on_slow_path() - event: a request has left the slow path
 * @gfp: flags of the request
 * @order: order of the request
 * @ns: time in the slow path, in ns
 *
 * Context: any that the allocator may be called from, preemption off.
 */
void pageblock_on_slow_path(gfp_t gfp, unsigned int order, u64 ns)
{
	enum pageblock_class class = pageblock_time_class(gfp & __GFP_DIRECT_RECLAIM,
							  gfp & __GFP_MOVABLE,
							  order > PAGE_ALLOC_COSTLY_ORDER);
	u64 longest, seen;

	/* Nobody waits for the worker, which asks for pages to move others to. */
	if (pageblock_is_worker())
		return;
	this_cpu_inc(times->of[class].bucket[pageblock_time_bucket(ns)]);
	this_cpu_add(times->of[class].total, ns);
	longest = this_cpu_read(times->of[class].longest);
	while (ns > longest) {
		seen = this_cpu_cmpxchg(times->of[class].longest, longest, ns);
		if (seen == longest)
			break;
		longest = seen;
	}
}

/**
 * pageblock_latency_start() - begin with no times
 *
 * Context: process, the hooks not armed.
 * Return: 0 or -ENOMEM.
 */
int pageblock_latency_start(void)
{
	times = alloc_percpu(struct cpu_times);
	return times ? 0 : -ENOMEM;
}

/**
 * pageblock_latency_stop() - forget the times
 *
 * Context: process, the hooks not armed.
 */
void pageblock_latency_stop(void)
{
	free_percpu(times);
	times = NULL;
}

static void class_sum(enum pageblock_class class, struct pageblock_times *sum)
{
	int cpu;

	*sum = (struct pageblock_times){ };
	for_each_possible_cpu(cpu)
		pageblock_times_sum(sum, &per_cpu_ptr(times, cpu)->of[class]);
}

/**
 * pageblock_latency_show() - print the times of each class
 * @m: file to print to
 *
 * Context: process, control mutex held, the policy is on.
 */
void pageblock_latency_show(struct seq_file *m)
{
	struct pageblock_times sum;
	unsigned int class, i;

	seq_printf(m, "%-12s%10s%12s%14s%14s%14s  %s\n", "slow path", "count", "total_us", "p50_ns",
		   "p99_ns", "longest_ns", "below 2^n ns: n=count");
	for (class = 0; class < PAGEBLOCK_NR_CLASSES; class++) {
		class_sum(class, &sum);
		seq_printf(m, "%-12s%10llu%12llu%14llu%14llu%14llu ", class_names[class],
			   pageblock_times_count(&sum), div_u64(sum.total, NSEC_PER_USEC),
			   pageblock_times_within(&sum, 50), pageblock_times_within(&sum, 99),
			   sum.longest);
		for (i = 0; i < PAGEBLOCK_BUCKETS_OF_TIME; i++)
			if (sum.bucket[i])
				seq_printf(m, " %u=%llu", i, sum.bucket[i]);
		seq_putc(m, '\n');
	}
}
