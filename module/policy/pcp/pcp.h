/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pcp.h - the pcp policy as the hook table and dispatch.c see it; see policy.c
 */
#ifndef LIVEMM_POLICY_PCP_PCP_H
#define LIVEMM_POLICY_PCP_PCP_H

struct per_cpu_pages;
struct zone;

/**
 * enum pcp_mode - how lists are sized: values of knob `mode`
 * @PCP_MODE_DEPTH: by the depth of allocation and freeing, tracked page by page
 * @PCP_MODE_EVENT: by refills and drains
 */
enum pcp_mode {
	PCP_MODE_DEPTH,
	PCP_MODE_EVENT,
};

/* handlers.c */
void lmm_pcp_page(int nid, int zone_idx, long pages);
unsigned long lmm_pcp_refill_count(struct zone *zone, unsigned int order,
				   unsigned long asked);
void lmm_pcp_refill(struct zone *zone, unsigned int order, int pages);
int lmm_pcp_drain_count(struct zone *zone, int count, struct per_cpu_pages *pages,
			int pindex);
void lmm_pcp_drain(int pages);
void lmm_pcp_pageset_default(void);
void lmm_pcp_wake_kswapd(struct zone *zone);

#endif /* LIVEMM_POLICY_PCP_PCP_H */
