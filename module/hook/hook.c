// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook.c - arming and disarming rows of the hook table
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

#include "../compat/compat.h"
#include "../control/control.h"
#include "../event.h"
#include "btf.h"
#include "hook.h"
#include "symbols.h"
#include "table.h"

u64 __percpu *lmm_hook_hits;

/* Words for a row that exists but must not be used now, or "" if it may be. */
static void row_obstacle(const struct lmm_hook *hook, char *why, size_t len)
{
	why[0] = '\0';
	if (!hook->available) {
		scnprintf(why, len, "%s: %s", hook->symbol, hook->why);
		return;
	}
	if (hook->mech != LMM_MECH_LIVEPATCH)
		return;
	if (!lmm_allow_livepatch)
		scnprintf(why, len, "module parameter livepatch=0");
	else if (lmm_klp_port() && !(lmm_klp_port()->functions & BIT(hook->function)))
		/* It was held by another livepatch then, say. */
		scnprintf(why, len, "livemm_klp was loaded without it; switch all policies off");
	else
		lmm_hook_foreign_livepatch(hook, why, len);
}

/**
 * lmm_hooks_init() - find and verify every hook; arms none
 *
 * A hook that fails is unavailable with the reason; livemm goes on without it.
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP when nothing at all can be looked up.
 */
int lmm_hooks_init(void)
{
	unsigned int i;
	int err;

	lmm_hook_hits = lmm_counters_alloc(lmm_nr_hooks);
	if (!lmm_hook_hits)
		return -ENOMEM;
	err = lmm_symbols_init();
	if (err) {
		pr_err("kprobes are refused, so no symbol can be found (%d)\n", err);
		free_percpu(lmm_hook_hits);
		return err;
	}
	if (lmm_btf_init())
		pr_info("this kernel has no BTF; hooks need force=1\n");
	for (i = 0; i < lmm_nr_hooks; i++)
		lmm_hook_verify(&lmm_hooks[i]);
	return 0;
}

/**
 * lmm_hooks_exit() - the hook layer goes; every policy has been disarmed
 *
 * Context: process.
 */
void lmm_hooks_exit(void)
{
	free_percpu(lmm_hook_hits);
}

/**
 * lmm_hook_address() - where a verified function or variable is
 * @id: the row
 *
 * Context: process, control mutex held.
 * Return: the address, or 0 when the row is not available.
 */
unsigned long lmm_hook_address(enum lmm_hook_id id)
{
	return lmm_hooks[id].available ? lmm_hooks[id].addr : 0;
}

/**
 * lmm_hook_body() - where a verified function goes on behind its ftrace site
 * @id: the row, of a function that can be livepatched
 *
 * A call of that runs the kernel's own code, whoever has wrapped the function.
 *
 * Context: process, control mutex held.
 * Return: the address, or 0 when the row is not available.
 */
unsigned long lmm_hook_body(enum lmm_hook_id id)
{
	unsigned long addr = lmm_hook_address(id);
	unsigned long site = addr ? lmm_symbol_ftrace_site(addr) : 0;

	return site ? site + MCOUNT_INSN_SIZE : 0;
}

/**
 * lmm_hook_usable() - may this hook be armed?
 * @id: the row
 *
 * Context: process, control mutex held.
 * Return: true if it would be.
 */
bool lmm_hook_usable(enum lmm_hook_id id)
{
	char obstacle[LMM_WHY_LEN];

	row_obstacle(&lmm_hooks[id], obstacle, sizeof(obstacle));
	return !obstacle[0];
}

/**
 * lmm_hook_armed() - do events of this hook come in now?
 * @id: the row
 *
 * Context: process, control mutex held.
 * Return: false as well when a livepatch was disabled or replaced from outside.
 */
bool lmm_hook_armed(enum lmm_hook_id id)
{
	const struct lmm_hook *hook = &lmm_hooks[id];

	return hook->armed && (hook->mech != LMM_MECH_LIVEPATCH || lmm_klp_port()->live());
}

/**
 * lmm_hooks_supported() - does this kernel have all that a policy requires?
 * @id: the policy
 * @mode: in which of its modes
 * @why: on false, the first hook it lacks and why
 * @len: size of @why
 *
 * Context: process, control mutex held.
 * Return: true if every required hook may be armed.
 */
