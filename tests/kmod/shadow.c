// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_shadow.ko - an MMU notifier, as KVM has one of the address space that holds a VM's memory
 *
 * Writing a process's ID to `watch` has its address space watched, until it ends.
 * `invalidations` counts ranges that KVM would take from the VM, and `invalidated` the pages of
 * these ranges, mapped or not.  `reasons` has the ranges by enum mmu_notifier_event.
 */
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "lmm_kmod.h"

#define REASONS	8

static atomic_long_t nr_ranges, nr_pages, nr_reasons[REASONS];

LMM_PARAM_COUNTS(invalidations, &nr_ranges, 1, "ranges that were invalidated");
LMM_PARAM_COUNTS(invalidated, &nr_pages, 1, "pages of these");
LMM_PARAM_COUNTS(reasons, nr_reasons, REASONS, "ranges by the kernel's reason");

static int shadow_invalidate(struct mmu_notifier *shadow, const struct mmu_notifier_range *range)
{
	atomic_long_inc(&nr_ranges);
	atomic_long_add((range->end - range->start) >> PAGE_SHIFT, &nr_pages);
	if (range->event < REASONS)
		atomic_long_inc(&nr_reasons[range->event]);
	return 0;
}

static struct mmu_notifier *shadow_alloc(struct mm_struct *mm)
{
	struct mmu_notifier *shadow = kzalloc(sizeof(*shadow), GFP_KERNEL);

	if (!shadow)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE);
	return shadow;
}

static void shadow_free(struct mmu_notifier *shadow)
{
	kfree(shadow);
	module_put(THIS_MODULE);
}

static void shadow_release(struct mmu_notifier *shadow, struct mm_struct *mm)
{
	mmu_notifier_put(shadow);
}

static const struct mmu_notifier_ops shadow_ops = {
	.release = shadow_release,
	.invalidate_range_start = shadow_invalidate,
	.alloc_notifier = shadow_alloc,
	.free_notifier = shadow_free,
};

static int watch_set(const char *text, const struct kernel_param *param)
{
	struct mmu_notifier *shadow = ERR_PTR(-ESRCH);
	struct task_struct *task;
	struct mm_struct *mm;
	int id, err;

	err = kstrtoint(text, 0, &id);
	if (err)
		return err;
	task = get_pid_task(find_vpid(id), PIDTYPE_PID);
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (mm) {
		shadow = mmu_notifier_get(&shadow_ops, mm);
		mmput(mm);
	}
	return PTR_ERR_OR_ZERO(shadow);
}

LMM_PARAM_SET(watch, watch_set, "watch the address space of a process");

static int __init lmm_shadow_init(void)
{
	return 0;
}

static void __exit lmm_shadow_exit(void)
{
	/* The last free may still be on its way out. */
	mmu_notifier_synchronize();
}

module_init(lmm_shadow_init);
module_exit(lmm_shadow_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: an MMU notifier of an address space");
