// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_suits_test.c - suite livemm_numa_suits: which memory mode promote arms
 */
#include <kunit/test.h>

/* The debug kernel is built without DAX, and has no such flag. */
#undef S_DAX
#define S_DAX	BIT(13)
#include "../module/policy/numa/suits.h"

/* Flags of a VMA; is there a file, and what are the flags of its inode; of a memory policy. */
static const struct suits_case {
	const char *name;
	unsigned long flags;
	bool file;
	unsigned int inode_flags;
	const struct mempolicy *policy;
	bool suits;
	bool tmpfs;
	bool shared_policy;
} suits_cases[] = {
	{ "anonymous", VM_READ | VM_WRITE, .suits = true },
	{ "not accessible", 0 },
	{ "program without a file", VM_READ | VM_EXEC, .suits = true },
	{ "file that is read", VM_READ, true, .suits = true },
	{ "library", VM_READ | VM_EXEC, true },
	{ "DAX file", VM_READ | VM_WRITE | VM_SHARED, true, S_DAX },
	{ "DAX file that is read", VM_READ, true, S_DAX | S_NOATIME },
	{ "other flag of an inode", VM_READ, true, S_NOATIME, .suits = true },
	{ "shared segment", VM_READ | VM_SHARED, true, .tmpfs = true, .suits = true },
	{ "shared segment that somebody has bound", VM_READ | VM_SHARED, true, .tmpfs = true,
	  .shared_policy = true },
	{ "no shared segment", VM_READ | VM_SHARED, true, .shared_policy = true, .suits = true },
	{ "huge pages of hugetlbfs", VM_READ | VM_HUGETLB },
	{ "memory of a device", VM_READ | VM_IO | VM_PFNMAP },
	{ "pages of a driver", VM_READ | VM_MIXEDMAP },
	{ "bound", VM_READ, .policy = &(const struct mempolicy){ } },
	{ "bound, and migrated on fault", VM_READ,
	  .policy = &(const struct mempolicy){ .flags = MPOL_F_MOF }, .suits = true },
};

NAMED_CASES(suits, suits_cases);

static void numa_suits_test_vma(struct kunit *test)
{
	const struct suits_case *one = test->param_value;
	struct address_space *mapping = kunit_kzalloc(test, sizeof(*mapping), GFP_KERNEL);
	struct vm_area_struct *vma = kunit_kzalloc(test, sizeof(*vma), GFP_KERNEL);
	struct shmem_inode_info *info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);
	struct super_block *sb = kunit_kzalloc(test, sizeof(*sb), GFP_KERNEL);
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct rb_node node = { };

	KUNIT_ASSERT_TRUE(test, mapping && vma && info && sb && file);
	info->vfs_inode.i_flags = one->inode_flags;
	info->vfs_inode.i_sb = sb;
	sb->s_magic = one->tmpfs ? TMPFS_MAGIC : EXT4_SUPER_MAGIC;
	info->policy.root.rb_node = one->shared_policy ? &node : NULL;
	mapping->host = &info->vfs_inode;
	file->f_mapping = mapping;
	/* Newer kernels have the flags const. */
	*(unsigned long *)&vma->vm_flags = one->flags;
	vma->vm_file = one->file ? file : NULL;
	vma->vm_policy = (struct mempolicy *)one->policy;
	KUNIT_EXPECT_EQ(test, one->suits, numa_suits_vma(vma));
}

static struct kunit_case numa_suits_cases[] = {
	KUNIT_CASE_PARAM(numa_suits_test_vma, suits_gen_params),
	{ }
};

static struct kunit_suite numa_suits_suite = {
	.name = "livemm_numa_suits",
	.test_cases = numa_suits_cases,
};
