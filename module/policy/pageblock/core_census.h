/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_census.h - what a page is, and what that makes of its block
 *
 * The kernel groups pages by mobility, a type a block.  A page of another kind in a
 * block is what keeps a huge page from being made of it: the census counts them.
 *
 * Pure: no kernel state, no lock, no clock, no struct page.  Pages and blocks
 * everywhere, in 64 bits: no machine has so many that a sum or a share overflows.
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H
#define LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H

#include <linux/types.h>

/**
 * enum census_kind - what a page is
 * @CENSUS_FREE: free, in the buddy
 * @CENSUS_LOOSE: nobody holds it, and the buddy does not have it: in a per-CPU list,
 *	or on its way; also all but the first of several kernel pages that were
 *	allocated as one and not as a compound page, which look the same
 * @CENSUS_MOVABLE: can be moved: on an LRU list or on its way to or from one, of
 *	hugetlb, or movable without being on an LRU list
 * @CENSUS_SLAB: of slab, reclaimable or not
 * @CENSUS_TABLE: page table
 * @CENSUS_OTHER: any other page that somebody holds: the kernel
 * @CENSUS_RESERVED: never was the allocator's, or is lost to it: reserved at boot,
 *	broken, lent to the hypervisor
 * @CENSUS_NR_KINDS: number of the above
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
 * @CENSUS_NR_TYPES: number of the above
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
 * enum census_class - what a block has come to
 * @CENSUS_PURE: in use, by nothing but what its type is for
 * @CENSUS_MIXED: it holds a page that its type is not for
 * @CENSUS_NEUTRAL: all of it is free
 * @CENSUS_ABSENT: nothing of it is the allocator's
 * @CENSUS_NR_CLASSES: number of the above
 */
enum census_class {
	CENSUS_PURE,
	CENSUS_MIXED,
	CENSUS_NEUTRAL,
	CENSUS_ABSENT,
	CENSUS_NR_CLASSES
};

/**
 * struct census_page - facts about a page, or about the compound page it is of
 * @free: the buddy has it
 * @reserved: the kernel took it at boot, or there is no memory behind it
 * @broken: hardware has failed
 * @offline: lent to the hypervisor
 * @slab: of slab
 * @table: page table
 * @hugetlb: of hugetlb, in use or in its pool
 * @lru: on an LRU list
 * @mapped: belongs to a file, to anonymous memory, or to a driver that can move it
 * @held: somebody has a reference
 *
 * Read one by one from a page that may change hands meanwhile, so any combination may
 * come up.
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
 * struct census_block - one block while it is looked at
 * @type: what it is for
 * @pages: how many of each kind it holds
 * @huge: it is, or is of, one page that is as large
 */
struct census_block {
	enum census_type type;
	u64 pages[CENSUS_NR_KINDS];
	bool huge;
};

/**
 * struct census_row - sum over blocks of one type
 * @blocks: how many
 * @class: how many of each class
 * @held: those with a page that can neither be moved nor is free: a kernel page
 * @pages: how many of each kind
 * @foreign: those of them that make their block mixed
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
u64 pageblock_census_kernel_pages(const u64 pages[CENSUS_NR_KINDS]);
u32 pageblock_census_memory_share(const struct census_row *row);
u32 pageblock_census_block_share(const struct census_row *row);

/**
 * census_block_add() - pages of a kind are in a block
 * @block: the block
 * @kind: what they are
 * @pages: how many
 *
 * Context: any; pure.
 */
static inline void census_block_add(struct census_block *block, enum census_kind kind,
				    u64 pages)
{
	block->pages[kind] += pages;
}

#endif /* LIVEMM_POLICY_PAGEBLOCK_CORE_CENSUS_H */
