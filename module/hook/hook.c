// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook.c - arming and disarming rows of the hook table
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "hook.h"
#include "kcall.h"
#include "klp_client.h"
#include "symbols.h"
#include "table.h"

#define STUCK	"cannot be unhooked; livemm stays loaded until the next boot"

u64 __percpu *lmm_hook_hits;

/**
 * lmm_hooks_init() - find and verify every hook; arms none
 * @changed: called when hooks may have begun or ceased to be usable; must not wait for
 *	anything
 *
 * A hook that fails is unavailable with the reason; livemm goes on without it.
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, -EOPNOTSUPP when nothing at all can be looked up, -ENOEXEC when structs
 * of the kernel have other sizes than in the headers, or the errno of lmm_klp_watch_start().
 */
int lmm_hooks_init(void (*changed)(void))
{
	char why[LMM_WHY_LEN];
	struct lmm_hook *hook;
	int err;

	lmm_hook_hits = lmm_counters_alloc(LMM_NR_HOOKS);
	if (!lmm_hook_hits)
		return -ENOMEM;
	err = lmm_symbols_init();
	if (err) {
		pr_err("symbols cannot be searched: kprobes are refused, or another kernel (%d)\n",
		       err);
		goto err_free;
	}
	if (lmm_btf_init()) {
		pr_info("this kernel has no BTF, so no hook can be checked\n");
	} else if (!lmm_structs_agree(why, sizeof(why))) {
		pr_err("not the kernel of these headers: %s\n", why);
		err = -ENOEXEC;
		goto err_free;
	}
	lmm_for_each_hook(hook) {
		mutex_init(&hook->lock);
		lmm_hook_verify(hook);
	}
	lmm_kcalls_bind();
	lmm_klp_init();
	lmm_obstacles_init();
	err = lmm_klp_watch_start(changed);
	if (err)
		goto err_free;
	lmm_klp_survey();
	return 0;

err_free:
	free_percpu(lmm_hook_hits);
	return err;
}

static bool any_stuck(void)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook)
		if (hook->stuck)
			return true;
	return false;
}

/**
 * lmm_hooks_exit() - the hook layer goes; every policy has been disarmed
 *
 * When a handler could not be unhooked while this module was being unloaded, the kernel may still
 * call the handler.  lmm_hooks_exit() then never returns, so that the text is not freed.
 *
 * Context: process.
 */
void lmm_hooks_exit(void)
{
	lmm_klp_watch_stop();
	lmm_klp_exit();
	if (any_stuck())
		pr_err("a hook cannot be removed: this unload waits until the next boot\n");
	while (any_stuck())
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
	lmm_direct_exit();
	free_percpu(lmm_hook_hits);
}

/**
 * lmm_hook_usable() - may this hook be armed, after its livepatch has been loaded?
 * @id: the row
 *
 * Context: process.
 * Return: true if nothing known is in the way.
 */
bool lmm_hook_usable(enum lmm_hook_id id)
{
	char obstacle[LMM_WHY_LEN];

	return !lmm_row_obstacle(&lmm_hooks[id], obstacle, sizeof(obstacle));
}

/* Will lmm_hooks_arm() arm this hook, with the livepatches that are live? */
static bool hook_armable(const struct lmm_hook *hook)
{
	return lmm_hook_usable(hook - lmm_hooks) &&
	       (hook->mech != LMM_MECH_LIVEPATCH ||
		lmm_klp_state(hook->function) == LMM_KLP_LIVE);
}

/**
 * lmm_hook_armed() - is a hook armed for a policy?
 * @client: the client
 * @id: the row
 *
 * For the op `armed` of a policy that works differently without the hook.
 *
 * Context: process.
 * Return: true if so.
 */
bool lmm_hook_armed(unsigned int client, enum lmm_hook_id id)
{
	return lmm_hooks[id].armed & BIT(client);
}

/**
 * lmm_hooks_supported() - does this kernel have all that a policy requires?
 * @client: the client
 * @mode: mode of the client
 * @why: on false, the first hook that is missing, and why
 * @len: size of @why
 *
 * Context: process.
 * Return: true if every required hook may be armed.
 */
