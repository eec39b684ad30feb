// SPDX-License-Identifier: GPL-2.0-only
/*
 * entry_calls.c - from the entry of a function to its handler
 *
 * entry.S calls lmm_entered_*().  The ftrace callbacks do the same as entry.S, at sites that have
 * a direct call of somebody else (direct.c).  ftrace calls the function with the registers that a
 * callback has set.
 *
 * Context: as entry.S; preemption may be on.
 */
#include <linux/ftrace.h>
#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "compat/preempt.h"
#include "entry.h"

DEFINE_STATIC_CALL_NULL(hint_fault, *((struct lmm_entry_handlers *)0)->hint_fault);
DEFINE_STATIC_CALL_NULL(request, *((struct lmm_entry_handlers *)0)->request);

DEFINE_PER_CPU(int, lmm_wait_hint_fault) = 1;
static DEFINE_PER_CPU(u32, hint_fault_random);

DEFINE_PER_CPU(unsigned int, lmm_request_gfp);
DEFINE_PER_CPU(unsigned int, lmm_request_order);
DEFINE_PER_CPU(unsigned int, lmm_request_flags);
DEFINE_PER_CPU(unsigned long, lmm_request_nodemask);
DEFINE_PER_CPU(unsigned long, lmm_request_stack);

static_assert(offsetof(struct alloc_context, nodemask) == LMM_CONTEXT_NODEMASK);
/* Little endian: the first member is the low byte. */
static_assert(sizeof(struct lmm_request_wants) == sizeof(u16));
static_assert(!offsetof(struct lmm_request_wants, note));

struct lmm_request_wants lmm_request_wants;
unsigned int lmm_buffer_gfp_mask = ~0U;

/**
 * lmm_entry_init() - set the handlers
 * @handlers: handlers of direct calls
 *
 * Context: process, before any row is armed.
 */
void lmm_entry_init(const struct lmm_entry_handlers *handlers)
{
	static_call_update(hint_fault, handlers->hint_fault);
	static_call_update(request, handlers->request);
}

/**
 * lmm_buffers_unmovable() - are buffers of block devices to be allocated as unmovable?
 * @client: the client that decides
 * @wanted: the decision of the client; buffers are unmovable if any client wants so
 *
 * File systems keep references to buffers: a page that holds a buffer cannot be migrated.
 *
 * Context: any.
 */
void lmm_buffers_unmovable(unsigned int client, bool wanted)
{
	static DEFINE_RAW_SPINLOCK(lock);
	static unsigned long clients;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	__assign_bit(client, &clients, wanted);
	WRITE_ONCE(lmm_buffer_gfp_mask, clients ? ~(__force unsigned int)__GFP_MOVABLE : ~0U);
	raw_spin_unlock_irqrestore(&lock, flags);
}

/**
 * lmm_entered_hint_fault() - one call in LMM_ENTRY_EVERY of task_numa_fault()
 * @last_cpupid: CPU and process of the previous fault on the page
 * @nid: node of the page
 * @pages: number of pages of the fault
 * @flags: TNF_*
 */
void notrace lmm_entered_hint_fault(int last_cpupid, int nid, int pages, int flags)
{
	/* Numerical Recipes' generator; two threads that come here at once do no harm. */
	u32 random = this_cpu_read(hint_fault_random) * 1664525 + 1013904223;

	this_cpu_write(hint_fault_random, random);
	/* From 1 to 2 * LMM_ENTRY_EVERY - 1, by the high bits. */
	this_cpu_write(lmm_wait_hint_fault,
		       1 + ((random >> 16) * (2 * LMM_ENTRY_EVERY - 1) >> 16));
	static_call(hint_fault)(last_cpupid, nid, pages, flags);
}

/**
 * lmm_entered_request() - a call of get_page_from_freelist() while lmm_request_wants.call is set
 * @gfp: flags of the request
 * @order: order of the request
 * @flags: ALLOC_* flags of the request
 * @context: zone list, migratetype and the rest of the request
 */
void notrace lmm_entered_request(gfp_t gfp, unsigned int order, int flags,
				 const struct alloc_context *context)
{
	static_call(request)(gfp, order, flags, context);
}

/* Argument number @n, from 0, of the function that is called. */
#define ARGUMENT(fregs, n)	regs_get_kernel_argument(lmm_ftrace_pt_regs(fregs), n)

notrace LMM_SHARED_CALL(hint_fault)
{
	if (this_cpu_dec_return(lmm_wait_hint_fault) > 0)
		return;
	lmm_entered_hint_fault(ARGUMENT(fregs, 0), ARGUMENT(fregs, 1), ARGUMENT(fregs, 2),
			       ARGUMENT(fregs, 3));
}

notrace LMM_SHARED_CALL(request)
{
	const struct pt_regs *regs = lmm_ftrace_pt_regs(fregs);
	const struct alloc_context *context = (const void *)ARGUMENT(fregs, 3);

	if (READ_ONCE(lmm_request_wants.call)) {
		lmm_entered_request((__force gfp_t)ARGUMENT(fregs, 0), ARGUMENT(fregs, 1),
				    ARGUMENT(fregs, 2), context);
	} else if (!READ_ONCE(lmm_request_wants.note)) {
		this_cpu_write(lmm_request_stack, 0);
		return;
	}
	preempt_disable_notrace();
	/* As entry.S: first, and without the return address that the call at the site pushed. */
	this_cpu_write(lmm_request_stack, regs->sp - sizeof(long));
	this_cpu_write(lmm_request_gfp, ARGUMENT(fregs, 0));
	this_cpu_write(lmm_request_order, ARGUMENT(fregs, 1));
	this_cpu_write(lmm_request_flags, ARGUMENT(fregs, 2));
	this_cpu_write(lmm_request_nodemask, (unsigned long)context->nodemask);
	preempt_enable_notrace();
}

notrace LMM_SHARED_CALL(buffer)
{
	lmm_ftrace_pt_regs(fregs)->cx &= READ_ONCE(lmm_buffer_gfp_mask);
}
