/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inspect.h - what a pageblock holds, by its struct pages
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_INSPECT_H
#define LIVEMM_POLICY_PAGEBLOCK_INSPECT_H

#include <linux/types.h>

#include "core_census.h"
#include "policy/common/core_move.h"

struct page;
struct zone;

/**
 * struct pageblock_run - the rest of a free or compound page, which may be larger than a block
 * @end: page frame number after the page
 * @kind: kind of the page
 */
struct pageblock_run {
	unsigned long end;
	enum census_kind kind;
};

bool pageblock_inspect(struct zone *zone, unsigned long pfn, unsigned long end,
		       struct pageblock_run *run, struct census_block *block);

bool pageblock_page_is_loose(struct page *page);
unsigned long pageblock_glance(struct zone *zone, unsigned long pfn, unsigned long limit);

#endif /* LIVEMM_POLICY_PAGEBLOCK_INSPECT_H */
