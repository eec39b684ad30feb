// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_probe.ko - somebody else's kprobes on functions that livemm hooks
 *
 * The parameter "function" names functions, with commas.  Each gets a kprobe, by default with a
 * pre_handler.  With "post" the kprobe has a post_handler, which the kernel calls after the first
 * instruction.  The handler counts.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>

#include "lmm_kmod.h"

#define PROBES	8

static char *function = "free_pcppages_bulk";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "which functions are probed, with commas; 8 at most");

LMM_PARAM(bool, post, false, "the kprobes have a post_handler, and no pre_handler");

static struct kprobe probes[PROBES];
static struct kprobe *registered[PROBES];
static atomic_long_t hits[PROBES];
static unsigned int used;

LMM_PARAM_COUNTS(hits, hits, used, "how often each handler ran");

static int before(struct kprobe *probe, struct pt_regs *regs)
{
	atomic_long_inc(&hits[probe - probes]);
	return 0;
}

static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
	atomic_long_inc(&hits[probe - probes]);
}

static int __init lmm_probe_init(void)
{
	/* The names are used as long as the kprobes are there. */
	static char names[256];
	char *rest = names, *name;

	if (strscpy(names, function, sizeof(names)) < 0)
		return -EINVAL;
	while ((name = strsep(&rest, ","))) {
		if (used == PROBES)
			return -EINVAL;
		probes[used].symbol_name = name;
		if (post)
			probes[used].post_handler = after;
		else
			probes[used].pre_handler = before;
		registered[used] = &probes[used];
		used++;
	}
	/* All or none. */
	return register_kprobes(registered, used);
}

static void __exit lmm_probe_exit(void)
{
	unregister_kprobes(registered, used);
}

module_init(lmm_probe_init);
module_exit(lmm_probe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: foreign kprobes");
