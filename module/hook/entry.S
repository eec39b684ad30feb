/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * entry.S - called in place of __fentry__, at the first instruction of a function
 *
 * The function's arguments, up to six, are in their registers, and become the arguments of our
 * handler, which may change the registers.  Nothing else is live here.  A thread can be
 * preempted in this file.  Disarming waits for such a thread: unregister_ftrace_function() waits
 * for RCU tasks, for ops that a module owns.
 */
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <asm/percpu.h>

#include "compat/preempt.h"
#include "entry.h"

/*
 * A function whose address is taken begins with ENDBR on a kernel with IBT; SYM_FUNC_START() adds
 * it on some kernels.  There is no CALL_DEPTH_ACCOUNT: with retbleed=stuff the kernel then counts a
 * return that no call has counted, and stuffs the return buffer too early, never too late.
 */
#define LMM_START(name)	SYM_START(name, SYM_L_GLOBAL, SYM_A_ALIGN) ENDBR

/* Call with the function's arguments, and keep them. */
.macro LMM_CALL handler
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	call	\handler
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
.endm

.macro LMM_ENTRY name handler wait
LMM_START(\name)
	decl	PER_CPU_VAR(\wait)
	jg	.Lout_\name
	LMM_CALL \handler
.Lout_\name:
	RET
SYM_FUNC_END(\name)
.endm

.text
LMM_ENTRY lmm_entry_hint_fault lmm_entered_hint_fault lmm_wait_hint_fault

/*
 * Runs at every allocation: a comparison and a store if nothing is wanted of a request, a load and
 * five stores if the request is to be noted.  The stack pointer later tells whether the noted
 * request is the request of the caller.  No task is preempted between two stores, or it would write
 * the rest of its note into that of another task.  Who should have been preempted here is, at the
 * next place where the kernel allows it: the allocation has many.
 */
LMM_START(lmm_entry_request)
	cmpw	$LMM_REQUEST_NOTE, lmm_request_wants(%rip)
	je	.Lnote
	ja	.Lcall
	/* Whoever reads the notes must not take an earlier request for this one. */
	movq	$0, PER_CPU_VAR(lmm_request_stack)
	RET
.Lcall:
	LMM_CALL lmm_entered_request
.Lnote:
	LMM_PREEMPT_OFF
	/* First: an interrupt that notes a request of its own from here on leaves its address. */
	movq	%rsp, PER_CPU_VAR(lmm_request_stack)
	movl	%edi, PER_CPU_VAR(lmm_request_gfp)
	movl	%esi, PER_CPU_VAR(lmm_request_order)
	movl	%edx, PER_CPU_VAR(lmm_request_flags)
	movq	LMM_CONTEXT_NODEMASK(%rcx), %rax
	movq	%rax, PER_CPU_VAR(lmm_request_nodemask)
	LMM_PREEMPT_ON
	RET
SYM_FUNC_END(lmm_entry_request)

/*
 * Runs at every look-up of a buffer.  The fourth argument has the gfp flags for a new page of
 * buffers.
 */
LMM_START(lmm_entry_buffer)
	andl	lmm_buffer_gfp_mask(%rip), %ecx
	RET
SYM_FUNC_END(lmm_entry_buffer)

/* Runs when a BPF program is about to be called at a function. */
LMM_START(lmm_entry_bpf_link)
	LMM_CALL lmm_direct_bpf_link
	RET
SYM_FUNC_END(lmm_entry_bpf_link)

/* Runs when BPF programs are about to be called at many functions. */
LMM_START(lmm_entry_bpf_links)
	LMM_CALL lmm_direct_bpf_links
	RET
SYM_FUNC_END(lmm_entry_bpf_links)
