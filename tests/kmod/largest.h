/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * largest.h - the zone that a test module works on
 */
#ifndef LMM_TESTS_LARGEST_H
#define LMM_TESTS_LARGEST_H

#include <linux/mm.h>
#include <linux/mmzone.h>

/* The one that manages most pages, so the one that loads allocate from. */
static inline struct zone *lmm_largest_zone(void)
{
	struct zone *largest = NULL;
	int nid, i;

	for_each_online_node(nid) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			struct zone *zone = &NODE_DATA(nid)->node_zones[i];

			if (!largest || zone_managed_pages(zone) > zone_managed_pages(largest))
				largest = zone;
		}
	}
	return largest;
}

#endif /* LMM_TESTS_LARGEST_H */
