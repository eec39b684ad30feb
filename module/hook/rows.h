/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows.h - a row for each hook: a place where the kernel calls us, or a function or variable of
 * the kernel that we use
 *
 * Included more than once.  The includer defines the kinds of rows that it needs as macros, and
 * ROW(kind, ID, ...) for all others that are no second choice; what it has not defined is empty.
 * A row yields the hook's id, its line in the file `hooks`, symbol and prototype for verification
 * and, for a function that is wrapped or called, the wrapper or the static call.
 *
 *	LIVEPATCH(module, ID, name, symbol, return type, arguments)
 *		a wrapper in livemm_klp_<module>.ko; KCALL(name) calls the function by its entry
 *	KPROBE(ID, name, symbol, return type, arguments), TRACEPOINT(...)
 *		flow/hooks.c or a policy has the handler; the prototype of a tracepoint is that
 *		of __traceiter_<symbol>()
 *	DIRECT(ID, name, symbol, return type, arguments)
 *		a direct call of lmm_entry_<name>() at the function's ftrace site, or, where table.c
 *		names one, an ftrace callback
 *	CALL(ID, name, symbol, return type, arguments)
 *		a function that we call, by KCALL(name)
 *	OR(n, ID, name, symbol, return type, arguments)
 *		choice n, from 1, for the row above where its own fails: another symbol, or another
 *		prototype of the same symbol; LIVEPATCH_OR() is choice 1 below LIVEPATCH()
 *	DATA(ID, name, type, variable)
 *		a variable that we read
 *
 * Prototypes are those of Debian's 6.1, 6.12 and 7.2, spelt as BTF spells types.  On a kernel with
 * another prototype the row is unavailable, and nobody calls the function.  The order matters in
 * one place: the rows that report BPF are armed before the direct calls that make room for BPF, and
 * disarmed after these direct calls.
 */

#ifndef ROW
#define ROW(...)
#endif
#ifndef LIVEPATCH
#define LIVEPATCH(module, ...)	ROW(LIVEPATCH, __VA_ARGS__)
#endif
#ifndef LIVEPATCH_OR
#define LIVEPATCH_OR(...)
#endif
#define KPROBE(...)	ROW(KPROBE, __VA_ARGS__)
#define TRACEPOINT(...)	ROW(TRACEPOINT, __VA_ARGS__)
#ifndef DIRECT
#define DIRECT(...)	ROW(DIRECT, __VA_ARGS__)
#endif
#ifndef CALL
#define CALL(...)	ROW(CALL, __VA_ARGS__)
#endif
#ifndef OR
#define OR(...)
#endif
#ifndef DATA
#define DATA(...)	ROW(DATA, __VA_ARGS__)
#endif

/* A list was refilled from the buddy. */
LIVEPATCH(lists, REFILL, refill, rmqueue_bulk, int, struct zone *zone, unsigned int order,
	  long unsigned int count, struct list_head *list, int migratetype,
	  unsigned int alloc_flags)
/* A list gave pages back to the buddy. */
LIVEPATCH(lists, DRAIN, drain, free_pcppages_bulk, void, struct zone *zone, int count,
	  struct per_cpu_pages *pcp, int pindex)
/* The lists of a CPU in a zone were drained. */
LIVEPATCH(giveback, DRAIN_ZONE, drain_zone, drain_pages_zone, void, unsigned int cpu,
	  struct zone *zone)
/* The lists of every CPU in a zone were drained. */
LIVEPATCH(giveback, DRAIN_ALL, drain_all, __drain_all_pages, void, struct zone *zone,
	  bool force_all_cpus)
/* For a kernel whose compiler has split __drain_all_pages(); see wrap_drain_lists(). */
LIVEPATCH_OR(giveback, DRAIN_ALL, drain_lists, drain_all_pages, void, struct zone *zone)
/* A zone is about to be compacted. */
LIVEPATCH(giveback, COMPACT, compact, compact_zone, enum compact_result,
	  struct compact_control *cc, struct capture_control *capc)
/* A migratetype has no free pages, and the kernel looks for another migratetype. */
LIVEPATCH(fallback, FALLBACK, fallback, find_suitable_fallback, LMM_FALLBACK_RETURN,
	  LMM_FALLBACK_ARGS)

