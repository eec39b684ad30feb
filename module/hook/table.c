// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - the hooks, one row each
 *
 * Prototypes are those of Debian's 6.1, 6.12 and 7.2; a kernel whose prototype is
 * another one gets the row refused, never a wrong call.
 */
#include <linux/cgroup.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/mmzone.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "entry.h"
#include "table.h"

/*
 * A test build names a row in LMM_BREAK_HOOK, LMM_BREAK_NAME or LMM_BREAK_DATA.  The prototype
 * of the row, the name of an argument (of drain_list) or the size is then wrong on purpose.
 */
#if defined(LMM_BREAK_HOOK)
#define PROTO(name, text) (!__builtin_strcmp(name, LMM_BREAK_HOOK) ? \
			   "unsigned char (struct nothing *)" : (text))
#elif defined(LMM_BREAK_NAME)
#define PROTO(name, text) (!__builtin_strcmp(name, LMM_BREAK_NAME) ? \
			   "void (struct zone *zone, struct per_cpu_pages *list)" : (text))
#else
#define PROTO(name, text) (text)
#endif

#ifdef LMM_BREAK_DATA
#define DATA_SIZE(name, type) (!__builtin_strcmp(name, LMM_BREAK_DATA) ? \
			       PAGE_SIZE : sizeof(type))
#else
#define DATA_SIZE(name, type) sizeof(type)
#endif

