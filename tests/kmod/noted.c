// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_noted.ko - interrupts that ask for a page while livemm notes a request
 *
 * Writing to `run` puts a kprobe at one instruction of lmm_entry_request() after the other.  The
 * handler of the kprobe asks for a page, as an interrupt would at that place.  `places` says at how
 * many instructions a request for a larger block was interrupted.  Of the notes that have the stack
 * address of that request, `whole` have its arguments, and `mixed` have arguments of the other.
 */
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "lmm_kmod.h"

/* Bytes of lmm_entry_request() and a little more. */
#define LENGTH		128
#define ORDER		2

LMM_PARAM(uint, places, 0, "instructions at which a request was interrupted");
LMM_PARAM(uint, whole, 0, "notes of the interrupted request alone");
LMM_PARAM(uint, mixed, 0, "notes that mixed the arguments of two requests");

/* What livemm notes, per CPU. */
struct note {
	unsigned long stack;
	unsigned long nodemask;
	unsigned int gfp;
	unsigned int order;
	unsigned long flags;	/* as long as the rest: no padding */
};

static unsigned long __percpu *stack, *nodemask;
static unsigned int __percpu *gfp, *order, *flags;

static struct task_struct *asks;
static bool interrupted;

static int interrupt(struct kprobe *probe, struct pt_regs *regs)
{
	struct page *page;

	if (asks != current)
		return 0;
	asks = NULL;
	interrupted = true;
	page = alloc_page(GFP_ATOMIC);
	if (page)
		__free_page(page);
	return 0;
}

/* A request, and what was noted last on this CPU when the request is over. */
static noinline struct note request(bool probed)
{
	struct page *page;
	struct note note;

	preempt_disable();
	interrupted = false;
	asks = probed ? current : NULL;
	page = alloc_pages(GFP_NOWAIT | __GFP_NOWARN, ORDER);
	asks = NULL;
	note.stack = this_cpu_read(*stack);
	note.nodemask = this_cpu_read(*nodemask);
	note.gfp = this_cpu_read(*gfp);
	note.order = this_cpu_read(*order);
	note.flags = this_cpu_read(*flags);
	preempt_enable();
	if (page)
		__free_pages(page, ORDER);
	return note;
}

/* Both requests have the same frames on the stack. */
static void interrupt_at(void *place)
{
	struct kprobe probe = { .addr = place, .pre_handler = interrupt };
	struct note alone, note;

	/* The kernel refuses a place inside an instruction. */
	if (register_kprobe(&probe))
		return;
	alone = request(false);
	note = request(true);
	unregister_kprobe(&probe);
	if (!interrupted)
		return;
	places++;
	/* An interrupt of the machine's own may have noted a request last. */
	if (alone.order != ORDER || note.stack != alone.stack)
		return;
	if (memcmp(&note, &alone, sizeof(note)))
		mixed++;
	else
		whole++;
}

static void __percpu *find_percpu(const char *name)
{
	return (void __percpu __force *)(unsigned long)lmm_find(name);
}

static int run_set(const char *text, const struct kernel_param *param)
{
	char *entry = lmm_find("lmm_entry_request");
	unsigned int at;

	stack = find_percpu("lmm_request_stack");
	nodemask = find_percpu("lmm_request_nodemask");
	gfp = find_percpu("lmm_request_gfp");
	order = find_percpu("lmm_request_order");
	flags = find_percpu("lmm_request_flags");
	if (!entry || !stack || !nodemask || !gfp || !order || !flags)
		return -ENOENT;
	places = 0;
	whole = 0;
	mixed = 0;
	for (at = 0; at < LENGTH; at++)
		interrupt_at(entry + at);
	return 0;
}

LMM_PARAM_SET(run, run_set, "interrupt requests, and look at their notes");

static int __init lmm_noted_init(void)
{
	return 0;
}

static void __exit lmm_noted_exit(void)
{
}

module_init(lmm_noted_init);
module_exit(lmm_noted_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: requests that are interrupted while they are noted");
