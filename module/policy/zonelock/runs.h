/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runs.h - blocks that are neighbours, as larger blocks
 */
#ifndef LIVEMM_POLICY_ZONELOCK_RUNS_H
#define LIVEMM_POLICY_ZONELOCK_RUNS_H

#include <linux/list.h>
#include <linux/types.h>

/* Page frame number of a page that is not to be joined: no page has a number next to it. */
#define RUNS_ALONE	(~0UL / 2)

unsigned int runs_join(struct list_head *pieces, unsigned int of, unsigned int order,
		       unsigned long (*pfn_of)(const struct list_head *),
		       struct list_head *blocks);

#endif /* LIVEMM_POLICY_ZONELOCK_RUNS_H */
