// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared.c - what entry.S does, as ftrace callbacks
 *
 * For sites that hold a direct call of somebody else; see direct.c.  The function is called with
 * the registers that a callback sets.
 *
 * Context: as entry.S; preemption may be on.
 */
#include <linux/ftrace.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "compat/compat.h"
#include "dispatch.h"
#include "policy/zonelock/zonelock.h"
#include "entry.h"

/* Argument number @n, from 0, of the function that is called. */
#define ARGUMENT(fregs, n)	regs_get_kernel_argument(lmm_ftrace_pt_regs(fregs), n)

/**
 * lmm_shared_hint_fault() - as lmm_entry_hint_fault()
 * @ip: unused
 * @parent: unused
 * @ops: unused
 * @fregs: the function's arguments
 */
void notrace lmm_shared_hint_fault(unsigned long ip, unsigned long parent,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (this_cpu_inc_return(lmm_calls_hint_fault) & (LMM_ENTRY_EVERY - 1))
		return;
	lmm_event_hint_fault(ARGUMENT(fregs, 0), ARGUMENT(fregs, 1), ARGUMENT(fregs, 2),
			     ARGUMENT(fregs, 3));
}

/**
 * lmm_shared_hint_vma() - as lmm_entry_hint_vma()
 * @ip: unused
 * @parent: unused
 * @ops: unused
 * @fregs: the function's arguments
 */
void notrace lmm_shared_hint_vma(unsigned long ip, unsigned long parent,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (this_cpu_inc_return(lmm_calls_hint_vma) & (LMM_ENTRY_EVERY - 1))
		return;
	lmm_event_hint_vma((const void *)ARGUMENT(fregs, 0), (const void *)ARGUMENT(fregs, 1));
}

/**
 * lmm_shared_request() - as lmm_entry_request()
 * @ip: unused
 * @parent: unused
 * @ops: unused
 * @fregs: the function's arguments
 */
void notrace lmm_shared_request(unsigned long ip, unsigned long parent,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct pt_regs *regs = lmm_ftrace_pt_regs(fregs);

	if (READ_ONCE(lmm_depot_stocked))
		lmm_event_topup((__force gfp_t)ARGUMENT(fregs, 0), ARGUMENT(fregs, 1),
				ARGUMENT(fregs, 2), (const void *)ARGUMENT(fregs, 3));
	preempt_disable_notrace();
	this_cpu_write(lmm_request_gfp, ARGUMENT(fregs, 0));
	this_cpu_write(lmm_request_order, ARGUMENT(fregs, 1));
	this_cpu_write(lmm_request_flags, ARGUMENT(fregs, 2));
	/* As entry.S: without the return address that the call at the site has pushed. */
	this_cpu_write(lmm_request_stack, regs->sp - sizeof(long));
	preempt_enable_notrace();
}

/**
 * lmm_shared_buffer() - as lmm_entry_buffer()
 * @ip: unused
 * @parent: unused
 * @ops: unused
 * @fregs: the function's arguments; the fourth is changed
 */
void notrace lmm_shared_buffer(unsigned long ip, unsigned long parent,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	lmm_ftrace_pt_regs(fregs)->cx &= READ_ONCE(lmm_buffer_gfp_mask);
}
