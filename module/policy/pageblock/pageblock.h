/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pageblock.h - the pageblock policy as the hook table and dispatch.c see it; see
 * policy.c
 */
#ifndef LIVEMM_POLICY_PAGEBLOCK_PAGEBLOCK_H
#define LIVEMM_POLICY_PAGEBLOCK_PAGEBLOCK_H

#include <linux/types.h>

struct free_area;
struct lmm_policy;
struct page;
struct seq_file;

/* filter.c */
int lmm_pageblock_fallback(struct free_area *area, unsigned int order, int migratetype,
			   bool stealable_only, int found, bool *whole);
void lmm_pageblock_reclaimed(unsigned long pages);
void lmm_pageblock_compacting(void);
void lmm_pageblock_mixed(const struct page *page, int got_order);

/* census.c */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m);

#endif /* LIVEMM_POLICY_PAGEBLOCK_PAGEBLOCK_H */
