/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cma.h - the cma policy as the hook table and dispatch.c see it; see policy.c
 */
#ifndef LIVEMM_POLICY_CMA_CMA_H
#define LIVEMM_POLICY_CMA_CMA_H

#include <linux/types.h>

#include "hook/klp_port.h"

struct zone;

/* lend.c */
void lmm_cma_source(struct zone *zone, unsigned int order, int migratetype,
		    struct lmm_klp_source *source);
bool lmm_cma_allocating(const struct zone *zone);
void lmm_cma_refilled(struct zone *zone, unsigned int order,
		      const struct lmm_klp_source *source);

/* areas.c */
void lmm_cma_alloc_start(const char *name, unsigned long count);
void lmm_cma_alloc_busy(const char *name, unsigned long pfn, unsigned long count);
void lmm_cma_alloc_finish(const char *name, unsigned long pfn, bool got, unsigned long count);
bool lmm_cma_release(const char *name, unsigned long pfn, unsigned long count);

#endif /* LIVEMM_POLICY_CMA_CMA_H */
