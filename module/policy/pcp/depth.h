/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * depth.h - mode `depth` of the pcp policy
 */
#ifndef LIVEMM_POLICY_PCP_DEPTH_H
#define LIVEMM_POLICY_PCP_DEPTH_H

#include "lists.h"

int pcp_depth_alloc(void);
void pcp_depth_free(void);
void pcp_depth_tick(void);
void pcp_depth_list(struct pcp_list *list, unsigned int slot, int cpu);
void pcp_on_list_pages(const struct page *page, unsigned int order, bool freed);

#endif /* LIVEMM_POLICY_PCP_DEPTH_H */
