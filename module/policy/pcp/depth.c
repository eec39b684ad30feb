// SPDX-License-Identifier: GPL-2.0-only
/*
 * depth.c - mode `depth` of the pcp policy: a track for each list, fed by every page
 *
 * Follows tracepoints of single allocations and frees.  Bulk allocations (vmalloc, page pools) pass
 * no tracepoint when allocated and one when freed, so their lists seem to be mostly freeing and are
 * not raised.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "depth.h"
#include "policy/common/zones.h"

/* Indexed by slot; NULL unless mode `depth` is on. */
static DEFINE_PER_CPU(struct pcp_track *, tracks);
static u32 period;

/**
 * pcp_depth_alloc() - make the tracks
 *
 * Context: process, may sleep; no hook is armed.
 * Return: 0 or -ENOMEM; the caller calls pcp_depth_free() in both cases.
 */
int pcp_depth_alloc(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		/* On the node of the CPU whose hooks write them. */
		per_cpu(tracks, cpu) = kvzalloc_node(lmm_zone_slots() * sizeof(struct pcp_track),
						     GFP_KERNEL, cpu_to_node(cpu));
		if (!per_cpu(tracks, cpu))
			return -ENOMEM;
	}
	return 0;
}

/**
 * pcp_depth_free() - free the tracks, if there are any
 *
 * Context: process, may sleep; no hook is armed.
 */
void pcp_depth_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(tracks, cpu));
		per_cpu(tracks, cpu) = NULL;
	}
}

/**
 * pcp_depth_tick() - a period has ended
 *
 * Context: process; the caller serialises.
 */
void pcp_depth_tick(void)
{
	WRITE_ONCE(period, period + 1);
}

/**
 * pcp_depth_list() - decide on a list
 * @list: the policy's state of the list; its @depth and @decision are set
 * @slot: slot of the list's zone
 * @cpu: CPU of the list
 *
 * Context: process; the caller serialises.
 */
void pcp_depth_list(struct pcp_list *list, unsigned int slot, int cpu)
{
	list->depth = pcp_track_depth(&per_cpu(tracks, cpu)[slot], period);
	list->decision = pcp_depth_decide(&list->depth, &list->limits);
}

/**
 * pcp_on_list_pages() - event: a block was allocated or freed on this CPU
 * @nid: node of the block
 * @zone_idx: index of the block's zone in the node
 * @pages: pages in the block; negative when freed
 *
 * Context: any, preemption off.
 */
void pcp_on_list_pages(int nid, int zone_idx, long pages)
{
	struct pcp_track *track = this_cpu_read(tracks) + nid * MAX_NR_ZONES + zone_idx;

	pcp_track_page(track, READ_ONCE(period), pages);
}
