// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_bulk.ko - pages asked for as a network card's page pool asks for them
 *
 * Writing a number to `run` takes that many movable pages on this CPU, CHUNK at a time, and then
 * gives them back.  `got` says how many pages there were.
 */
#include <linux/gfp.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "lmm_kmod.h"

#define CHUNK		64U
#define MOST_PAGES	65536U

#ifdef alloc_pages_bulk
#define bulk_take	alloc_pages_bulk
#else
#define bulk_take	alloc_pages_bulk_array
#endif

LMM_PARAM(uint, got, 0, "pages that the last run took");

static int run_set(const char *text, const struct kernel_param *param)
{
	struct page **pages;
	unsigned int wanted, i;
	int err = kstrtouint(text, 0, &wanted);

	if (err)
		return err;
	if (wanted > MOST_PAGES)
		return -ERANGE;
	pages = kvcalloc(wanted, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	got = 0;
	for (i = 0; i < wanted; i += CHUNK)
		got += bulk_take(GFP_HIGHUSER_MOVABLE, min(CHUNK, wanted - i), pages + i);
	for (i = 0; i < wanted; i++)
		if (pages[i])
			__free_page(pages[i]);
	kvfree(pages);
	return 0;
}

LMM_PARAM_SET(run, run_set, "pages to take and to give back");

static int __init lmm_bulk_init(void)
{
	return 0;
}

static void __exit lmm_bulk_exit(void)
{
}

module_init(lmm_bulk_init);
module_exit(lmm_bulk_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: bulk requests");
