// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_kunit.c - all suites in one module
 *
 * Cores are included as source: an object in two modules draws a kbuild warning, and nothing is
 * exported for tests alone.
 */
#include <kunit/test.h>
#include <linux/module.h>

/* livemm.ko exports. */
#define EXPORT_SYMBOL_LMM(symbol)

#include "../module/hook/entry_calls.c"

/* The real entries are assembler; the suites arm no row. */
#define STUB(name)	void name(void) { }
STUB(lmm_entry_hint_fault)
STUB(lmm_entry_request)
STUB(lmm_entry_buffer)
STUB(lmm_entry_bpf_link)
STUB(lmm_entry_bpf_links)

/* The cases of an array, each shown by its member `name`. */
#define NAMED_CASES(what, array)						\
	static void what##_name(const typeof((array)[0]) one[], char *name)	\
	{									\
		strscpy(name, one->name, KUNIT_PARAM_DESC_SIZE);		\
	}									\
										\
	KUNIT_ARRAY_PARAM(what, array, what##_name)

#include "hook_table_test.c"
#include "flow_test.c"
#include "comm_test.c"
#include "counters_test.c"
#include "numa_suits_test.c"
#include "zones_test.c"
#define ADD_SUITES(...)	kunit_test_suites(__VA_ARGS__)
#include "core_suites.h"
/* These use the suites above. */
#include "registry_test.c"
/* switch.c defines its tracepoints; headers that come after define none once more. */
#undef CREATE_TRACE_POINTS
#include "switch_test.c"
#include "klp_test.c"

ADD_SUITES(&hook_table_suite, &comm_suite, &flow_suite, &lmm_counters_suite, &numa_suits_suite,
	   &zones_suite, &lmm_registry_suite, &lmm_switch_suite, &klp_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of livemm");