bool lmm_hooks_supported(enum lmm_policy_id id, unsigned int mode, char *why, size_t len)
{
	char obstacle[LMM_WHY_LEN];
	unsigned int i;

	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];
		u32 required = hook->mech == LMM_MECH_LAYOUT ? hook->users : hook->required;

		if (!(required & LMM_USER(id, mode)))
			continue;
		row_obstacle(hook, obstacle, sizeof(obstacle));
		if (!obstacle[0])
			continue;
		scnprintf(why, len, "hook %s: %s", hook->name, obstacle);
		return false;
	}
	return true;
}

/**
 * lmm_hooks_layout() - do the structs that a policy reads look as we were compiled?
 * @id: the policy, whatever its mode
 * @why: on false, the first that does not
 * @len: size of @why
 *
 * For what can be read of a policy that is off, or not supported.
 *
 * Context: process, control mutex held.
 * Return: true if every layout agrees.
 */
bool lmm_hooks_layout(enum lmm_policy_id id, char *why, size_t len)
{
	unsigned int i;

	for (i = LMM_HOOK_FIRST_LAYOUT; i < lmm_nr_hooks; i++) {
		const struct lmm_hook *hook = &lmm_hooks[i];

		if (!(hook->users & LMM_USERS(id)) || hook->available)
			continue;
		scnprintf(why, len, "hook %s: %s", hook->name, hook->why);
		return false;
	}
	return true;
}

/* First user of the row: make the kernel call us. */
static int row_arm(struct lmm_hook *hook, char *why, size_t len)
{
	int err = 0;

	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
		lmm_klp_port()->arm(hook->function, &lmm_event_klp_handlers);
		break;
	case LMM_MECH_KPROBE:
		memset(&hook->kp, 0, sizeof(hook->kp));
		hook->kp.symbol_name = hook->symbol;
		hook->kp.pre_handler = hook->handler;
		err = register_kprobe(&hook->kp);
		break;
	case LMM_MECH_DIRECT:
		memset(&hook->ops, 0, sizeof(hook->ops));
		err = ftrace_set_filter_ip(&hook->ops, hook->addr, 0, 0) ?:
		      lmm_direct_register(&hook->ops, (unsigned long)hook->handler);
		if (err)
			ftrace_free_filter(&hook->ops);
		break;
	case LMM_MECH_TRACEPOINT:
		err = tracepoint_probe_register(hook->tp, hook->handler, NULL);
		break;
	default:
		break;
	}
	if (err)
		scnprintf(why, len, "hook %s: %s: the kernel refused it (%d)",
			  hook->name, hook->symbol, err);
	return err;
}

/* Last user of the row: after the caller's grace period no handler runs. */
static void row_disarm(struct lmm_hook *hook)
{
	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
		lmm_klp_port()->disarm(hook->function);
		break;
	case LMM_MECH_KPROBE:
		unregister_kprobe(&hook->kp);
		break;
	case LMM_MECH_DIRECT:
		lmm_direct_unregister(&hook->ops, (unsigned long)hook->handler);
		ftrace_free_filter(&hook->ops);
		break;
	case LMM_MECH_TRACEPOINT:
		tracepoint_probe_unregister(hook->tp, hook->handler, NULL);
		break;
	default:
		break;
	}
}

static bool any_livepatch_armed(void)
{
	unsigned int i;

	for (i = 0; i < lmm_nr_hooks; i++)
		if (lmm_hooks[i].mech == LMM_MECH_LIVEPATCH && lmm_hooks[i].armed)
			return true;
	return false;
}

/* Does a policy use the row in a mode, on this kernel? */
static bool row_used(const struct lmm_hook *hook, u32 user)
{
	if (!(hook->users & user))
		return false;
	return !(hook->spare_users & user) || !lmm_hook_usable(hook->spare_for);
}

