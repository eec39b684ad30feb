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

#include "hook_table_test.c"
#include "dispatch_test.c"
#include "counters_test.c"
#include "core_suites.h"
/* These use the suites above. */
#include "registry_test.c"
#include "switch_test.c"

kunit_test_suites(&hook_table_suite, &dispatch_suite, &lmm_counters_suite, CORE_SUITES,
		  &lmm_registry_suite, &lmm_switch_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of livemm");
