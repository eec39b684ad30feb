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
#include "entry.h"
#include "hook.h"
#include "kcall.h"
#include "klp_client.h"
#include "symbols.h"
#include "table.h"

#define STUCK	"cannot be unhooked; livemm stays loaded until the next boot"

u64 __percpu *lmm_hook_hits;

static const struct lmm_klp_handlers *klp_handlers;

/* Livepatches are held by one client after the other; nobody waits under the lock. */
static DEFINE_MUTEX(hold_lock);

/**
 * lmm_hooks_init() - find and verify every hook; arms none
 * @handlers: handlers of the hooks
 * @changed: called when hooks may have begun or ceased to be usable; must not wait for
 *	anything
 *
 * A hook that fails is unavailable with the reason; livemm goes on without it.
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, -EOPNOTSUPP when nothing at all can be looked up, or -ENOEXEC when structs
 * of the kernel have other sizes than in the headers.
 */
int lmm_hooks_init(const struct lmm_hook_handlers *handlers, void (*changed)(void))
{
	char why[LMM_WHY_LEN];
	unsigned int i;
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
	klp_handlers = handlers->klp;
	lmm_entry_init(handlers->entry);
	lmm_klp_init();
	for (i = 0; i < LMM_NR_HOOKS; i++) {
		mutex_init(&lmm_hooks[i].lock);
		if (handlers->probes[i])
			lmm_hooks[i].handler = handlers->probes[i];
		lmm_hook_verify(&lmm_hooks[i]);
	}
	lmm_kcalls_bind();
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

	lmm_row_obstacle(&lmm_hooks[id], obstacle, sizeof(obstacle));
	return !obstacle[0];
}

/* Will lmm_hooks_arm() arm this hook, with the livepatches that are live? */
static bool hook_armable(const struct lmm_hook *hook)
{
	return lmm_hook_usable(hook - lmm_hooks) &&
	       (hook->mech != LMM_MECH_LIVEPATCH || !lmm_klp_missing(BIT(hook->function)));
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
		if (!(hook->required & LMM_USER(client, mode)))
			continue;
		lmm_row_obstacle(hook, obstacle, sizeof(obstacle));
		if (!obstacle[0])
			continue;
		scnprintf(why, len, "hook %s: %s", hook->name, obstacle);
		return false;
	}
	return true;
}

/* First user of the row: make the kernel call us. */
static int row_arm(struct lmm_hook *hook)
{
	switch (hook->mech) {
	case LMM_MECH_LIVEPATCH:
		lmm_klp_port(hook->function)->arm(hook->function, klp_handlers);
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
		lmm_klp_port(hook->function)->disarm(hook->function);
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

/* Does a policy, which has the wrappers @functions, use the row in its mode? */
static bool row_used(const struct lmm_hook *hook, u32 user, u32 functions)
{
	if (!(hook->users & user))
		return false;
	return !(hook->fallback_users & user) ||
	       !(functions & BIT(lmm_hooks[hook->fallback_for].function));
}

/* Wrappers that may be armed and that a user uses, or with @required requires. */
static u32 livepatch_functions(u32 user, bool required)
{
	char obstacle[LMM_WHY_LEN];
	const struct lmm_hook *hook;
	u32 functions = 0;

	lmm_for_each_hook(hook) {
		if (hook->mech != LMM_MECH_LIVEPATCH ||
		    !((required ? hook->required : hook->users) & user))
			continue;
		lmm_row_obstacle(hook, obstacle, sizeof(obstacle));
		if (!obstacle[0])
			functions |= BIT(hook->function);
	}
	return functions;
}

/* Wrappers to arm: those that are required, and others as far as they are live. */
static u32 functions_to_arm(u32 user)
{
	u32 required = livepatch_functions(user, true);
	u32 functions = livepatch_functions(user, false);
	unsigned int i;

	for (i = 0; i < LMM_KLP_NR; i++)
		if (functions & ~required & BIT(i) && lmm_klp_missing(BIT(i)))
			functions &= ~BIT(i);
	return functions;
}

/**
 * lmm_hooks_missing() - which wrappers that a policy uses have to be loaded first?
 * @client: the client
 * @mode: mode of the client
 *
 * Context: process.
 * Return: BIT(enum lmm_klp_function) of each, for lmm_klp_load().
 */
u32 lmm_hooks_missing(unsigned int client, unsigned int mode)
{
	return lmm_klp_missing(livepatch_functions(LMM_USER(client, mode), false));
}

/**
 * lmm_hooks_ready() - can a policy be armed without loading a livepatch?
 * @client: the client
 * @mode: mode of the client
 * @why: on false, the first hook that the policy requires and whose wrapper is not live
 * @len: size of @why
 *
 * Wrappers that the policy does not require do not count.
 *
 * Context: process.
 * Return: true if so.
 */
bool lmm_hooks_ready(unsigned int client, unsigned int mode, char *why, size_t len)
{
	u32 missing = lmm_klp_missing(livepatch_functions(LMM_USER(client, mode), true));
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		if (!lmm_hook_wraps(hook, missing))
			continue;
		scnprintf(why, len, "hook %s: %s %s; write 1 to enabled", hook->name,
			  lmm_klp_module(hook->function),
			  "was disabled or replaced from outside, or lacks the function");
		return false;
	}
	return true;
}

/*
 * Is there a hook that is armed for a client and that the kernel does not call?  With @wrappers
 * only wrappers count.  @why has the first such hook in words.
 */
static bool any_silent(unsigned int client, bool wrappers, char *why, size_t len)
{
	char silence[LMM_WHY_LEN];
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		if (!(READ_ONCE(hook->armed) & BIT(client)) ||
		    (wrappers && hook->mech != LMM_MECH_LIVEPATCH))
			continue;
		lmm_row_silence(hook, silence, sizeof(silence));
		if (!silence[0])
			continue;
		scnprintf(why, len, "hook %s: %s", hook->name, silence);
		return true;
	}
	return false;
}

