// SPDX-License-Identifier: GPL-2.0-only
/*
 * deliver.c - which policy handles an event, and which policies are told right now
 *
 * deliver.h and events.h declare what is here.
 */
#include <linux/bug.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>

#include "compat/export.h"
#include "deliver.h"
#include "events.h"
#include "hook/entry.h"

#define DEFINE_CALL(event)	DEFINE_STATIC_CALL_NULL(lmm_##event, HANDLER(event));
EVENTS(DEFINE_CALL, EVENT_NONE)
DEFINE_STATIC_CALL_NULL(lmm_record_refill, *((struct lmm_recorder *)0)->refill);
DEFINE_STATIC_CALL_NULL(lmm_record_drain, *((struct lmm_recorder *)0)->drain);

u8 lmm_event_by[NR_EVENTS] __read_mostly = { [0 ... NR_EVENTS - 1] = LMM_NR_POLICIES };
const struct lmm_events *lmm_events_of[LMM_NR_POLICIES] __read_mostly;
bool lmm_policies_told[LMM_NR_POLICIES + 1] __read_mostly;

/**
 * lmm_events_unregister() - a policy handles no event any more
 * @id: the policy; lmm_events_stop() was called, and no handler runs
 *
 * Context: process, may sleep.
 */
void lmm_events_unregister(enum lmm_policy_id id)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		if (lmm_event_by[i] == id)
			lmm_event_by[i] = LMM_NR_POLICIES;
	lmm_events_of[id] = NULL;
}

/**
 * lmm_events_register() - a policy says which events it handles
 * @id: the policy
 * @events: lives as long as the registration; no other policy handles one of these that has no list
 *
 * Nothing is delivered before lmm_events_start().
 *
 * Context: process, may sleep.
 */
void lmm_events_register(enum lmm_policy_id id, const struct lmm_events *events)
{
	lmm_events_of[id] = events;
#define EVENT_TAKE(event)						\
	if (events->event) {						\
		WARN_ON(lmm_event_by[EVENT_##event] != LMM_NR_POLICIES); \
		static_call_update(lmm_##event, events->event);		\
		lmm_event_by[EVENT_##event] = id;			\
	}
	EVENTS(EVENT_TAKE, EVENT_NONE)
}

/* One flag for all that a policy is told: who was told of a begin is told of the end, too. */
static void tell(enum lmm_policy_id id, bool on)
{
	/* In order with the flags of other policies, and with what the policy has set up. */
	smp_store_release(&lmm_policies_told[id], on);
}

/**
 * lmm_events_start() - begin to tell a policy, whose hooks are armed
 * @id: the policy
 *
 * Context: any.
 */
void lmm_events_start(enum lmm_policy_id id)
{
	tell(id, true);
}

/**
 * lmm_events_stop() - tell a policy nothing more
 * @id: the policy
 *
 * The stop takes effect at once and waits for nobody.  A handler that is running may still deliver
 * an event, so a caller waits for running handlers before freeing their data.
 *
 * Context: any.
 */
void lmm_events_stop(enum lmm_policy_id id)
{
	tell(id, false);
	lmm_buffers_unmovable(id, false);
}

/**
 * lmm_recorder_set() - have somebody told of refills and drains, besides policies
 * @recorder: who; NULL: nobody, and none of the functions runs any more
 *
 * Context: process, may sleep; the caller serialises.
 */
void lmm_recorder_set(const struct lmm_recorder *recorder)
{
	static_call_update(lmm_record_refill, recorder ? recorder->refill : NULL);
	static_call_update(lmm_record_drain, recorder ? recorder->drain : NULL);
	synchronize_rcu();
}
EXPORT_SYMBOL_LMM(lmm_recorder_set);
