// SPDX-License-Identifier: GPL-2.0-only
/*
 * subscribe.c - clients list their hooks
 *
 * Clients subscribe while the module loads, before anybody can arm a hook or read a row, and
 * leave while the module goes.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "table.h"

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

/**
 * lmm_hooks_unsubscribe() - a client uses no hook any more
 * @client: the client; no hook is armed for the client
 *
 * Context: process, while the module loads or goes.
 */
void lmm_hooks_unsubscribe(unsigned int client)
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
 * lmm_hooks_subscribe() - a client says what it uses
 * @client: number of the client, less than LMM_MAX_CLIENTS
 * @uses: the client's table; it lives as long as the subscription
 *
 * On failure the client is not subscribed to anything.
 *
 * Context: process, while the module loads; after lmm_hooks_init().
 * Return: 0; -EINVAL for an inconsistent subscription; -EEXIST for a hook listed twice or a client
 * that has subscribed already.
 */
int lmm_hooks_subscribe(unsigned int client, const struct lmm_hook_client *uses)
{
	unsigned int i;
	int err = 0;

	if (client >= LMM_MAX_CLIENTS)
		return -EINVAL;
	if (client_names[client])
		return -EEXIST;
	client_names[client] = uses->name;
	for (i = 0; i < uses->nr_subscriptions && !err; i++)
		err = hook_subscribe(client, &uses->subscriptions[i]);
	if (err)
		lmm_hooks_unsubscribe(client);
	return err;
}

/**
 * lmm_hook_client_name() - name of a client
 * @client: a client that has subscribed
 *
 * Context: any.
 * Return: the name.
 */
const char *lmm_hook_client_name(unsigned int client)
{
	return client_names[client];
}
