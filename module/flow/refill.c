// SPDX-License-Identifier: GPL-2.0-only
/*
 * refill.c - a refill, from the livepatch's wrapper to the kernel's own code, and who is asked
 *
 * The order: a policy may fill the list itself; else one may have larger blocks split, one may say
 * where the pages come from; the kernel moves them; all are told.
 */
#include <linux/mmzone.h>
#include <linux/smp.h>

#include "compat/compat.h"
#include "compat/export.h"
#include "compat/pageset.h"
#include "deliver.h"
#include "hook/klp_link.h"
#include "hook/table.h"
#include "refill.h"
#include "slot.h"

/*
 * Take larger blocks, and put their pages on the list.  Only the blocks are taken under zone->lock.
 * The kernel has checked every page of a block; a free page needs nothing else.
 */
static void take_split(struct lmm_refill *refill)
{
	struct page *block, *next;
	LIST_HEAD(blocks);
	unsigned int i;
	int got;

	got = static_call(lmm_orig_refill)(refill->zone, refill->split,
					   refill->split_pages >> refill->split, &blocks,
					   refill->migratetype,
					   refill->alloc_flags & ~LMM_ALLOC_CMA);
	list_for_each_entry_safe(block, next, &blocks, lru) {
		for (i = 0; i < 1U << refill->split; i++) {
			lmm_page_type_copy(block + i, block);
			list_add_tail(&block[i].lru, refill->list);
		}
	}
	refill->got = got << refill->split;
}

static int take_from(const struct lmm_refill *refill, int migratetype, unsigned int alloc_flags)
{
	return static_call(lmm_orig_refill)(refill->zone, refill->order, refill->blocks,
					    refill->list, migratetype, alloc_flags);
}

/* Fewer blocks than asked for suffice. */
static void take_blocks(struct lmm_refill *refill)
{
	if (IS_ENABLED(CONFIG_CMA))
		TELL(refill_from, refill);
	refill->got = take_from(refill, refill->from, refill->from_flags);
	if (!refill->got && (refill->from != refill->migratetype ||
			     refill->from_flags != refill->alloc_flags))
		refill->got = take_from(refill, refill->migratetype, refill->alloc_flags);
}

/* The buddy is asked. */
static void ask_buddy(struct lmm_refill *refill)
{
	refill->split_pages = refill->blocks;
	if (!refill->order && !refill->taken)
		TELL(refill_split, refill);
	if (refill->split)
		take_split(refill);
	if (!refill->got)
		take_blocks(refill);
}

/**
 * lmm_refill() - refill a list, as rmqueue_bulk() does
 * @zone: zone of the list
 * @order: order of the blocks
 * @blocks: number of blocks that are asked for
 * @list: this CPU's list, which is empty
 * @migratetype: migratetype of the list
 * @alloc_flags: ALLOC_* flags of the request
 *
 * Context: any that the allocator may be called from; under pcp->lock, preemption off.
 * Return: number of blocks put on @list.
 */
int lmm_refill(struct zone *zone, unsigned int order, unsigned long blocks,
	       struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	struct lmm_refill refill = {
		.zone = zone,
		.slot = lmm_zone_slot(zone),
		.cpu = smp_processor_id(),
		.pcp = this_cpu_ptr(zone->per_cpu_pageset),
		.list = list,
		.order = order,
		.migratetype = migratetype,
		.alloc_flags = alloc_flags,
		.blocks = blocks,
		.from = migratetype,
		.from_flags = alloc_flags,
	};

	lmm_hook_hit(LMM_HOOK_REFILL);
	refill.taken = lmm_zone_is_taken(refill.slot);
	if (!refill.taken)
		TELL(refill_stock, &refill);
	refill.stocked = refill.got;
	if (!refill.stocked)
		ask_buddy(&refill);
	TELL(refilled, &refill);
	static_call(lmm_record_refill)(&refill);
	return refill.got;
}
EXPORT_SYMBOL_LMM(lmm_refill);
