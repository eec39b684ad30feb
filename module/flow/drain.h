/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain.h - one drain of the per-CPU lists of a zone
 */
#ifndef LIVEMM_FLOW_DRAIN_H
#define LIVEMM_FLOW_DRAIN_H

#include <linux/types.h>

struct per_cpu_pages;
struct zone;

/**
 * struct lmm_drain - a drain, from the kernel's request to its end
 * @zone: zone of the lists
 * @slot: lmm_zone_slot() of @zone
 * @cpu: this CPU
 * @pcp: the lists
 * @is_here: @pcp is this CPU's
 * @by_policy: a policy gives back what the lists hold above @keep, and asks where to; else the
 *	kernel drains
 * @keep: pages that the lists may keep, if @by_policy
 * @caller: return address of the drain, else
 * @pindex: list to drain first
 * @count: pages to take off the lists; a policy may lower it, down to 0
 * @stored: pages that a policy took off, and that need not be drained any more; may be above @count
 * @left: pages that were to go to the buddy after that; 0 or less: the kernel did not drain
 * @gone: pages that have left the lists in all, in whole blocks
 *
 * Lives on the stack of flow/drain.c.  struct lmm_events says which policy may write which member,
 * and when; the members up to @caller stay as they are.
 */
struct lmm_drain {
	struct zone *zone;
	unsigned int slot;
	int cpu;
	struct per_cpu_pages *pcp;
	bool is_here;
	bool by_policy;
	int keep;
	unsigned long caller;
	int pindex;
	int count;
	int stored;
	int left;
	int gone;
};

void lmm_drain_by_kernel(struct zone *zone, int count, struct per_cpu_pages *pcp);
int lmm_drain_down(struct zone *zone, struct per_cpu_pages *pcp, int keep);

#endif /* LIVEMM_FLOW_DRAIN_H */
