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

/* Protects what follows, and what a row has of each client. */
static DEFINE_MUTEX(subscriptions);
static const char *client_names[LMM_MAX_CLIENTS];

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

static int hook_subscribe(unsigned int client, const struct lmm_subscription *sub)
{
	struct lmm_hook *hook;

	if (!subscription_sound(sub))
		return -EINVAL;
	hook = &lmm_hooks[sub->hook];
	if (hook->impact[client] || (hook->handler && sub->handler))
		return -EEXIST;
	if (sub->handler)
		hook->handler = sub->handler;
	if (!hook->handler && is_probe(hook))
		return -EINVAL;
	hook->users |= LMM_USERS(client, sub->modes);
	hook->required |= LMM_USERS(client, sub->required);
	if (sub->fallback) {
		hook->fallback_users |= LMM_USERS(client, sub->modes);
		hook->fallback_for = sub->fallback_for;
	}
	hook->impact[client] = sub->impact;
	return 0;
}

static void unsubscribe(unsigned int client)
{
	struct lmm_hook *hook;

	lmm_for_each_hook(hook) {
		hook->users &= ~LMM_USERS(client, LMM_ALL_MODES);
		hook->required &= ~LMM_USERS(client, LMM_ALL_MODES);
		hook->fallback_users &= ~LMM_USERS(client, LMM_ALL_MODES);
		hook->impact[client] = NULL;
	}
	client_names[client] = NULL;
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
	unsubscribe(client);
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
	if (client_names[client])
		err = -EEXIST;
	for (i = 0; i < uses->nr_subscriptions && !err; i++)
		err = hook_subscribe(client, &uses->subscriptions[i]);
	if (!err)
		client_names[client] = uses->name;
	else if (!client_names[client])
		unsubscribe(client);
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
	unsigned int i;

	mutex_lock(&subscriptions);
	for (i = 0; i < LMM_MAX_CLIENTS; i++) {
		if (!hook->impact[i])
			continue;
		n += scnprintf(why + n, len - n, "%s%s: %s", before, client_names[i],
			       hook->impact[i]);
		before = "; ";
	}
	mutex_unlock(&subscriptions);
}
