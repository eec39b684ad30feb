/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deliver.h - how an event reaches the policies that subscribed
 *
 * An event has room for one to three subscribers, each called by a static call of its own.  The
 * order is the order in which policies were registered: main.c has a policy that takes pages away
 * (zonelock, cma) before the policy that sizes what is left (pcp).  A place without a subscriber
 * costs the test of a flag (see docs/architecture.md).
 */
#ifndef LIVEMM_DELIVER_H
#define LIVEMM_DELIVER_H

#include <linux/compiler.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include "events.h"

/* Most policies that may handle one event. */
#define SUBSCRIBERS	3

/*
 * Every member of struct lmm_events, and how many policies may handle the event.  The event of a
 * begin stands before the event of the end; see events_listen().
 */
#define EVENTS(EVENT)				\
	EVENT(depot_get, 1)			\
	EVENT(depot_put, 1)			\
	EVENT(request, 2)			\
	EVENT(bulk_request, 2)			\
	EVENT(give_back, 1)			\
	EVENT(list_filled, 2)			\
	EVENT(pages_wanted, 2)			\
	EVENT(list_shrink, 1)			\
	EVENT(zone_is_taken, 2)			\
	EVENT(refill_count, 2)			\
	EVENT(refill_split, 1)			\
	EVENT(refill_type, 1)			\
	EVENT(refill, 2)			\
	EVENT(drain_count, 2)			\
	EVENT(drain_beyond, 1)			\
	EVENT(drain_from, 1)			\
	EVENT(drain, 1)				\
	EVENT(list_pages, 2)			\
	EVENT(list_bounds, 2)			\
	EVENT(kswapd_woken, 3)			\
	EVENT(huge_wanted, 2)			\
	EVENT(page_breaks, 2)			\
	EVENT(fallback, 2)			\
	EVENT(mixed, 2)				\
	EVENT(reclaim_end, 2)			\
	EVENT(compact_begin, 2)			\
	EVENT(cma_start, 2)			\
	EVENT(cma_busy, 2)			\
	EVENT(cma_finish, 2)			\
	EVENT(cma_release, 2)			\
	EVENT(hint_fault, 1)			\
	EVENT(scan_begin, 1)			\
	EVENT(mm_exit, 2)

#define EVENT_ID(event, room)		EVENT_##event,
enum { EVENTS(EVENT_ID) NR_EVENTS };

/* Policies that may handle the event. */
#define EVENT_ROOM(event, room)		ROOM_##event = room,
enum { EVENTS(EVENT_ROOM) };

static_assert(EVENT_cma_start < EVENT_cma_finish);
static_assert(EVENT_scan_begin < EVENT_mm_exit);
static_assert(EVENT_depot_put < EVENT_give_back);

#define HANDLER_TYPE(event)		(*((struct lmm_events *)0)->event)
#define DECLARE_CALLS(event, room)					\
	DECLARE_STATIC_CALL(lmm_##event##_0, HANDLER_TYPE(event));	\
	DECLARE_STATIC_CALL(lmm_##event##_1, HANDLER_TYPE(event));	\
	DECLARE_STATIC_CALL(lmm_##event##_2, HANDLER_TYPE(event));

EVENTS(DECLARE_CALLS)

/* Events are delivered to the subscriber; deliver.c writes. */
extern bool lmm_listening[NR_EVENTS][SUBSCRIBERS];

/* The compiler leaves out the test of a flag, and the call, that an event has no room for. */
#define LISTENS(event, nr)						\
	((nr) < ROOM_##event && READ_ONCE(lmm_listening[EVENT_##event][nr]))

/* Tell every subscriber. */
#define TELL(event, ...)						\
do {									\
	if (LISTENS(event, 0))						\
		static_call(lmm_##event##_0)(__VA_ARGS__);		\
	if (LISTENS(event, 1))						\
		static_call(lmm_##event##_1)(__VA_ARGS__);		\
	if (LISTENS(event, 2))						\
		static_call(lmm_##event##_2)(__VA_ARGS__);		\
} while (0)

/* Have every subscriber change a value, which may be among the arguments. */
#define CHANGE(value, event, ...)					\
do {									\
	if (LISTENS(event, 0))						\
		value = static_call(lmm_##event##_0)(__VA_ARGS__);	\
	if (LISTENS(event, 1))						\
		value = static_call(lmm_##event##_1)(__VA_ARGS__);	\
	if (LISTENS(event, 2))						\
		value = static_call(lmm_##event##_2)(__VA_ARGS__);	\
} while (0)

#endif /* LIVEMM_DELIVER_H */
