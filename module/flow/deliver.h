/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deliver.h - how an event reaches the policy that handles it
 *
 * An event has one place for a policy, called by a static call.  The last two have a list: several
 * policies give back what they hold.  A refill and a drain have a place for the recorder as well,
 * which is a no-operation while nobody records.
 */
#ifndef LIVEMM_FLOW_DELIVER_H
#define LIVEMM_FLOW_DELIVER_H

#include <linux/compiler.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include "events.h"
#include "hook/hook.h"
#include "probe.h"

/* Every member of struct lmm_events: those of one policy, and those with a list. */
#define EVENTS(EVENT, LISTED)	\
	EVENT(refill_stock)	\
	EVENT(refill_split)	\
	EVENT(refill_from)	\
	EVENT(refilled)		\
	EVENT(drain_size)	\
	EVENT(drain_store)	\
	EVENT(drained)		\
	EVENT(zone_is_taken)	\
	EVENT(request)		\
	EVENT(give_back)	\
	EVENT(fallback)		\
	EVENT(hint_fault)	\
	EVENT(kswapd_woken)	\
	LISTED(zone_lacks)

#define EVENT_ID(event)		EVENT_##event,
#define EVENT_NONE(event)
enum { EVENTS(EVENT_ID, EVENT_NONE) NR_EVENTS };

#define HANDLER(event)		(*((struct lmm_events *)0)->event)
#define DECLARE_CALL(event)	DECLARE_STATIC_CALL(lmm_##event, HANDLER(event));
EVENTS(DECLARE_CALL, EVENT_NONE)

/* The policy that handles an event, or LMM_NR_POLICIES, which is told nothing. */
extern u8 lmm_event_by[NR_EVENTS];

/* Is a policy told of the event? */
#define TOLD(event)	lmm_told(READ_ONCE(lmm_event_by[EVENT_##event]))

/* Tell the policy that handles an event. */
#define TELL(event, ...)						\
do {									\
	if (TOLD(event))						\
		static_call(lmm_##event)(__VA_ARGS__);			\
} while (0)

/* What each policy handles, or NULL. */
extern const struct lmm_events *lmm_events_of[LMM_NR_POLICIES];

/* Tell every policy that handles an event with a list. */
#define TELL_ALL(event, ...)						\
do {									\
	unsigned int id_;						\
									\
	for (id_ = 0; id_ < LMM_NR_POLICIES; id_++)			\
		if (lmm_told(id_) && lmm_events_of[id_]->event)		\
			lmm_events_of[id_]->event(__VA_ARGS__);		\
} while (0)

DECLARE_STATIC_CALL(lmm_record_refill, *((struct lmm_recorder *)0)->refill);
DECLARE_STATIC_CALL(lmm_record_drain, *((struct lmm_recorder *)0)->drain);

/* hooks.c */
void lmm_flow_init(void);

static inline bool lmm_zone_is_taken(unsigned int slot)
{
	return TOLD(zone_is_taken) && static_call(lmm_zone_is_taken)(slot);
}

#endif /* LIVEMM_FLOW_DELIVER_H */
