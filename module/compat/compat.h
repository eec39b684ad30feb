/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between the kernels that livemm runs on
 *
 * The only place that knows kernel versions.  Everywhere else asks for a capability by name.  A
 * version decides only what no macro of the headers, and no alternative in hook/rows.h, tells.
 * Prototypes that differ are here as lists of arguments, for hook/rows.h.  A function that is
 * inlined away shows at run time: verification finds such a difference on the running kernel.
 */
#ifndef LIVEMM_COMPAT_COMPAT_H
#define LIVEMM_COMPAT_COMPAT_H

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/spinlock.h>
#include <linux/version.h>

/*
 * The kernel tunes pcp->high itself, between high_min and high_max; before, pcp->high was set once
 * from zone->pageset_high, a burst of frees with one block of order 1 to 3 emptied the whole list,
 * and a page on a list kept its migratetype.
 * Upstream 90b41691b988 ("mm: add framework for PCP high auto-tuning"), ca71fe1ad922 ("mm, pcp:
 * avoid to drain PCP when process exit"), which has the macro, and 17edeb5d3f76 ("mm: page_alloc:
 * remove pcppage migratetype caching"), 6.7.
 */
#ifdef PCPF_PREV_FREE_HIGH_ORDER
#define LMM_TUNES_LISTS		1
#else
#define LMM_TUNES_LISTS		0
#endif
#define LMM_DRAINS_LIST_AT_EXIT	(!LMM_TUNES_LISTS)

/*
 * A kernel without this flag is older than 6.1.72.  Before 6.1.57 whoever took pcp->lock had to
 * have interrupts off.
 * Upstream 0201ebf274a3 ("mm: merge folio_has_private()/filemap_release_folio() call pairs"), 6.6
 * and 6.1.72; 574907741599 ("mm/page_alloc: leave IRQs enabled for per-cpu page allocations"), 6.2
 * and 6.1.57.
 */
static_assert(AS_RELEASE_ALWAYS > 0);

/*
 * A free drains a list in parts of a batch, each under a hold of zone->lock of its own.
 * Upstream "mm/page_alloc: batch page freeing in free_frozen_page_commit", 6.19.
 */
#define LMM_DRAINS_IN_PARTS	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0))

/*
 * The functions that set up direct calls at an ftrace site by ops have these names.
 * Upstream da8bdfbd4223 ("ftrace: Rename _ftrace_direct_multi APIs to _ftrace_direct
 * APIs") and 59495740f71f ("ftrace: Let unregister_ftrace_direct_multi() call
 * ftrace_free_filter()"), 6.4.
 */
#if LMM_HAS_DIRECT_MULTI
#define lmm_direct_register(ops, addr)		register_ftrace_direct_multi(ops, addr)
#define lmm_direct_unregister(ops, addr)	unregister_ftrace_direct_multi(ops, addr)
#else
#define lmm_direct_register(ops, addr)		register_ftrace_direct(ops, addr)
#define lmm_direct_unregister(ops, addr)	unregister_ftrace_direct(ops, addr, false)
#endif

/*
 * An ftrace callback finds the registers inside struct ftrace_regs.  Since 6.13, and in 6.12 by
 * way of stable, only a macro reaches the registers.
 * Upstream 7888af4166d4 ("ftrace: Make ftrace_regs abstract from direct use"), 6.13.
 */
#ifdef arch_ftrace_regs
#define lmm_ftrace_pt_regs(fregs)	(&arch_ftrace_regs(fregs)->regs)
#else
#define lmm_ftrace_pt_regs(fregs)	(&(fregs)->regs)
#endif

/*
 * The highest order of a free block.  MAX_ORDER was the highest order plus 1; from 6.4 to 6.7,
 * which no supported kernel is, MAX_ORDER was the highest order.
 * Upstream 5e0a760b4441 ("mm, treewide: rename MAX_ORDER to MAX_PAGE_ORDER"), 6.8.
 */
#ifdef MAX_PAGE_ORDER
#define LMM_MAX_ORDER	MAX_PAGE_ORDER
#else
#define LMM_MAX_ORDER	(MAX_ORDER - 1)
#endif

