// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does it cost to see every page come and go?
 *
 * Arms one of the candidate mechanisms with the smallest useful body, a
 * per-CPU count, so that the bench can weigh the mechanism itself.
 * The livepatch candidate is lmm_tracking_klp.c: being a livepatch is a
 * property of a whole module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static DEFINE_PER_CPU(unsigned long, pages_taken);
static DEFINE_PER_CPU(unsigned long, pages_given);

static char *mechanism = "tracepoint";
module_param(mechanism, charp, 0400);
MODULE_PARM_DESC(mechanism, "tracepoint (default) or kprobe");

static void on_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype)
{
	this_cpu_inc(pages_taken);
}

static void on_page_free(void *data, struct page *page, unsigned int order)
{
	this_cpu_inc(pages_given);
}

static struct page_tracepoint {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} tracepoints[] = {
	{ "mm_page_alloc", on_page_alloc },
	{ "mm_page_free", on_page_free },
};

static void match_tracepoint(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (!strcmp(tp->name, tracepoints[i].name))
			tracepoints[i].tp = tp;
}

static void disarm_tracepoints(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (tracepoints[i].tp)
			tracepoint_probe_unregister(tracepoints[i].tp,
						    tracepoints[i].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int arm_tracepoints(void)
{
	int i, err;

	for_each_kernel_tracepoint(match_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		err = -ENOENT;
		if (tracepoints[i].tp)
			err = tracepoint_probe_register(tracepoints[i].tp,
							tracepoints[i].probe, NULL);
		if (err) {
			pr_err("tracepoint %s: error %d\n", tracepoints[i].name, err);
			tracepoints[i].tp = NULL;
			disarm_tracepoints();
			return err;
		}
	}
	return 0;
}

static int on_kprobe_alloc(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_inc(pages_taken);
	return 0;
}

static int on_kprobe_free(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_inc(pages_given);
	return 0;
}

NOKPROBE_SYMBOL(on_kprobe_alloc);
NOKPROBE_SYMBOL(on_kprobe_free);

/* No post_handler: with one, a kprobe conflicts with a livepatch of its site. */
static struct kprobe kprobe_alloc = {
	.symbol_name = "get_page_from_freelist",
	.pre_handler = on_kprobe_alloc,
};

static struct kprobe kprobe_free = {
	.symbol_name = "free_unref_page_commit",
	.pre_handler = on_kprobe_free,
};

static struct kprobe *kprobes[] = { &kprobe_alloc, &kprobe_free };

static int arm_kprobes(void)
{
	int err = register_kprobes(kprobes, ARRAY_SIZE(kprobes));

	if (err) {
		pr_err("kprobes: error %d\n", err);
		return err;
	}
	if (!kprobe_ftrace(&kprobe_alloc) || !kprobe_ftrace(&kprobe_free))
		pr_warn("the kprobes are not on ftrace sites\n");
	return 0;
}

static void disarm_kprobes(void)
{
	unregister_kprobes(kprobes, ARRAY_SIZE(kprobes));
}

static const struct tracking {
	const char *name;
	int (*arm)(void);
	void (*disarm)(void);
} trackings[] = {
	{ "tracepoint", arm_tracepoints, disarm_tracepoints },
	{ "kprobe", arm_kprobes, disarm_kprobes },
};

static const struct tracking *chosen;

static int __init tracking_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(trackings); i++)
		if (!strcmp(mechanism, trackings[i].name))
			chosen = &trackings[i];
	if (!chosen) {
		pr_err("mechanism=%s: not tracepoint or kprobe\n", mechanism);
		return -EINVAL;
	}
	return chosen->arm();
}

static void __exit tracking_exit(void)
{
	unsigned long taken = 0, given = 0;
	int cpu;

	chosen->disarm();
	for_each_possible_cpu(cpu) {
		taken += per_cpu(pages_taken, cpu);
		given += per_cpu(pages_given, cpu);
	}
	pr_info("%s: %lu taken, %lu given back\n", chosen->name, taken, given);
}

module_init(tracking_init);
module_exit(tracking_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Weighs ways to see every page come and go");
