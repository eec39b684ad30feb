/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain_call.h - have the kernel move pages of a per-CPU list to the buddy
 */
#ifndef LIVEMM_POLICY_COMMON_DRAIN_CALL_H
#define LIVEMM_POLICY_COMMON_DRAIN_CALL_H

#include <linux/irqflags.h>
#include <linux/mmzone.h>

#include "compat/compat.h"
#include "hook/kcall.h"

/**
 * lmm_drain() - move pages of a list to the buddy, under one hold of zone->lock
 * @zone: zone of the list
 * @count: pages that go
 * @pages: the list
 * @pindex: index in @pages->lists to begin with
 *
 * Interrupts are off meanwhile.
 *
 * Context: any but NMI, under @pages->lock or with @pages the caller's alone; zone->lock not held.
 */
static inline void lmm_drain(struct zone *zone, int count, struct per_cpu_pages *pages, int pindex)
{
	unsigned long flags = 0;

	if (LMM_DRAIN_NEEDS_IRQS_OFF)
		local_irq_save(flags);
	KCALL(drain)(zone, count, pages, pindex);
	if (LMM_DRAIN_NEEDS_IRQS_OFF)
		local_irq_restore(flags);
}

#endif /* LIVEMM_POLICY_COMMON_DRAIN_CALL_H */
