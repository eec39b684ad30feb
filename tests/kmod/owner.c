// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_owner.ko - an owner of CMA memory, where the kernel has none that can be told what to do
 *
 * Each area has a folder in debugfs, with two files that are called, and work, as those of
 * CMA_DEBUGFS.  Writing a number to `alloc` has the owner allocate so many pages in one piece, and
 * to `free` release so many of those that were allocated last.
 */
#include <linux/cma.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "lmm_kmod.h"

#define MOST_AREAS	20
#define MOST_PIECES	16

DEFINE_STATIC_CALL_NULL(owner_each, int (int (*)(struct cma *, void *), void *));
DEFINE_STATIC_CALL_NULL(owner_name, const char *(const struct cma *));
DEFINE_STATIC_CALL_NULL(owner_take, struct page *(struct cma *, unsigned long, unsigned int, bool));
DEFINE_STATIC_CALL_NULL(owner_give, bool (struct cma *, const struct page *, unsigned long));

struct piece {
	struct page *page;
	unsigned long count;
};

struct area {
	struct cma *cma;
	struct mutex lock;	/* what follows */
	struct piece pieces[MOST_PIECES];
	unsigned int nr_pieces;
};

static struct area areas[MOST_AREAS];
static unsigned int nr_areas;
static struct dentry *folder;

static int alloc_set(void *data, u64 count)
{
	struct area *area = data;
	struct page *page;
	int err = -ENOSPC;

	mutex_lock(&area->lock);
	if (area->nr_pieces < MOST_PIECES) {
		page = static_call(owner_take)(area->cma, count, 0, true);
		err = page ? 0 : -ENOMEM;
		if (page)
			area->pieces[area->nr_pieces++] = (struct piece){ page, count };
	}
	mutex_unlock(&area->lock);
	return err;
}

static int free_set(void *data, u64 count)
{
	struct area *area = data;
	int err;

	mutex_lock(&area->lock);
	err = area->nr_pieces ? 0 : -ENOENT;
	while (count && area->nr_pieces && !err) {
		struct piece *last = &area->pieces[area->nr_pieces - 1];
		unsigned long part = min_t(u64, count, last->count);

		last->count -= part;
		count -= part;
		if (!static_call(owner_give)(area->cma, last->page + last->count, part))
			err = -EIO;
		if (!last->count)
			area->nr_pieces--;
	}
	mutex_unlock(&area->lock);
	return err;
}

DEFINE_DEBUGFS_ATTRIBUTE(alloc_file, NULL, alloc_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(free_file, NULL, free_set, "%llu\n");

static int area_add(struct cma *cma, void *unused)
{
	struct area *area = &areas[nr_areas];
	struct dentry *ours;

	if (nr_areas == MOST_AREAS)
		return -ENOSPC;
	nr_areas++;
	area->cma = cma;
	mutex_init(&area->lock);
	ours = debugfs_create_dir(static_call(owner_name)(cma), folder);
	debugfs_create_file_unsafe("alloc", 0200, ours, area, &alloc_file);
	debugfs_create_file_unsafe("free", 0200, ours, area, &free_file);
	return 0;
}

static void __exit lmm_owner_exit(void)
{
	unsigned int i;

	debugfs_remove(folder);
	for (i = 0; i < nr_areas; i++)
		free_set(&areas[i], U64_MAX);
}

static int __init lmm_owner_init(void)
{
	int err;

	if (!lmm_bind(owner_each, "cma_for_each_area") || !lmm_bind(owner_name, "cma_get_name") ||
	    !lmm_bind(owner_take, "cma_alloc") || !lmm_bind(owner_give, "cma_release"))
		return -ENOENT;
	folder = debugfs_create_dir("lmm_owner", NULL);
	err = static_call(owner_each)(area_add, NULL);
	if (!err && !nr_areas)
		err = -ENODEV;
	if (err)
		debugfs_remove(folder);
	return err;
}

module_init(lmm_owner_init);
module_exit(lmm_owner_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: an owner of CMA memory");
