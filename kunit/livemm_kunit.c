// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_kunit.c - every suite, in one module
 *
 * Cores are included as source: an object in two modules draws a kbuild warning,
 * and nothing is exported for tests alone.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../module/dispatch.h"
#include "../module/hook/entry.h"

/* The registry traces. */
#define CREATE_TRACE_POINTS
#include "../module/trace.h"
#undef CREATE_TRACE_POINTS

/* Handlers that rows of the hook table point to; no row is armed here. */
const struct lmm_klp_handlers lmm_event_klp_handlers = { };

void lmm_event_page_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp,
			  int migratetype)
{
}

void lmm_event_page_free(void *data, struct page *page, unsigned int order)
{
}

int lmm_event_pageset_default(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

int lmm_event_wake_kswapd(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

void lmm_entry_hint_fault(void)
{
}

void lmm_entry_hint_vma(void)
{
}

void lmm_entry_request(void)
{
}

void lmm_entry_buffer(void)
{
}

void lmm_entry_bpf_link(void)
{
}

void lmm_entry_bpf_links(void)
{
}

void lmm_shared_hint_fault(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
}

void lmm_shared_hint_vma(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
}

void lmm_shared_request(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
}

void lmm_shared_buffer(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
}

int lmm_event_scan_begin(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

int lmm_event_space_exit(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

void lmm_event_reclaim_end(void *data, unsigned long pages)
{
}

void lmm_event_compact_begin(void *data, int order, gfp_t gfp, int priority)
{
}

void lmm_event_cma_start(void *data, const char *name, unsigned long count)
{
}

void lmm_event_cma_busy(void *data, const char *name, unsigned long pfn,
			const struct page *page, unsigned long count)
{
}

void lmm_event_cma_finish(void *data, const char *name, unsigned long pfn,
			  const struct page *page, unsigned long count)
{
}

void lmm_event_cma_release(void *data, const char *name, unsigned long pfn,
			   const struct page *page, unsigned long count)
{
}

void lmm_event_mixed(void *data, struct page *page, int order, int got_order, int migratetype,
		     int got_migratetype)
{
}

/* Each includes the sources it tests; some use those before it. */
#include "hook_table_test.c"
#include "pcp_core_test.c"
#include "pcp_event_core_test.c"
#include "pcp_event_load_test.c"
#include "cma_core_test.c"
#include "counters_test.c"
#include "knobs_test.c"
#include "ladder_test.c"
#include "numa_core_test.c"
#include "numa_trace_test.c"
#include "numa_vma_core_test.c"
#include "numa_watch_core_test.c"
#include "pageblock_census_test.c"
#include "pageblock_core_test.c"
#include "registry_test.c"
#include "switch_test.c"
#include "zonelock_core_test.c"

kunit_test_suites(&hook_table_suite, &pcp_core_suite, &pcp_event_core_suite,
		  &pcp_event_load_suite, &cma_core_suite, &lmm_counters_suite, &lmm_knobs_suite,
		  &lmm_ladder_suite, &numa_core_suite, &numa_trace_suite,
		  &numa_vma_core_suite, &numa_watch_core_suite, &pageblock_core_suite,
		  &pageblock_census_suite, &lmm_registry_suite, &lmm_switch_suite,
		  &zonelock_core_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of livemm");
