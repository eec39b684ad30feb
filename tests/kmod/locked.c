// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_locked.ko - while this module is loaded, pages of /dev/shm/lmm are locked
 *
 * Whoever moves such a page and may wait sleeps, as at a page that a device reads.  The file has
 * pages all over memory; compaction passes over memory of programs that is pinned.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>

#include "lmm_kmod.h"

#define PAGES	256
#define STRIDE	192

static struct page *pages[PAGES];
LMM_PARAM(uint, locked, 0, "number of pages that are locked");

static int __init lmm_locked_init(void)
{
	struct file *file = filp_open("/dev/shm/lmm", O_RDONLY, 0);
	unsigned int i;

	if (IS_ERR(file))
		return PTR_ERR(file);
	for (i = 0; i < PAGES; i++) {
		pages[locked] = find_lock_page(file->f_mapping, i * STRIDE);
		if (pages[locked])
			locked++;
	}
	filp_close(file, NULL);
	return locked ? 0 : -ENOENT;
}

static void __exit lmm_locked_exit(void)
{
	while (locked--) {
		unlock_page(pages[locked]);
		put_page(pages[locked]);
	}
}

module_init(lmm_locked_init);
module_exit(lmm_locked_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: locks pages of a file");
