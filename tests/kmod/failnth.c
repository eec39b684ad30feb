// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_failnth.ko - the N-th allocation of a task fails
 *
 * Kernels built with CONFIG_FAILSLAB have /proc/self/fail-nth for this.  This module needs no such
 * kernel: the allocators ask should_failslab() and should_fail_alloc_page() on each kernel that
 * has these functions (up to 6.10), and a kprobe answers for them.  Per-CPU allocations fail as a
 * whole.
 *
 * File /sys/kernel/debug/lmm_failnth: a write of N has the N-th allocation of the writer from then
 * on fail; a read ends that, and tells how many allocations would still have had to come: 0 once
 * one has failed.  Neither allocates.
 *
 * Parameters:
 *
 *	function	instead of a writer: the first task that calls this function, until the
 *			function returns
 *	nth		N for @function
 *	left		of @function, as the file tells; -1 until the function has returned
 *	spare		a function in which nothing counts, in any task
 *	site		functions that led to the allocation that failed, innermost first
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "lmm_kmod.h"

/* kmemleak's own allocations have all of these; kmemleak gives up when they fail. */
#define GFP_OF_KMEMLEAK	(__GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_NOWARN)

static char *function = "";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "function whose allocations count");
static char *spare = "";
module_param(spare, charp, 0400);
MODULE_PARM_DESC(spare, "function in which no allocation counts");
LMM_PARAM(uint, nth, 0, "allocation of the function that fails");
LMM_PARAM(int, left, -1, "allocations of the function that would still have had to come");

/* One task at a time; only the task itself changes the others. */
static struct task_struct *victim;
static unsigned int to_come;
static unsigned int spared;

static unsigned long frames[32];
static unsigned int nr_frames;

/* Where a function goes on whose call was answered: no prologue, no other register is changed. */
static notrace noinline void return_at_once(void)
{
	barrier();
}

static bool fails(gfp_t gfp)
{
	if (current != READ_ONCE(victim) || !in_task() || spared || !to_come ||
	    gfp & __GFP_NOFAIL || (gfp & GFP_OF_KMEMLEAK) == GFP_OF_KMEMLEAK || --to_come)
		return false;
	nr_frames = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	return true;
}

static int answer(struct pt_regs *regs, unsigned long gfp, unsigned long value)
{
	if (!fails((__force gfp_t)gfp))
		return 0;
	regs_set_return_value(regs, value);
	instruction_pointer_set(regs, (unsigned long)return_at_once);
	return 1;
}

/* int should_failslab(struct kmem_cache *s, gfp_t gfpflags) */
static int at_slab(struct kprobe *kprobe, struct pt_regs *regs)
{
	return answer(regs, regs_get_kernel_argument(regs, 1), -ENOMEM);
}

/* bool should_fail_alloc_page(gfp_t gfp_mask, unsigned int order) */
static int at_page(struct kprobe *kprobe, struct pt_regs *regs)
{
	return answer(regs, regs_get_kernel_argument(regs, 0), true);
}

/* void __percpu *pcpu_alloc(size_t size, size_t align, bool reserved, gfp_t gfp) */
static int at_percpu(struct kprobe *kprobe, struct pt_regs *regs)
{
	return answer(regs, regs_get_kernel_argument(regs, 3), 0);
}

static struct kprobe probes[] = {
	{ .symbol_name = "should_failslab", .pre_handler = at_slab },
	{ .symbol_name = "should_fail_alloc_page", .pre_handler = at_page },
	{ .symbol_name = "pcpu_alloc", .pre_handler = at_percpu },
};

static void begin(unsigned int count)
{
	nr_frames = 0;
	to_come = count;
	WRITE_ONCE(victim, current);
}

/* Returns what the file tells. */
static int end(void)
{
	WRITE_ONCE(victim, NULL);
	return to_come;
}

static ssize_t file_write(struct file *file, const char __user *text, size_t len, loff_t *pos)
{
	unsigned int count;
	int err = kstrtouint_from_user(text, len, 0, &count);

	if (err)
		return err;
	begin(count);
	return len;
}

static ssize_t file_read(struct file *file, char __user *text, size_t len, loff_t *pos)
{
	char words[16];

	if (*pos)
		return 0;
	return simple_read_from_buffer(text, len, pos, words,
				       scnprintf(words, sizeof(words), "%d\n", end()));
}

static const struct file_operations file_ops = {
	.owner = THIS_MODULE,
	.read = file_read,
	.write = file_write,
};

static int site_get(char *buf, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < nr_frames; i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, "%ps\n", (void *)frames[i]);
	return len;
}

static const struct kernel_param_ops site_ops = { .get = site_get };
module_param_cb(site, &site_ops, NULL, 0400);
MODULE_PARM_DESC(site, "functions that led to the allocation that failed");

static atomic_t calls = ATOMIC_INIT(0);

/* A return of other than 0 leaves the return of this call alone. */
static int function_begin(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (atomic_inc_return(&calls) != 1)
		return 1;
	begin(nth);
	return 0;
}

static int function_end(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	WRITE_ONCE(left, end());
	return 0;
}

static int spare_begin(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (current != READ_ONCE(victim))
		return 1;
	spared++;
	return 0;
}

static int spare_end(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	spared--;
	return 0;
}

static struct kretprobe at_function = {
	.entry_handler = function_begin,
	.handler = function_end,
};

static struct kretprobe at_spare = {
	.entry_handler = spare_begin,
	.handler = spare_end,
};

static struct dentry *file;

static void probes_out(unsigned int nr)
{
	while (nr--)
		unregister_kprobe(&probes[nr]);
}

static int __init lmm_failnth_init(void)
{
	unsigned int nr;
	int err = 0;

	for (nr = 0; nr < ARRAY_SIZE(probes); nr++) {
		err = register_kprobe(&probes[nr]);
		if (err)
			goto err_probes;
	}
	at_spare.kp.symbol_name = spare;
	if (*spare)
		err = register_kretprobe(&at_spare);
	if (err)
		goto err_probes;
	at_function.kp.symbol_name = function;
	if (*function)
		err = register_kretprobe(&at_function);
	if (err)
		goto err_spare;
	file = debugfs_create_file("lmm_failnth", 0600, NULL, NULL, &file_ops);
	return 0;

err_spare:
	if (*spare)
		unregister_kretprobe(&at_spare);
err_probes:
	probes_out(nr);
	return err;
}

static void __exit lmm_failnth_exit(void)
{
	debugfs_remove(file);
	if (*function)
		unregister_kretprobe(&at_function);
	if (*spare)
		unregister_kretprobe(&at_spare);
	probes_out(ARRAY_SIZE(probes));
}

module_init(lmm_failnth_init);
module_exit(lmm_failnth_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: the N-th allocation of a task fails");
