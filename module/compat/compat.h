/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between the kernels that livemm runs on
 *
 * The only place that knows kernel versions.  Everywhere else asks for a capability by name.
 * Prototypes that differ are here as lists of arguments, for hook/rows.h.  A function that is
 * inlined away shows at run time: verification finds such a difference on the running kernel.
 */
#ifndef LIVEMM_COMPAT_COMPAT_H
#define LIVEMM_COMPAT_COMPAT_H

#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/version.h>

/*
 * The kernel tunes pcp->high itself, between high_min and high_max; before,
 * pcp->high was set once from zone->pageset_high.
 * Upstream 90b41691b988 ("mm: add framework for PCP high auto-tuning"), 6.7.
 */
#define LMM_TUNES_LISTS		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0))

/*
 * Freeing one block of order 1 to 3 in a burst of frees empties the whole list.
 * Upstream ca71fe1ad922 ("mm, pcp: avoid to drain PCP when process exit"), 6.7.
 */
#define LMM_DRAINS_LIST_AT_EXIT	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0))

/*
 * An interrupt may wait for pcp->lock (free_unref_page_list()), and the drain of a list takes
 * zone->lock with interrupts as they are: whoever takes pcp->lock has interrupts off.  Afterwards
 * interrupts only try the lock.
 * Upstream 574907741599 ("mm/page_alloc: leave IRQs enabled for per-cpu page allocations"), 6.2 and
 * 6.1.57.
 */
#define LMM_PCP_LOCK_NEEDS_IRQS_OFF	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 57))

/*
 * A free drains a list in parts of a batch, each under a hold of zone->lock of its own.
 * Upstream "mm/page_alloc: batch page freeing in free_frozen_page_commit", 6.19.
 */
#define LMM_DRAINS_IN_PARTS	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0))

/*
 * NUMA balancing does not scan for a thread whose memory cpuset.mems binds to one node.  L. Chen,
 * "sched/numa: skip VMA scanning on memory pinned to one NUMA node via cpuset.mems" (linux-kernel,
 * March 2025).  Read in Debian's sources: 7.2 has the test, and 6.12 has not.  Releases between are
 * taken to have none.
 */
#define LMM_SKIPS_PINNED_SCANS	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0))

/*
 * The functions that set up direct calls at an ftrace site by ops have these names.
 * Upstream da8bdfbd4223 ("ftrace: Rename _ftrace_direct_multi APIs to _ftrace_direct
 * APIs") and 59495740f71f ("ftrace: Let unregister_ftrace_direct_multi() call
 * ftrace_free_filter()"), 6.4.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define lmm_direct_register(ops, addr)		register_ftrace_direct(ops, addr)
#define lmm_direct_unregister(ops, addr)	unregister_ftrace_direct(ops, addr, false)
#else
#define lmm_direct_register(ops, addr)		register_ftrace_direct_multi(ops, addr)
#define lmm_direct_unregister(ops, addr)	unregister_ftrace_direct_multi(ops, addr)
#endif

/*
 * ops_func decides whether a direct call and a livepatch may share a site.  Since 7.0 ops_func
 * gets the address of the site.
 * Upstream 956747efd82a ("ftrace: Factor ftrace_ops ops_func interface"), 7.0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define LMM_OPS_FUNC_ARGS \
	struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd
#else
#define LMM_OPS_FUNC_ARGS	struct ftrace_ops *ops, enum ftrace_ops_cmd cmd
#endif

/*
 * Since 7.2 a BPF program at the entry of a function is a node of a link, and a function of its own
 * attaches a program to many functions at once.
 * Upstream 65499074efaf ("bpf: Add struct bpf_tramp_node object") and aef4dfa790b2 ("bpf: Add
 * bpf_trampoline_multi_attach/detach functions"), 7.2.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define LMM_BPF_LINK_ARGS \
	struct bpf_tramp_node *node, struct bpf_trampoline *tr, struct bpf_prog *tgt_prog
#else
#define LMM_BPF_LINK_ARGS \
	struct bpf_tramp_link *link, struct bpf_trampoline *tr, struct bpf_prog *tgt_prog
#endif

/*
 * The function that attaches one program has no third argument in 6.1 before 6.1.191 and in 6.12
 * before 6.12.5.  Which arguments a kernel has is seen by BTF.
 * Upstream d6083f040d5d ("bpf: Prevent tailcall infinite loop caused by freplace"), 6.13; stable
 * took the commit.
 */