bool lmm_hooks_supported(unsigned int client, unsigned int mode, char *why, size_t len)
{
	char obstacle[LMM_WHY_LEN];
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		if (!lmm_hook_required(hook, client, mode) ||
		    !lmm_row_obstacle(hook, obstacle, sizeof(obstacle)))
			continue;
		scnprintf(why, len, "hook %s: %s", hook->name, obstacle);
		return false;
	}
	return true;
}
EXPORT_SYMBOL_LMM(lmm_hooks_supported);

/* First user of the row: make the kernel call us. */
static int row_arm(struct lmm_hook *hook)
{
	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
		static_key_enable(&lmm_klp_armed[hook->function].key);
		return 0;
	case LMM_MECH_KPROBE:
		memset(&hook->kp, 0, sizeof(hook->kp));
		hook->kp.addr = (kprobe_opcode_t *)hook->addr;
		hook->kp.pre_handler = hook->handler;
		return register_kprobe(&hook->kp);
	case LMM_MECH_DIRECT:
		return lmm_direct_arm(hook);
	case LMM_MECH_TRACEPOINT:
		return tracepoint_probe_register((void *)hook->addr, hook->handler, NULL);
	default:
		return 0;
	}
}

/* For the last user of a row.  On success no handler runs after the caller's grace period. */
static int row_disarm(struct lmm_hook *hook)
{
	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
		static_key_disable(&lmm_klp_armed[hook->function].key);
		return 0;
	case LMM_MECH_KPROBE:
		unregister_kprobe(&hook->kp);
		/* The only sign of a breakpoint that could not be taken out. */
		return hook->kp.addr ? 0 : -EIO;
	case LMM_MECH_DIRECT:
		return lmm_direct_disarm(hook);
	case LMM_MECH_TRACEPOINT:
		return tracepoint_probe_unregister((void *)hook->addr, hook->handler, NULL);
	default:
		return 0;
	}
}

/* A client that waits here may wait for long: see lmm_hooks_waits(). */
static void row_lock(struct lmm_hook *hook, unsigned int client)
{
	set_bit(client, &hook->waits);
	mutex_lock(&hook->lock);
}

static void row_unlock(struct lmm_hook *hook, unsigned int client)
{
	mutex_unlock(&hook->lock);
	clear_bit(client, &hook->waits);
}

/**
 * lmm_hooks_waits() - the hook that the kernel makes a client wait for
 * @client: the client
 * @why: on true, the hook in words
 * @len: size of @why
 *
 * Context: any.
 * Return: true if there is one.
 */
bool lmm_hooks_waits(unsigned int client, char *why, size_t len)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		if (!test_bit(client, &hook->waits))
			continue;
		scnprintf(why, len, "waits for the kernel at hook %s (%s)", hook->name,
			  hook->symbol);
		return true;
	}
	return false;
}

/* The kernel may still call a handler in this module, so the module must stay loaded. */
static void row_pin(struct lmm_hook *hook, int err)
{
	hook->stuck = true;
	pr_err("hook %s: %s: cannot be unhooked (%d); livemm stays loaded until the next boot\n",
	       hook->name, hook->symbol, err);
	/* A module that is being unloaded cannot be pinned; lmm_hooks_exit() waits instead. */
	if (!try_module_get(THIS_MODULE))
		pr_err("hook %s: livemm is being unloaded\n", hook->name);
}

/* Does a client use the row in its mode?  What it prefers has been armed before, if at all. */
static bool row_used(const struct lmm_hook *hook, unsigned int client, unsigned int mode)
{
	const struct lmm_subscription *use = lmm_hook_use(hook, client, mode);

	return use && !(use->fallback && lmm_hook_armed(client, use->fallback_for));
}

/* Wrappers that may be armed, and that a client requires, or without @required can do without. */
static u32 livepatch_functions(unsigned int client, unsigned int mode, bool required)
{
	const struct lmm_hook *hook;
	u32 functions = 0;

	lmm_for_each_hook(hook)
		if (hook->mech == LMM_MECH_LIVEPATCH && lmm_hook_use(hook, client, mode) &&
		    lmm_hook_required(hook, client, mode) == required &&
		    lmm_hook_usable(hook - lmm_hooks))
			functions |= BIT(hook->function);
	return functions;
}

