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

#include "knobs.h"

static const char *const mode_words[] = {
	[NUMA_MODE_QUIET] = "quiet",
	[NUMA_MODE_PERIOD] = "period",
	[NUMA_MODE_PROMOTE] = "promote",
	NULL
};

const struct lmm_knob numa_knobs[NR_KNOBS] = {
	NUMA_KNOBS(LMM_KNOB_ROW)
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
 * Return: 0, -EINVAL for a path that no cgroup has.
 */
int numa_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why, size_t len)
{
	const char *path = cfg->text;

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
