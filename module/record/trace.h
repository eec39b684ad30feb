/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - what a recording of a host holds
 *
 * docs/whatif.md documents each event.  Sizes are in pages; livemmctl reads the events by the names
 * of their fields.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_RECORD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_RECORD_TRACE_H

#include <linux/tracepoint.h>

#include "compat/pageset.h"
#include "flow/drain.h"
#include "flow/refill.h"
#include "policy/common/zones.h"

/*
 * Of a list, in each event that tells of one: its pages, its bound (where the kernel tunes, what
 * its tuning has reached) and batch, and what its CPU has allocated less what it has freed, and has
 * allocated of zones of this kind, since boot.
 */
#define RECORD_LIST_FIELDS			\
	__field(int, slot)			\
	__field(int, count)			\
	__field(int, high)			\
	__field(int, batch)			\
	__field(long, net)			\
	__field(unsigned long, allocated)

#define RECORD_LIST_ASSIGN(zone, pcp, cpu) ({					\
	__entry->slot = lmm_zone_slot(zone);					\
	__entry->count = READ_ONCE((pcp)->count);				\
	__entry->high = lmm_pageset_read(pcp);			\
	__entry->batch = READ_ONCE((pcp)->batch);				\
	__entry->net = lmm_cpu_net(cpu);					\
	__entry->allocated = lmm_cpu_allocated(zone, cpu);			\
})

#define RECORD_LIST_FORMAT	"slot=%d count=%d high=%d batch=%d net=%ld allocated=%lu"
#define RECORD_LIST_PRINTED	__entry->slot, __entry->count, __entry->high, __entry->batch, \
				__entry->net, __entry->allocated

/* A list was refilled from the buddy; @count does not have the pages yet. */
TRACE_EVENT(list_refill,
	TP_PROTO(const struct lmm_refill *refill),
	TP_ARGS(refill),
	TP_STRUCT__entry(
		RECORD_LIST_FIELDS
		__field(int, order)
		__field(int, migratetype)
		__field(int, pages)
		__field(unsigned long, free)
	),
	TP_fast_assign(
		RECORD_LIST_ASSIGN(refill->zone, refill->pcp, refill->cpu);
		__entry->order = refill->order;
		__entry->migratetype = refill->migratetype;
		__entry->pages = refill->got << refill->order;
		__entry->free = zone_page_state(refill->zone, NR_FREE_PAGES);
	),
	TP_printk(RECORD_LIST_FORMAT " order=%d migratetype=%d pages=%d free=%lu",
		  RECORD_LIST_PRINTED, __entry->order, __entry->migratetype, __entry->pages,
		  __entry->free)
);

/* A list is about to be drained; @cpu is the list's, and @pindex the list that is drained first. */
TRACE_EVENT(list_drain,
	TP_PROTO(const struct lmm_drain *drain, int cpu),
	TP_ARGS(drain, cpu),
	TP_STRUCT__entry(
		RECORD_LIST_FIELDS
		__field(int, cpu)
		__field(int, pindex)
		__field(int, pages)
		__field(unsigned long, free)
	),
	TP_fast_assign(
		RECORD_LIST_ASSIGN(drain->zone, drain->pcp, cpu);
		__entry->cpu = cpu;
		__entry->pindex = drain->pindex;
		__entry->pages = drain->count;
		__entry->free = zone_page_state(drain->zone, NR_FREE_PAGES);
	),
	TP_printk(RECORD_LIST_FORMAT " cpu=%d pindex=%d pages=%d free=%lu", RECORD_LIST_PRINTED,
		  __entry->cpu, __entry->pindex, __entry->pages, __entry->free)
);

/* The list of a CPU in a zone, at each look. */
TRACE_EVENT(list_state,
	TP_PROTO(const struct zone *zone, int cpu),
	TP_ARGS(zone, cpu),
	TP_STRUCT__entry(
		RECORD_LIST_FIELDS
		__field(int, cpu)
	),
	TP_fast_assign(
		RECORD_LIST_ASSIGN(zone, per_cpu_ptr(zone->per_cpu_pageset, cpu), cpu);
		__entry->cpu = cpu;
	),
	TP_printk(RECORD_LIST_FORMAT " cpu=%d", RECORD_LIST_PRINTED, __entry->cpu)
);

/*
 * A zone, at each look: @cpus are online, and @low and @high are the least and the largest bound
 * that the kernel gives a list.  See zones.h for @high_mark, @mark and @gap.
 */
TRACE_EVENT(zone_state,
	TP_PROTO(struct zone *zone),
	TP_ARGS(zone),
	TP_STRUCT__entry(
		__field(int, slot)
		__field(int, cpus)
		__field(int, reclaim)
		__field(int, low)
		__field(int, high)
		__field(unsigned long, managed)
		__field(unsigned long, free)
		__field(unsigned long, high_mark)
		__field(unsigned long, mark)
		__field(unsigned long, gap)
	),
	TP_fast_assign(
		__entry->slot = lmm_zone_slot(zone);
		__entry->cpus = num_online_cpus();
		__entry->reclaim = test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags);
		__entry->low = lmm_pageset_default(zone);
		__entry->high = lmm_pageset_most(zone);
		__entry->managed = zone_managed_pages(zone);
		__entry->free = zone_page_state_snapshot(zone, NR_FREE_PAGES);
		__entry->high_mark = lmm_zone_high_mark(zone);
		__entry->mark = lmm_zone_mark(zone);
		__entry->gap = lmm_zone_gap(zone);
	),
	TP_printk("slot=%d cpus=%d reclaim=%d low=%d high=%d managed=%lu free=%lu high_mark=%lu mark=%lu gap=%lu",
		  __entry->slot, __entry->cpus, __entry->reclaim, __entry->low, __entry->high,
		  __entry->managed, __entry->free, __entry->high_mark, __entry->mark, __entry->gap)
);

/* A CPU's counts of page faults and of pages freed since boot, at each look. */
TRACE_EVENT(cpu_state,
	TP_PROTO(int cpu),
	TP_ARGS(cpu),
	TP_STRUCT__entry(
		__field(int, cpu)
		__field(unsigned long, faults)
		__field(unsigned long, freed)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->faults = READ_ONCE(per_cpu(vm_event_states, cpu).event[PGFAULT]);
		__entry->freed = lmm_cpu_freed(cpu);
	),
	TP_printk("cpu=%d faults=%lu freed=%lu", __entry->cpu, __entry->faults, __entry->freed)
);

#endif /* LIVEMM_RECORD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH record
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
