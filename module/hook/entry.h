/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * entry.h - what the kernel calls at the entry of a function, and which calls count
 *
 * Handlers of a direct call cost what they do themselves, and little else: four
 * instructions for a call that does not count.  A kprobe costs about 250 a call, an
 * ftrace callback about 100; a hint fault of NUMA balancing is 1640 in all.
 */
#ifndef LIVEMM_HOOK_ENTRY_H
#define LIVEMM_HOOK_ENTRY_H

/*
 * On each CPU one call in so many is handed on, and stands for all of them; a power
 * of two.
 */
#define LMM_ENTRY_EVERY	4

#ifndef __ASSEMBLY__
#include <linux/percpu.h>

/* Calls so far; see event.c for what they are about. */
DECLARE_PER_CPU(unsigned int, lmm_calls_hint_fault);
DECLARE_PER_CPU(unsigned int, lmm_calls_hint_vma);

void lmm_entry_hint_fault(void);
void lmm_entry_hint_vma(void);
#endif

#endif /* LIVEMM_HOOK_ENTRY_H */
