// SPDX-License-Identifier: GPL-2.0-only
/*
 * obstacle.c - reasons why a verified row cannot be armed, or an armed row is not called
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#include "klp_client.h"
#include "symbols.h"
#include "table.h"

static bool livepatch = true;
module_param(livepatch, bool, 0600);
MODULE_PARM_DESC(livepatch, "a policy may load livemm_klp_* (default: 1)");

/* The kernel's switches for all kprobes and for all users of ftrace, or NULL. */
static const bool *kprobes_off;
static const int *ftrace_on;

/* Has the admin switched off the mechanism of the row?  On true @why has words. */
static bool row_switched_off(const struct lmm_hook *hook, char *why, size_t len)
{
	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
	case LMM_MECH_DIRECT:
		break;
	case LMM_MECH_KPROBE:
		if (kprobes_off && READ_ONCE(*kprobes_off)) {
			scnprintf(why, len, "all kprobes are off (debugfs kprobes/enabled is 0)");
			return true;
		}
		/* The kernel puts a kprobe on an ftrace site by way of ftrace. */
		if (!lmm_symbol_ftrace_site(hook->addr))
			return false;
		break;
	default:
		return false;
	}
	if (!ftrace_on || READ_ONCE(*ftrace_on))
		return false;
	scnprintf(why, len, "ftrace is off (kernel.ftrace_enabled is 0)");
	return true;
}

/**
 * lmm_row_obstacle() - why must a row not be armed now?
 * @hook: the row
 * @why: gets the words; "" if arming is allowed
 * @len: size of @why
 *
 * Context: process.
 * Return: true if there is an obstacle.
 */
bool lmm_row_obstacle(const struct lmm_hook *hook, char *why, size_t len)
{
	why[0] = '\0';
	if (!hook->available)
		scnprintf(why, len, "%s: %s", hook->symbol, hook->why);
	else if (row_switched_off(hook, why, len) || hook->mech != LMM_MECH_LIVEPATCH)
		return why[0];
	else if (!READ_ONCE(livepatch))
		scnprintf(why, len, "module parameter livepatch=0");
	else if (!lmm_klp_covered(hook, why, len) &&
		 lmm_klp_state(hook->function) == LMM_KLP_LACKING)
		/* For instance, another livepatch held the function. */
		scnprintf(why, len, "livepatch %s lacks the function; unload it (livemmctl unload)",
			  lmm_klp_module(hook->function));
	return why[0];
}

/**
 * lmm_row_silence() - why does the kernel not call an armed row?
 * @hook: the row
 * @why: gets the words; "" for a row that the kernel calls
 * @len: size of @why
 *
 * Context: process.
 * Return: true for a row that the kernel does not call.
 */
bool lmm_row_silence(const struct lmm_hook *hook, char *why, size_t len)
{
	why[0] = '\0';
	if (row_switched_off(hook, why, len) || hook->mech != LMM_MECH_LIVEPATCH)
		return why[0];
	if (lmm_klp_state(hook->function) == LMM_KLP_LIVE)
		lmm_klp_covered(hook, why, len);
	else
		scnprintf(why, len,
			  "livepatch %s was disabled or replaced; unload it (rmmod), then switch on",
			  lmm_klp_module(hook->function));
	return why[0];
}

/**
 * lmm_obstacles_init() - find the kernel's own switches
 *
 * Context: process, after lmm_symbols_init().
 */
void lmm_obstacles_init(void)
{
	char why[LMM_WHY_LEN];

	kprobes_off = LMM_SYMBOL(bool, "kprobes_all_disarmed", why, sizeof(why));
	ftrace_on = LMM_SYMBOL(int, "ftrace_enabled", why, sizeof(why));
}
