// SPDX-License-Identifier: GPL-2.0-only
/*
 * look.c - what page tables map
 *
 * Page tables of a VMA are not unmapped while mmap_lock is held for reading.  Kernels that
 * free a page table under less free it after an RCU grace period, and preemption is off.  An
 * entry may change during a look: a look is a hint.
 */
#include <linux/mm.h>
#include <linux/pgtable.h>

#include "state.h"

/* The entry for the 2 MiB around an address; empty where nothing of the kind is mapped. */
static pmd_t pmd_of(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	BUILD_BUG_ON(NUMA_REGION_SHIFT + PAGE_SHIFT != PMD_SHIFT);
	if (pgd_none(*pgd))
		return __pmd(0);
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return __pmd(0);
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || pud_leaf(*pud))
		return __pmd(0);
	return READ_ONCE(*pmd_offset(pud, addr));
}

/**
 * numa_look_backing() - what maps a region?
 * @mm: the address space
 * @region: number of the region
 *
 * A region that becomes a huge page after the look is split, with no other harm.
 *
 * Context: preemption off, mmap_lock held for reading.
 * Return: the kind of mapping.
 */
enum numa_backing numa_look_backing(void *mm, u64 region)
{
	pmd_t pmd = pmd_of(mm, region << PMD_SHIFT);

	if (pmd_none(pmd))
		return NUMA_UNMAPPED;
	/* An entry that is no table, such as a migration entry, must not be split. */
	return !pmd_present(pmd) || pmd_leaf(pmd) ? NUMA_HUGE : NUMA_SMALL;
}
