/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suits.h - which memory mode promote arms
 */
#ifndef LIVEMM_POLICY_NUMA_SUITS_H
#define LIVEMM_POLICY_NUMA_SUITS_H

#include <linux/fs.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>

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
	if (vma->vm_file && (vma->vm_flags & VM_EXEC || IS_DAX(vma->vm_file->f_mapping->host)))
		return false;
	return numa_suits_policy(vma->vm_policy);
}

#endif /* LIVEMM_POLICY_NUMA_SUITS_H */
