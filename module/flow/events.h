/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - what a policy is told and asked: every event, and how a policy subscribes
 *
 * An event is what several policies share: the steps of a refill and of a drain, and what is of use
 * to more than one.  A hook that one policy uses alone is handled by that policy (probe.h).
 */
#ifndef LIVEMM_FLOW_EVENTS_H
#define LIVEMM_FLOW_EVENTS_H

#include <linux/types.h>

#include "hook/klp_link.h"
#include "livemm.h"

struct lmm_drain;
struct lmm_refill;

/**
 * struct lmm_events - what a policy wants to be told, and asked
 *
 * A policy sets the members that it handles.  Events reach a policy from lmm_events_start() to
 * lmm_events_stop().  One policy handles an event, but for @zone_lacks, which reaches each policy
 * that handles it, in the order of their ids.  An event is reported while a policy subscribes to
 * the hook that is named with the event.
 *
 * Context of every member, unless the member says otherwise: preemption off, any context that the
 * allocator may be called from.  No sleeping, no printk, no allocation, no lock that the
 * allocator can take.  Members about a refill or a drain: under pcp->lock.
 */
struct lmm_events {
	/**
	 * @refill_stock: a refill is about to begin.  May put pages on the list, and sets @got;
	 * the buddy is then not asked.  Not asked while an owner takes the zone.  Hook: refill.
	 */
	void (*refill_stock)(struct lmm_refill *refill);

	/**
	 * @refill_split: the buddy is about to be asked for @split_pages single pages.  May set
	 * @split to an order, and @split_pages to what is to be taken in blocks of this order.
	 * Not asked while an owner takes the zone.  Hook: refill.
	 */
	void (*refill_split)(struct lmm_refill *refill);

	/**
	 * @refill_from: the buddy is about to be asked for @blocks, on a kernel with CMA.  May set
	 * @from and @from_flags.  Hook: refill.
	 */
	void (*refill_from)(struct lmm_refill *refill);

	/** @refilled: the refill has ended.  Changes nothing of it.  Hook: refill. */
	void (*refilled)(struct lmm_refill *refill);

	/** @drain_size: a drain is about to begin.  May lower @count.  Hook: drain. */
	void (*drain_size)(struct lmm_drain *drain);

	/**
	 * @drain_store: @count pages, at least 1, are to leave the lists; or, with @by_policy, what
	 * is above @keep.  May take pages off @pcp, and sets @stored.  Hook: drain.
	 */
	void (*drain_store)(struct lmm_drain *drain);

	/**
	 * @drained: the drain has ended, and pages have left the lists.  Changes nothing of it.
	 * Hook: drain.
	 */
	void (*drained)(struct lmm_drain *drain);

	/**
	 * @zone_is_taken: does an owner of memory in the zone of a slot take pages right now?  Free
	 * pages of the zone are then for the owner.
	 */
	bool (*zone_is_taken)(unsigned int slot);

	/**
	 * @request: the allocator is about to take a block of @order from this CPU's list of
	 * @migratetype of @zone; reported while lmm_request_wants.call is set, but not while an
	 * owner takes the zone.  Not under pcp->lock.  Hook: request.
	 */
	void (*request)(struct zone *zone, unsigned int order, int migratetype);

	/**
	 * @give_back: pages kept from the buddy are wanted there.  Gives back a batch, and
	 * returns true if there is more.  Process, no lock of the allocator's held; with @soon any
	 * context: has all go back soon.  Hooks: drain_zone, drain_all, compact;
	 * lmm_pages_wanted().
	 */
	bool (*give_back)(struct lmm_klp_return *part);

	/**
	 * @fallback: the kernel has looked for a migratetype that lends free pages.  May change
	 * @found and @whole.  Under zone->lock, interrupts off; where @claimable is set, under no
	 * lock.  Hook: fallback.
	 */
	void (*fallback)(struct lmm_klp_fallback *fallback);

	/**
	 * @hint_fault: this thread has had a NUMA hint fault on @pages pages; one fault in
	 * LMM_ENTRY_EVERY is reported, and stands for all.  Process.  Hook: hint_fault.
	 */
	void (*hint_fault)(int last_cpupid, int pages, int flags);

	/**
	 * @kswapd_woken: a request for a block of @order asks kswapd for pages.  @zone is the first
	 * zone of a node that the request may use.  The request asks each such node, and each
	 * kswapd itself decides whether there is anything to do.  No lock of the allocator's held.
	 * Hook: wake_kswapd.
	 */
	void (*kswapd_woken)(struct zone *zone, unsigned int order);

	/**
	 * @zone_lacks: pages that are kept from the buddy are wanted in @zone.  With @order 0 it is
	 * short of pages; else it has no free block of that order, or with @huge few for the huge
	 * page that this thread is about to allocate.  Told of each such zone of a node that a
	 * request may use, and has woken kswapd of; with @huge, of this thread's node.  No lock of
	 * the allocator's held.  Hooks: wake_kswapd, huge_wanted.
	 */
	void (*zone_lacks)(struct zone *zone, unsigned int order, bool huge);
};

/**
 * struct lmm_recorder - what somebody is told who records, and changes nothing
 * @refill: a list was refilled.  Context: see struct lmm_events
 * @drain: a drain is about to begin, as policies want it.  Context: see struct lmm_events
 */
struct lmm_recorder {
	void (*refill)(const struct lmm_refill *refill);
	void (*drain)(const struct lmm_drain *drain);
};

void lmm_events_register(enum lmm_policy_id id, const struct lmm_events *events);
void lmm_events_unregister(enum lmm_policy_id id);
void lmm_events_start(enum lmm_policy_id id);
void lmm_events_stop(enum lmm_policy_id id);
void lmm_recorder_set(const struct lmm_recorder *recorder);

void lmm_pages_wanted(struct zone *zone);

#endif /* LIVEMM_FLOW_EVENTS_H */