/*
 * Flags of an allocation inside the allocator: the watermark that applies (enum zone_watermarks),
 * and the reserves that may be used.  These are macros of mm/internal.h, which neither headers nor
 * BTF have.  They are the same in Debian's 6.1.192, 6.12.117 and 7.2.12; lint compares them with
 * the sources that are there, and hook/release.h takes Debian's kernels alone.
 */
#define LMM_ALLOC_WMARK_MASK	0x03
#define LMM_ALLOC_NO_WATERMARKS	0x04
#define LMM_ALLOC_OOM		0x08
#define LMM_ALLOC_CPUSET	0x40
#define LMM_ALLOC_CMA		0x80
#define LMM_ALLOC_NOFRAGMENT	0x100
#define LMM_ALLOC_HIGHATOMIC	0x200

/*
 * A request of order 0 that does not reclaim and has this flag may go down to the min watermark
 * without the boost; since 6.3, to half of the min watermark (ALLOC_MIN_RESERVE).
 * Upstream 2973d8229b78 ("mm: discard __GFP_ATOMIC"), 6.3.
 */
#ifdef __GFP_ATOMIC
#define LMM_GFP_PAST_BOOST	__GFP_ATOMIC
#else
#define LMM_GFP_PAST_BOOST	__GFP_HIGH
#endif

/* The migratetype of CMA memory; without CONFIG_CMA there is none. */
#ifdef CONFIG_CMA
#define LMM_MIGRATE_CMA		MIGRATE_CMA
#else
#define LMM_MIGRATE_CMA		(-1)
#endif

/*
 * Compaction keeps the free pages that it has isolated in a list an order.  The macro came just
 * before; COPY() of hook/verify.c has the last word.
 * Upstream 733aea0b3a7b ("mm/compaction: add support for >0 order folio memory
 * compaction."), 6.9.
 */
#ifdef NR_PAGE_ORDERS
#define LMM_COMPACT_LISTS	NR_PAGE_ORDERS
#else
#define LMM_COMPACT_LISTS	1
#endif

/* The state of a compaction, up to the last member that we read (mm/internal.h). */
struct compact_control {
	struct list_head freepages[LMM_COMPACT_LISTS];
	struct list_head migratepages;
	unsigned int nr_pages[2];
	unsigned long pfn[3];
	struct zone *zone;
};

/*
 * The state of a request for pages inside the allocator (mm/internal.h), up to the last
 * member that we read, the same from 6.1 to 7.2.
 */
struct alloc_context {
	struct zonelist *zonelist;
	void *nodemask;
	struct zoneref *preferred_zoneref;
	int migratetype;
};

/*
 * Migration takes functions that allocate and free folios; before, pages.  folio_isolate_lru()
 * returns whether the folio was taken off its LRU list; before, an errno.  Verification refuses the
 * kernels that have one and not the other.
 * Upstream 4e096ae1801e ("mm: convert migrate_pages() to work on folios"), 6.5, and be2d57563822
 * ("mm: change to return bool for folio_isolate_lru()"), 6.3.
 */
#if LMM_HAS_NEW_FOLIO
#define LMM_MIGRATE_ARGS \
	struct list_head *from, new_folio_t *get_new_folio, free_folio_t *put_new_folio, \
	long unsigned int private, enum migrate_mode mode, int reason, \
	unsigned int *ret_succeeded
#define lmm_moved	folio
#define lmm_isolated_t	bool
#define lmm_isolated(ret)	(ret)
#else
#define LMM_MIGRATE_ARGS \
	struct list_head *from, new_page_t *get_new_page, free_page_t *put_new_page, \
	long unsigned int private, enum migrate_mode mode, int reason, \
	unsigned int *ret_succeeded
#define lmm_moved	page
#define lmm_isolated_t	int
#define lmm_isolated(ret)	(!(ret))
#endif

/*
 * A larger folio can be moved as a whole: the kernel allocates a folio to move to by the same
 * function as for a fault.  Before, a huge page needed a preparation that modules cannot call, and
 * other larger folios of anonymous memory did not exist.
 * Upstream 19eaf44954df ("mm: thp: support allocation of anonymous multi-size THP"), 6.8.
 */
