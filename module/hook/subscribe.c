// SPDX-License-Identifier: GPL-2.0-only
/*
 * subscribe.c - clients list their hooks
 *
 * A policy subscribes while livemm.ko loads, the recorder when its own module does.  Rows that are
 * armed for others do not change by that.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "compat/export.h"
#include "table.h"

/* Protects what follows, and the handlers of rows. */
static DEFINE_MUTEX(subscriptions);
static const struct lmm_hook_client *clients[LMM_MAX_CLIENTS];

/* The first row about a hook in a client's table, or NULL. */
static const struct lmm_subscription *use_of(const struct lmm_hook_client *uses,
					     const struct lmm_hook *hook)
{
	unsigned int i;

	for (i = 0; uses && i < uses->nr_subscriptions; i++)
		if (uses->subscriptions[i].hook == hook - lmm_hooks)
			return &uses->subscriptions[i];
	return NULL;
}

/**
 * lmm_hook_use() - how a client uses a row in one of its modes
 * @hook: the row
 * @client: the client
 * @mode: mode of the client
 *
 * Context: any; the client stays subscribed.
 * Return: the client's subscription, or NULL if the client does not use the row in this mode.
 */
const struct lmm_subscription *lmm_hook_use(const struct lmm_hook *hook, unsigned int client,
					    unsigned int mode)
{
	const struct lmm_subscription *use = use_of(clients[client], hook);

	return use && use->modes & BIT(mode) ? use : NULL;
}

/**
 * lmm_hook_required() - can a client not work in one of its modes without a row?
 * @hook: the row
 * @client: the client
 * @mode: mode of the client
 *
 * Context: any; the client stays subscribed.
 * Return: true if so; for the other users of the row it is optional.
 */
bool lmm_hook_required(const struct lmm_hook *hook, unsigned int client, unsigned int mode)
{
	const struct lmm_subscription *use = lmm_hook_use(hook, client, mode);

	return use && use->required & BIT(mode);
}

/* A mode that requires a row must use the row, and a fallback stands in for a livepatch. */
static bool subscription_sound(const struct lmm_subscription *sub)
{
	if ((unsigned int)sub->hook >= LMM_NR_HOOKS || !sub->modes || !sub->impact ||
	    sub->required & ~sub->modes)
		return false;
	return !sub->fallback || (sub->fallback_for < sub->hook &&
				  lmm_hooks[sub->fallback_for].mech == LMM_MECH_LIVEPATCH);
}

static bool is_probe(const struct lmm_hook *hook)
{
	return hook->mech == LMM_MECH_KPROBE || hook->mech == LMM_MECH_TRACEPOINT;
}

static int hook_subscribe(const struct lmm_hook_client *uses, const struct lmm_subscription *sub)
{
	struct lmm_hook *hook;

	if (!subscription_sound(sub))
		return -EINVAL;
	hook = &lmm_hooks[sub->hook];
	if (use_of(uses, hook) != sub || (hook->handler && sub->handler))
		return -EEXIST;
	if (sub->handler)
		hook->handler = sub->handler;
	return hook->handler || !is_probe(hook) ? 0 : -EINVAL;
}

/**
 * lmm_hooks_unsubscribe() - a client uses no hook any more
 * @client: the client; no hook is armed for the client
 *
 * Context: process, may sleep.
 */
void lmm_hooks_unsubscribe(unsigned int client)
{
	mutex_lock(&subscriptions);
	clients[client] = NULL;
	mutex_unlock(&subscriptions);
}
EXPORT_SYMBOL_LMM(lmm_hooks_unsubscribe);

/**
 * lmm_hooks_subscribe() - a client says what it uses
 * @client: number of the client, less than LMM_MAX_CLIENTS
 * @uses: the client's table; it lives as long as the subscription
 *
 * On failure the client is not subscribed to anything.
 *
 * Context: process, may sleep; after lmm_hooks_init().
 * Return: 0; -EINVAL for an inconsistent subscription; -EEXIST for a hook listed twice or a client
 * that has subscribed already.
 */
int lmm_hooks_subscribe(unsigned int client, const struct lmm_hook_client *uses)
{
	unsigned int i;
	int err = 0;

	if (client >= LMM_MAX_CLIENTS)
		return -EINVAL;
	mutex_lock(&subscriptions);
	if (clients[client])
		err = -EEXIST;
	for (i = 0; i < uses->nr_subscriptions && !err; i++)
		err = hook_subscribe(uses, &uses->subscriptions[i]);
	if (!err)
		clients[client] = uses;
	mutex_unlock(&subscriptions);
	return err;
}
EXPORT_SYMBOL_LMM(lmm_hooks_subscribe);

/**
 * lmm_hook_impact() - what clients lose without a row
 * @hook: the row
 * @words: why the row is unavailable
 * @why: gets @words, and what each client loses
 * @len: size of @why
 *
 * Context: process, may sleep.
 */
void lmm_hook_impact(const struct lmm_hook *hook, const char *words, char *why, size_t len)
{
	size_t n = scnprintf(why, len, "%s", words);
	const char *before = "; lost: ";
	const struct lmm_subscription *use;
	unsigned int i;

	mutex_lock(&subscriptions);
	for (i = 0; i < LMM_MAX_CLIENTS; i++) {
		use = use_of(clients[i], hook);
		if (!use)
			continue;
		n += scnprintf(why + n, len - n, "%s%s: %s", before, clients[i]->name,
			       use->impact);
		before = "; ";
	}
	mutex_unlock(&subscriptions);
}
