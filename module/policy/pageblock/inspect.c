// SPDX-License-Identifier: GPL-2.0-only
/*
 * inspect.c - what a pageblock holds, by its struct pages
 *
 * Nothing is locked but memory hotplug: a page may change hands while it is looked at.
 * Whatever is read is read once, and what leads to another struct page, or to a number
 * of pages, is checked before it is used; so a race costs a few pages counted wrongly,
 * and nothing else.
 *
 * A block's type is read by the kernel's own function, a symbol whose prototype BTF
 * vouches for.  Reading the section's bitmap would save that row and one call a block
 * (512 pages), but have the meaning of its bits in here, which is the kernel's to change.
 */
#include <linux/hugetlb.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pageblock-flags.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "hook/kcall.h"
#include "inspect.h"

/* Orders that the buddy has; the kernel's name for their number is not the same in all. */
#define BUDDY_ORDERS		ARRAY_SIZE(((struct zone *)NULL)->free_area)

/* Orders of compound pages: the largest are those of hugetlb, mapped by a PUD. */
#define COMPOUND_ORDERS		(PUD_SHIFT - PAGE_SHIFT + 1)

/* The kernel's numbers differ with its configuration. */
static const u8 type_of[MIGRATE_TYPES] = {
	[MIGRATE_UNMOVABLE] = CENSUS_TYPE_UNMOVABLE,
	[MIGRATE_MOVABLE] = CENSUS_TYPE_MOVABLE,
	[MIGRATE_RECLAIMABLE] = CENSUS_TYPE_RECLAIMABLE,
	[MIGRATE_HIGHATOMIC] = CENSUS_TYPE_HIGHATOMIC,
#ifdef CONFIG_CMA
	[MIGRATE_CMA] = CENSUS_TYPE_CMA,
#endif
#ifdef CONFIG_MEMORY_ISOLATION
	[MIGRATE_ISOLATE] = CENSUS_TYPE_ISOLATE,
#endif
};

/* How many pages does an order speak for that was read without a lock? */
static unsigned long order_pages(unsigned long pfn, unsigned long order, unsigned int orders)
{
	if (order >= orders || !IS_ALIGNED(pfn, 1UL << order))
		return 1;
	return 1UL << order;
}

/*
 * The page that has the facts about @page: itself, or the head of what it is a tail of.
 * NULL if it was a tail, and its head is no more where it can have been.
 */
static struct page *facts_page(struct page *page, unsigned long pfn)
{
	struct page *head = compound_head(page);
	unsigned long bytes;

	if (head == page)
		return page;
	bytes = (unsigned long)page - (unsigned long)head;
	/* A head above is far below. */
	if (bytes % sizeof(*page) || bytes / sizeof(*page) >= 1UL << (COMPOUND_ORDERS - 1))
		return NULL;
	if (pfn_to_online_page(pfn - bytes / sizeof(*page)) != head || PagePoisoned(head))
		return NULL;
	return head;
}

/*
 * By flag numbers where the kernel's own test could panic on what it does not expect.
 * Those that look the head up anew find a struct page, whatever happens: no user of the
 * word sets its lowest bit but tails.
 */
static enum census_kind kind_of(struct page *page)
{
	const struct census_page facts = {
		.free = PageBuddy(page),
		.reserved = test_bit(PG_reserved, lmm_page_flags(page)),
		.broken = PageHWPoison(page),
		.offline = PageOffline(page),
		.slab = PageSlab(page),
		.table = PageTable(page),
		.hugetlb = PageHuge(page),
		.lru = test_bit(PG_lru, lmm_page_flags(page)),
		/* A page of the swap cache has no mapping before it is mapped. */
		.mapped = READ_ONCE(page->mapping) || test_bit(PG_swapbacked, lmm_page_flags(page)),
		.held = page_ref_count(page),
	};

	return pageblock_census_page_kind(&facts);
}

/* What is the page, and how many from it on are the same? */
static struct pageblock_run run_from(struct page *page, unsigned long pfn)
{
	struct page *head = facts_page(page, pfn);
	struct pageblock_run run = { pfn + 1, CENSUS_LOOSE };

	if (!head)
		return run;
	run.kind = kind_of(head);
	if (head != page)
		return run;
	if (run.kind == CENSUS_FREE)
		run.end = pfn + order_pages(pfn, READ_ONCE(page->private), BUDDY_ORDERS);
	else if (test_bit(PG_head, lmm_page_flags(page)))
		run.end = pfn + order_pages(pfn, compound_order(page), COMPOUND_ORDERS);
	return run;
}

static bool page_is_of(const struct page *page, struct zone *zone)
{
	return !PagePoisoned(page) && page_to_nid(page) == zone_to_nid(zone) &&
	       page_zonenum(page) == zone_idx(zone);
}

static enum census_type block_type(const struct page *page, unsigned long pfn)
{
	unsigned long type = lmm_block_type(KCALL(block_flags), page, pfn);

	/* The kernel writes no other; there is room for some. */
	return type_of[min_t(unsigned long, type, MIGRATE_TYPES - 1)];
}

/* Memory is online, or not, by the subsection. */
static unsigned long subsection_end(unsigned long pfn)
{
	return ALIGN(pfn + 1, PAGES_PER_SUBSECTION);
}

/**
 * pageblock_inspect() - what is in a block?
 * @zone: of which only pages count
 * @pfn: number of its first page
 * @end: number of the first page after it
 * @run: what earlier blocks have told of, as one free or compound page may be larger
 *	than a block; updated; all zero for none
 * @block: to add what it holds to
 *
 * Context: process, pageblock_inspect_possible() has been called, memory does not go offline.
 * Return: is any of it memory of the zone?  Only then has the block a type.
 */
bool pageblock_inspect(struct zone *zone, unsigned long pfn, unsigned long end,
		       struct pageblock_run *run, struct census_block *block)
{
	struct page *page = NULL;
	bool found = false;

	while (pfn < end) {
		unsigned long next = pfn + 1;

		if (!page)
			page = pfn_to_online_page(pfn);
		if (!page) {
			pfn = min(end, subsection_end(pfn));
			continue;
		}
		if (page_is_of(page, zone)) {
			if (!found)
				block->type = block_type(page, pfn);
			found = true;
			if (run->end <= pfn)
				*run = run_from(page, pfn);
			next = min(end, run->end);
			census_block_add(block, run->kind, next - pfn);
			block->huge |= next - pfn == pageblock_nr_pages;
		}
		page = next < subsection_end(pfn) ? page + (next - pfn) : NULL;
		pfn = next;
	}
	return found;
}

/**
 * pageblock_inspect_possible() - make sure that blocks can be looked at
 *
 * Context: process, control mutex held.
 * Return: false if not: a hook is not there.
 */
bool pageblock_inspect_possible(void)
{
	return lmm_hook_available(LMM_HOOK_BLOCK_FLAGS);
}
