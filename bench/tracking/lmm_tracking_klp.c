// SPDX-License-Identifier: GPL-2.0-only
/*
 * The livepatch candidate of lmm_tracking.c
 *
 * Each wrapper counts on its CPU and calls the function it replaced, jumping
 * past the ftrace call at that function's entry.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/static_call.h>

struct alloc_context;

static DEFINE_PER_CPU(unsigned long, pages_taken);
static DEFINE_PER_CPU(unsigned long, pages_given);

static struct page *wrap_get_page(gfp_t gfp, unsigned int order, int alloc_flags,
				  const struct alloc_context *ac);
static void wrap_put_page(struct zone *zone, struct per_cpu_pages *pcp,
			  struct page *page, int migratetype, unsigned int order);

DEFINE_STATIC_CALL_NULL(tracking_get_page, wrap_get_page);
DEFINE_STATIC_CALL_NULL(tracking_put_page, wrap_put_page);

static struct page *wrap_get_page(gfp_t gfp, unsigned int order, int alloc_flags,
				  const struct alloc_context *ac)
{
	this_cpu_inc(pages_taken);
	return static_call(tracking_get_page)(gfp, order, alloc_flags, ac);
}

static void wrap_put_page(struct zone *zone, struct per_cpu_pages *pcp,
			  struct page *page, int migratetype, unsigned int order)
{
	this_cpu_inc(pages_given);
	static_call(tracking_put_page)(zone, pcp, page, migratetype, order);
}

static struct klp_func funcs[] = {
	{ .old_name = "get_page_from_freelist", .new_func = wrap_get_page },
	{ .old_name = "free_unref_page_commit", .new_func = wrap_put_page },
	{ }
};

static struct klp_object objs[] = {
	{ .funcs = funcs },
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

/*
 * Where a function's own code begins.  A kprobe at its entry lands on the
 * ftrace call, after the ENDBR if there is one.  Returns 0 when it cannot.
 */
static unsigned long body_of(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	unsigned long body = 0;

	if (register_kprobe(&kp)) {
		pr_err("%s: not found\n", name);
		return 0;
	}
	if (kprobe_ftrace(&kp))
		body = (unsigned long)kp.addr + MCOUNT_INSN_SIZE;
	else
		pr_err("%s: no ftrace site\n", name);
	unregister_kprobe(&kp);
	return body;
}

static int __init tracking_init(void)
{
	unsigned long get_page = body_of(funcs[0].old_name);
	unsigned long put_page = body_of(funcs[1].old_name);

	if (!get_page || !put_page)
		return -EOPNOTSUPP;
	static_call_update(tracking_get_page, (typeof(wrap_get_page) *)get_page);
	static_call_update(tracking_put_page, (typeof(wrap_put_page) *)put_page);
	return klp_enable_patch(&patch);
}

static void __exit tracking_exit(void)
{
	unsigned long taken = 0, given = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		taken += per_cpu(pages_taken, cpu);
		given += per_cpu(pages_given, cpu);
	}
	pr_info("livepatch: %lu taken, %lu given back\n", taken, given);
}

module_init(tracking_init);
module_exit(tracking_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Weighs livepatch as a way to see every page come and go");
