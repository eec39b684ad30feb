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

#include "record/sample.h"

/* Of a list, in each event that tells of one. */
#define RECORD_LIST_FIELDS			\
	__field(int, count)			\
	__field(int, high)			\
	__field(int, batch)			\
	__field(long, net)			\
	__field(unsigned long, allocated)

#define RECORD_LIST_ASSIGN(list) ({			\
	__entry->count = (list)->count;			\
	__entry->high = (list)->high;			\
	__entry->batch = (list)->batch;			\
	__entry->net = (list)->net;			\
	__entry->allocated = (list)->allocated;		\
})

/* This CPU's list was refilled from the buddy; @count does not have the pages yet. */
TRACE_EVENT(list_refill,
	TP_PROTO(const struct record_list *list, unsigned int order, int migratetype, int pages),
	TP_ARGS(list, order, migratetype, pages),
	TP_STRUCT__entry(
		__field(int, slot)
		__field(int, order)
		__field(int, migratetype)
		__field(int, pages)
		RECORD_LIST_FIELDS
		__field(unsigned long, free)
	),
	TP_fast_assign(
		__entry->slot = list->slot;
		__entry->order = order;
		__entry->migratetype = migratetype;
		__entry->pages = pages;
		RECORD_LIST_ASSIGN(list);
		__entry->free = list->free;
	),
	TP_printk("slot=%d order=%d migratetype=%d pages=%d count=%d high=%d batch=%d net=%ld allocated=%lu free=%lu",
		  __entry->slot, __entry->order, __entry->migratetype, __entry->pages,
		  __entry->count, __entry->high, __entry->batch, __entry->net,
		  __entry->allocated, __entry->free)
);

/* A list is about to be drained; @cpu is the list's, and @pindex the list that is drained first. */
TRACE_EVENT(list_drain,
	TP_PROTO(const struct record_list *list, int cpu, int pindex, int pages),
	TP_ARGS(list, cpu, pindex, pages),
	TP_STRUCT__entry(
		__field(int, slot)
		__field(int, cpu)
		__field(int, pindex)
		__field(int, pages)
		RECORD_LIST_FIELDS
		__field(unsigned long, free)
	),
	TP_fast_assign(
		__entry->slot = list->slot;
		__entry->cpu = cpu;
		__entry->pindex = pindex;
		__entry->pages = pages;
		RECORD_LIST_ASSIGN(list);
		__entry->free = list->free;
	),
	TP_printk("slot=%d cpu=%d pindex=%d pages=%d count=%d high=%d batch=%d net=%ld allocated=%lu free=%lu",
		  __entry->slot, __entry->cpu, __entry->pindex, __entry->pages, __entry->count,
		  __entry->high, __entry->batch, __entry->net, __entry->allocated, __entry->free)
);

/* The list of a CPU in a zone, at each look. */
TRACE_EVENT(list_state,
	TP_PROTO(const struct record_list *list, int cpu),
	TP_ARGS(list, cpu),
	TP_STRUCT__entry(
		__field(int, slot)
		__field(int, cpu)
		RECORD_LIST_FIELDS
	),
	TP_fast_assign(
		__entry->slot = list->slot;
		__entry->cpu = cpu;
		RECORD_LIST_ASSIGN(list);
	),
	TP_printk("slot=%d cpu=%d count=%d high=%d batch=%d net=%ld allocated=%lu",
		  __entry->slot, __entry->cpu, __entry->count, __entry->high, __entry->batch,
		  __entry->net, __entry->allocated)
);

/* A zone, at each look. */
TRACE_EVENT(zone_state,
	TP_PROTO(const struct record_zone *zone),
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
		__entry->slot = zone->slot;
		__entry->cpus = zone->cpus;
		__entry->reclaim = zone->reclaim;
		__entry->low = zone->low;
		__entry->high = zone->high;
		__entry->managed = zone->managed;
		__entry->free = zone->free;
		__entry->high_mark = zone->high_mark;
		__entry->mark = zone->mark;
		__entry->gap = zone->gap;
	),
	TP_printk("slot=%d cpus=%d reclaim=%d low=%d high=%d managed=%lu free=%lu high_mark=%lu mark=%lu gap=%lu",
		  __entry->slot, __entry->cpus, __entry->reclaim, __entry->low, __entry->high,
		  __entry->managed, __entry->free, __entry->high_mark, __entry->mark, __entry->gap)
);

/* A CPU's counts since boot, at each look. */
TRACE_EVENT(cpu_state,
	TP_PROTO(const struct record_cpu *counts),
	TP_ARGS(counts),
	TP_STRUCT__entry(
		__field(int, cpu)
		__field(unsigned long, faults)
		__field(unsigned long, freed)
	),
	TP_fast_assign(
		__entry->cpu = counts->cpu;
		__entry->faults = counts->faults;
		__entry->freed = counts->freed;
	),
	TP_printk("cpu=%d faults=%lu freed=%lu", __entry->cpu, __entry->faults, __entry->freed)
);

#endif /* LIVEMM_RECORD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH record
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
