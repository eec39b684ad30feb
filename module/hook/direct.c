// SPDX-License-Identifier: GPL-2.0-only
/*
 * direct.c - calls at a function's ftrace site, shared with other users of the site
 *
 * A site has room for one direct call, and BPF trampolines (fentry, fexit) are direct calls
 * too.  A row is therefore called straight from the site (entry.S), or as one of any number of
 * ftrace callbacks (entry_calls.c).  The direct call costs less, because an ftrace callback saves
 * every register and goes through a list.  A row uses the ftrace callback
 *
 *  - where somebody else's direct call is at the site already;
 *  - when BPF is about to put a direct call at the site: the kernel calls the rows bpf_link and
 *    bpf_links first, and these rows make room;
 *  - where BPF has direct calls, and the rows bpf_link and bpf_links cannot be armed, so that
 *    nobody announces BPF.  A kernel without BPF's JIT has no trampolines.
 *
 * A livepatch and kprobes share a site with a direct call whose ops have an ops_func (since
 * 53cd885bc5c3 "ftrace: Allow IPMODIFY and DIRECT ops on the same function", 6.0).  entry.S
 * returns to the address that ftrace has left on the stack: the function of the livepatch.
 */
#include <linux/atomic.h>
#include <linux/bpf.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "entry.h"
#include "symbols.h"
#include "table.h"

/* Number of tasks in make_rooms(); a task may sleep there. */
static atomic_t inside = ATOMIC_INIT(0);

/*
 * entry.S keeps the stack as a livepatch needs it, with or without a livepatch.  The arguments,
 * which 956747efd82a ("ftrace: Factor ftrace_ops ops_func interface", 7.0) changed, do not matter.
 */
static int share_with_livepatch(void)
{
	return 0;
}

/* Call the row's handler from the site: straight, or as one of the ftrace callbacks. */
static int site_register(struct lmm_hook *hook, bool shared)
{
	struct ftrace_ops *ops = shared ? &hook->shared_ops : &hook->ops;
	int err;

	memset(ops, 0, sizeof(*ops));
	if (shared)
		ops->func = hook->shared;
	else
		ops->ops_func = (void *)share_with_livepatch;
	err = ftrace_set_filter_ip(ops, hook->addr, 0, 0);
	if (!err)
		err = shared ? register_ftrace_function(ops) :
			       lmm_direct_register(ops, (unsigned long)hook->handler);
	if (err)
		ftrace_free_filter(ops);
	return err;
}

static int site_unregister(struct lmm_hook *hook, bool shared)
{
	struct ftrace_ops *ops = shared ? &hook->shared_ops : &hook->ops;
	int err = shared ? unregister_ftrace_function(ops) :
			   lmm_direct_unregister(ops, (unsigned long)hook->handler);

	if (!err)
		ftrace_free_filter(ops);
	return err;
}

/**
 * lmm_direct_arm() - have the kernel call a row's handler
 * @hook: the row
 *
 * Context: process, may sleep, @hook->lock held.
 * Return: 0 or -errno.
 */
int lmm_direct_arm(struct lmm_hook *hook)
{
	/* Absent from some kernels. */
	const struct lmm_hook *links = &lmm_hooks[LMM_HOOK_BPF_LINKS];
	bool told = !hook->shared || !IS_ENABLED(CONFIG_BPF_JIT) ||
		    (lmm_hooks[LMM_HOOK_BPF_LINK].armed &&
		     (links->armed || !lmm_symbol_count(links->symbol)));
	int err = -EBUSY;

	if (told && !hook->makes_room)
		err = site_register(hook, false);
	WRITE_ONCE(hook->is_alone, !told);
	WRITE_ONCE(hook->is_shared, err == -EBUSY && hook->shared);
	return hook->is_shared ? site_register(hook, true) : err;
}

/**
 * lmm_direct_disarm() - undo lmm_direct_arm()
 * @hook: the row
 *
 * After a return of 0 no handler runs: the kernel waits for running handlers, by RCU tasks.
 *
 * Context: process, may sleep, @hook->lock held.
 * Return: 0, or -errno when the site may still call the handler.
 */
int lmm_direct_disarm(struct lmm_hook *hook)
{
	return site_unregister(hook, hook->is_shared);
}

/* For a moment both ways call the handler, and a hit may be counted twice. */
static void make_room(struct lmm_hook *hook)
{
	WRITE_ONCE(hook->makes_room, true);
	if (!hook->armed || hook->is_shared || site_register(hook, true))
		return;
	/* On failure the direct call keeps the site, and the kernel refuses the BPF program. */
	if (site_unregister(hook, false))
		site_unregister(hook, true);
	else
		WRITE_ONCE(hook->is_shared, true);
}

/* Does a row that can make room hook the function at @addr?  Constant after init, so no lock. */
static bool notrace row_at(unsigned long addr)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook)
		if (hook->shared && hook->addr == addr)
			return true;
	return false;
}

/*
 * Have the row of the function at @addr make room; with 0, every row.
 *
 * This module must stay while a task sleeps here: the kernel's wait for tasks in directly
 * called code (RCU tasks) does not wait for a task that sleeps.  lmm_direct_exit() waits instead.
 * Programs of other functions must not wait for the lock of the row, which whoever arms or disarms
 * the row holds for a grace period.
 */
static void notrace make_rooms(unsigned long addr)
{
	struct lmm_hook *hook;

	if (addr && !row_at(addr))
		return;
	atomic_inc(&inside);
	/* The kernel refuses the program of a task that is killed here: no row makes room. */
	lmm_for_each_hook(hook) {
		if (!hook->shared || (addr && hook->addr != addr) ||
		    mutex_lock_killable(&hook->lock))
			continue;
		make_room(hook);
		mutex_unlock(&hook->lock);
	}
	atomic_dec(&inside);
}

/**
 * lmm_direct_exit() - wait until nobody is in our code because of BPF
 *
 * Context: process, may sleep; every row is disarmed.
 */
void lmm_direct_exit(void)
{
	/* Afterwards each task that was before the increment has increased @inside, or has left. */
	synchronize_rcu_tasks();
	while (atomic_read(&inside))
		schedule_timeout_idle(1);
	/* Afterwards each task that was behind the decrement has left. */
	synchronize_rcu_tasks();
}

/**
 * lmm_direct_bpf_link() - make room for a BPF program, at the entry of bpf_trampoline_link_prog()
 * @link: first argument of the function; not read
 * @trampoline: trampoline of the function that gets the BPF program
 *
 * The row keeps its ftrace callback for good, because BPF users of a function come back.
 *
 * Context: process, may sleep.
 */
void notrace lmm_direct_bpf_link(void *link, const struct bpf_trampoline *trampoline)
{
	make_rooms((unsigned long)trampoline->func.addr);
}

/**
 * lmm_direct_bpf_links() - make room for BPF programs, at bpf_trampoline_multi_attach()
 *
 * Every row makes room; the functions that get programs are not looked up.
 *
 * Context: process, may sleep.
 */
void notrace lmm_direct_bpf_links(void)
{
	make_rooms(0);
}