#define LMM_BPF_LINK_EARLY_ARGS	struct bpf_tramp_link *link, struct bpf_trampoline *tr

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
 * The highest order of a free block.
 * Upstream 5e0a760b4441 ("mm, treewide: rename MAX_ORDER to MAX_PAGE_ORDER"), 6.8;
 * before 23baf831a32c ("mm, treewide: redefine MAX_ORDER sanely"), 6.4, MAX_ORDER was
 * the highest order plus 1.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define LMM_MAX_ORDER	MAX_PAGE_ORDER
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define LMM_MAX_ORDER	MAX_ORDER
#else
#define LMM_MAX_ORDER	(MAX_ORDER - 1)
#endif

/*
 * Flags of an allocation inside the allocator (mm/internal.h, which modules do not
 * see), the same from 6.1 to 7.2: the watermark that applies (enum zone_watermarks),
 * and the reserves that may be used.
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define LMM_GFP_PAST_BOOST	__GFP_HIGH
#else
#define LMM_GFP_PAST_BOOST	__GFP_ATOMIC
#endif

/* The migratetype of CMA memory; without CONFIG_CMA there is none. */
#ifdef CONFIG_CMA
#define LMM_MIGRATE_CMA		MIGRATE_CMA
#else
#define LMM_MIGRATE_CMA		(-1)
#endif

/* The migratetype of isolated blocks; without CONFIG_MEMORY_ISOLATION there is none. */
#ifdef CONFIG_MEMORY_ISOLATION
#define LMM_MIGRATE_ISOLATE	MIGRATE_ISOLATE
#else
#define LMM_MIGRATE_ISOLATE	(-1)
#endif

/*
 * Compaction keeps the free pages that it has isolated in a list an order.
 * Upstream 733aea0b3a7b ("mm/compaction: add support for >0 order folio memory
 * compaction."), 6.9.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define LMM_COMPACT_LISTS	(LMM_MAX_ORDER + 1)
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
 * Migration takes functions that allocate and free folios; before, pages.
 * Upstream 4e096ae1801e ("mm: convert migrate_pages() to work on folios"), 6.5.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define LMM_MIGRATE_ARGS \
	struct list_head *from, new_folio_t *get_new_folio, free_folio_t *put_new_folio, \
	long unsigned int private, enum migrate_mode mode, int reason, \
	unsigned int *ret_succeeded
#define lmm_moved	folio
#else
#define LMM_MIGRATE_ARGS \
	struct list_head *from, new_page_t *get_new_page, free_page_t *put_new_page, \
	long unsigned int private, enum migrate_mode mode, int reason, \
	unsigned int *ret_succeeded
#define lmm_moved	page
#endif

/*
 * A larger folio can be moved as a whole: the kernel allocates a folio to move to by the same
 * function as for a fault.  Before, a huge page needed a preparation that modules cannot call, and
 * other larger folios of anonymous memory did not exist.
 * Upstream 19eaf44954df ("mm: thp: support allocation of anonymous multi-size THP"), 6.8.
 */
#define LMM_MOVES_LARGE		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0))

