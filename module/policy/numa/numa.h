/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * numa.h - the numa policy as the hook table and dispatch.c see it; see policy.c
 */
#ifndef LIVEMM_POLICY_NUMA_NUMA_H
#define LIVEMM_POLICY_NUMA_NUMA_H

#include <linux/types.h>

struct lmm_klp_part;
struct mm_struct;
struct vm_area_struct;

/**
 * enum numa_mode - what of scanning is decided: values of knob `mode`
 * @NUMA_MODE_PERIOD: when an address space is scanned
 * @NUMA_MODE_VMA: when an address space is scanned, and which parts of its VMAs
 */
enum numa_mode {
	NUMA_MODE_PERIOD,
	NUMA_MODE_VMA,
};

/* fault.c */
void lmm_numa_hint_fault(int last_cpupid, int pages, int flags);
void lmm_numa_hint_vma(const struct vm_area_struct *vma);

/* scan.c */
void lmm_numa_scan_begin(void);
bool lmm_numa_scan(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part);
unsigned long lmm_numa_scan_charge(struct vm_area_struct *vma, unsigned long total);

/* mm.c */
void lmm_numa_space_exit(struct mm_struct *mm);

#endif /* LIVEMM_POLICY_NUMA_NUMA_H */
