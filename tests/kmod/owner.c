// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_owner.ko - an owner of CMA memory, where the kernel has none that can be told what to do
 *
 * Writing a number to `alloc` has it allocate so many pages in one piece of the first area, and to
 * `free` release the last of those.  The files are called as those of CMA_DEBUGFS.
 */
#include <linux/cma.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "lmm_kmod.h"

DEFINE_STATIC_CALL_NULL(owner_each, int (int (*)(struct cma *, void *), void *));
DEFINE_STATIC_CALL_NULL(owner_take, struct page *(struct cma *, unsigned long, unsigned int, bool));
DEFINE_STATIC_CALL_NULL(owner_give, bool (struct cma *, const struct page *, unsigned long));

static struct cma *area;
static struct page *held[16];
static unsigned long nr_held[ARRAY_SIZE(held)];
static unsigned int pieces;

static int take_set(const char *text, const struct kernel_param *param)
{
	unsigned long count;
	int err = kstrtoul(text, 0, &count);

	if (err)
		return err;
	if (!area || pieces == ARRAY_SIZE(held))
		return -ENOSPC;
	held[pieces] = static_call(owner_take)(area, count, 0, true);
	if (!held[pieces])
		return -ENOMEM;
	nr_held[pieces++] = count;
	return 0;
}

static int give_set(const char *text, const struct kernel_param *param)
{
	if (!pieces)
		return -ENOENT;
	pieces--;
	return static_call(owner_give)(area, held[pieces], nr_held[pieces]) ? 0 : -EIO;
}

LMM_PARAM_SET(alloc, take_set, "allocate so many pages in one piece");
LMM_PARAM_SET(free, give_set, "release what was allocated last");

static int first(struct cma *one, void *unused)
{
	area = one;
	return 1;
}

static int __init lmm_owner_init(void)
{
	if (!lmm_bind(owner_each, "cma_for_each_area") || !lmm_bind(owner_take, "cma_alloc") ||
	    !lmm_bind(owner_give, "cma_release"))
		return -ENOENT;
	static_call(owner_each)(first, NULL);
	return area ? 0 : -ENODEV;
}

static void __exit lmm_owner_exit(void)
{
	while (pieces)
		give_set("", NULL);
}

module_init(lmm_owner_init);
module_exit(lmm_owner_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: an owner of CMA memory");
