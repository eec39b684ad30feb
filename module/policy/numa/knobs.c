// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the policy numa, as rows
 *
 * Pure: no kernel state.  Also built into the program that prints the tables, see
 * tests/tables.py.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "compat/release.h"
#include "knobs.h"

static const char *const mode_words[] = {
	[NUMA_MODE_PERIOD] = "period",
	[NUMA_MODE_VMA] = "vma",
	[NUMA_MODE_PROMOTE] = "promote",
	NULL
};

/* Rows of debugfs files and of the parameter policies. */
const struct lmm_knob numa_knobs[NR_KNOBS] = {
	[KNOB_MODE] = LMM_CHOICE("mode", mode_words, NUMA_MODE_PROMOTE, NUMA_MODE_VMA),
	/* The kernel's own floor: 256 MiB in 100 ms is its fastest scan. */
	[KNOB_SCAN_PERIOD_MIN_MS] = LMM_UINT("scan_period_min_ms", 10, 60000, 100),
	/*
	 * Four times the kernel's own, for the sampling scans in between.  With the
	 * series' 5000 there would be more faults than with the kernel's.
	 */
	[KNOB_SCAN_PERIOD_MAX_MS] = LMM_UINT("scan_period_max_ms", 100, 600000, 240000),
	[KNOB_MIN_FAULTS] = LMM_UINT("min_faults", 10, 100000, NUMA_MIN_FAULTS),
	[KNOB_STEP_MAX_PCT] = LMM_UINT("step_max_pct", 100, 10000, 400),
	[KNOB_STEADY_PCT] = LMM_UINT("steady_pct", 100, 1000, 200),
	[KNOB_SCAN_DELAY_MS] = LMM_UINT("scan_delay_ms", 0, 3600000, 4000),
	[KNOB_SCAN_DELAY_RUN_MS] = LMM_UINT("scan_delay_run_ms", 0, 3600000, 1000),
	[KNOB_THREAD_PERIOD_MIN_MS] = LMM_UINT("thread_period_min_ms", 0, 60000, 1000),
	[KNOB_SAMPLING_STRIDE] = LMM_UINT("sampling_stride", 0, 512, 16),
	[KNOB_FULL_PASS_INTERVAL] = LMM_UINT("full_pass_interval", 1, 1000, 8),
	/* Where the kernel does not. */
	[KNOB_SKIP_BY_THREAD] = LMM_BOOL("skip_by_thread", !LMM_SKIPS_VMA_BY_THREAD),
	[KNOB_SKIP_BY_REGION] = LMM_BOOL("skip_by_region", 1),
	[KNOB_CHARGE_PTES] = LMM_BOOL("charge_ptes", 0),
	/* The kernel's fastest scan of one process, here of all together. */
	[KNOB_PROMOTE_RATE_MB] = LMM_UINT("promote_rate_mb", 2, 65536, 256),
	[KNOB_CGROUPS] = LMM_TEXT("cgroups"),
};

const char *const numa_counter_names[NR_COUNTERS] = {
	NUMA_COUNTERS(LMM_COUNTER_NAME)
};

/* Only the root ends in a slash, and none has two in a row. */
static bool cgroup_path_good(const char *path, size_t len)
{
	return path[0] == '/' && (len == 1 || path[len - 1] != '/') && !strnstr(path, "//", len);
}

/**
 * numa_validate() - judge a whole configuration
 * @policy: the policy numa
 * @cfg: the configuration
 * @why: reason, on failure
 * @len: size of @why
 *
 * Context: any; pure.
 * Return: 0, -EINVAL for a path that no cgroup has, -ERANGE for a shortest period above the
 *	longest.
 */
int numa_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why, size_t len)
{
	const char *path = cfg->text;

	if (cfg->value[KNOB_SCAN_PERIOD_MIN_MS] > cfg->value[KNOB_SCAN_PERIOD_MAX_MS]) {
		scnprintf(why, len, "scan_period_min_ms: %u: more than scan_period_max_ms (%u)",
			  cfg->value[KNOB_SCAN_PERIOD_MIN_MS], cfg->value[KNOB_SCAN_PERIOD_MAX_MS]);
		return -ERANGE;
	}
	while (*path) {
		size_t end = strcspn(path, ":");

		if (!cgroup_path_good(path, end) || !strcmp(path + end, ":")) {
			scnprintf(why, len, "cgroups: %.*s: not a path of a cgroup, such as /a/b",
				  (int)min_t(size_t, end, 40), path);
			return -EINVAL;
		}
		path += end + (path[end] == ':');
	}
	return 0;
}
