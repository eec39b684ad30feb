/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suits.h - which memory mode promote arms
 */
#ifndef LIVEMM_POLICY_NUMA_SUITS_H
#define LIVEMM_POLICY_NUMA_SUITS_H

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/shmem_fs.h>

/**
 * numa_suits_policy() - does a memory policy leave promotion to the kernel?
 * @policy: of a VMA or of a thread; NULL: none
 *
 * Context: any.
 * Return: false if the policy binds memory, which keeps the kernel from promoting.
 */
static inline bool numa_suits_policy(const struct mempolicy *policy)
{
	return !policy || policy->flags & MPOL_F_MOF;
}

/**
 * numa_is_shared_bound() - has somebody given a shared segment a memory policy?
 * @inode: of the file of a VMA
 *
 * mbind() on shmem (tmpfs, System V) binds the segment for every process that maps the segment, and
 * the VMAs of the others have no policy of their own.  The kernel's look-up of the policy takes a
 * reference that modules cannot drop, so any policy counts, for whatever part of the segment.
 *
 * Context: any; a racy look.
 * Return: true if so.
 */
static inline bool numa_is_shared_bound(const struct inode *inode)
{
	return inode->i_sb->s_magic == TMPFS_MAGIC &&
	       READ_ONCE(SHMEM_I((struct inode *)inode)->policy.root.rb_node);
}

/**
 * numa_suits_vma() - can promotion help a VMA?
 * @vma: the VMA
 *
 * Unlike the kernel's scan this takes in file mappings that may only be read, but not programs and
 * libraries, which the kernel would not promote while shared.  As for the kernel's scan, memory of
 * a DAX file is left out: the kernel cannot move that memory, and its users want no hint faults.
 *
 * Context: process, mmap_lock held for reading.
 * Return: true if so.
 */
static inline bool numa_suits_vma(const struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_HUGETLB | VM_MIXEDMAP | VM_PFNMAP | VM_IO) ||
	    !(vma->vm_flags & (VM_READ | VM_WRITE)))
		return false;
	if (vma->vm_file && (vma->vm_flags & VM_EXEC || IS_DAX(vma->vm_file->f_mapping->host) ||
			     numa_is_shared_bound(vma->vm_file->f_mapping->host)))
		return false;
	return numa_suits_policy(vma->vm_policy);
}

#endif /* LIVEMM_POLICY_NUMA_SUITS_H */
