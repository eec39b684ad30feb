// SPDX-License-Identifier: GPL-2.0-only
/*
 * deliver.c - which policies subscribed to an event, and which of these are told right now
 *
 * events.h declares the functions.  The last of them are of events that a policy reports.
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/static_call.h>
#include <linux/stddef.h>

#include "deliver.h"
#include "events.h"
#include "hook/entry.h"

#define DEFINE_CALLS(event, room)					\
	DEFINE_STATIC_CALL_NULL(lmm_##event##_0, HANDLER_TYPE(event));	\
	DEFINE_STATIC_CALL_NULL(lmm_##event##_1, HANDLER_TYPE(event));	\
	DEFINE_STATIC_CALL_NULL(lmm_##event##_2, HANDLER_TYPE(event));

EVENTS(DEFINE_CALLS)

/**
 * struct event - a member of struct lmm_events
 * @name: of the member
 * @offset: of the member, in bytes
 * @room: policies that may handle the event
 * @key: static calls of the subscribers
 * @trampoline: trampolines of these static calls
 * @nr: number of subscribers
 * @by: the subscribers, in the order of their ids
 */
struct event {
	const char *name;
	size_t offset;
	unsigned int room;
	struct static_call_key *key[SUBSCRIBERS];
	void *trampoline[SUBSCRIBERS];
	unsigned int nr;
	enum lmm_policy_id by[SUBSCRIBERS];
};

#define EVENT_ROW(event, room_)						\
	[EVENT_##event] = {						\
		.name = #event,						\
		.offset = offsetof(struct lmm_events, event),		\
		.room = room_,						\
		.key = { &STATIC_CALL_KEY(lmm_##event##_0), &STATIC_CALL_KEY(lmm_##event##_1), \
			 &STATIC_CALL_KEY(lmm_##event##_2) },			\
		.trampoline = { STATIC_CALL_TRAMP_ADDR(lmm_##event##_0),	\
				STATIC_CALL_TRAMP_ADDR(lmm_##event##_1),	\
				STATIC_CALL_TRAMP_ADDR(lmm_##event##_2) },	\
	},

static struct event events[NR_EVENTS] = { EVENTS(EVENT_ROW) };

bool lmm_listening[NR_EVENTS][SUBSCRIBERS] __read_mostly;

static void *handler_of(const struct lmm_events *handlers, const struct event *event)
{
	return *(void *const *)((const char *)handlers + event->offset);
}

/**
 * lmm_events_unregister() - a policy handles no event any more
 * @id: the policy; lmm_events_stop() was called, and no handler runs
 *
 * The policy was the last to be registered.
 *
 * Context: process, may sleep.
 */
void lmm_events_unregister(enum lmm_policy_id id)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		if (events[i].nr && events[i].by[events[i].nr - 1] == id)
			events[i].nr--;
}

/**
 * lmm_events_register() - a policy says which events it handles
 * @id: the policy; the ids of policies registered earlier are less
 * @handlers: lives as long as the registration; NULL for none
 *
 * Nothing is delivered before lmm_events_start().
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY when an event has no room for another policy, -EINVAL when a policy with a
 * higher id was registered before.
 */
int lmm_events_register(enum lmm_policy_id id, const struct lmm_events *handlers)
{
	unsigned int i;
	int err = 0;

	for (i = 0; handlers && i < NR_EVENTS && !err; i++) {
		struct event *event = &events[i];

		if (!handler_of(handlers, event))
			continue;
		if (event->nr && event->by[event->nr - 1] >= id) {
			err = -EINVAL;
		} else if (event->nr == event->room) {
			err = -EBUSY;
		} else {
			__static_call_update(event->key[event->nr], event->trampoline[event->nr],
					     handler_of(handlers, event));
			event->by[event->nr++] = id;
		}
	}
	if (err) {
		pr_err("livemm: event %s: %s\n", events[i - 1].name, err == -EBUSY ?
		       "no room for another policy" :
		       "policies are not registered in the order of their ids");
		lmm_events_unregister(id);
	}
	return err;
}

static void event_listen(unsigned int i, enum lmm_policy_id id, bool on)
{
	unsigned int nr;

	for (nr = 0; nr < events[i].nr; nr++)
		if (events[i].by[nr] == id)
			/* In order with the flags of other events, for other CPUs too. */
			smp_store_release(&lmm_listening[i][nr], on);
}

/*
 * A policy that is told of a begin must be told of the end: delivery of the end starts first and
 * stops last.
 */
static void events_listen(enum lmm_policy_id id, bool on)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		event_listen(on ? NR_EVENTS - 1 - i : i, id, on);
}

/**
 * lmm_events_start() - begin to deliver to a policy whose hooks are armed
 * @id: the policy
 *
 * Context: any.
 */
void lmm_events_start(enum lmm_policy_id id)
{
	events_listen(id, true);
}

/**
 * lmm_events_stop() - deliver nothing more to a policy
 * @id: the policy
 *
 * The stop takes effect at once and waits for nobody.  A handler that is running may still deliver
 * an event, so a caller waits for running handlers before freeing their data.
 *
 * Context: any.
 */
void lmm_events_stop(enum lmm_policy_id id)
{
	events_listen(id, false);
	lmm_buffers_unmovable(id, false);
}

/**
 * lmm_pages_wanted() - have policies give back free pages of a zone soon
 * @zone: the zone
 *
 * Context: of the allocator's hooks; see dispatch.c.
 */
void lmm_pages_wanted(struct zone *zone)
{
	TELL(pages_wanted, zone);
}

/**
 * lmm_list_shrink() - have a policy give back pages of a list
 * @zone: zone of the list
 * @pcp: the list
 * @keep: pages that the list may keep
 *
 * Context: under the list's pcp->lock.
 * Return: pages that left the list; 0 if no policy gives any back.
 */
int lmm_list_shrink(struct zone *zone, struct per_cpu_pages *pcp, int keep)
{
	return LISTENS(list_shrink, 0) ? static_call(lmm_list_shrink_0)(zone, pcp, keep) : 0;
}
