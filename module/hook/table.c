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
#include "dispatch.h"
#include "policy/cma/core.h"
#include "policy/numa/numa.h"
#include "policy/pageblock/pageblock.h"
#include "policy/pcp/pcp.h"
#include "policy/zonelock/zonelock.h"
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

#define ZONELOCK	LMM_USERS(LMM_ZONELOCK)
#define CMA		LMM_USERS(LMM_CMA)
#define CMA_LENDS	(LMM_USER(LMM_CMA, CMA_MODE_RATIO) | \
			 LMM_USER(LMM_CMA, CMA_MODE_CMA_FIRST) | \
			 LMM_USER(LMM_CMA, CMA_MODE_REGULAR_FIRST))
#define PCP		LMM_USERS(LMM_PCP)
#define PCP_DEPTH	LMM_USER(LMM_PCP, PCP_MODE_DEPTH)
#define PCP_EVENT	LMM_USER(LMM_PCP, PCP_MODE_EVENT)
#define PAGEBLOCK	LMM_USERS(LMM_PAGEBLOCK)
#define NUMA		LMM_USERS(LMM_NUMA)
#define NUMA_VMA	LMM_USER(LMM_NUMA, NUMA_MODE_VMA)

/* How a row reads a variable of that type. */
#define DATA(variable, type)						\
	.mech = LMM_MECH_DATA,						\
	.alternatives = { { #variable, NULL } },			\
	.size = DATA_SIZE(#variable, type),				\
	.align = __alignof__(type)

/* A member that a policy reads or writes, at the offset we were compiled with. */
#define LAYOUT(who, type, member) {					\
	.name = #type "." #member,					\
	.mech = LMM_MECH_LAYOUT,					\
	.alternatives = { { #type, #member } },				\
	.users = who,							\
	.lost = "the policy: it would touch the wrong memory",		\
	.offset = offsetof(struct type, member),			\
}

/* A member whose name is a macro. */
#define LAYOUT_OF(who, type, member)	LAYOUT(who, type, member)

/* The size of a struct that is an element of an array. */
#define SIZE(who, type) {						\
	.name = "sizeof(" #type ")",					\
	.mech = LMM_MECH_LAYOUT,					\
	.alternatives = { { #type, NULL } },				\
	.users = who,							\
	.lost = "the policy: it would touch the wrong memory",		\
	.offset = sizeof(struct type),					\
}

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

struct lmm_hook lmm_hooks[] = {
	[LMM_HOOK_REFILL] = {
		.name = "refill",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "rmqueue_bulk", PROTO("refill", REFILL_PROTO) },
		},
		.users = PCP | ZONELOCK | CMA_LENDS,
		.required = CMA_LENDS,
		.lost = "cma's lending; pcp: larger refills, counts; zonelock: request does it",
		.function = LMM_KLP_REFILL,
	},
	[LMM_HOOK_DRAIN] = {
		.name = "drain",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "free_pcppages_bulk", PROTO("drain", DRAIN_PROTO) },
		},
		.users = PCP | ZONELOCK,
		.required = PCP_EVENT | ZONELOCK,
		.lost = "zonelock; pcp: mode event; counters drains and drain_pages; keep_at_exit",
		.function = LMM_KLP_DRAIN,
	},
	[LMM_HOOK_DRAIN_ZONE] = {
		.name = "drain_zone",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "drain_pages_zone", PROTO("drain_zone",
			  "void (unsigned int cpu, struct zone *zone)") },
		},
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: drains would miss depot pages",
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
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: drains would miss depot pages",
		.function = LMM_KLP_DRAIN_ALL,
	},
	[LMM_HOOK_COMPACT] = {
		.name = "compact",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "compact_zone", PROTO("compact", COMPACT_PROTO) },
		},
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: compaction would not find its pages",
		.function = LMM_KLP_COMPACT,
	},
	[LMM_HOOK_PAGE_ALLOC] = {
		.name = "page_alloc",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_alloc", PROTO("page_alloc", ALLOC_PROTO) },
		},
		.users = PCP_DEPTH,
		.required = PCP_DEPTH,
		.lost = "mode depth: the depth of allocation",
		.handler = lmm_event_page_alloc,
	},
	[LMM_HOOK_PAGE_FREE] = {
		.name = "page_free",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_free", PROTO("page_free",
			  "void (void *__data, struct page *page, unsigned int order)") },
		},
		.users = PCP_DEPTH,
		.required = PCP_DEPTH,
		.lost = "mode depth: the depth of freeing",
		.handler = lmm_event_page_free,
	},
	[LMM_HOOK_PAGESET_DEFAULT] = {
		.name = "pageset_default",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "zone_set_pageset_high_and_batch", PROTO("pageset_default",
			  "void (struct zone *zone, int cpu_online)") },
		},
		.users = PCP,
		.lost = "promptness: a sysctl write is then noticed within a period",
		.handler = lmm_event_pageset_default,
	},
	[LMM_HOOK_WAKE_KSWAPD] = {
		.name = "wake_kswapd",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "wakeup_kswapd", PROTO("wake_kswapd", WAKE_PROTO) },
		},
		.users = PCP | ZONELOCK,
		.lost = "promptness: that reclaim begins is then noticed at a tick",
		.handler = lmm_event_wake_kswapd,
	},
	[LMM_HOOK_BPF_LINK] = {
		.name = "bpf_link",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "bpf_trampoline_link_prog", PROTO("bpf_link", LMM_BPF_LINK_PROTO) },
		},
		.users = NUMA | PAGEBLOCK | ZONELOCK | CMA,
		.lost = "cheap direct calls: BPF could not be called at the same functions",
		.handler = lmm_entry_bpf_link,
	},
	[LMM_HOOK_BPF_LINKS] = {
		.name = "bpf_links",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "bpf_trampoline_multi_attach", PROTO("bpf_links", LMM_BPF_LINKS_PROTO) },
		},
		.users = NUMA | PAGEBLOCK | ZONELOCK | CMA,
		.lost = "cheap direct calls, where the kernel has that function",
		.handler = lmm_entry_bpf_links,
	},
	[LMM_HOOK_HINT_FAULT] = {
		.name = "hint_fault",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "task_numa_fault", PROTO("hint_fault",
			  "void (int last_cpupid, int mem_node, int pages, int flags)") },
		},
		.users = NUMA,
		.required = NUMA,
		.lost = "all of the policy: it would know of no fault",
		.handler = lmm_entry_hint_fault,
		.shared = lmm_shared_hint_fault,
	},
	[LMM_HOOK_HINT_VMA] = {
		.name = "hint_vma",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ LMM_HINT_SYMBOL, PROTO("hint_vma", LMM_HINT_PROTO) },
		},
		.users = NUMA_VMA,
		.lost = "by_thread: which threads use a VMA",
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
		.users = NUMA,
		.required = NUMA,
		.lost = "all of the policy: it could not put a scan off",
		.handler = lmm_event_scan_begin,
	},
	[LMM_HOOK_SCAN] = {
		.name = "scan",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "change_prot_numa", PROTO("scan", SCAN_PROTO) },
		},
		.users = NUMA_VMA,
		.required = NUMA_VMA,
		.lost = "mode vma: what of an address space is scanned",
		.function = LMM_KLP_SCAN,
	},
	[LMM_HOOK_SPACE_EXIT] = {
		.name = "space_exit",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "exit_mmap", PROTO("space_exit", "void (struct mm_struct *mm)") },
		},
		.users = NUMA,
		.required = NUMA,
		.lost = "all of the policy: it would not know when to forget an address space",
		.handler = lmm_event_space_exit,
	},
	[LMM_HOOK_FALLBACK] = {
		.name = "fallback",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "find_suitable_fallback", PROTO("fallback", LMM_FALLBACK_PROTO) },
		},
		.users = PAGEBLOCK | CMA_LENDS,
		.required = PAGEBLOCK | CMA_LENDS,
		.lost = "pageblock: it could refuse nothing; cma's lending",
		.function = LMM_KLP_FALLBACK,
	},
	[LMM_HOOK_REQUEST] = {
		.name = "request",
		.mech = LMM_MECH_DIRECT,
		.alternatives = {
			{ "get_page_from_freelist", PROTO("request", REQUEST_PROTO) },
		},
		.users = PAGEBLOCK | ZONELOCK,
		.required = PAGEBLOCK,
		.spare_users = ZONELOCK,
		.spare_for = LMM_HOOK_REFILL,
		.lost = "pageblock; zonelock where refills cannot be hooked",
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
		.users = PAGEBLOCK | CMA,
		.lost = "knob buffers: what file systems pin stays movable, and on CMA memory",
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
		.users = PAGEBLOCK,
		.required = PAGEBLOCK,
		.lost = "all of the policy: it would not know who has tried to make room",
		.handler = lmm_event_reclaim_end,
	},
	[LMM_HOOK_COMPACT_BEGIN] = {
		.name = "compact_begin",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_compaction_try_to_compact_pages", PROTO("compact_begin",
			  "void (void *__data, int order, gfp_t gfp_mask, int prio)") },
		},
		.users = PAGEBLOCK,
		.required = PAGEBLOCK,
		.lost = "all of the policy: it would not know who has tried to make room",
		.handler = lmm_event_compact_begin,
	},
	[LMM_HOOK_MIXED] = {
		.name = "mixed",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_alloc_extfrag", PROTO("mixed", MIXED_PROTO) },
		},
		.users = PAGEBLOCK,
		.lost = "counters claimed and mixed",
		.handler = lmm_event_mixed,
	},
	[LMM_HOOK_CMA_START] = {
		.name = "cma_start",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_start", PROTO("cma_start", LMM_CMA_START_PROTO) },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would lend what an owner is about to take",
		.handler = lmm_event_cma_start,
	},
	[LMM_HOOK_CMA_BUSY] = {
		.name = "cma_busy",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_busy_retry", PROTO("cma_busy", CMA_BUSY_PROTO) },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would lend again what could not be emptied",
		.handler = lmm_event_cma_busy,
	},
	[LMM_HOOK_CMA_FINISH] = {
		.name = "cma_finish",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_alloc_finish", PROTO("cma_finish", LMM_CMA_FINISH_PROTO) },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would never lend again",
		.handler = lmm_event_cma_finish,
	},
	[LMM_HOOK_CMA_RELEASE] = {
		.name = "cma_release",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "cma_release", PROTO("cma_release", CMA_RELEASE_PROTO) },
		},
		.users = CMA,
		.lost = "what an owner has released is not kept for it",
		.handler = lmm_event_cma_release,
	},
	[LMM_HOOK_CMA_AREAS] = {
		.name = "cma_areas",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_for_each_area", PROTO("cma_areas",
			  "int (int (*)(struct cma *, void *) it, void *data)") },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would not know the areas",
	},
	[LMM_HOOK_CMA_BASE] = {
		.name = "cma_base",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_base", PROTO("cma_base",
			  "phys_addr_t (const struct cma *cma)") },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would not know the areas",
	},
	[LMM_HOOK_CMA_SIZE] = {
		.name = "cma_size",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_size", PROTO("cma_size",
			  "long unsigned int (const struct cma *cma)") },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would not know the areas",
	},
	[LMM_HOOK_CMA_NAME] = {
		.name = "cma_name",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "cma_get_name", PROTO("cma_name",
			  "const char * (const struct cma *cma)") },
		},
		.users = CMA,
		.required = CMA,
		.lost = "all of the policy: it would not know the areas",
	},
	[LMM_HOOK_UNGROUPED] = {
		.name = "ungrouped",
		DATA(page_group_by_mobility_disabled, int),
		.users = PAGEBLOCK,
		.required = PAGEBLOCK,
		.lost = "hands off where memory is too small for grouping",
	},
	[LMM_HOOK_BOOST_FACTOR] = {
		.name = "boost_factor",
		DATA(watermark_boost_factor, int),
		.users = PAGEBLOCK,
		.required = PAGEBLOCK,
		.lost = "waking kswapd where a mix is refused, as it would be for the mix",
	},
	[LMM_HOOK_BALANCING_MODE] = {
		.name = "balancing_mode",
		DATA(sysctl_numa_balancing_mode, int),
		.users = NUMA,
		.required = NUMA,
		.lost = "leaving alone what the admin has switched off by sysctl",
	},
	[LMM_HOOK_SCAN_SIZE] = {
		.name = "scan_size",
		DATA(sysctl_numa_balancing_scan_size, unsigned int),
		.users = NUMA,
		.required = NUMA,
		.lost = "the budget of a scan",
	},
	[LMM_HOOK_DRAIN_LIST] = {
		.name = "drain_list",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "drain_zone_pages", PROTO("drain_list",
			  "void (struct zone *zone, struct per_cpu_pages *pcp)") },
		},
		.users = PCP | CMA,
		.required = PCP | CMA,
		.lost = "pcp, cma: giving back what a list holds",
	},
	[LMM_HOOK_FREE_COMMIT] = {
		.name = "free_commit",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "free_unref_page_commit", PROTO("free_commit", COMMIT_PROTO) },
			{ "free_frozen_page_commit", PROTO("free_commit", FROZEN_PROTO) },
		},
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: it would not know whose drains it may keep",
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
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: it would not know whose drains it may keep",
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
		.users = ZONELOCK,
		.required = ZONELOCK,
		.lost = "all of the policy: it would not know whose drains it may keep",
	},
	[LMM_HOOK_HIGH_FRACTION] = {
		.name = "high_fraction",
		DATA(percpu_pagelist_high_fraction, int),
		.users = PCP,
		.required = PCP,
		.lost = "leaving alone what the admin has set by sysctl",
	},
	[LMM_HOOK_MEM_LOCK] = {
		.name = "mem_lock",
		.mech = LMM_MECH_CALL,
		.alternatives = { { "get_online_mems", PROTO("mem_lock", "void (void)") } },
		.users = PCP,
		.required = PCP,
		.lost = "switching on safely while memory goes offline",
	},
	[LMM_HOOK_MEM_UNLOCK] = {
		.name = "mem_unlock",
		.mech = LMM_MECH_CALL,
		.alternatives = { { "put_online_mems", PROTO("mem_unlock", "void (void)") } },
		.users = PCP,
		.required = PCP,
		.lost = "switching on safely while memory goes offline",
	},
	[LMM_HOOK_MEM_HOTPLUG] = {
		.name = "mem_hotplug",
		DATA(mem_hotplug_lock, struct percpu_rw_semaphore),
		.holds = "__percpu_rwsem_rc_mem_hotplug_lock",
		.offset = offsetof(struct percpu_rw_semaphore, read_count),
		.users = PAGEBLOCK,
		.lost = "census, reserve, clean-up: memory could go while it is looked at",
	},
	[LMM_HOOK_BLOCK_FLAGS] = {
		.name = "block_flags",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ LMM_BLOCK_TYPE_SYMBOL, PROTO("block_flags", LMM_BLOCK_TYPE_PROTO) },
		},
		.users = PAGEBLOCK | CMA,
		.required = CMA,
		.lost = "cma; census, reserve, clean-up: the type of a block",
	},
	[LMM_HOOK_ISOLATE] = {
		.name = "isolate",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "folio_isolate_lru", PROTO("isolate", LMM_ISOLATE_PROTO) },
		},
		.users = PAGEBLOCK,
		.lost = "the clean-up of mixed blocks",
	},
	[LMM_HOOK_MIGRATE] = {
		.name = "migrate",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "migrate_pages", PROTO("migrate", LMM_MIGRATE_PROTO) },
		},
		.users = PAGEBLOCK,
		.lost = "the clean-up of mixed blocks",
	},
	[LMM_HOOK_PUTBACK] = {
		.name = "putback",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "putback_movable_pages", PROTO("putback",
			  "void (struct list_head *l)") },
		},
		.users = PAGEBLOCK,
		.lost = "the clean-up of mixed blocks",
	},
	SIZE(PCP | PAGEBLOCK | ZONELOCK | CMA, zone),
	SIZE(PAGEBLOCK | CMA, free_area),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, pglist_data, node_zones),
	LAYOUT(PCP | ZONELOCK, per_cpu_pages, lock),
	LAYOUT(PCP | ZONELOCK | CMA, per_cpu_pages, count),
	LAYOUT(ZONELOCK, per_cpu_pages, lists),
	LAYOUT(PCP | ZONELOCK, per_cpu_pages, high),
	LAYOUT(PCP | ZONELOCK, per_cpu_pages, batch),
