// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - the hooks, one row each
 *
 * Prototypes are those of Debian's 6.1 and 6.12; a kernel whose prototype is
 * another one gets the row refused, never a wrong call.
 */
#include <linux/mmzone.h>

#include "../compat/compat.h"
#include "../event.h"
#include "../policy/pcp.h"
#include "table.h"

/* Kbuild may name a row here, whose prototype is then wrong on purpose. */
#ifdef LMM_BREAK_HOOK
#define PROTO(name, text) (!__builtin_strcmp(name, LMM_BREAK_HOOK) ? \
			   "unsigned char (struct nothing *)" : (text))
#else
#define PROTO(name, text) (text)
#endif

#define PCP		LMM_USERS(LMM_PCP)
#define PCP_DEPTH	LMM_USER(LMM_PCP, PCP_MODE_DEPTH)
#define PCP_EVENT	LMM_USER(LMM_PCP, PCP_MODE_EVENT)

/* A member that a policy reads or writes, at the offset we were compiled with. */
#define LAYOUT(type, member) {						\
	.name = #type "." #member,					\
	.mech = LMM_MECH_LAYOUT,					\
	.alternatives = { { #type, #member } },				\
	.users = PCP,						\
	.required = PCP,						\
	.lost = "the policy: it would touch the wrong memory",		\
	.offset = offsetof(struct type, member),			\
}

/* The size of a struct that is an element of an array. */
#define SIZE(type) {							\
	.name = "sizeof(" #type ")",					\
	.mech = LMM_MECH_LAYOUT,					\
	.alternatives = { { #type, NULL } },				\
	.users = PCP,						\
	.required = PCP,						\
	.lost = "the policy: it would touch the wrong memory",		\
	.offset = sizeof(struct type),					\
}

#define REFILL_PROTO "int (struct zone *, unsigned int, long unsigned int, struct list_head *, int, unsigned int)"

struct lmm_hook lmm_hooks[] = {
	[LMM_HOOK_REFILL] = {
		.name = "refill",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "rmqueue_bulk", PROTO("refill", REFILL_PROTO) },
		},
		.users = PCP,
		.lost = "larger refills, pressure seen at one; counters refills and refill_pages",
		.function = LMM_KLP_REFILL,
	},
	[LMM_HOOK_DRAIN] = {
		.name = "drain",
		.mech = LMM_MECH_LIVEPATCH,
		.alternatives = {
			{ "free_pcppages_bulk", PROTO("drain",
			  "void (struct zone *, int, struct per_cpu_pages *, int)") },
		},
		.users = PCP,
		.required = PCP_EVENT,
		.lost = "mode event; counters drains and drain_pages; keep_at_exit",
		.function = LMM_KLP_DRAIN,
	},
	[LMM_HOOK_PAGE_ALLOC] = {
		.name = "page_alloc",
		.mech = LMM_MECH_TRACEPOINT,
		.alternatives = {
			{ "mm_page_alloc", PROTO("page_alloc",
			  "void (void *, struct page *, unsigned int, gfp_t, int)") },
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
			  "void (void *, struct page *, unsigned int)") },
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
			  "void (struct zone *, int)") },
		},
		.users = PCP,
		.lost = "promptness: a sysctl write is then noticed within a period",
		.handler = lmm_event_pageset_default,
	},
	[LMM_HOOK_WAKE_KSWAPD] = {
		.name = "wake_kswapd",
		.mech = LMM_MECH_KPROBE,
		.alternatives = {
			{ "wakeup_kswapd", PROTO("wake_kswapd",
			  "void (struct zone *, gfp_t, int, enum zone_type)") },
		},
		.users = PCP,
		.lost = "promptness: that reclaim begins is then noticed at a tick",
		.handler = lmm_event_wake_kswapd,
	},
	[LMM_HOOK_DRAIN_LIST] = {
		.name = "drain_list",
		.mech = LMM_MECH_CALL,
		.alternatives = {
			{ "drain_zone_pages", PROTO("drain_list",
			  "void (struct zone *, struct per_cpu_pages *)") },
		},
		.users = PCP,
		.required = PCP,
		.lost = "giving back what a list holds above its bound",
	},
	[LMM_HOOK_HIGH_FRACTION] = {
		.name = "high_fraction",
		.mech = LMM_MECH_DATA,
		.alternatives = { { "percpu_pagelist_high_fraction", NULL } },
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
	SIZE(zone),
	LAYOUT(pglist_data, node_zones),
	LAYOUT(per_cpu_pages, lock),
	LAYOUT(per_cpu_pages, count),
	LAYOUT(per_cpu_pages, high),
	LAYOUT(per_cpu_pages, batch),
#ifdef LMM_HAS_PCP_HIGH_MIN
	LAYOUT(per_cpu_pages, high_min),
	LAYOUT(per_cpu_pages, high_max),
	LAYOUT(zone, pageset_high_min),
	LAYOUT(zone, pageset_high_max),
#else
	LAYOUT(zone, pageset_high),
#endif
	LAYOUT(zone, _watermark),
	LAYOUT(zone, watermark_boost),
	LAYOUT(zone, node),
	LAYOUT(zone, zone_pgdat),
	LAYOUT(zone, managed_pages),
	LAYOUT(zone, present_pages),
	LAYOUT(zone, name),
	LAYOUT(zone, per_cpu_pageset),
	LAYOUT(zone, flags),
	LAYOUT(zone, lock),
	LAYOUT(zone, vm_stat),
};

const unsigned int lmm_nr_hooks = ARRAY_SIZE(lmm_hooks);

const char *const lmm_mechanism_name[] = {
	[LMM_MECH_LIVEPATCH] = "livepatch",
	[LMM_MECH_KPROBE] = "kprobe",
	[LMM_MECH_TRACEPOINT] = "tracepoint",
	[LMM_MECH_CALL] = "call",
	[LMM_MECH_DATA] = "data",
	[LMM_MECH_LAYOUT] = "layout",
};
