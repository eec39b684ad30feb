// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does it cost to see every page come and go?
 *
 * Arms one of the candidate mechanisms with the smallest useful body, a
 * per-CPU count, so that the bench can weigh the mechanism itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define TAKE_PAGE	"get_page_from_freelist"
#define GIVE_PAGE	"free_unref_page_commit"

static DEFINE_PER_CPU(unsigned long, pages_taken);
static DEFINE_PER_CPU(unsigned long, pages_given);

static char *mechanism = "tracepoint";
module_param(mechanism, charp, 0400);
MODULE_PARM_DESC(mechanism, "tracepoint (default), kprobe or livepatch");

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
static struct kprobe kprobe_alloc = { .symbol_name = TAKE_PAGE, .pre_handler = on_kprobe_alloc };
static struct kprobe kprobe_free = { .symbol_name = GIVE_PAGE, .pre_handler = on_kprobe_free };
static struct kprobe *kprobes[] = { &kprobe_alloc, &kprobe_free };

static int arm_kprobes(void)
{
	int err = register_kprobes(kprobes, ARRAY_SIZE(kprobes));

	if (!err && !(kprobe_ftrace(&kprobe_alloc) && kprobe_ftrace(&kprobe_free)))
		pr_warn("the kprobes are not on ftrace sites\n");
	return err;
}

static void disarm_kprobes(void)
{
	unregister_kprobes(kprobes, ARRAY_SIZE(kprobes));
}

struct alloc_context;

static struct page *wrap_get_page(gfp_t gfp, unsigned int order, int alloc_flags,
				  const struct alloc_context *ac);
static void wrap_put_page(struct zone *zone, struct per_cpu_pages *pcp,
			  struct page *page, int migratetype, unsigned int order);

DEFINE_STATIC_CALL_NULL(tracking_get_page, wrap_get_page);
DEFINE_STATIC_CALL_NULL(tracking_put_page, wrap_put_page);

/* A wrapper calls the function it replaced past the ftrace call at that function's entry. */
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
	{ .old_name = TAKE_PAGE, .new_func = wrap_get_page },
	{ .old_name = GIVE_PAGE, .new_func = wrap_put_page },
	{ }
};

static struct klp_object objs[] = { { .funcs = funcs }, { } };
static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objs };

/*
 * Where a function's own code begins.  A kprobe at its entry lands on the
 * ftrace call, after the ENDBR if there is one.  Returns 0 when it cannot.
 */
static unsigned long body_of(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	unsigned long body = 0;

	if (register_kprobe(&kp))
		return 0;
	if (kprobe_ftrace(&kp))
		body = (unsigned long)kp.addr + MCOUNT_INSN_SIZE;
	unregister_kprobe(&kp);
	return body;
}

static int arm_livepatch(void)
{
	unsigned long get_page = body_of(TAKE_PAGE), put_page = body_of(GIVE_PAGE);

	if (!get_page || !put_page)
		return -EOPNOTSUPP;
	static_call_update(tracking_get_page, (typeof(wrap_get_page) *)get_page);
	static_call_update(tracking_put_page, (typeof(wrap_put_page) *)put_page);
	return klp_enable_patch(&patch);
}

static const struct tracking {
	const char *name;
	int (*arm)(void);
	void (*disarm)(void);
} trackings[] = {
	{ "tracepoint", arm_tracepoints, disarm_tracepoints },
	{ "kprobe", arm_kprobes, disarm_kprobes },
	/* Must have been switched off by its file `enabled` before the module can be unloaded. */
	{ "livepatch", arm_livepatch },
};

static const struct tracking *chosen;

static int __init tracking_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(trackings); i++)
		if (!strcmp(mechanism, trackings[i].name))
			chosen = &trackings[i];
	err = chosen ? chosen->arm() : -EINVAL;
	if (err)
		pr_err("mechanism=%s: error %d\n", mechanism, err);
	return err;
}

static void __exit tracking_exit(void)
{
	unsigned long taken = 0, given = 0;
	int cpu;

	if (chosen->disarm)
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
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Weighs ways to see every page come and go");