/**
 * lmm_hooks_alive() - do events still come in by all the wrappers of a policy?
 * @client: the client, which is armed
 * @why: on false, the dead wrapper and the reason
 * @len: size of @why
 *
 * Context: process.
 * Return: false when a livepatch was disabled or replaced from outside, or lies under another.
 */
bool lmm_hooks_alive(unsigned int client, char *why, size_t len)
{
	return !any_silent(client, true, why, len);
}

/**
 * lmm_hooks_regained() - can a policy have a hook back that the policy went on without?
 * @client: the client, which is armed
 * @mode: mode of the client
 * @why: on true, the hook in words
 * @len: size of @why
 *
 * A wrapper that was left out when the livepatch module was loaded does not come back, nor does
 * a hook that the kernel refused.
 *
 * Context: process.
 * Return: true if lmm_hooks_arm() would arm more hooks than are armed.
 */
bool lmm_hooks_regained(unsigned int client, unsigned int mode, char *why, size_t len)
{
	u32 functions = functions_to_arm(LMM_USER(client, mode));
	const struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		if (hook->armed & BIT(client) || hook->refused || !hook_armable(hook) ||
		    !row_used(hook, LMM_USER(client, mode), functions))
			continue;
		scnprintf(why, len, "hook %s: available again", hook->name);
		return true;
	}
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
	why[0] = '\0';
	any_silent(client, false, why, len);
}

/**
 * lmm_hooks_unsettled() - may a hook change without anybody telling?
 *
 * Context: process.
 * Return: true while another livepatch holds a function, and while kprobes or ftrace are off.  The
 * kernel tells nobody when a livepatch is disabled through sysfs, or when the admin switches
 * kprobes or ftrace on again.
 */
bool lmm_hooks_unsettled(void)
{
	return lmm_klp_any_covered() || lmm_mechanism_off();
}

static int functions_hold(unsigned int client, u32 functions, char *why, size_t len)
{
	int err = 0;

	mutex_lock(&hold_lock);
	if (functions)
		err = lmm_klp_hold(functions, BIT(client), lmm_klp_changed, why, len);
	mutex_unlock(&hold_lock);
	return err;
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
 * Context: process, may sleep, the client's lock held; after lmm_klp_load().
 * Return: 0, -EBUSY when wrappers are not live any more, or what the kernel refused a hook
 * with.
 */
int lmm_hooks_arm(unsigned int client, unsigned int mode, char *why, size_t len)
{
	u32 user = LMM_USER(client, mode);
	u32 functions = functions_to_arm(user);
	char obstacle[LMM_WHY_LEN];
	struct lmm_hook *hook;
	bool held;
	int err;

	err = functions_hold(client, functions, why, len);
	if (err) {
		/* A wrapper that is not required may have gone just now. */
		functions = functions_to_arm(user);
		err = functions_hold(client, functions, why, len);
	}
	if (err)
		return err;
	lmm_for_each_hook(hook) {
		if (!row_used(hook, user, functions))
			continue;
		held = lmm_hook_wraps(hook, functions);
		lmm_row_obstacle(hook, obstacle, sizeof(obstacle));
		/* The obstacle of a wrapper may have gone a moment ago: nobody holds a wrapper. */
		if (hook->mech == LMM_MECH_LIVEPATCH && !held && !obstacle[0])
			scnprintf(obstacle, sizeof(obstacle), "not loaded");
		if (obstacle[0] && hook->required & user) {
			scnprintf(why, len, "hook %s: %s", hook->name, obstacle);
			lmm_hooks_disarm(client);
			return -EBUSY;
		}
		if (obstacle[0] && !held)
			continue;
		row_lock(hook, client);
		err = hook->armed || hook->stuck ? 0 : row_arm(hook);
		WRITE_ONCE(hook->refused, err);
		if (!err)
			WRITE_ONCE(hook->armed, hook->armed | BIT(client));
		row_unlock(hook, client);
		if (err && hook->required & user) {
			scnprintf(why, len, "hook %s: %s: the kernel refused the hook (%d)",
				  hook->name, hook->symbol, err);
			lmm_hooks_disarm(client);
			return err;
		}
	}
	return 0;
}

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
	mutex_lock(&hold_lock);
	lmm_klp_release(BIT(client));
	mutex_unlock(&hold_lock);
}

/* Why a row is unavailable, and what each client loses. */
static void row_impact(const struct lmm_hook *hook, const char *words, char *why, size_t len)
{
	size_t n = scnprintf(why, len, "%s", words);
	const char *before = "; lost: ";
	unsigned int i;

	for (i = 0; i < LMM_MAX_CLIENTS; i++) {
		if (!hook->impact[i])
			continue;
		n += scnprintf(why + n, len - n, "%s%s: %s", before, lmm_hook_client_name(i),
			       hook->impact[i]);
		before = "; ";
	}
}

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
		lmm_row_silence(hook, why, len);
		if (why[0])
			return "idle";
		if (hook->stuck)
			scnprintf(why, len, "%s", STUCK);
		else if (READ_ONCE(hook->is_shared))
			scnprintf(why, len, "%s", shared_words(hook));
		return "armed";
	}
	lmm_row_obstacle(hook, words, sizeof(words));
	if (!words[0] && refused)
		scnprintf(words, sizeof(words), "%s: the kernel refused the hook (%d)",
			  hook->symbol, refused);
	if (words[0]) {
		row_impact(hook, words, why, len);
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
