/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * entry.h - calls at the entry of a function, and the calls that are handed on
 *
 * A hint fault of NUMA balancing takes about 1600 instructions (bench/README.md), so a hook there
 * must be short.  A kprobe or an ftrace callback goes through the kernel's trampoline and
 * bookkeeping at each call; a direct call runs entry.S alone.  A call that is not handed on takes
 * decl, jg, and the return or the jump to the kernel's return thunk, with an endbr64 first on a
 * kernel with IBT (6.12).
 */
#ifndef LIVEMM_HOOK_ENTRY_H
#define LIVEMM_HOOK_ENTRY_H

/*
 * Of this many calls on a CPU one call is handed on, and stands for all of them: by chance, as a
 * program that uses four arrays in turn would fault in step with every fourth call.
 */
#define LMM_ENTRY_EVERY	4

/* struct lmm_request_wants as one number, where requests are only noted. */
#define LMM_REQUEST_NOTE	1

/* Offset of nodemask in struct alloc_context. */
#define LMM_CONTEXT_NODEMASK	8

#ifndef __ASSEMBLY__
#include <linux/percpu.h>
#include <linux/types.h>

struct alloc_context;
struct bpf_trampoline;
struct ftrace_ops;
struct ftrace_regs;

/**
 * struct lmm_entry_handlers - the handlers that entry.S and entry_calls.c call
 * @hint_fault: at the entry of task_numa_fault().  Context: process, preemption on; under no lock
 *	but mmap_lock, or a VMA's.
 * @request: at the entry of get_page_from_freelist(), while lmm_request_wants.call is set.
 *	Context: any that the allocator may be called from.
 *
 * Handlers are notrace.
 */
struct lmm_entry_handlers {
	void (*hint_fault)(int last_cpupid, int nid, int pages, int flags);
	void (*request)(gfp_t gfp, unsigned int order, int flags,
			const struct alloc_context *context);
};

void lmm_entry_init(const struct lmm_entry_handlers *handlers);

/* Called by entry.S. */
void lmm_entered_hint_fault(int last_cpupid, int nid, int pages, int flags);
void lmm_entered_request(gfp_t gfp, unsigned int order, int flags,
			 const struct alloc_context *context);
void lmm_direct_bpf_link(void *link, const struct bpf_trampoline *trampoline);
void lmm_direct_bpf_links(void);

/**
 * struct lmm_request_wants - what is wanted of each request, 0 or 1 each
 * @note: note the request
 * @call: call the request handler, and note the request
 *
 * entry.S reads both members as one number: with 0, a request costs six instructions.
 */
struct lmm_request_wants {
	unsigned char note;
	unsigned char call;
} __aligned(2);

extern struct lmm_request_wants lmm_request_wants;

/*
 * Calls until the next call that is handed on; 0 or less where the thread has gone to another CPU
 * before it could choose the next.
 */
DECLARE_PER_CPU(int, lmm_wait_hint_fault);

/*
 * The last call of get_page_from_freelist() on a CPU, while lmm_request_wants.note is set: its
 * first three arguments, the nodemask of the fourth, and the stack pointer at its entry, which is 0
 * after a call that was not noted.  The stack pointer is written first, and no task is preempted
 * before the last argument is written.  So where the stack pointer is that of a call, nobody has
 * written arguments of another call since.  One task may be judged by an earlier call of its own:
 * it is preempted between a call and the search for a fallback, and continues on a CPU where that
 * earlier call, at the same depth, was the last.
 */
DECLARE_PER_CPU(unsigned int, lmm_request_gfp);
DECLARE_PER_CPU(unsigned int, lmm_request_order);
DECLARE_PER_CPU(unsigned int, lmm_request_flags);
DECLARE_PER_CPU(unsigned long, lmm_request_nodemask);
DECLARE_PER_CPU(unsigned long, lmm_request_stack);

/* entry.S: what a site calls. */
#define DIRECT(id, name, ...)	void lmm_entry_##name(void);
#include "rows.h"

/* Mask of the gfp flags of a page of buffers. */
extern unsigned int lmm_buffer_gfp_mask;
void lmm_buffers_unmovable(unsigned int client, bool wanted);

/* entry_calls.c: the ftrace callback that does the work of lmm_entry_<name>(). */
#define LMM_SHARED_CALL(name) \
	void lmm_shared_##name(unsigned long ip, unsigned long parent, \
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)

LMM_SHARED_CALL(hint_fault);
LMM_SHARED_CALL(request);
LMM_SHARED_CALL(buffer);
#endif

#endif /* LIVEMM_HOOK_ENTRY_H */
