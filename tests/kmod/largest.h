/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * largest.h - the zone that a test module works on
 */
#ifndef LMM_TESTS_LARGEST_H
#define LMM_TESTS_LARGEST_H

#include <linux/mmzone.h>

#include "../../module/policy/common/zones.h"

/* The one that manages most pages, so the one that loads allocate from. */
static inline struct zone *lmm_largest_zone(void)
{
	struct zone *zone = NULL, *largest = NULL;

	while ((zone = lmm_zone_after(zone)))
		if (!largest || zone_managed_pages(zone) > zone_managed_pages(largest))
			largest = zone;
	return largest;
}

#endif /* LMM_TESTS_LARGEST_H */