/*
 * folio_isolate_lru() returns whether the folio was taken off its LRU list; before, an errno.
 * Upstream be2d57563822 ("mm: change to return bool for folio_isolate_lru()"), 6.3.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define lmm_isolated_t		bool
#define lmm_isolated(ret)	(ret)
#else
#define lmm_isolated_t		int
#define lmm_isolated(ret)	(!(ret))
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
	VALUE(find_suitable_fallback, fallback_result, FALLBACK_FOUND, LMM_FALLBACK_FOUND) \
	VALUE(find_suitable_fallback, fallback_result, FALLBACK_EMPTY, LMM_FALLBACK_NONE)
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
 * get_pfnblock_migratetype() reads the type of a pageblock; before, the caller gave a mask of the
 * pageblock's flags.
 * Upstream 42f46ed99ac6 ("mm/page_alloc: pageblock flags functions clean up"), 6.17.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
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
 * type the block gets afterwards.  Now the type that the block is to get must be set before the
 * isolation ends, under zone->lock: the function that sets the type also sets the bit of the
 * isolation, but neither moves free pages nor counts the block as isolated.  Before, there is
 * nothing to set, and no lmm_block_retype().
 * Upstream 7a3324eb66f6 ("mm/page_isolation: remove migratetype from
 * undo_isolate_page_range()") and d1554fb63020 ("mm/page_isolation: remove migratetype
 * parameter from more functions"), 6.17.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define LMM_ISOLATE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, enum pb_isolate_mode mode
#define LMM_RELEASE_ARGS	long unsigned int start_pfn, long unsigned int end_pfn
#define lmm_block_isolate(call, pfn, end)	call(pfn, end, PB_ISOLATE_MODE_OTHER)
#define lmm_block_release(call, pfn, end, type)	call(pfn, end)
#define LMM_RETYPE_SYMBOL	init_pageblock_migratetype
#define LMM_RETYPE_ARGS		struct page *page, enum migratetype migratetype, bool isolate
#define lmm_block_retype(call, pfn, type)	call(pfn_to_page(pfn), type, true)
#else
#define LMM_ISOLATE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, int migratetype, int flags, \
	gfp_t gfp_flags
#define LMM_RELEASE_ARGS \
	long unsigned int start_pfn, long unsigned int end_pfn, int migratetype
#define lmm_block_isolate(call, pfn, end)	call(pfn, end, MIGRATE_MOVABLE, 0, GFP_NOWAIT)
#define lmm_block_release(call, pfn, end, type)	call(pfn, end, type)
#define LMM_RETYPE_SYMBOL	undo_isolate_page_range
#define LMM_RETYPE_ARGS		LMM_RELEASE_ARGS
#endif

/*
 * The low bits of a page's mapping that are flags.
 * Upstream df25569d401e ("mm: rename PAGE_MAPPING_* to FOLIO_MAPPING_*"), 6.17.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define LMM_MAPPING_FLAGS	FOLIO_MAPPING_FLAGS
#else
#define LMM_MAPPING_FLAGS	PAGE_MAPPING_FLAGS
#endif

/*
 * Before a page leaves the mapping of a file system with a local cache, the file system is asked,
 * even without private data.
 * Upstream 0201ebf274a3 ("mm: merge folio_has_private()/filemap_release_folio() call pairs"), 6.6;
 * 6.1.72 of stable has the commit.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 72)
#define lmm_mapping_asks(mapping)	mapping_release_always(mapping)
#else
#define lmm_mapping_asks(mapping)	false
#endif

/*
 * The flags of a page are a struct.
 * Upstream 53fbef56e07d ("mm: introduce memdesc_flags_t"), 6.18.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define lmm_page_flags(page)	(&(page)->flags.f)
#else
#define lmm_page_flags(page)	(&(page)->flags)
#endif

/*
 * Probes of tracepoints run with preemption off, so a wait for probes is also a wait for an
 * RCU grace period; since 7.0 probes run under SRCU.
 * Upstream a46023d5616e ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with
 * SRCU-fast"), 7.0.
 */
#define LMM_PROBES_WAIT_FOR_RCU	(LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0))

