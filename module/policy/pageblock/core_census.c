// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_census.c - kinds of pages, and classes of blocks; see core_census.h
 */
#include <linux/bits.h>
#include <linux/math64.h>

#include "core_census.h"

/* Kinds of kernel pages: neither movable nor free. */
#define KERNEL	(BIT(CENSUS_SLAB) | BIT(CENSUS_TABLE) | BIT(CENSUS_OTHER))

/*
 * Kinds that do not belong in a block of a type.
 *
 * All slab counts as at home in an unmovable block.  Only slab that cannot be shrunk belongs
 * there, but a page's slab cache may be destroyed while we read it without a reference to the
 * page.
 *
 * What the owner of CMA memory has allocated counts as CENSUS_OTHER and belongs in a CMA block.
 * A block that is isolated shall be emptied: kernel pages do not belong there.
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
 * pageblock_census_page_kind() - the kind of a page
 * @page: facts about the page
 *
 * The order of the tests matters: a balloon page is offline and may be movable, a page in
 * hugetlb's pool has no reference, a page that leaves the LRU list drops its reference before its
 * LRU flag, and a page without a reference may still have its old mapping.
 *
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
 * pageblock_census_foreign() - do pages of a kind mix blocks of a type?
 * @type: type of the block
 * @kind: kind of the page
 *
 * Return: true if one such page makes the block mixed.
 */
bool pageblock_census_foreign(enum census_type type, enum census_kind kind)
{
	return foreign_kinds[type] & BIT(kind);
}

/**
 * pageblock_census_pages() - pages of all kinds
 * @pages: pages by kind
 *
 * Return: the number, with reserved pages.
 */
u64 pageblock_census_pages(const u64 pages[CENSUS_NR_KINDS])
{
	u64 all = 0;
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
		all += pages[kind];
	return all;
}

/**
 * pageblock_census_kernel_pages() - pages that are neither movable nor free
 * @pages: pages by kind
 *
 * Return: the number, without reserved pages, which nobody allocated.
 */
u64 pageblock_census_kernel_pages(const u64 pages[CENSUS_NR_KINDS])
{
	return pages[CENSUS_SLAB] + pages[CENSUS_TABLE] + pages[CENSUS_OTHER];
}

/**
 * pageblock_census_block_class() - the class of a block
 * @block: the block, with all its pages added
 * @whole: pages of a block; a block at the edge of a zone or of memory has fewer
 *
 * A free block of fewer pages is not neutral: it can never become a whole free block.
 *
 * Return: the class.
 */
enum census_class pageblock_census_block_class(const struct census_block *block, u64 whole)
{
	int kind;

	for (kind = 0; kind < CENSUS_NR_KINDS; kind++)
		if (block->pages[kind] && pageblock_census_foreign(block->type, kind))
			return CENSUS_MIXED;
	if (block->pages[CENSUS_RESERVED] == pageblock_census_pages(block->pages))
		return CENSUS_ABSENT;
	return block->pages[CENSUS_FREE] == whole ? CENSUS_NEUTRAL : CENSUS_PURE;
}

/**
 * pageblock_census_row_add() - add a block to a sum
 * @row: sum for the block's type
 * @block: the block, with all its pages added
 * @whole: pages of a block
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
 * @sum: sum that grows
 * @row: sum to add
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

/* In tenths of a percent, rounded; 0 if @all is 0. */
static u32 share(u64 part, u64 all)
{
	return all ? div64_u64(part * 1000 + all / 2, all) : 0;
}

/**
 * pageblock_census_memory_share() - share of kernel pages in the allocator's pages
 * @row: the sum
 *
 * Return: tenths of a percent; reserved pages count on neither side.
 */
u32 pageblock_census_memory_share(const struct census_row *row)
{
	u64 all = pageblock_census_pages(row->pages) - row->pages[CENSUS_RESERVED];

	return share(pageblock_census_kernel_pages(row->pages), all);
}

/**
 * pageblock_census_block_share() - share of blocks that hold a kernel page
 * @row: the sum
 *
 * Return: tenths of a percent; blocks without a page of the allocator do not count.
 */
u32 pageblock_census_block_share(const struct census_row *row)
{
	return share(row->held, row->blocks - row->class[CENSUS_ABSENT]);
}