/* How a row reads a variable of that type. */
#define DATA(variable, type)						\
	.mech = LMM_MECH_DATA,						\
	.alternatives = { { #variable, NULL } },			\
	.size = DATA_SIZE(#variable, type),				\
	.align = __alignof__(type)

#define REFILL_PROTO "int (struct zone *zone, unsigned int order, long unsigned int count, struct list_head *list, int migratetype, unsigned int alloc_flags)"
#define DRAIN_PROTO "void (struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)"
#define ALLOC_PROTO "void (void *__data, struct page *page, unsigned int order, gfp_t gfp_flags, int migratetype)"
#define WAKE_PROTO "void (struct zone *zone, gfp_t gfp_flags, int order, enum zone_type highest_zoneidx)"
#define COMPACT_PROTO "enum compact_result (struct compact_control *cc, struct capture_control *capc)"
#define COMMIT_PROTO "void (struct zone *zone, struct per_cpu_pages *pcp, struct page *page, int migratetype, unsigned int order)"
#define FROZEN_PROTO "bool (struct zone *zone, struct per_cpu_pages *pcp, struct page *page, int migratetype, unsigned int order, fpi_t fpi_flags)"
#define REQUEST_PROTO "struct page * (gfp_t gfp_mask, unsigned int order, int alloc_flags, const struct alloc_context *ac)"
#define SCAN_PROTO "long unsigned int (struct vm_area_struct *vma, long unsigned int addr, long unsigned int end)"
#define BUFFER_PROTO "struct buffer_head * (struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp)"
#define MIXED_PROTO "void (void *__data, struct page *page, int alloc_order, int fallback_order, int alloc_migratetype, int fallback_migratetype)"
#define CMA_BUSY_PROTO "void (void *__data, const char *name, long unsigned int pfn, const struct page *page, long unsigned int count, unsigned int align)"
#define CMA_RELEASE_PROTO "void (void *__data, const char *name, long unsigned int pfn, const struct page *page, long unsigned int count)"

struct lmm_hook lmm_hooks[LMM_MAX_HOOKS] = {
	[LMM_HOOK_REFILL] = {
		.name = "refill",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "rmqueue_bulk", PROTO("refill", REFILL_PROTO) },
		},
		.function = LMM_KLP_REFILL,
	},
	[LMM_HOOK_DRAIN] = {
		.name = "drain",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "free_pcppages_bulk", PROTO("drain", DRAIN_PROTO) },
		},
		.function = LMM_KLP_DRAIN,
	},
	[LMM_HOOK_DRAIN_ZONE] = {
		.name = "drain_zone",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "drain_pages_zone", PROTO("drain_zone",
			  "void (unsigned int cpu, struct zone *zone)") },
		},
		.function = LMM_KLP_DRAIN_ZONE,
	},
	[LMM_HOOK_DRAIN_ALL] = {
		.name = "drain_all",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "__drain_all_pages", PROTO("drain_all",
			  "void (struct zone *zone, bool force_all_cpus)") },
			/* Where that is in pieces; what else calls it drains every CPU's. */
			{ "drain_all_pages", PROTO("drain_all", "void (struct zone *zone)") },
		},
		.function = LMM_KLP_DRAIN_ALL,
	},
	[LMM_HOOK_COMPACT] = {
		.name = "compact",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "compact_zone", PROTO("compact", COMPACT_PROTO) },
		},
		.function = LMM_KLP_COMPACT,
	},
	[LMM_HOOK_PAGE_ALLOC] = {
		.name = "page_alloc",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_alloc", PROTO("page_alloc", ALLOC_PROTO) },
		},
	},
	[LMM_HOOK_PAGE_FREE] = {
		.name = "page_free",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_free", PROTO("page_free",
			  "void (void *__data, struct page *page, unsigned int order)") },
		},
	},
	[LMM_HOOK_PAGESET_DEFAULT] = {
		.name = "pageset_default",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "zone_set_pageset_high_and_batch", PROTO("pageset_default",
			  "void (struct zone *zone, int cpu_online)") },
		},
	},
	[LMM_HOOK_WAKE_KSWAPD] = {
		.name = "wake_kswapd",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "wakeup_kswapd", PROTO("wake_kswapd", WAKE_PROTO) },
		},
	},
	[LMM_HOOK_BPF_LINK] = {
		.name = "bpf_link",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "bpf_trampoline_link_prog", PROTO("bpf_link", LMM_BPF_LINK_PROTO) },
		},
		.handler = lmm_entry_bpf_link,
	},
	[LMM_HOOK_BPF_LINKS] = {
		.name = "bpf_links",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "bpf_trampoline_multi_attach", PROTO("bpf_links", LMM_BPF_LINKS_PROTO) },
		},
		.handler = lmm_entry_bpf_links,
	},
	[LMM_HOOK_HINT_FAULT] = {
		.name = "hint_fault",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "task_numa_fault", PROTO("hint_fault",
			  "void (int last_cpupid, int mem_node, int pages, int flags)") },
		},
		.handler = lmm_entry_hint_fault,
		.shared = lmm_shared_hint_fault,
	},
	[LMM_HOOK_HINT_VMA] = {
		.name = "hint_vma",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ LMM_HINT_SYMBOL, PROTO("hint_vma", LMM_HINT_PROTO) },
		},
		.handler = lmm_entry_hint_vma,
		.shared = lmm_shared_hint_vma,
	},
	[LMM_HOOK_SCAN_BEGIN] = {
		.name = "scan_begin",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "task_numa_work", PROTO("scan_begin",
			  "void (struct callback_head *work)") },
		},
	},
	[LMM_HOOK_SCAN] = {
		.name = "scan",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "change_prot_numa", PROTO("scan", SCAN_PROTO) },
		},
		.function = LMM_KLP_SCAN,
	},
	[LMM_HOOK_MM_EXIT] = {
		.name = "mm_exit",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "exit_mmap", PROTO("mm_exit", "void (struct mm_struct *mm)") },
		},
	},
	[LMM_HOOK_FALLBACK] = {
		.name = "fallback",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "find_suitable_fallback", PROTO("fallback", LMM_FALLBACK_PROTO) },
		},
		.function = LMM_KLP_FALLBACK,
	},
	[LMM_HOOK_REQUEST] = {
		.name = "request",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "get_page_from_freelist", PROTO("request", REQUEST_PROTO) },
		},
		.handler = lmm_entry_request,
		.shared = lmm_shared_request,
	},
	[LMM_HOOK_BUFFER] = {
		.name = "buffer",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "bdev_getblk", PROTO("buffer", BUFFER_PROTO) },
			{ "__getblk_gfp", PROTO("buffer", BUFFER_PROTO) },
		},
		.handler = lmm_entry_buffer,
		.shared = lmm_shared_buffer,
	},
	[LMM_HOOK_RECLAIM_END] = {
		.name = "reclaim_end",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_vmscan_direct_reclaim_end", PROTO("reclaim_end",
			  LMM_RECLAIM_END_PROTO) },
		},
	},
	[LMM_HOOK_COMPACT_BEGIN] = {
		.name = "compact_begin",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_compaction_try_to_compact_pages", PROTO("compact_begin",
			  "void (void *__data, int order, gfp_t gfp_mask, int prio)") },
		},
	},
	[LMM_HOOK_MIXED] = {
		.name = "mixed",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_alloc_extfrag", PROTO("mixed", MIXED_PROTO) },
		},
	},
	[LMM_HOOK_CMA_START] = {
		.name = "cma_start",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_start", PROTO("cma_start", LMM_CMA_START_PROTO) },
		},
	},
	[LMM_HOOK_CMA_BUSY] = {
		.name = "cma_busy",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_busy_retry", PROTO("cma_busy", CMA_BUSY_PROTO) },
		},
	},
	[LMM_HOOK_CMA_FINISH] = {
		.name = "cma_finish",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_finish", PROTO("cma_finish", LMM_CMA_FINISH_PROTO) },
		},
	},
	[LMM_HOOK_CMA_RELEASE] = {
		.name = "cma_release",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_release", PROTO("cma_release", CMA_RELEASE_PROTO) },
		},
	},
	[LMM_HOOK_CMA_AREAS] = {
		.name = "cma_areas",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_for_each_area", PROTO("cma_areas",
			  "int (int (*)(struct cma *, void *) it, void *data)") },
		},
	},
	[LMM_HOOK_CMA_BASE] = {
		.name = "cma_base",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_base", PROTO("cma_base",
			  "phys_addr_t (const struct cma *cma)") },
		},
	},
	[LMM_HOOK_CMA_SIZE] = {
		.name = "cma_size",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_size", PROTO("cma_size",
			  "long unsigned int (const struct cma *cma)") },
		},
	},
	[LMM_HOOK_CMA_NAME] = {
		.name = "cma_name",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_name", PROTO("cma_name",
			  "const char * (const struct cma *cma)") },
		},
	},
	[LMM_HOOK_UNGROUPED] = {
		.name = "ungrouped",
		DATA(page_group_by_mobility_disabled, int),
	},
	[LMM_HOOK_BOOST_FACTOR] = {
		.name = "boost_factor",
		DATA(watermark_boost_factor, int),
	},
	[LMM_HOOK_BALANCING_MODE] = {
		.name = "balancing_mode",
		DATA(sysctl_numa_balancing_mode, int),
	},
	[LMM_HOOK_SCAN_SIZE] = {
		.name = "scan_size",
		DATA(sysctl_numa_balancing_scan_size, unsigned int),
	},
	[LMM_HOOK_DRAIN_LIST] = {
		.name = "drain_list",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "drain_zone_pages", PROTO("drain_list",
			  "void (struct zone *zone, struct per_cpu_pages *pcp)") },
		},
	},
	[LMM_HOOK_FREE_COMMIT] = {
		.name = "free_commit",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "free_unref_page_commit", PROTO("free_commit", COMMIT_PROTO) },
			{ "free_frozen_page_commit", PROTO("free_commit", FROZEN_PROTO) },
		},
	},
	[LMM_HOOK_FREE_PAGE] = {
		.name = "free_page",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "free_unref_page", PROTO("free_page",
			  "void (struct page *page, unsigned int order)") },
			{ "__free_frozen_pages", PROTO("free_page",
			  "void (struct page *page, unsigned int order, fpi_t fpi_flags)") },
		},
	},
	[LMM_HOOK_FREE_PAGES] = {
		.name = "free_pages",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "free_unref_folios", PROTO("free_pages",
			  "void (struct folio_batch *folios)") },
			{ "free_unref_page_list", PROTO("free_pages",
			  "void (struct list_head *list)") },
		},
	},
	[LMM_HOOK_HIGH_FRACTION] = {
		.name = "high_fraction",
		DATA(percpu_pagelist_high_fraction, int),
	},
	[LMM_HOOK_MEM_LOCK] = {
		.name = "mem_lock",
		.mech = LMM_MECH_CALL,
		.alternatives = { { "get_online_mems", PROTO("mem_lock", "void (void)") } },
	},
	[LMM_HOOK_MEM_UNLOCK] = {
		.name = "mem_unlock",
		.mech = LMM_MECH_CALL,
		.alternatives = { { "put_online_mems", PROTO("mem_unlock", "void (void)") } },
	},
	[LMM_HOOK_MEM_HOTPLUG] = {
		.name = "mem_hotplug",
		DATA(mem_hotplug_lock, struct percpu_rw_semaphore),
		.holds = "__percpu_rwsem_rc_mem_hotplug_lock",
		.offset = offsetof(struct percpu_rw_semaphore, read_count),
	},
	[LMM_HOOK_BLOCK_FLAGS] = {
		.name = "block_flags",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ LMM_BLOCK_TYPE_SYMBOL, PROTO("block_flags", LMM_BLOCK_TYPE_PROTO) },
		},
	},
	[LMM_HOOK_ISOLATE] = {
		.name = "isolate",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "folio_isolate_lru", PROTO("isolate", LMM_ISOLATE_PROTO) },
		},
	},
	[LMM_HOOK_MIGRATE] = {
		.name = "migrate",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "migrate_pages", PROTO("migrate", LMM_MIGRATE_PROTO) },
		},
	},
	[LMM_HOOK_PUTBACK] = {
		.name = "putback",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "putback_movable_pages", PROTO("putback",
			  "void (struct list_head *l)") },
		},
	},
};

unsigned int lmm_nr_hooks = LMM_HOOK_FIRST_LAYOUT;

const char *const lmm_mechanism_name[] = {
	[LMM_MECH_LIVEPATCH] = "livepatch",
	[LMM_MECH_KPROBE] = "kprobe",
	[LMM_MECH_DIRECT] = "direct",
	[LMM_MECH_TRACEPOINT] = "tracepoint",
	[LMM_MECH_CALL] = "call",
	[LMM_MECH_DATA] = "data",
	[LMM_MECH_LAYOUT] = "layout",
};