/*
 * The tracepoint at the start of a CMA allocation has the free and total pages of the area.
 * Upstream 0cd01c4a5cc1 ("mm/cma: add 'available count' and 'total count' to
 * trace_cma_alloc_start"), 6.18.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define LMM_CMA_START_ARGS \
	void *__data, const char *name, long unsigned int request_count, \
	long unsigned int available_count, long unsigned int total_count, unsigned int align
#define LMM_CMA_START_COUNT	request_count
#else
#define LMM_CMA_START_ARGS \
	void *__data, const char *name, long unsigned int count, unsigned int align
#define LMM_CMA_START_COUNT	count
#endif

/*
 * The tracepoint at the end of a CMA allocation has the errno.
 * Upstream cb6c33d4dc09 ("cma: tracing: print alloc result in trace_cma_alloc_finish"), 6.3.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define LMM_CMA_FINISH_ARGS \
	void *__data, const char *name, long unsigned int pfn, const struct page *page, \
	long unsigned int count, unsigned int align, int errorno
#else
#define LMM_CMA_FINISH_ARGS \
	void *__data, const char *name, long unsigned int pfn, const struct page *page, \
	long unsigned int count, unsigned int align
#endif

/*
 * The tracepoint at the end also fires for an allocation of more pages than the area has.
 * Upstream c009da4258f9 ("mm, cma: support multiple contiguous ranges, if requested"), 6.15.
 */
#define LMM_CMA_ENDS_ALWAYS	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))

/*
 * A CMA area may have several ranges.  struct cma (mm/cma.h) up to the last member that we read; in
 * the bitmap a bit stands for 2^order_per_bit pages that an owner has.
 * Upstream c009da4258f9 ("mm, cma: support multiple contiguous ranges, if requested"), 6.15.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
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
	COPY(cma_for_each_area, cma, count) \
	COPY(cma_for_each_area, cma, order_per_bit) \
	COPY(cma_for_each_area, cma, name) \
	COPY(cma_for_each_area, cma, nranges) \
	COPY(cma_for_each_area, cma, ranges) \
	COPY(cma_for_each_area, cma_memrange, base_pfn) \
	COPY(cma_for_each_area, cma_memrange, bitmap)
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
	COPY(cma_for_each_area, cma, base_pfn) \
	COPY(cma_for_each_area, cma, count) \
	COPY(cma_for_each_area, cma, bitmap) \
	COPY(cma_for_each_area, cma, order_per_bit) \
	COPY(cma_for_each_area, cma, name)
#define lmm_cma_pieces(area)	1
#define lmm_cma_start(area)	((area)->base_pfn)
#define lmm_cma_bitmap(area)	((area)->bitmap)
#endif

/*
 * The tracepoint at the end of direct reclaim has the memory cgroup; NULL for reclaim of a zone.
 * Upstream 874a0a566ede ("mm: vmscan: add cgroup IDs to vmscan tracepoints"), 7.1.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define LMM_RECLAIM_END_ARGS \
	void *__data, long unsigned int nr_reclaimed, struct mem_cgroup *memcg
#else
#define LMM_RECLAIM_END_ARGS \
	void *__data, long unsigned int nr_reclaimed
#endif

/*
 * The workqueue for work that may run on any CPU; a kernel with the new name warns of the old.
 * Upstream 128ea9f6ccfb ("workqueue: Add system_percpu_wq and system_dfl_wq"), 6.17.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define lmm_unbound_wq		system_dfl_wq
#else
#define lmm_unbound_wq		system_unbound_wq
#endif

/*
 * Timers.
 * Upstream 8fa7292fee5c ("treewide: Switch/rename to timer_delete[_sync]()"), 6.15, and
 * 9779489a31d7 ("hrtimers: Delete hrtimer_init()"), 6.15.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define lmm_timer_delete_sync(timer)	timer_delete_sync(timer)
#define lmm_hrtimer_setup(timer, handler, clock, mode) \
	hrtimer_setup(timer, handler, clock, mode)
#else
#define lmm_timer_delete_sync(timer)	del_timer_sync(timer)
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define lmm_assign_str(dst, src)	__assign_str(dst)
#else
#define lmm_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif /* LIVEMM_COMPAT_COMPAT_H */
