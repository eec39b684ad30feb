// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_pins.ko - long-term pins, as a driver takes them for a device
 *
 * Writing "ADDRESS PAGES" to `pin` pins memory of the process that writes, instead of what was
 * pinned before.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "lmm_kmod.h"

#define MOST_PAGES	65536UL

static struct page **held;
static int nr_held;

static void unpin(void)
{
	if (nr_held > 0)
		unpin_user_pages(held, nr_held);
	kvfree(held);
	held = NULL;
	nr_held = 0;
}

static int pin_set(const char *text, const struct kernel_param *param)
{
	unsigned long address, pages;

	if (sscanf(text, "%lx %lu", &address, &pages) != 2 || !pages || pages > MOST_PAGES)
		return -EINVAL;
	unpin();
	held = kvcalloc(pages, sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	nr_held = pin_user_pages_fast(address, pages, FOLL_WRITE | FOLL_LONGTERM, held);
	return nr_held == pages ? 0 : -EFAULT;
}

LMM_PARAM_SET(pin, pin_set, "pin memory of the process: address in hex, number of pages");

static int __init lmm_pins_init(void)
{
	return 0;
}

static void __exit lmm_pins_exit(void)
{
	unpin();
}

module_init(lmm_pins_init);
module_exit(lmm_pins_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: long-term pins");
