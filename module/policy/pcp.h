/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pcp.h - events of the pcp policy; see pcp.c
 */
#ifndef LIVEMM_POLICY_PCP_H
#define LIVEMM_POLICY_PCP_H

void lmm_pcp_page(int nid, int zone_idx, long pages);
void lmm_pcp_refill(int pages);
void lmm_pcp_drain(int pages);
void lmm_pcp_pageset_default(void);

#endif /* LIVEMM_POLICY_PCP_H */
