// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_holes.ko - blocks of the kernel's pages, half of them free
 *
 * Takes `pages` pages as the kernel takes them for itself and gives every second one
 * back; the rest when it is unloaded.
 */
#include <linux/bits.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "lmm_kmod.h"

#define MOST_PAGES	BIT(24)

LMM_PARAM(uint, pages, 4096, "pages to take, 2..16777216");

static LIST_HEAD(kept);

static void give_back(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru)
		__free_page(page);
}

static int __init lmm_holes_init(void)
{
	LIST_HEAD(given);
	unsigned int i;
	int err = 0;

	if (pages < 2 || pages > MOST_PAGES)
		return -EINVAL;
	for (i = 0; i < pages && !err; i++) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);

		if (page)
			list_add(&page->lru, i % 2 ? &given : &kept);
		else
			err = -ENOMEM;
	}
	give_back(&given);
	if (err)
		give_back(&kept);
	return err;
}

static void __exit lmm_holes_exit(void)
{
	give_back(&kept);
}

module_init(lmm_holes_init);
module_exit(lmm_holes_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: half-empty blocks of the kernel's pages");
