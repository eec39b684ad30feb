// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often is a zone->lock taken, and for how long?
 *
 * By kprobes where a lock is taken and let go, on whichever of the allocator's paths; a
 * guest whose clock counts instructions then tells how many run under the lock.  What the
 * probes themselves add to each hold is measured on a lock of our own.
 *
 * Such a guest runs one CPU at a time, and may turn to another CPU in the middle of a hold: the
 * emulator does so when a timer is due.  What other CPUs have run meanwhile is known from the
 * probes, which every caller of the lock functions passes: between two probes of the same CPU, with
 * none of another CPU in between, only that CPU ran.
 *
 * Parameters: `holds`, their sum `held_ns`, `overhead_ns` of each; the longest of them, the longest
 * without what other CPUs are known to have run, and how many such holds there were.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/sysfs.h>

#define MOST_LOCKS	32
#define TRIES		1000
#define TRACE_DEPTH	16

static unsigned long holds;
module_param(holds, ulong, 0400);
MODULE_PARM_DESC(holds, "times that a zone->lock was taken");

static unsigned long held_ns;
module_param(held_ns, ulong, 0400);
MODULE_PARM_DESC(held_ns, "how long they were held, together");

static unsigned long longest_ns;
module_param(longest_ns, ulong, 0600);
MODULE_PARM_DESC(longest_ns, "the longest hold, what is ours of it included; write 0 to begin anew");

static unsigned long longest_own_ns;
module_param(longest_own_ns, ulong, 0400);
MODULE_PARM_DESC(longest_own_ns,
		 "the longest hold, without what other CPUs ran; where one CPU runs at a time");

static unsigned long shared;
module_param(shared, ulong, 0400);
MODULE_PARM_DESC(shared, "holds in which other CPUs ran");

static unsigned long overhead_ns;
module_param(overhead_ns, ulong, 0400);
MODULE_PARM_DESC(overhead_ns, "how much of each hold is ours");

static unsigned long locks[MOST_LOCKS];
static unsigned int nr_locks;
static DEFINE_SPINLOCK(own);

/*
 * What a CPU has run, as far as known, and its hold: the lock, since when, and what the other CPUs
 * had run by then.
 */
struct cpu_hold {
	u64 ran;
	unsigned long lock;
	u64 since;
	u64 others;
};

static DEFINE_PER_CPU(struct cpu_hold, cpu_holds);

/* The latest probe: when, and of which CPU. */
static u64 last_at;
static int last_cpu = -1;
/* What all CPUs have run, as far as known. */
static u64 all_ran;

/* The longest hold. */
static struct {
	u64 ns;
	u64 own;
	int cpu;
	unsigned int depth;
	unsigned long trace[TRACE_DEPTH];
} longest;

static int longest_get(char *buffer, const struct kernel_param *kp)
{
	int len = sysfs_emit(buffer, "%llu ns, own %llu, CPU %d:", longest.ns, longest.own,
			     longest.cpu);
	unsigned int i;

	for (i = 0; i < longest.depth; i++)
		len += sysfs_emit_at(buffer, len, " %ps", (void *)longest.trace[i]);
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops longest_ops = { .get = longest_get };
module_param_cb(longest, &longest_ops, NULL, 0400);
MODULE_PARM_DESC(longest, "who had the longest hold");

static bool is_zone_lock(unsigned long lock)
{
	unsigned int i;

	for (i = 0; i < nr_locks; i++)
		if (locks[i] == lock)
			return true;
	return false;
}

/* A CPU passes a probe.  One CPU at a time does, in a guest that counts instructions. */
static u64 note(struct cpu_hold *this)
{
	int cpu = smp_processor_id();
	u64 now = local_clock();

	if (cpu == last_cpu) {
		this->ran += now - last_at;
		all_ran += now - last_at;
	}
	last_cpu = cpu;
	last_at = now;
	return now;
}

static void begin(struct cpu_hold *hold, unsigned long lock, u64 now)
{
	hold->lock = lock;
	hold->since = now;
	hold->others = all_ran - hold->ran;
}

static int on_lock(struct kprobe *kp, struct pt_regs *regs)
{
	struct cpu_hold *this = this_cpu_ptr(&cpu_holds);
	u64 now = note(this);

	if (is_zone_lock(regs->di))
		begin(this, regs->di, now);
	return 0;
}

/* The sums are of all CPUs. */
static int on_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	struct cpu_hold *this = this_cpu_ptr(&cpu_holds);
	u64 now = note(this), ns, others;
	int cpu;

	if (!is_zone_lock(regs->di))
		return 0;
	if (this->lock == regs->di) {
		ns = now - this->since;
		others = min(ns, all_ran - this->ran - this->others);
		holds++;
		held_ns += ns;
		shared += others > 0;
		longest_own_ns = max_t(unsigned long, longest_own_ns, ns - others);
		if (ns > longest_ns) {
			longest_ns = ns;
			longest.ns = ns;
			longest.own = ns - others;
			longest.cpu = smp_processor_id();
			longest.depth = stack_trace_save(longest.trace, TRACE_DEPTH, 1);
		}
	}
	this->lock = 0;
	/* Others have passed on_lock(), and wait. */
	for_each_online_cpu(cpu)
		if (per_cpu(cpu_holds, cpu).lock == regs->di)
			begin(per_cpu_ptr(&cpu_holds, cpu), regs->di, now);
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
	shared = 0;
	longest_ns = 0;
	longest_own_ns = 0;
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
