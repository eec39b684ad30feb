/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_census.h - kinds of pages, and classes of blocks
 *
 * The kernel groups pages by mobility: each block has a type.  A page of another kind in a block
 * prevents a huge page there.  The census counts such pages.
 *
 * Pure: no kernel state, lock, clock or struct page.  No machine has so many pages that a sum or
 * a share overflows 64 bits.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H

#include <linux/types.h>

/**
 * enum census_kind - what a page is
 * @CENSUS_FREE: free, in the buddy
 * @CENSUS_LOOSE: without a reference and not in the buddy: in a per-CPU list or on its way; the
 *	tail pages of a kernel allocation of a higher order that is no compound page look the same
 * @CENSUS_MOVABLE: can be moved: on an LRU list or on its way to or from one, of hugetlb, or
 *	movable without being on an LRU list
 * @CENSUS_SLAB: of slab, reclaimable or not
 * @CENSUS_TABLE: page table
 * @CENSUS_OTHER: any other page with a reference: kernel memory
 * @CENSUS_RESERVED: not the allocator's: reserved at boot, broken, or lent to the hypervisor
 * @CENSUS_NR_KINDS: number of kinds
 */
enum census_kind {
	CENSUS_FREE,
	CENSUS_LOOSE,
	CENSUS_MOVABLE,
	CENSUS_SLAB,
	CENSUS_TABLE,
	CENSUS_OTHER,
	CENSUS_RESERVED,
	CENSUS_NR_KINDS
};

/**
 * enum census_type - what a block is for
 * @CENSUS_TYPE_UNMOVABLE: kernel memory
 * @CENSUS_TYPE_MOVABLE: memory that can be moved
 * @CENSUS_TYPE_RECLAIMABLE: slab that can be shrunk
 * @CENSUS_TYPE_HIGHATOMIC: kept for atomic requests of more than a page
 * @CENSUS_TYPE_CMA: lent by a driver for movable memory
 * @CENSUS_TYPE_ISOLATE: being emptied
 * @CENSUS_NR_TYPES: number of types
 */
enum census_type {
	CENSUS_TYPE_UNMOVABLE,
	CENSUS_TYPE_MOVABLE,
	CENSUS_TYPE_RECLAIMABLE,
	CENSUS_TYPE_HIGHATOMIC,
	CENSUS_TYPE_CMA,
	CENSUS_TYPE_ISOLATE,
	CENSUS_NR_TYPES
};

/**
 * enum census_class - state of a block
 * @CENSUS_PURE: in use, only by pages that its type is for
 * @CENSUS_MIXED: holds a page that its type is not for
 * @CENSUS_NEUTRAL: wholly free
 * @CENSUS_ABSENT: no page of the block is the allocator's
 * @CENSUS_NR_CLASSES: number of classes
 */
enum census_class {
	CENSUS_PURE,
	CENSUS_MIXED,
	CENSUS_NEUTRAL,
	CENSUS_ABSENT,
	CENSUS_NR_CLASSES
};

/**
 * struct census_page - facts about a page, or about the head of its compound page
 * @free: in the buddy
 * @reserved: taken by the kernel at boot, or without memory behind it
 * @broken: its hardware has failed
 * @offline: lent to the hypervisor
 * @slab: of slab
 * @table: page table
 * @hugetlb: of hugetlb, in use or in the pool
 * @lru: on an LRU list
 * @mapped: of a file, of anonymous memory, or of a driver that can move it
 * @held: somebody has a reference
 *
 * The facts are read one by one while the page may change hands, so any combination may occur.
 */
struct census_page {
	bool free;
	bool reserved;
	bool broken;
	bool offline;
	bool slab;
	bool table;
	bool hugetlb;
	bool lru;
	bool mapped;
	bool held;
};

/**
 * struct census_block - content of a block
 * @type: type of the block
 * @pages: pages by kind
 * @huge: one free or compound page fills the block
 */
struct census_block {
	enum census_type type;
	u64 pages[CENSUS_NR_KINDS];
	bool huge;
};

/**
 * struct census_row - sum over blocks of a type
 * @blocks: number of blocks
 * @class: blocks by class
 * @held: blocks with a kernel page, which is neither movable nor free
 * @pages: pages by kind
 * @foreign: pages by kind that make their block mixed
 */
struct census_row {
	u64 blocks;
	u64 class[CENSUS_NR_CLASSES];
	u64 held;
	u64 pages[CENSUS_NR_KINDS];
	u64 foreign[CENSUS_NR_KINDS];
};

enum census_kind pageblock_census_page_kind(const struct census_page *page);
bool pageblock_census_foreign(enum census_type type, enum census_kind kind);
enum census_class pageblock_census_block_class(const struct census_block *block, u64 whole);
void pageblock_census_row_add(struct census_row *row, const struct census_block *block, u64 whole);
void pageblock_census_row_sum(struct census_row *sum, const struct census_row *row);
u64 pageblock_census_pages(const u64 pages[CENSUS_NR_KINDS]);
u64 pageblock_census_kernel_pages(const u64 pages[CENSUS_NR_KINDS]);
u32 pageblock_census_memory_share(const struct census_row *row);
u32 pageblock_census_block_share(const struct census_row *row);

/**
 * census_block_add() - add pages to a block
 * @block: the block
 * @kind: kind of the pages
 * @pages: number of pages
 */
static inline void census_block_add(struct census_block *block, enum census_kind kind, u64 pages)
{
	block->pages[kind] += pages;
}

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H */
