// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often is a zone->lock taken, and for how long?
 *
 * By kprobes where a lock is taken and let go, on whichever of the allocator's paths; a
 * guest whose clock counts instructions then tells how many run under the lock.  What the
 * probes themselves add to each hold is measured on a lock of our own.
 *
 * Parameters: `holds`, their sum `held_ns`, the longest of them, and `overhead_ns` of each.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>

#define MOST_LOCKS	32
#define TRIES		1000

static unsigned long holds;
module_param(holds, ulong, 0400);
MODULE_PARM_DESC(holds, "times that a zone->lock was taken");

static unsigned long held_ns;
module_param(held_ns, ulong, 0400);
MODULE_PARM_DESC(held_ns, "how long they were held, together");

static unsigned long longest_ns;
module_param(longest_ns, ulong, 0600);
MODULE_PARM_DESC(longest_ns, "the longest hold, what is ours of it included; write 0 to begin anew");

static unsigned long overhead_ns;
module_param(overhead_ns, ulong, 0400);
MODULE_PARM_DESC(overhead_ns, "how much of each hold is ours");

static unsigned long locks[MOST_LOCKS];
static unsigned int nr_locks;
static DEFINE_SPINLOCK(own);

/* When this CPU took the lock that it holds; 0 if it holds none. */
static DEFINE_PER_CPU(u64, taken_at);

static bool is_zone_lock(unsigned long lock)
{
	unsigned int i;

	for (i = 0; i < nr_locks; i++)
		if (locks[i] == lock)
			return true;
	return false;
}

static int on_lock(struct kprobe *kp, struct pt_regs *regs)
{
	if (is_zone_lock(regs->di))
		__this_cpu_write(taken_at, local_clock());
	return 0;
}

/* The sums are of all CPUs, of which a guest that counts instructions runs one at a time. */
static int on_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	u64 began;

	if (!is_zone_lock(regs->di))
		return 0;
	began = __this_cpu_read(taken_at);
	if (began) {
		u64 ns = local_clock() - began;

		holds++;
		held_ns += ns;
		longest_ns = max_t(unsigned long, longest_ns, ns);
	}
	__this_cpu_write(taken_at, 0);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "_raw_spin_lock_irqsave", .pre_handler = on_lock },
	{ .symbol_name = "_raw_spin_unlock_irqrestore", .pre_handler = on_unlock },
};

static struct kprobe *probe_list[] = { &probes[0], &probes[1] };

static void overhead_measure(void)
{
	unsigned long flags;
	unsigned int i;

	locks[0] = (unsigned long)&own;
	nr_locks = 1;
	overhead_ns = ULONG_MAX;
	for (i = 0; i < TRIES; i++) {
		held_ns = 0;
		spin_lock_irqsave(&own, flags);
		spin_unlock_irqrestore(&own, flags);
		overhead_ns = min(overhead_ns, held_ns);
	}
	nr_locks = 0;
	held_ns = 0;
	holds = 0;
	longest_ns = 0;
}

static int __init locks_init(void)
{
	int err = register_kprobes(probe_list, ARRAY_SIZE(probe_list));
	int nid;

	if (err)
		return err;
	overhead_measure();
	for_each_online_node(nid) {
		struct zone *zones = NODE_DATA(nid)->node_zones;
		unsigned int i;

		for (i = 0; i < MAX_NR_ZONES && nr_locks < MOST_LOCKS; i++)
			locks[nr_locks++] = (unsigned long)&zones[i].lock;
	}
	return 0;
}

static void __exit locks_exit(void)
{
	unregister_kprobes(probe_list, ARRAY_SIZE(probe_list));
}

module_init(locks_init);
module_exit(locks_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm's bench: how often and how long zone->lock is held");
