/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refill.h - one refill of a per-CPU list
 */
#ifndef LIVEMM_FLOW_REFILL_H
#define LIVEMM_FLOW_REFILL_H

#include <linux/types.h>

struct list_head;
struct per_cpu_pages;
struct zone;

/**
 * struct lmm_refill - a refill of an empty list, from the kernel's request to its answer
 * @zone: zone of the list
 * @slot: lmm_zone_slot() of @zone
 * @cpu: this CPU, whose list it is
 * @pcp: the lists of @cpu in @zone
 * @list: the list, one of @pcp
 * @order: order of the blocks
 * @migratetype: migratetype of the list
 * @alloc_flags: ALLOC_* flags of the request that found the list empty
 * @taken: an owner takes pages of @zone right now: free pages are for the owner
 * @blocks: blocks to ask the buddy for
 * @split: order of larger blocks that are to be taken, and split into single pages; 0: none
 * @split_pages: pages in these larger blocks
 * @from: migratetype to ask the buddy for; if that yields nothing, @migratetype is asked for
 * @from_flags: ALLOC_* flags to ask with, likewise
 * @stocked: a policy has put pages on @list, and the buddy is not asked
 * @got: blocks put on @list, which @pcp does not count yet
 *
 * Lives on the stack of lmm_refill().  struct lmm_events says which policy may write which member,
 * and when; the members up to @taken stay as they are.
 */
struct lmm_refill {
	struct zone *zone;
	unsigned int slot;
	int cpu;
	struct per_cpu_pages *pcp;
	struct list_head *list;
	unsigned int order;
	int migratetype;
	unsigned int alloc_flags;
	bool taken;
	unsigned long blocks;
	unsigned int split;
	unsigned long split_pages;
	int from;
	unsigned int from_flags;
	bool stocked;
	int got;
};

#endif /* LIVEMM_FLOW_REFILL_H */