/* Wrappers that may be armed and that any of @users uses. */
static unsigned int livepatch_functions(u32 users)
{
	char obstacle[LMM_WHY_LEN];
	unsigned int functions = 0;
	unsigned int i;

	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (hook->mech != LMM_MECH_LIVEPATCH)
			continue;
		if (!(hook->users & users))
			continue;
		row_obstacle(hook, obstacle, sizeof(obstacle));
		if (!obstacle[0])
			functions |= BIT(hook->function);
	}
	return functions;
}

/**
 * lmm_hooks_arm() - arm every hook that a policy uses and this kernel has
 * @id: the policy; its enable op has run
 * @mode: in which of its modes
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * Optional hooks that are not available are left out; one that is available and
 * does not arm is a failure.  On failure nothing stays armed for @id.
 *
 * Context: process, may sleep, control mutex held.  May load livemm_klp.ko.
 * Return: 0 or -errno.
 */
int lmm_hooks_arm(enum lmm_policy_id id, unsigned int mode, char *why, size_t len)
{
	char obstacle[LMM_WHY_LEN];
	unsigned int i;
	int err;

	if (livepatch_functions(LMM_USER(id, mode))) {
		/* The patch is made once, so it holds what any policy may want. */
		err = lmm_klp_get(livepatch_functions(~0U), why, len);
		if (err)
			return err;
	}
	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (!row_used(hook, LMM_USER(id, mode)))
			continue;
		row_obstacle(hook, obstacle, sizeof(obstacle));
		if (obstacle[0])
			continue;
		err = hook->armed ? 0 : row_arm(hook, why, len);
		if (err) {
			lmm_hooks_disarm(id);
			return err;
		}
		hook->armed |= BIT(id);
	}
	lmm_events_start(id);
	return 0;
}

/**
 * lmm_hooks_disarm() - let go of every hook of a policy
 * @id: the policy
 *
 * When this returns no handler runs for the policy, and what its handlers use
 * may be freed.
 *
 * Context: process, may sleep, control mutex held.
 */
void lmm_hooks_disarm(enum lmm_policy_id id)
{
	unsigned int i;

	lmm_events_stop(id);
	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (!(hook->armed & BIT(id)))
			continue;
		hook->armed &= ~BIT(id);
		if (!hook->armed)
			row_disarm(hook);
	}
	/* Handlers run with preemption off, whatever the mechanism. */
	tracepoint_synchronize_unregister();
	if (!LMM_PROBES_WAIT_FOR_RCU)
		synchronize_rcu();
	if (!any_livepatch_armed())
		lmm_klp_put();
}

/**
 * lmm_hooks_show() - print a row a hook
 * @m: where to
 *
 * Columns: name, mechanism, symbol, state, hits, missed, reason.
 *
 * Context: process, control mutex held.
 */
void lmm_hooks_show(struct seq_file *m)
{
	char why[LMM_WHY_LEN];
	unsigned int i;

	for (i = 0; i < lmm_nr_hooks; i++) {
		struct lmm_hook *hook = &lmm_hooks[i];
		unsigned long missed = 0;
		const char *state;

		row_obstacle(hook, why, sizeof(why));
		if (!hook->armed) {
			state = why[0] ? "unavailable" : "idle";
		} else if (hook->mech == LMM_MECH_LIVEPATCH && !lmm_klp_port()->live()) {
			state = "idle";
			scnprintf(why, sizeof(why),
				  "disabled or replaced from outside; switch the policy off and on");
		} else if (hook->mech == LMM_MECH_LIVEPATCH && why[0]) {
			/* Theirs came later and lies on top of ours. */
			state = "idle";
		} else {
			state = "armed";
		}
		if (!why[0] && hook->why[0])
			scnprintf(why, sizeof(why), "%s", hook->why);
		if (hook->mech == LMM_MECH_KPROBE && hook->armed)
			missed = hook->kp.nmissed;
		seq_printf(m, "%-32s %-10s %-32s %-11s %llu %lu ", hook->name,
			   lmm_mechanism_name[hook->mech], hook->symbol, state,
			   lmm_counter_read(lmm_hook_hits, i), missed);
		if (!why[0])
			seq_puts(m, "-\n");
		else if (!strcmp(state, "unavailable"))
			seq_printf(m, "%s; lost: %s\n", why, hook->lost);
		else
			seq_printf(m, "%s\n", why);
	}
}