#ifdef LMM_HAS_PCP_HIGH_MIN
	LAYOUT(PCP | ZONELOCK, per_cpu_pages, high_min),
	LAYOUT(PCP | ZONELOCK, per_cpu_pages, high_max),
	LAYOUT(PCP, zone, pageset_high_min),
	LAYOUT(PCP, zone, pageset_high_max),
#else
	LAYOUT(PCP, zone, pageset_high),
#endif
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, _watermark),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, watermark_boost),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, node),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, zone_pgdat),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, managed_pages),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, present_pages),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK | CMA, zone, name),
	LAYOUT(PCP | ZONELOCK | CMA, zone, per_cpu_pageset),
	LAYOUT(PCP | PAGEBLOCK | ZONELOCK, zone, flags),
	LAYOUT(PCP | CMA, zone, lock),
	LAYOUT(PCP | ZONELOCK | CMA, zone, vm_stat),
	LAYOUT(ZONELOCK, zone, nr_isolate_pageblock),
#ifdef CONFIG_CMA
	LAYOUT(CMA, zone, cma_pages),
#ifdef LMM_HAS_CMA_PIECES
	LAYOUT(CMA, cma, nranges),
#endif
#endif
	LAYOUT(ZONELOCK, compact_control, zone),
	LAYOUT(ZONELOCK, alloc_context, preferred_zoneref),
	LAYOUT(ZONELOCK, alloc_context, migratetype),
	LAYOUT(ZONELOCK, zoneref, zone),
	LAYOUT(PAGEBLOCK | CMA, zone, free_area),
	LAYOUT(PAGEBLOCK, zone, compact_considered),
	LAYOUT(PAGEBLOCK, zone, compact_defer_shift),
	LAYOUT(PAGEBLOCK, free_area, nr_free),
	LAYOUT(PAGEBLOCK, signal_struct, oom_mm),
	LAYOUT(PAGEBLOCK, zone, zone_start_pfn),
	LAYOUT(PAGEBLOCK, zone, spanned_pages),
	SIZE(PAGEBLOCK | CMA, page),
	LAYOUT(PAGEBLOCK | CMA, page, flags),
	LAYOUT_OF(PAGEBLOCK, page, LMM_PAGE_COMPOUND),
	LAYOUT(PAGEBLOCK, page, mapping),
	LAYOUT(PAGEBLOCK | CMA, page, private),
	LAYOUT(CMA, page, buddy_list),
	LAYOUT(PAGEBLOCK | CMA, page, page_type),
	LAYOUT(PAGEBLOCK, page, _refcount),
	SIZE(PAGEBLOCK, percpu_rw_semaphore),
	LAYOUT(PAGEBLOCK, percpu_rw_semaphore, read_count),
	LAYOUT(PAGEBLOCK, percpu_rw_semaphore, block),
	LAYOUT(NUMA, mm_struct, context.ctx_id),
	LAYOUT(NUMA, mm_struct, numa_next_scan),
	LAYOUT(NUMA, mm_struct, numa_scan_seq),
	LAYOUT(NUMA, mm_struct, rss_stat),
	LAYOUT(NUMA, task_struct, mm),
	LAYOUT(NUMA, task_struct, pid),
	LAYOUT(NUMA, task_struct, tgid),
	LAYOUT(NUMA, task_struct, comm),
	LAYOUT(NUMA | PAGEBLOCK, task_struct, flags),
	LAYOUT(NUMA, task_struct, group_leader),
	LAYOUT(NUMA | PAGEBLOCK, task_struct, signal),
	LAYOUT(NUMA, task_struct, cgroups),
	LAYOUT(NUMA, task_struct, tasks),
	LAYOUT(NUMA, task_struct, thread_node),
	LAYOUT(NUMA, task_struct, alloc_lock),
	LAYOUT(NUMA, task_struct, se.sum_exec_runtime),
	LAYOUT(NUMA, task_struct, node_stamp),
	LAYOUT(NUMA, task_struct, numa_scan_period),
	LAYOUT(NUMA, signal_struct, nr_threads),
	LAYOUT(NUMA, signal_struct, thread_head),
	LAYOUT(NUMA, css_set, dfl_cgrp),
	LAYOUT(NUMA, cgroup, kn),
	LAYOUT(NUMA, kernfs_node, id),
	LAYOUT(NUMA_VMA, mm_struct, mm_users),
	LAYOUT(NUMA_VMA, mm_struct, pgd),
	LAYOUT(NUMA_VMA, vm_area_struct, vm_start),
	LAYOUT(NUMA_VMA, vm_area_struct, vm_end),
	LAYOUT(NUMA_VMA, vm_area_struct, vm_mm),
	LAYOUT(NUMA_VMA, vm_fault, vma),
};

const unsigned int lmm_nr_hooks = ARRAY_SIZE(lmm_hooks);

const char *const lmm_mechanism_name[] = {
	[LMM_MECH_LIVEPATCH] = "livepatch",
	[LMM_MECH_KPROBE] = "kprobe",
	[LMM_MECH_DIRECT] = "direct",
	[LMM_MECH_TRACEPOINT] = "tracepoint",
	[LMM_MECH_CALL] = "call",
	[LMM_MECH_DATA] = "data",
	[LMM_MECH_LAYOUT] = "layout",
};