/* A block of pages was allocated. */
TRACEPOINT(PAGE_ALLOC, page_alloc, mm_page_alloc, int, void *__data, struct page *page,
	   unsigned int order, gfp_t gfp_flags, int migratetype)
/* A block of pages was freed. */
TRACEPOINT(PAGE_FREE, page_free, mm_page_free, int, void *__data, struct page *page,
	   unsigned int order)
/* The kernel computes the bounds of a zone's lists anew. */
KPROBE(PAGESET_DEFAULT, pageset_default, zone_set_pageset_high_and_batch, void,
       struct zone *zone, int cpu_online)
/* A slow path wakes reclaim. */
KPROBE(WAKE_KSWAPD, wake_kswapd, wakeup_kswapd, void, struct zone *zone, gfp_t gfp_flags,
       int order, enum zone_type highest_zoneidx)
/* A page has failed, and is about to be marked as broken. */
KPROBE(PAGE_BREAKS, page_breaks, memory_failure, int, long unsigned int pfn, int flags)
/* A thread is about to allocate a huge page. */
KPROBE(HUGE_WANTED, huge_wanted, vma_thp_gfp_mask, gfp_t, struct vm_area_struct *vma)
/* A BPF program is about to be called at a function, and at many functions. */
DIRECT(BPF_LINK, bpf_link, bpf_trampoline_link_prog, int, struct bpf_tramp_node *node,
       struct bpf_trampoline *tr, struct bpf_prog *tgt_prog)
OR(1, BPF_LINK, bpf_link, bpf_trampoline_link_prog, int, struct bpf_tramp_link *link,
   struct bpf_trampoline *tr, struct bpf_prog *tgt_prog)
OR(2, BPF_LINK, bpf_link, bpf_trampoline_link_prog, int, struct bpf_tramp_link *link,
   struct bpf_trampoline *tr)
DIRECT(BPF_LINKS, bpf_links, bpf_trampoline_multi_attach, int, struct bpf_prog *prog,
       u32 *ids, struct bpf_tracing_multi_link *link)
/* A thread had a NUMA hint fault. */
DIRECT(HINT_FAULT, hint_fault, task_numa_fault, void, int last_cpupid, int mem_node, int pages,
       int flags)
/* A thread may be about to scan its mm. */
KPROBE(SCAN_BEGIN, scan_begin, task_numa_work, void, struct callback_head *work)
/* The last user of an mm exits. */
KPROBE(MM_EXIT, mm_exit, exit_mmap, void, struct mm_struct *mm)
/* A request to the allocator; hits are the requests that were handed on. */
DIRECT(REQUEST, request, get_page_from_freelist, struct page *, gfp_t gfp_mask,
       unsigned int order, int alloc_flags, const struct alloc_context *ac)
/* A buffer of a block device is looked up, and allocated if absent. */
DIRECT(BUFFER, buffer, bdev_getblk, struct buffer_head *, struct block_device *bdev,
       sector_t block, unsigned int size, gfp_t gfp)
OR(1, BUFFER, buffer, __getblk_gfp, struct buffer_head *, struct block_device *bdev, sector_t block,
   unsigned int size, gfp_t gfp)
/* A thread has reclaimed for its request. */
TRACEPOINT(RECLAIM_END, reclaim_end, mm_vmscan_direct_reclaim_end, int, void *__data,
	   long unsigned int nr_reclaimed)
OR(1, RECLAIM_END, reclaim_end, mm_vmscan_direct_reclaim_end, int, void *__data,
   long unsigned int nr_reclaimed, struct mem_cgroup *memcg)
/* A thread will compact for its request. */
TRACEPOINT(COMPACT_BEGIN, compact_begin, mm_compaction_try_to_compact_pages, int, void *__data,
	   int order, gfp_t gfp_mask, int prio)
/* A request got pages of another type. */
TRACEPOINT(MIXED, mixed, mm_page_alloc_extfrag, int, void *__data, struct page *page,
	   int alloc_order, int fallback_order, int alloc_migratetype, int fallback_migratetype)
