// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_lists.ko - the bound of every per-CPU page list, as the kernel has it
 *
 * Reading parameter `bounds` gives a line a list: node, zone, CPU, its bound, its zone's default.
 * Where the kernel tunes, the bound is what the kernel may choose from: high_min and high_max,
 * which /proc/zoneinfo does not show.
 * Writing `boost` sets by how many pages the watermarks of the largest zone are boosted, as the
 * kernel does where a block is claimed by another migratetype.
 */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>

#include "../../module/compat/pageset.h"
#include "../../module/policy/common/zones.h"
#include "largest.h"
#include "lmm_kmod.h"

#if LMM_TUNES_LISTS
#define BOUND(pcp)	READ_ONCE((pcp)->high_min), READ_ONCE((pcp)->high_max)
#else
#define BOUND(pcp)	READ_ONCE((pcp)->high), READ_ONCE((pcp)->high)
#endif

static int bounds_get(char *buf, const struct kernel_param *kp)
{
	struct zone *zone = NULL;
	int cpu, used = 0;

	while ((zone = lmm_zone_after(zone))) {
		for_each_possible_cpu(cpu)
			used += scnprintf(buf + used, PAGE_SIZE - used,
					  "%d %s %d %d..%d %d..%d\n", zone_to_nid(zone),
					  zone->name, cpu,
					  BOUND(per_cpu_ptr(zone->per_cpu_pageset, cpu)),
					  lmm_pageset_default(zone), lmm_pageset_most(zone));
	}
	return used;
}

LMM_PARAM_GET(bounds, bounds_get, "node, zone, CPU, bound, default of every list");

static int boost_set(const char *text, const struct kernel_param *kp)
{
	unsigned int pages;
	int err;

	err = kstrtouint(text, 0, &pages);
	if (!err)
		WRITE_ONCE(lmm_largest_zone()->watermark_boost, pages);
	return err;
}

LMM_PARAM_SET(boost, boost_set, "pages by which the watermarks of the largest zone are boosted");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: bounds of the per-CPU page lists");
