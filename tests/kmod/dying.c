// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_dying.ko - a task that has left the list of tasks, and is slow to end
 *
 * A task of the name lmm_dying is held at the end of do_exit(), with interrupts on.  Its parent
 * waits for the task meanwhile, and the kernel takes the task off the list of tasks.
 * klp_init_transition() of 6.1, 6.12 and 7.2 walks that list, so the task keeps a state that the
 * handler of livepatches warns of.  Writing to `interrupt` allocates and frees pages in an
 * interrupt on the task's CPU, and lets the task go.  `held` counts tasks.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "lmm_kmod.h"

/* A task is let go after that time all the same. */
#define HELD_S	15
#define PAGES	4096U

LMM_PARAM(ulong, held, 0, "tasks that were held");

/* The CPU on which a task is held, below 0 for none. */
static int held_cpu = -1;

/* Context: an interrupt on top of the task that is held. */
static void pages_come_and_go(void *data)
{
	static struct page *pages[PAGES];
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		pages[i] = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
	for (i = 0; i < PAGES; i++)
		if (pages[i])
			__free_page(pages[i]);
	WRITE_ONCE(held_cpu, -1);
}

static int interrupt_set(const char *value, const struct kernel_param *kp)
{
	int cpu = READ_ONCE(held_cpu);

	if (cpu < 0)
		return -ENODEV;
	return smp_call_function_single(cpu, pages_come_and_go, NULL, 1);
}

LMM_PARAM_SET(interrupt, interrupt_set, "allocate and free on top of the task that is held");

/* Context: a probe at the end of do_exit(), preemption off, interrupts on. */
static int task_ends(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long end = jiffies + HELD_S * HZ;

	if (strcmp(current->comm, "lmm_dying"))
		return 0;
	WRITE_ONCE(held_cpu, smp_processor_id());
	held++;
	while (READ_ONCE(held_cpu) >= 0 && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(held_cpu, -1);
	return 0;
}

static struct kprobe probe = {
	.symbol_name = "exit_tasks_rcu_finish",
	.pre_handler = task_ends,
};

static int __init lmm_dying_init(void)
{
	return register_kprobe(&probe);
}

static void __exit lmm_dying_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(lmm_dying_init);
module_exit(lmm_dying_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: a task that is slow to end");
