/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dispatch.h - raw hook arguments -> events -> the policies
 */
#ifndef LIVEMM_DISPATCH_H
#define LIVEMM_DISPATCH_H

#include <linux/types.h>

#include "hook/klp_port.h"
#include "livemm.h"

struct alloc_context;
struct kprobe;
struct page;
struct pt_regs;

void lmm_events_start(enum lmm_policy_id id);
void lmm_events_stop(enum lmm_policy_id id);

/* Handlers, one a row of the hook table. */
extern const struct lmm_klp_handlers lmm_event_klp_handlers;
void lmm_event_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype);
void lmm_event_page_free(void *data, struct page *page, unsigned int order);
int lmm_event_pageset_default(struct kprobe *kp, struct pt_regs *regs);
int lmm_event_wake_kswapd(struct kprobe *kp, struct pt_regs *regs);
void lmm_event_hint_fault(int last_cpupid, int nid, int pages, int flags);
void lmm_event_hint_vma(const void *page, const void *where);
void lmm_event_topup(gfp_t gfp, unsigned int order, int flags,
		     const struct alloc_context *request);
int lmm_event_scan_begin(struct kprobe *kp, struct pt_regs *regs);
int lmm_event_space_exit(struct kprobe *kp, struct pt_regs *regs);
void lmm_event_reclaim_end(void *data, unsigned long pages);
void lmm_event_compact_begin(void *data, int order, gfp_t gfp, int priority);
void lmm_event_cma_start(void *data, const char *name, unsigned long count);
void lmm_event_cma_busy(void *data, const char *name, unsigned long pfn,
			const struct page *page, unsigned long count);
void lmm_event_cma_finish(void *data, const char *name, unsigned long pfn,
			  const struct page *page, unsigned long count);
void lmm_event_cma_release(void *data, const char *name, unsigned long pfn,
			   const struct page *page, unsigned long count);
void lmm_event_mixed(void *data, struct page *page, int order, int got_order,
		     int migratetype, int got_migratetype);

#endif /* LIVEMM_DISPATCH_H */