/**
 * lmm_hooks_await() - are the wrappers live that a policy requires?  If not, have them loaded
 * @client: the client
 * @mode: mode of the client
 * @wish: how the caller asks
 * @why: what is waited for, or why a wrapper does not come
 * @len: size of @why
 *
 * With all that is required live, wrappers that the policy uses and does not require are asked for
 * as well, and not waited for.  @why is about these then.
 *
 * Context: process; waits for nobody.
 * Return: see lmm_klp_await(), of the wrappers that are required.
 */
int lmm_hooks_await(unsigned int client, unsigned int mode, enum lmm_klp_wish wish, char *why,
		    size_t len)
{
	int err = lmm_klp_await(livepatch_functions(client, mode, true), wish, why, len);

	if (!err)
		lmm_klp_await(livepatch_functions(client, mode, false), wish, why, len);
	return err;
}
EXPORT_SYMBOL_LMM(lmm_hooks_await);

/* Does the kernel not call a row that is armed for a client?  On true @why has words. */
static bool row_lost(const struct lmm_hook *hook, unsigned int client, char *why, size_t len)
{
	char silence[LMM_WHY_LEN];

	if (!(READ_ONCE(hook->armed) & BIT(client)) ||
	    !lmm_row_silence(hook, silence, sizeof(silence)))
		return false;
	scnprintf(why, len, "hook %s: %s", hook->name, silence);
	return true;
}

/**
 * lmm_hooks_lost() - has the kernel ceased to call a wrapper of a policy?
 * @client: the client, which is armed
 * @mode: mode of the client
 * @why: on true, the first such wrapper and the reason
 * @len: size of @why
 * @required: on true, does the policy require a wrapper that it has lost?  @why is about that one
 *
 * Context: process, the client's lock held.
 * Return: true when a livepatch was disabled or replaced from outside, or lies under another.
 */
bool lmm_hooks_lost(unsigned int client, unsigned int mode, char *why, size_t len, bool *required)
{
	const struct lmm_hook *hook;
	bool lost = false;

	*required = false;
	lmm_for_each_hook(hook) {
		if (hook->mech != LMM_MECH_LIVEPATCH || *required ||
		    !row_lost(hook, client, why, len))
			continue;
		lost = true;
		*required = lmm_hook_required(hook, client, mode);
	}
	return lost;
}
EXPORT_SYMBOL_LMM(lmm_hooks_lost);

/**
 * lmm_hooks_regained() - can a policy have a hook that the policy came on without?
 * @client: the client, which is armed
 * @mode: mode of the client
 *
 * For instance, the wrapper was not live then.
 *
 * Context: process, the client's lock held.
 * Return: true if lmm_hooks_arm() would arm more hooks than are armed.
 */
bool lmm_hooks_regained(unsigned int client, unsigned int mode)
{
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook)
		if (!(hook->armed & BIT(client)) && !hook->refused && hook_armable(hook) &&
		    row_used(hook, client, mode))
			return true;
	return false;
}

/**
 * lmm_hooks_silent() - is there a hook of a policy that the kernel does not call?
 * @client: the client
 * @why: the first such hook and the reason, or ""
 * @len: size of @why
 *
 * Context: process.
 */
void lmm_hooks_silent(unsigned int client, char *why, size_t len)
{
	const struct lmm_hook *hook;

	why[0] = '\0';
	lmm_for_each_hook(hook)
		if (row_lost(hook, client, why, len))
			return;
}

/**
 * lmm_hooks_arm() - arm every hook that a policy uses and this kernel has
 * @client: the client; its enable op has run
 * @mode: mode of the client
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * Optional hooks that are not available, whose wrapper is not live, or that the kernel refuses,
 * are left out.  On failure nothing stays armed for @client.  A caller that keeps the hooks looks
 * at the hooks once more soon: wrappers may have changed meanwhile, and the look raises the guard.
 *
 * Context: process, may sleep, the client's lock held; after lmm_hooks_await().
 * Return: 0, -EBUSY when a required wrapper is not live any more, or what the kernel refused a hook
 * with.
 */
