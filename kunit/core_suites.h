/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_suites.h - suites of pure code, which also build in user space
 *
 * Each suite includes the sources it tests; some use suites included before them.  The includer
 * defines ADD_SUITES(), which registers suites.
 */
#include "pcp_core_test.c"
#include "pcp_depth_core_test.c"
#include "pcp_event_core_test.c"
#include "pcp_event_load_test.c"
#include "cma_core_test.c"
#include "cma_balance_core_test.c"
#include "cma_ratio_core_test.c"
#include "knobs_test.c"
#include "numa_core_test.c"
#include "numa_promote_core_test.c"
#include "numa_trend_core_test.c"
#include "pageblock_census_test.c"
#include "pageblock_core_test.c"
#include "pageblock_move_test.c"
#include "pageblock_reserve_test.c"
#include "zonelock_core_test.c"
#include "zonelock_runs_test.c"
#include "zonelock_took_test.c"

ADD_SUITES(&pcp_core_suite, &pcp_depth_core_suite, &pcp_event_core_suite,
	   &pcp_event_load_suite, &cma_core_suite, &cma_balance_core_suite,
	   &cma_ratio_core_suite, &lmm_knobs_suite, &numa_core_suite,
	   &numa_promote_core_suite, &numa_trend_core_suite, &pageblock_core_suite,
	   &pageblock_census_suite, &pageblock_move_suite, &pageblock_reserve_suite,
	   &zonelock_core_suite, &zonelock_runs_suite,
	   &zonelock_took_suite);
