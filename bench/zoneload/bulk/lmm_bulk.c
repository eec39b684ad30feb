// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a page cost that is only allocated, or only freed?
 *
 * A number written to the parameter `alloc` allocates so many pages of order 0; a write to
 * `free` frees them in the same order.  `ns` says how long the last of both took; in a guest
 * whose clock counts instructions that is their number.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>
#include <linux/vmalloc.h>

static unsigned long ns;
module_param(ns, ulong, 0400);
MODULE_PARM_DESC(ns, "how long the last write to alloc or free took");

/* Both files are written under the lock of the module's parameters. */
static struct page **pages;
static unsigned long nr_pages;

static void free_all(void)
{
	u64 began = local_clock();

	while (nr_pages)
		__free_page(pages[--nr_pages]);
	ns = local_clock() - began;
	vfree(pages);
	pages = NULL;
}

static int set_alloc(const char *value, const struct kernel_param *kp)
{
	unsigned long wanted;
	u64 began;
	int err = kstrtoul(value, 0, &wanted);

	if (err)
		return err;
	if (pages)
		return -EBUSY;
	pages = vzalloc(array_size(wanted, sizeof(*pages)));
	if (!pages)
		return -ENOMEM;
	began = local_clock();
	while (nr_pages < wanted) {
		/* Unmovable pages of the kernel's own, as of a module that measures. */
		pages[nr_pages] = alloc_page(GFP_KERNEL);
		if (!pages[nr_pages])
			break;
		nr_pages++;
	}
	ns = local_clock() - began;
	if (nr_pages < wanted) {
		free_all();
		return -ENOMEM;
	}
	return 0;
}

static int set_free(const char *value, const struct kernel_param *kp)
{
	free_all();
	return 0;
}

static const struct kernel_param_ops alloc_ops = { .set = set_alloc };
static const struct kernel_param_ops free_ops = { .set = set_free };

module_param_cb(alloc, &alloc_ops, NULL, 0200);
MODULE_PARM_DESC(alloc, "allocate so many pages");
module_param_cb(free, &free_ops, NULL, 0200);
MODULE_PARM_DESC(free, "free them");

static void __exit bulk_exit(void)
{
	free_all();
}

module_exit(bulk_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm's bench: allocates pages, and frees them");
