/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of per-CPU list sizing: limits of a list
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 * All sizes are in pages.
 */
#ifndef LIVEMM_POLICY_PCP_CORE_H
#define LIVEMM_POLICY_PCP_CORE_H

#include <linux/types.h>

/**
 * enum pcp_reason - why a list has its size
 * @PCP_BY_DEFAULT: the depth is within the default
 * @PCP_BY_DEPTH: raised to the depth
 * @PCP_BY_MAX: the depth is above the maximum
 * @PCP_BY_DECAY: the list is larger than needed and is lowered in steps
 * @PCP_BY_ROOM: cut, because the zone is below its high watermark
 * @PCP_BY_IDLE: no activity, or hardly any
 * @PCP_BY_USE: mode `event`: the list is in use
 * @PCP_BY_WATERMARK: not raised, because the zone is below its high watermark
 * @PCP_BY_RECLAIM: reclaim wants a block of a high order, and the zone has none
 * @PCP_BY_OOM: memory ran out a moment ago
 * @PCP_BY_SYSCTL: hands off: percpu_pagelist_high_fraction is set
 * @PCP_BY_KERNEL: hands off: the kernel has disabled the list
 * @PCP_NR_REASONS: number of reasons
 */
enum pcp_reason {
	PCP_BY_DEFAULT,
	PCP_BY_DEPTH,
	PCP_BY_MAX,
	PCP_BY_DECAY,
	PCP_BY_ROOM,
	PCP_BY_IDLE,
	PCP_BY_USE,
	PCP_BY_WATERMARK,
	/* From here on a list gets its default: see pcp_blocked(). */
	PCP_BY_RECLAIM,
	PCP_BY_OOM,
	/* From here on the list is left to the kernel. */
	PCP_BY_SYSCTL,
	PCP_BY_KERNEL,
	PCP_NR_REASONS
};

/**
 * struct pcp_limits - limits of a list
 * @def: the kernel's default, in pages
 * @max: the largest size allowed, in pages
 * @now: the size that the list was raised to, in pages; 0 if it was not raised
 * @batch: the list's batch, in pages
 * @disabled: the kernel has set the list's bound to 0
 * @sysctl: percpu_pagelist_high_fraction is set
 * @reclaim: reclaim wants a block of a high order, and the zone has none
 * @oom: memory ran out a moment ago
 * @near: the zone is below its high watermark: the list may be lowered, not raised
 * @sees_refills: this kernel reports refills
 */
struct pcp_limits {
	int def;
	int max;
	int now;
	int batch;
	bool disabled;
	bool sysctl;
	bool reclaim;
	bool oom;
	bool near;
	bool sees_refills;
};

/**
 * struct pcp_decision - what to do with a list
 * @high: bound to set, in pages; meaningless if @hands_off
 * @hands_off: leave the list to the kernel and restore the kernel's bound
 * @reason: reason of the decision
 */
struct pcp_decision {
	int high;
	bool hands_off;
	enum pcp_reason reason;
};

enum pcp_reason pcp_blocked(const struct pcp_limits *limits);
int pcp_max_high(unsigned long managed, u32 max_tenths, unsigned int cpus, int def, int batch);
int pcp_keep(int count, int def, long held, long missing);

#endif /* LIVEMM_POLICY_PCP_CORE_H */
