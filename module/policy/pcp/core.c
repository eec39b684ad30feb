// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of per-CPU list sizing; see core.h
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core.h"

/**
 * pcp_blocked() - may a list have another bound than its default?
 * @limits: limits of the list
 *
 * Return: PCP_BY_DEFAULT if it may, else why not.  PCP_BY_SYSCTL and PCP_BY_KERNEL mean hands off.
 */
enum pcp_reason pcp_blocked(const struct pcp_limits *limits)
{
	if (limits->disabled)
		return PCP_BY_KERNEL;
	if (limits->sysctl)
		return PCP_BY_SYSCTL;
	if (limits->oom)
		return PCP_BY_OOM;
	if (limits->reclaim)
		return PCP_BY_RECLAIM;
	return PCP_BY_DEFAULT;
}

/**
 * pcp_max_high() - largest size that a list may get
 * @managed: pages that the zone manages
 * @max_tenths: share of @managed that all lists together may hold, in tenths of a percent
 * @cpus: CPUs that keep pages of the zone
 * @def: the kernel's default size
 * @batch: the list's batch
 *
 * Computes what zone_highsize() does for percpu_pagelist_high_fraction = 8, which is 12.5 percent,
 * but for the CPUs of every node: all lists together have the share.
 *
 * Return: pages, at least @def and four batches.
 */
int pcp_max_high(unsigned long managed, u32 max_tenths, unsigned int cpus, int def, int batch)
{
	u64 share = div_u64(mul_u32_u32(max_tenths, 1) * managed, 1000);
	u64 high = div_u64(share, max(cpus, 1U));

	return max3((int)min_t(u64, high, INT_MAX), batch * 4, def);
}

/**
 * pcp_keep() - pages that a list may keep while its zone lacks free pages
 * @count: pages in the list
 * @def: the kernel's default bound
 * @held: pages that all lists of the zone hold above their defaults, @count - @def among them
 * @missing: pages that the zone lacks
 *
 * Each list gives in proportion to what it holds above its default.
 *
 * Return: pages, at least @def.
 */
int pcp_keep(int count, int def, long held, long missing)
{
	long keep = max(held - max(missing, 0L), 0L);

	if (count <= def || held <= 0)
		return def;
	if (missing <= 0)
		return count;
	/* In larger units, so that the product fits. */
	for (; held > INT_MAX; held = held / 2 + 1)
		keep /= 2;
	return def + (int)div64_s64((s64)(count - def) * keep, held);
}