/* An owner of CMA memory wants contiguous pages. */
TRACEPOINT(CMA_START, cma_start, cma_alloc_start, int, void *__data, const char *name,
	   long unsigned int request_count, long unsigned int available_count,
	   long unsigned int total_count, unsigned int align)
OR(1, CMA_START, cma_start, cma_alloc_start, int, void *__data, const char *name,
   long unsigned int count, unsigned int align)
/* A range of CMA memory could not be emptied for an owner. */
TRACEPOINT(CMA_BUSY, cma_busy, cma_alloc_busy_retry, int, void *__data, const char *name,
	   long unsigned int pfn, const struct page *page, long unsigned int count,
	   unsigned int align)
/* An owner of CMA memory has got contiguous pages, or has got none. */
TRACEPOINT(CMA_FINISH, cma_finish, cma_alloc_finish, int, void *__data, const char *name,
	   long unsigned int pfn, const struct page *page, long unsigned int count,
	   unsigned int align, int errorno)
OR(1, CMA_FINISH, cma_finish, cma_alloc_finish, int, void *__data, const char *name,
   long unsigned int pfn, const struct page *page, long unsigned int count, unsigned int align)
/* An owner of CMA memory has released pages. */
TRACEPOINT(CMA_RELEASE, cma_release, cma_release, int, void *__data, const char *name,
	   long unsigned int pfn, const struct page *page, long unsigned int count)

/* Walk the CMA areas. */
CALL(CMA_AREAS, cma_areas, cma_for_each_area, int, LMM_FUNCTION(int, it, struct cma *, void *),
     void *data)
/* Drain a batch of a list. */
CALL(DRAIN_LIST, drain_list, drain_zone_pages, void, struct zone *zone,
     struct per_cpu_pages *pcp)
/* Do two CPUs share their last-level cache? */
CALL(SHARE_CACHE, share_cache, cpus_share_cache, bool, int this_cpu, int that_cpu)
/* Read the type of a pageblock. */
CALL(BLOCK_FLAGS, block_flags, LMM_BLOCK_TYPE_SYMBOL, LMM_BLOCK_TYPE_RETURN, LMM_BLOCK_TYPE_ARGS)
/* Have the pages of a range fault, for NUMA balancing. */
CALL(ARM, arm, change_prot_numa, long unsigned int, struct vm_area_struct *vma,
     long unsigned int addr, long unsigned int end)
/* Take a page off its LRU list; move pages elsewhere; put back pages that were not moved. */
CALL(ISOLATE, isolate, folio_isolate_lru, lmm_isolated_t, struct folio *folio)
CALL(MIGRATE, migrate, migrate_pages, int, LMM_MIGRATE_ARGS)
CALL(PUTBACK, putback, putback_movable_pages, void, struct list_head *l)
/* Keep the free pages of blocks from being allocated; give the blocks back. */
CALL(BLOCK_ISOLATE, block_isolate, start_isolate_page_range, int, LMM_ISOLATE_ARGS)
CALL(BLOCK_RELEASE, block_release, undo_isolate_page_range, void, LMM_RELEASE_ARGS)
/* Put the pages that this CPU has not put on LRU lists yet there; empty all lists of a zone. */
CALL(LRU_DRAIN, lru_drain, lru_add_drain, void, void)
CALL(EMPTY_LISTS, empty_lists, drain_all_pages, void, struct zone *zone)

/* By how much a mix raises the watermarks for a while. */
DATA(BOOST_FACTOR, boost_factor, int, watermark_boost_factor)
/* Sysctl kernel.numa_balancing. */
DATA(BALANCING_MODE, balancing_mode, int, sysctl_numa_balancing_mode)
/* Sysctl vm.percpu_pagelist_high_fraction. */
DATA(HIGH_FRACTION, high_fraction, int, percpu_pagelist_high_fraction)
/* The lock that keeps memory from going; readers take it. */
DATA(MEM_HOTPLUG, mem_hotplug, struct percpu_rw_semaphore, mem_hotplug_lock)

#undef ROW
#undef LIVEPATCH
#undef LIVEPATCH_OR
#undef KPROBE
#undef TRACEPOINT
#undef DIRECT
#undef CALL
#undef OR
#undef DATA
#undef LMM_FUNCTION