#ifdef THP_ORDERS_ALL_ANON
#define LMM_MOVES_LARGE		1
#else
#define LMM_MOVES_LARGE		0
#endif

/*
 * The search for a fallback returns whether it found a type, and stores the type by its last
 * argument; before, the search returned the type or -1, and stored whether the whole block may
 * be claimed.  The allocator searches first for a block to claim, then for a block to split.
 * Compaction also searches for a block to claim, on 7.2 with NULL for the type.
 * Upstream 90abee6d7895 ("mm: page_alloc: speed up fallbacks in rmqueue_bulk()"), 6.15, made
 * two searches of one.  mm/internal.h of 7.2 has enum fallback_result; the commit that brought the
 * enum was not found.  Kernels in between have another prototype, which verification refuses.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
/* The values of mm/internal.h. */
enum fallback_result {
	LMM_FALLBACK_FOUND,
	LMM_FALLBACK_NONE,
};

#define LMM_FALLBACK_RETURN		enum fallback_result
#define LMM_FALLBACK_ARGS \
	struct free_area *area, unsigned int order, int migratetype, bool claimable, int *mt_out
#define lmm_fallback_detail_t		int
#define LMM_FALLBACK_TELLS_TYPE		1
#define LMM_FALLBACK_VALUES \
	VALUE(find_suitable_fallback, fallback_result, FALLBACK_FOUND, LMM_FALLBACK_FOUND), \
	VALUE(find_suitable_fallback, fallback_result, FALLBACK_EMPTY, LMM_FALLBACK_NONE),
#else
#define LMM_FALLBACK_RETURN		int
#define LMM_FALLBACK_ARGS \
	struct free_area *area, unsigned int order, int migratetype, bool only_stealable, \
	bool *can_steal
#define lmm_fallback_detail_t		bool
#define LMM_FALLBACK_NONE		(-1)
#define LMM_FALLBACK_TELLS_TYPE		0
#define LMM_FALLBACK_VALUES
#endif

/**
 * lmm_fallback_type() - the migratetype that a search for a fallback has found
 * @ret: return value of the search
 * @detail: last argument of the search, or NULL
 *
 * Context: any.
 * Return: the type; any fallback type if the search was not asked for the type; -1 for none.
 */
static inline int lmm_fallback_type(LMM_FALLBACK_RETURN ret, const lmm_fallback_detail_t *detail)
{
	if (!LMM_FALLBACK_TELLS_TYPE)
		return ret;
	if (ret)
		return -1;
	return detail ? *detail : 0;
}

/**
 * lmm_fallback_compacts() - is the search made by compaction, which may stop if it succeeds?
 * @claimable: the search is for a block to claim
 * @detail: as lmm_fallback_type()
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool lmm_fallback_compacts(bool claimable, const lmm_fallback_detail_t *detail)
{
	return claimable && (!LMM_FALLBACK_TELLS_TYPE || !detail);
}

/**
 * lmm_fallback_part() - have the kernel split a block rather than claim the block
 * @ret: return value of the search
 * @claimable: the search is for a block to claim
 * @detail: as lmm_fallback_type(); not of a search by compaction
 *
 * A kernel with two searches goes on to the search for a block to split.
 *
 * Context: any.
 * Return: the value that the wrapper returns in place of @ret.
 */
static inline LMM_FALLBACK_RETURN lmm_fallback_part(LMM_FALLBACK_RETURN ret, bool claimable,
						    lmm_fallback_detail_t *detail)
{
	if (LMM_FALLBACK_TELLS_TYPE)
		return claimable ? LMM_FALLBACK_NONE : ret;
	*detail = false;
	return ret;
}

/*
 * Every free page is on the list of the migratetype of its pageblock; before, only pages of CMA
 * memory and of isolated blocks were.
 * Upstream e0932b6c1f94 ("mm: page_alloc: consolidate free page accounting"), 6.10.
 */
#define LMM_FREE_LISTS_MATCH_BLOCKS	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0))

/*
 * A small movable request takes pages of another type's block without a boost of the watermarks.
 * Upstream c2f6ea38fc1b ("mm: page_alloc: don't steal single pages from biggest buddy"), 6.15, and
 * 6.12 by way of stable.
 */
