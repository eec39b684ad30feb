/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pcp.h - events of the pcp policy; see pcp.c
 */
#ifndef LIVEMM_POLICY_PCP_H
#define LIVEMM_POLICY_PCP_H

struct per_cpu_pages;
struct zone;

void lmm_pcp_page(int nid, int zone_idx, long pages);
int lmm_pcp_drain_count(struct zone *zone, int count, struct per_cpu_pages *pages,
			int pindex);
void lmm_pcp_refill(int pages);
void lmm_pcp_drain(int pages);
void lmm_pcp_pageset_default(void);

#endif /* LIVEMM_POLICY_PCP_H */
