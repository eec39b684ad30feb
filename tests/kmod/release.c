// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_release.ko - somebody else ends the isolation of a block
 *
 * alloc_contig_range() does so when it fails: it ends the isolation of its whole range, whoever has
 * isolated the blocks.  Here that happens as soon as a block is isolated, but for one isolation in
 * `spared`.  `released` says how often.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/page-isolation.h>
#include <linux/pageblock-flags.h>
#include <linux/ptrace.h>

#include "../../module/compat/compat.h"
#include "lmm_kmod.h"

LMM_PARAM(uint, spared, 0, "one isolation in so many is left alone; 0: none");
LMM_PARAM(uint, released, 0, "isolations that were ended");

static atomic_t isolations = ATOMIC_INIT(0);

DEFINE_STATIC_CALL_NULL(release_undo, void (LMM_RELEASE_ARGS));

/* The first argument is the number of the first page. */
static int release_begin(struct kretprobe_instance *call, struct pt_regs *regs)
{
	*(unsigned long *)call->data = regs_get_kernel_argument(regs, 0);
	return 0;
}

static int release_end(struct kretprobe_instance *call, struct pt_regs *regs)
{
	unsigned long pfn = *(unsigned long *)call->data;

	if (regs_return_value(regs) || (spared && !(atomic_inc_return(&isolations) % spared)))
		return 0;
	lmm_block_release(static_call(release_undo), pfn, pfn + pageblock_nr_pages,
			  MIGRATE_MOVABLE);
	released++;
	return 0;
}

static struct kretprobe on_isolate = {
	.kp.symbol_name = "start_isolate_page_range",
	.entry_handler = release_begin,
	.handler = release_end,
	.data_size = sizeof(unsigned long),
};

static int __init lmm_release_init(void)
{
	if (!lmm_bind(release_undo, "undo_isolate_page_range"))
		return -EOPNOTSUPP;
	return register_kretprobe(&on_isolate);
}

static void __exit lmm_release_exit(void)
{
	unregister_kretprobe(&on_isolate);
}

module_init(lmm_release_init);
module_exit(lmm_release_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: somebody else ends isolations");
