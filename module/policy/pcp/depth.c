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
 * pcp_on_list_pages() - a block was allocated or freed on this CPU
 * @page: the first page of the block; NULL when the allocation failed
 * @order: order of the block
 * @freed: the block was freed
 *
 * Only blocks of an order that the kernel keeps in per-CPU lists count.
 *
 * Context: any, preemption off.
 */
void pcp_on_list_pages(const struct page *page, unsigned int order, bool freed)
{
	long pages = freed ? -(1L << order) : 1L << order;
	struct pcp_track *track;

	if (!page || (order > PAGE_ALLOC_COSTLY_ORDER &&
		      !(IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && order == pageblock_order)))
		return;
	track = this_cpu_read(tracks) + page_to_nid(page) * MAX_NR_ZONES + page_zonenum(page);
	pcp_track_page(track, READ_ONCE(period), pages);
}
