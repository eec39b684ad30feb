// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_kunit.c - all suites in one module
 *
 * Cores are included as source: an object in two modules draws a kbuild warning, and nothing is
 * exported for tests alone.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../module/hook/entry_calls.c"

/* The real entries are assembler; the suites arm no row. */
#define STUB(name)	void name(void) { }
STUB(lmm_entry_hint_fault)
STUB(lmm_entry_hint_vma)
STUB(lmm_entry_request)
STUB(lmm_entry_buffer)
STUB(lmm_entry_bpf_link)
STUB(lmm_entry_bpf_links)

/* 6.1 has KUNIT_ARRAY_PARAM() alone. */
#ifndef KUNIT_ARRAY_PARAM_DESC
#define KUNIT_ARRAY_PARAM_DESC(what, array, member)				\
	static void what##_desc(const typeof((array)[0]) *param, char *desc)	\
	{									\
		strscpy(desc, param->member, KUNIT_PARAM_DESC_SIZE);		\
	}									\
										\
	KUNIT_ARRAY_PARAM(what, array, what##_desc)
#endif

/* Each suite includes the sources it tests; some use suites included before them. */
#include "hook_table_test.c"
#include "dispatch_test.c"
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
#include "numa_sample_core_test.c"
#include "pageblock_census_test.c"
#include "pageblock_core_test.c"
#include "registry_test.c"
#include "switch_test.c"
#include "zonelock_core_test.c"

kunit_test_suites(&hook_table_suite, &dispatch_suite, &pcp_core_suite, &pcp_event_core_suite,
		  &pcp_event_load_suite, &cma_core_suite, &lmm_counters_suite, &lmm_knobs_suite,
		  &lmm_ladder_suite, &numa_core_suite, &numa_trace_suite,
		  &numa_vma_core_suite, &numa_sample_core_suite, &pageblock_core_suite,
		  &pageblock_census_suite, &lmm_registry_suite, &lmm_switch_suite,
		  &zonelock_core_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of livemm");
