// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_census.c - what a page is, and what that makes of its block
 *
 * See core_census.h.  Pure: no kernel state, no lock, no clock.
 */
#include <linux/bits.h>
#include <linux/math64.h>

#include "core_census.h"

/* Kinds that can neither be moved nor are free. */
#define KERNEL	(BIT(CENSUS_SLAB) | BIT(CENSUS_TABLE) | BIT(CENSUS_OTHER))

/*
 * Kinds that a block of a type is not for.
 *
 * Slab is at home in an unmovable block only if it cannot be shrunk.  Whose slab a page
 * is cannot be read without a reference to the page, as the cache may go meanwhile, so
 * all of it counts as at home there.
 *
 * What the owner of CMA memory has taken out of it looks like any other page of the
 * kernel, and is what the block is for.  A block is isolated to be emptied: what cannot
 * be moved stands in the way.
 */
static const unsigned int foreign_kinds[CENSUS_NR_TYPES] = {
	[CENSUS_TYPE_UNMOVABLE] = BIT(CENSUS_MOVABLE),
	[CENSUS_TYPE_MOVABLE] = KERNEL,
	[CENSUS_TYPE_RECLAIMABLE] = BIT(CENSUS_MOVABLE) | BIT(CENSUS_TABLE) | BIT(CENSUS_OTHER),
	[CENSUS_TYPE_HIGHATOMIC] = BIT(CENSUS_MOVABLE),
	[CENSUS_TYPE_CMA] = BIT(CENSUS_SLAB) | BIT(CENSUS_TABLE),
	[CENSUS_TYPE_ISOLATE] = KERNEL,
};

/**
 * pageblock_census_page_kind() - what is a page?
 * @page: facts about it
 *
 * The order matters: a page that the hypervisor has may be one that can be moved (a
 * balloon), a page of hugetlb's pool has no reference, one that leaves the LRU list
 * drops its reference before its mark, and a page without a reference may still have
 * the mapping it had.
 *
 * Context: any; pure.
 * Return: the kind.
 */
enum census_kind pageblock_census_page_kind(const struct census_page *page)
{
	if (page->broken || page->reserved)
		return CENSUS_RESERVED;
	if (page->free)
		return CENSUS_FREE;
	if (page->slab)
		return CENSUS_SLAB;
	if (page->table)
		return CENSUS_TABLE;
	if (page->hugetlb || page->lru || (page->mapped && page->held))
		return CENSUS_MOVABLE;
	if (page->offline)
		return CENSUS_RESERVED;
	return page->held ? CENSUS_OTHER : CENSUS_LOOSE;
}

/**
 * pageblock_census_foreign() - is a block of this type not for pages of this kind?
 * @type: of the block
 * @kind: of the page
 *
 * Context: any; pure.
 * Return: true if one such page makes it mixed.
 */
bool pageblock_census_foreign(enum census_type type, enum census_kind kind)
{
	return foreign_kinds[type] & BIT(kind);
}

/**
 * pageblock_census_kernel_pages() - how many can neither be moved nor are free?
 * @pages: number of each kind
 *
 * Context: any; pure.
 * Return: the number; without what was reserved, which nobody allocated.
 */
u64 pageblock_census_kernel_pages(const u64 pages[CENSUS_NR_KINDS])
{
	return pages[CENSUS_SLAB] + pages[CENSUS_TABLE] + pages[CENSUS_OTHER];
}

/**
 * pageblock_census_block_class() - what has a block come to?
 * @block: with all its pages added
 * @whole: pages of a block; one at the edge of a zone, or of memory, has fewer
 *
 * One that can never become a whole free block is not neutral, however free it is.
 *
 * Context: any; pure.
 * Return: its class.
 */
enum census_class pageblock_census_block_class(const struct census_block *block, u64 whole)
{
	u64 pages = 0;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++) {
		if (block->pages[kind] && pageblock_census_foreign(block->type, kind))
			return CENSUS_MIXED;
		pages += block->pages[kind];
	}
	if (block->pages[CENSUS_RESERVED] == pages)
		return CENSUS_ABSENT;
	return block->pages[CENSUS_FREE] == whole ? CENSUS_NEUTRAL : CENSUS_PURE;
}

/**
 * pageblock_census_row_add() - a block is done
 * @row: the sum for its type
 * @block: the block
 * @whole: as for pageblock_census_block_class()
 *
 * Context: any; pure.
 */
void pageblock_census_row_add(struct census_row *row, const struct census_block *block, u64 whole)
{
	int kind;

	row->blocks++;
	row->class[pageblock_census_block_class(block, whole)]++;
	if (pageblock_census_kernel_pages(block->pages))
		row->held++;
	for (kind = 0; kind < CENSUS_NR_KINDS; kind++) {
		row->pages[kind] += block->pages[kind];
		if (pageblock_census_foreign(block->type, kind))
			row->foreign[kind] += block->pages[kind];
	}
}

/**
 * pageblock_census_row_sum() - add one sum to another
 * @sum: is added to
 * @row: what is added
 *
 * Context: any; pure.
 */
void pageblock_census_row_sum(struct census_row *sum, const struct census_row *row)
{
	int i;

	sum->blocks += row->blocks;
	sum->held += row->held;
	for (i = 0; i < CENSUS_NR_CLASSES; i++)
		sum->class[i] += row->class[i];
	for (i = 0; i < CENSUS_NR_KINDS; i++) {
		sum->pages[i] += row->pages[i];
		sum->foreign[i] += row->foreign[i];
	}
}

/* Tenths of a percent, rounded; 0 of nothing. */
static u32 share(u64 part, u64 all)
{
	return all ? div64_u64(part * 1000 + all / 2, all) : 0;
}

/**
 * pageblock_census_memory_share() - how much of the memory do unmovable pages take?
 * @row: the sum
 *
 * Of what the allocator has: pages that were reserved are in neither part.
 *
 * Context: any; pure.
 * Return: tenths of a percent.
 */
u32 pageblock_census_memory_share(const struct census_row *row)
{
	u64 all = 0;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
		if (kind != CENSUS_RESERVED)
			all += row->pages[kind];
	return share(pageblock_census_kernel_pages(row->pages), all);
}

/**
 * pageblock_census_block_share() - in how many of the blocks do they sit?
 * @row: the sum
 *
 * Of those in which the allocator has anything.
 *
 * Context: any; pure.
 * Return: tenths of a percent.
 */
u32 pageblock_census_block_share(const struct census_row *row)
{
	return share(row->held, row->blocks - row->class[CENSUS_ABSENT]);
}