int lmm_hooks_arm(unsigned int client, unsigned int mode, char *why, size_t len)
{
	char obstacle[LMM_WHY_LEN];
	struct lmm_hook *hook;
	bool required;
	int err;

	lmm_for_each_hook(hook) {
		if (!row_used(hook, client, mode))
			continue;
		required = lmm_hook_required(hook, client, mode);
		if (!lmm_row_obstacle(hook, obstacle, sizeof(obstacle)) && !hook_armable(hook))
			scnprintf(obstacle, sizeof(obstacle), "livepatch %s is not in force",
				  lmm_klp_module(hook->function));
		if (obstacle[0] && required) {
			scnprintf(why, len, "hook %s: %s", hook->name, obstacle);
			lmm_hooks_disarm(client);
			return -EBUSY;
		}
		if (obstacle[0])
			continue;
		row_lock(hook, client);
		err = hook->armed || hook->stuck ? 0 : row_arm(hook);
		WRITE_ONCE(hook->refused, err);
		if (!err)
			WRITE_ONCE(hook->armed, hook->armed | BIT(client));
		row_unlock(hook, client);
		if (err && required) {
			scnprintf(why, len, "hook %s: %s: the kernel refused the hook (%d)",
				  hook->name, hook->symbol, err);
			lmm_hooks_disarm(client);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_LMM(lmm_hooks_arm);

/**
 * lmm_hooks_disarm() - let go of every hook of a policy
 * @client: the client
 *
 * When this returns no handler runs for the policy, and what its handlers use
 * may be freed.
 *
 * Context: process, may sleep, the client's lock held.
 */
void lmm_hooks_disarm(unsigned int client)
{
	unsigned int i = LMM_NR_HOOKS;
	int err;

	/* From the last row: the rows that tell of BPF go after the rows that make room. */
	while (i--) {
		struct lmm_hook *hook = &lmm_hooks[i];

		if (!(READ_ONCE(hook->armed) & BIT(client)))
			continue;
		row_lock(hook, client);
		WRITE_ONCE(hook->armed, hook->armed & ~BIT(client));
		err = hook->armed || hook->stuck ? 0 : row_disarm(hook);
		if (err)
			row_pin(hook, err);
		row_unlock(hook, client);
	}
	/* Handlers run with preemption off, whatever the mechanism. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}
EXPORT_SYMBOL_LMM(lmm_hooks_disarm);

/* Why a direct row is an ftrace callback. */
static const char *shared_words(const struct lmm_hook *hook)
{
	if (READ_ONCE(hook->is_alone) && !READ_ONCE(hook->makes_room))
		return "by an ftrace callback, as livemm is not told when BPF comes";
	return IS_ENABLED(CONFIG_BPF_JIT) ?
	       "shares the function with BPF, by an ftrace callback" :
	       "shares the function with another direct call, by an ftrace callback";
}

/* The state of a row; @why gets words for the last column, or "". */
static const char *row_state(const struct lmm_hook *hook, char *why, size_t len)
{
	int refused = READ_ONCE(hook->refused);
	char words[LMM_WHY_LEN];

	if (READ_ONCE(hook->armed)) {
		if (lmm_row_silence(hook, why, len))
			return "idle";
		if (hook->stuck)
			scnprintf(why, len, "%s", STUCK);
		else if (READ_ONCE(hook->is_shared))
			scnprintf(why, len, "%s", shared_words(hook));
		return "armed";
	}
	if (!lmm_row_obstacle(hook, words, sizeof(words)) && refused)
		scnprintf(words, sizeof(words), "%s: the kernel refused the hook (%d)",
			  hook->symbol, refused);
	if (words[0]) {
		lmm_hook_impact(hook, words, why, len);
		return "unavailable";
	}
	scnprintf(why, len, "%s", hook->stuck ? STUCK : "");
	return "idle";
}

/**
 * lmm_hooks_show() - print a row a hook
 * @m: destination
 *
 * Columns: name, mechanism, symbol, state, hits, missed, reason.
 *
 * Context: process.
 */
void lmm_hooks_show(struct seq_file *m)
{
	char why[3 * LMM_WHY_LEN];
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		unsigned long missed = 0;
		const char *state = row_state(hook, why, sizeof(why));

		if (hook->mech == LMM_MECH_KPROBE && READ_ONCE(hook->armed))
			missed = READ_ONCE(hook->kp.nmissed);
		seq_printf(m, "%-32s %-10s %-32s %-11s %llu %lu %s\n", hook->name,
			   lmm_mechanism_name[hook->mech], hook->symbol, state,
			   lmm_counter_read(lmm_hook_hits, hook - lmm_hooks), missed,
			   why[0] ? why : "-");
	}
}