#define LMM_SMALL_STEALS		LMM_FREE_LISTS_MATCH_BLOCKS

/*
 * get_pfnblock_migratetype() reads the type of a pageblock; before, the caller gave a mask of the
 * pageblock's flags.
 * Upstream 42f46ed99ac6 ("mm/page_alloc: pageblock flags functions clean up"), 6.17.
 */
#ifndef MIGRATETYPE_MASK
#define LMM_BLOCK_TYPE_SYMBOL	get_pfnblock_migratetype
#define LMM_BLOCK_TYPE_RETURN	enum migratetype
#define LMM_BLOCK_TYPE_ARGS	const struct page *page, long unsigned int pfn
#define lmm_block_type(call, page, pfn)	call(page, pfn)
#else
#define LMM_BLOCK_TYPE_SYMBOL	get_pfnblock_flags_mask
#define LMM_BLOCK_TYPE_RETURN	long unsigned int
#define LMM_BLOCK_TYPE_ARGS \
	const struct page *page, long unsigned int pfn, long unsigned int mask
#define lmm_block_type(call, page, pfn)	call(page, pfn, MIGRATETYPE_MASK)
#endif

/*
 * A pageblock keeps its migratetype while the block is isolated; before, the caller said which
 * type the block gets afterwards.
 * Upstream 7a3324eb66f6 ("mm/page_isolation: remove migratetype from
 * undo_isolate_page_range()") and d1554fb63020 ("mm/page_isolation: remove migratetype
 * parameter from more functions"), 6.17.
 */
#ifndef MIGRATETYPE_MASK
#define LMM_ISOLATE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, enum pb_isolate_mode mode
#define LMM_RELEASE_ARGS	long unsigned int start_pfn, long unsigned int end_pfn
#define lmm_block_isolate(call, pfn, end)	call(pfn, end, PB_ISOLATE_MODE_OTHER)
#define lmm_block_release(call, pfn, end, type)	call(pfn, end)
#else
#define LMM_ISOLATE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, int migratetype, int flags, \
	gfp_t gfp_flags
#define LMM_RELEASE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, int migratetype
#define lmm_block_isolate(call, pfn, end)	call(pfn, end, MIGRATE_MOVABLE, 0, GFP_NOWAIT)
#define lmm_block_release(call, pfn, end, type)	call(pfn, end, type)
#endif

/*
 * Pages that only atomic requests of a high order may use: the free pages of the blocks that are
 * kept for these; before, all pages of these blocks.
 * Upstream c928807f6f6b ("mm/page_alloc: keep track of free highatomic"), 6.13, and 6.12 by way of
 * stable.
 */
static inline unsigned long lmm_zone_highatomic(const struct zone *zone)
{
#if LMM_HAS_FREE_HIGHATOMIC
	return READ_ONCE(zone->nr_free_highatomic);
#else
	return READ_ONCE(zone->nr_reserved_highatomic);
#endif
}

/*
 * The low bits of a page's mapping that are flags.
 * Upstream df25569d401e ("mm: rename PAGE_MAPPING_* to FOLIO_MAPPING_*"), 6.17.
 */
#ifdef FOLIO_MAPPING_FLAGS
#define LMM_MAPPING_FLAGS	FOLIO_MAPPING_FLAGS
#else
#define LMM_MAPPING_FLAGS	PAGE_MAPPING_FLAGS
#endif

/*
 * The flags of a page; since 53fbef56e07d ("mm: introduce memdesc_flags_t", 6.18) a struct of one
 * word.
 */
#define lmm_page_flags(page)	((unsigned long *)&(page)->flags)
static_assert(sizeof_field(struct page, flags) == sizeof(unsigned long));

/*
 * The tracepoint at the end of a CMA allocation also fires for an allocation of more pages than the
 * area has.
 * Upstream c009da4258f9 ("mm, cma: support multiple contiguous ranges, if requested"), 6.15.
 */
#define LMM_CMA_ENDS_ALWAYS	LMM_HAS_CMA_PIECES

