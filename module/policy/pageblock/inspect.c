// SPDX-License-Identifier: GPL-2.0-only
/*
 * inspect.c - what a pageblock holds, by its struct pages
 *
 * Only memory hotplug is locked, so a page may change hands under the walk.  Each field is read
 * once, and checked before it leads to another struct page or to a number of pages.  A race costs
 * a few pages counted wrongly, nothing else.
 *
 * The type of a block is read by the kernel's own function, whose prototype BTF vouches for: the
 * bits of the section's bitmap are the kernel's to change.  This costs a hook, and a call for
 * each block (512 pages).
 */
#include <linux/hugetlb.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pageblock-flags.h>
#include <linux/static_call.h>

#include "compat/compat.h"
#include "hook/kcall.h"
#include "core_reserve.h"
#include "inspect.h"
#include "knobs.h"
#include "policy/common/move.h"

/* Orders of the buddy; the kernel's name for their number differs between releases. */
#define BUDDY_ORDERS		ARRAY_SIZE(((struct zone *)NULL)->free_area)

/* Orders of compound pages; the largest are of hugetlb, mapped by a PUD. */
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

/* Pages of a block whose order was read without a lock; 1 if the order cannot be right. */
static unsigned long order_pages(unsigned long pfn, unsigned long order, unsigned int orders)
{
	if (order >= orders || !IS_ALIGNED(pfn, 1UL << order))
		return 1;
	return 1UL << order;
}

/*
 * The page that has the facts about @page: @page or its head.  NULL if @page was a tail and its
 * head is no longer where the head can have been.
 */
static struct page *facts_page(struct page *page, unsigned long pfn)
{
	struct page *head = compound_head(page);
	unsigned long bytes;

	if (head == page)
		return page;
	bytes = (unsigned long)page - (unsigned long)head;
	/* With a head above @page, @bytes wraps around and is too large. */
	if (bytes % sizeof(*page) || bytes / sizeof(*page) >= 1UL << (COMPOUND_ORDERS - 1))
		return NULL;
	if (pfn_to_online_page(pfn - bytes / sizeof(*page)) != head || PagePoisoned(head))
		return NULL;
	return head;
}

/*
 * Tests the flag bits where the kernel's own test could panic on an unexpected page.  Tests that
 * look up the head again find a struct page: only tails set the lowest bit of that word.
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

/* The kind of a page, and how many pages from the page on are of the same kind. */
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

	/* The kernel stores no type from MIGRATE_TYPES on, but the bits have room for some. */
	return type_of[min_t(unsigned long, type, MIGRATE_TYPES - 1)];
}

/* Memory goes online and offline by subsections. */
static unsigned long subsection_end(unsigned long pfn)
{
	return ALIGN(pfn + 1, PAGES_PER_SUBSECTION);
}

/**
 * pageblock_inspect() - count the pages of a block by kind
 * @zone: only pages of this zone count
 * @pfn: first page frame number of the block
 * @end: page frame number after the block
 * @run: free or compound page that may reach into this block; updated; zeroed at first
 * @block: block to add the pages to
 *
 * Context: process, row BLOCK_FLAGS is available, memory does not go offline.
 * Return: true if some page is of the zone; only then the block has a type.
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

/* Are both ends of a block of the zone?  As compaction asks (pageblock_pfn_to_page()). */
static bool block_is_of(unsigned long pfn, struct zone *zone)
{
	const struct page *first = pfn_to_online_page(pfn);
	const struct page *last = pfn_to_online_page(pfn + pageblock_nr_pages - 1);

	return first && last && page_is_of(first, zone) && page_is_of(last, zone);
}

/**
 * pageblock_page_is_loose() - is a page that is on no LRU list free, in a list of a CPU?
 * @page: the page, which is not in the buddy
 *
 * Slab pages and tails may have no reference either.
 *
 * Context: any, memory does not go offline; a racy look.
 * Return: true if so.
 */
bool pageblock_page_is_loose(struct page *page)
{
	return !page_ref_count(page) && !PageTail(page) && !PageSlab(page) &&
	       !test_bit(PG_head, lmm_page_flags(page)) && READ_ONCE(page->page_type) + 1 == 0;
}

/* Pages of the folio that begins with a page that is not in the buddy; 0: the page stays. */
static unsigned int glance_pages(struct page *page)
{
	const struct lmm_page_facts facts = lmm_page_glance(page, PAGEBLOCK_FOLIO_ORDER);

	if (lmm_page_skip(&facts) == LMM_SKIP_NONE)
		return facts.pages;
	/* A page in a list may be in use again by the time of the move. */
	if (!facts.listed && pageblock_page_is_loose(page))
		return 1;
	lmm_count(&lmm_pageblock_policy, COUNT_SKIPPED, 1);
	return 0;
}

/**
 * pageblock_glance() - how many pages are to be moved to empty a block, as far as a glance tells?
 * @zone: zone of the block
 * @pfn: first page frame number of the block
 * @limit: number from which on the block is of no use
 *
 * Takes no reference and follows no mapping, so the block may turn out to have a page that stays.
 * Ends at the first page that a glance shows to stay, and at the limit.
 *
 * Context: process, row BLOCK_FLAGS is available, memory does not go offline; does not wait.
 * Return: the number, with pages in per-CPU lists; 0 if the block is no candidate, is wholly free,
 * or if the number is not below @limit.
 */
unsigned long pageblock_glance(struct zone *zone, unsigned long pfn, unsigned long limit)
{
	unsigned long end = pfn + pageblock_nr_pages, next, pages = 0;
	unsigned int more;
	struct page *page;

	/* A block lies within a section, or within some that are all online. */
	if (!block_is_of(pfn, zone) || block_type(pfn_to_page(pfn), pfn) != CENSUS_TYPE_MOVABLE)
		return 0;
	for (; pfn < end && pages < limit; pfn = next) {
		page = pfn_to_page(pfn);
		next = lmm_free_end(page, pfn);
		if (next != pfn)
			continue;
		more = glance_pages(page);
		if (!more)
			return 0;
		pages += more;
		next += more;
	}
	return pages < limit ? pages : 0;
}
