/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preempt.h - preemption off and on, in assembly
 *
 * The count was a member of struct pcpu_hot from 6.2 to 6.14, behind current_task: then
 * asm-offsets.h knows that struct.
 */
#ifndef LIVEMM_COMPAT_PREEMPT_H
#define LIVEMM_COMPAT_PREEMPT_H

#ifdef __ASSEMBLY__
#include <asm/asm-offsets.h>
#include <asm/percpu.h>

#ifdef X86_current_task
#define LMM_PREEMPT_COUNT	PER_CPU_VAR(pcpu_hot + X86_current_task + 8)
#else
#define LMM_PREEMPT_COUNT	PER_CPU_VAR(__preempt_count)
#endif

/* Without a check for a task that wants the CPU: such a task waits for the next check. */
#ifdef CONFIG_PREEMPTION
#define LMM_PREEMPT_OFF	incl	LMM_PREEMPT_COUNT
#define LMM_PREEMPT_ON	decl	LMM_PREEMPT_COUNT
#else
#define LMM_PREEMPT_OFF
#define LMM_PREEMPT_ON
#endif
#else
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <generated/asm-offsets.h>
#include <asm/current.h>

#ifdef X86_current_task
static_assert(offsetof(struct pcpu_hot, preempt_count) == X86_current_task + 8);
#endif
#endif

#endif /* LIVEMM_COMPAT_PREEMPT_H */
