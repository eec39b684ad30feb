// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_noted.ko - interrupts and tasks that ask for a page while livemm notes a request
 *
 * Writing to `run` puts a kprobe at one instruction of lmm_entry_request() after the other.  The
 * handler of the kprobe asks for a page, as an interrupt would at that place.  `places` says at how
 * many instructions a request for a larger block was interrupted.  Of the notes that have the stack
 * address of that request, `whole` have its arguments, and `mixed` have arguments of the other.
 *
 * Writing to `preempt` does the same with a task of high priority, which an interrupt wakes at that
 * place.  The notes that count are then those with the stack address of that task's request.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
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

/* Find the notes, and where a request is noted; NULL without livemm. */
static char *notes_find(void)
{
	char *entry = lmm_find("lmm_entry_request");

	stack = find_percpu("lmm_request_stack");
	nodemask = find_percpu("lmm_request_nodemask");
	gfp = find_percpu("lmm_request_gfp");
	order = find_percpu("lmm_request_order");
	flags = find_percpu("lmm_request_flags");
	places = 0;
	whole = 0;
	mixed = 0;
	return stack && nodemask && gfp && order && flags ? entry : NULL;
}

static int run_set(const char *text, const struct kernel_param *param)
{
	char *entry = notes_find();
	unsigned int at;

	if (!entry)
		return -ENOENT;
	for (at = 0; at < LENGTH; at++)
		interrupt_at(entry + at);
	return 0;
}

LMM_PARAM_SET(run, run_set, "interrupt requests, and look at their notes");

/* Asks for a page each time it is woken, and says which note that left. */
static struct task_struct *other;
static struct completion wake, asked;
static unsigned long other_stack;

static int other_asks(void *unused)
{
	struct page *page;

	while (!kthread_should_stop()) {
		if (wait_for_completion_interruptible(&wake))
			continue;
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		other_stack = this_cpu_read(*stack);
		if (page)
			__free_page(page);
		complete(&asked);
	}
	return 0;
}

static void other_wake(struct irq_work *work)
{
	complete(&wake);
}

static DEFINE_IRQ_WORK(waker, other_wake);

/* The interrupt comes as soon as the handler has ended: at this instruction. */
static int preempt(struct kprobe *probe, struct pt_regs *regs)
{
	if (asks == current) {
		asks = NULL;
		interrupted = true;
		irq_work_queue(&waker);
	}
	return 0;
}

static void preempt_at(void *place)
{
	struct kprobe probe = { .addr = place, .pre_handler = preempt };
	struct page *page;

	if (register_kprobe(&probe))
		return;
	interrupted = false;
	asks = current;
	page = alloc_pages(GFP_NOWAIT | __GFP_NOWARN, ORDER);
	asks = NULL;
	if (interrupted) {
		places++;
		wait_for_completion(&asked);
		if (this_cpu_read(*stack) == other_stack) {
			if (this_cpu_read(*order))
				mixed++;
			else
				whole++;
		}
	}
	unregister_kprobe(&probe);
	if (page)
		__free_pages(page, ORDER);
}

static int preempt_set(const char *text, const struct kernel_param *param)
{
	char *entry = notes_find();
	unsigned int at, cpu;

	if (!entry)
		return -ENOENT;
	init_completion(&wake);
	init_completion(&asked);
	migrate_disable();
	cpu = smp_processor_id();
	other = kthread_create_on_cpu(other_asks, NULL, cpu, "lmm_noted/%u");
	if (!IS_ERR(other)) {
		sched_set_fifo(other);
		wake_up_process(other);
		for (at = 0; at < LENGTH; at++)
			preempt_at(entry + at);
		complete(&wake);
		kthread_stop(other);
	}
	migrate_enable();
	return PTR_ERR_OR_ZERO(other);
}

LMM_PARAM_SET(preempt, preempt_set, "preempt requests, and look at the notes of who preempts");

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