/*
 * A CMA area may have several ranges.  struct cma (mm/cma.h) up to the last member that we read; in
 * the bitmap a bit stands for 2^order_per_bit pages that an owner has.
 * Upstream c009da4258f9 ("mm, cma: support multiple contiguous ranges, if requested"), 6.15.
 */
#define LMM_HAS_CMA_PIECES	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))
#if LMM_HAS_CMA_PIECES
struct cma_memrange {
	unsigned long base_pfn;
	unsigned long count;
	unsigned long *bitmap;
};

struct cma {
	unsigned long count;
	unsigned long available_count;
	unsigned int order_per_bit;
	spinlock_t lock;	/* the bitmaps */
	struct mutex alloc_mutex;	/* isolation of blocks, one owner at a time */
#ifdef CONFIG_CMA_DEBUGFS
	struct hlist_head mem_head;
	spinlock_t mem_head_lock;	/* protects mem_head */
#endif
	char name[64];
	int nranges;
	struct cma_memrange ranges[1];
};

#define LMM_CMA_COPIES \
	COPY(cma_for_each_area, cma, count), \
	COPY(cma_for_each_area, cma, order_per_bit), \
	COPY(cma_for_each_area, cma, name), \
	COPY(cma_for_each_area, cma, nranges), \
	COPY(cma_for_each_area, cma, ranges), \
	COPY(cma_for_each_area, cma_memrange, base_pfn), \
	COPY(cma_for_each_area, cma_memrange, bitmap),
#define lmm_cma_pieces(area)	((area)->nranges)
#define lmm_cma_start(area)	((area)->ranges[0].base_pfn)
#define lmm_cma_bitmap(area)	((area)->ranges[0].bitmap)
#else
struct cma {
	unsigned long base_pfn;
	unsigned long count;
	unsigned long *bitmap;
	unsigned int order_per_bit;
	spinlock_t lock;	/* the bitmap */
#ifdef CONFIG_CMA_DEBUGFS
	struct hlist_head mem_head;
	spinlock_t mem_head_lock;	/* protects mem_head */
	struct debugfs_u32_array dfs_bitmap;
#endif
	char name[64];
};

#define LMM_CMA_COPIES \
	COPY(cma_for_each_area, cma, base_pfn), \
	COPY(cma_for_each_area, cma, count), \
	COPY(cma_for_each_area, cma, bitmap), \
	COPY(cma_for_each_area, cma, order_per_bit), \
	COPY(cma_for_each_area, cma, name),
#define lmm_cma_pieces(area)	1
#define lmm_cma_start(area)	((area)->base_pfn)
#define lmm_cma_bitmap(area)	((area)->bitmap)
#endif

/*
 * The workqueue for work that may run on any CPU; a kernel from 6.17 on warns of the old name, and
 * 6.12 has the new one too, by way of stable.
 * Upstream 128ea9f6ccfb ("workqueue: Add system_percpu_wq and system_dfl_wq"), 6.17.
 */
#if LMM_HAS_DFL_WQ
#define lmm_unbound_wq		system_dfl_wq
#else
#define lmm_unbound_wq		system_unbound_wq
#endif

/*
 * Timers.
 * Upstream 9779489a31d7 ("hrtimers: Delete hrtimer_init()"), 6.15.
 */
#if LMM_HAS_HRTIMER_SETUP
#define lmm_hrtimer_setup(timer, handler, clock, mode) \
	hrtimer_setup(timer, handler, clock, mode)
#else
#define lmm_hrtimer_setup(timer, handler, clock, mode) ({	\
	struct hrtimer *_timer = (timer);			\
								\
	hrtimer_init(_timer, clock, mode);			\
	_timer->function = (handler);				\
})
#endif

/*
 * __assign_str() takes the destination only.
 * Upstream 2c92ca849fcc ("tracing/treewide: Remove second parameter of
 * __assign_str()"), 6.10.
 */
#if LMM_HAS_ASSIGN_FROM
#define lmm_assign_str(dst, src)	__assign_str(dst, src)
#else
#define lmm_assign_str(dst, src)	__assign_str(dst)
#endif

#endif /* LIVEMM_COMPAT_COMPAT_H */
