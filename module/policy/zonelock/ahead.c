// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - pages of a list that go before the kernel asks for them
 *
 * Newer kernels give back what a list holds in parts of a batch, each under a hold of zone->lock of
 * its own.  The policy lets all parts go at once, as larger blocks, and the kernel then asks for
 * pages that have gone.
 *
 * What a CPU has noted outlives its drain, the policy and the CPU, and is freed by nobody: the
 * pointer to the list is compared, never followed.  A note that is taken for that of another drain
 * leaves pages on the list, which the next free that finds the list full has drained.
 */
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>

#include "compat/pageset.h"
#include "flow/drain.h"
#include "ahead.h"
#include "state.h"

/**
 * struct ahead - pages of a list of this CPU that went before the kernel asked for them
 * @list: the list
 * @caller: return address of the drain, whose later parts are meant
 * @until: a value that stays the same until the last part
 * @pages: number of pages; 0 or less: none
 */
struct ahead {
	const struct per_cpu_pages *list;
	unsigned long caller;
	unsigned long until;
	int pages;
};

static DEFINE_PER_CPU(struct ahead, ahead);

/**
 * ahead_take() - pages of a drain that have gone before
 * @drain: a drain of this CPU's lists
 * @until: the value that ahead_note() was told, if this is a later part of the same drain
 *
 * Context: under pcp->lock, preemption off.
 * Return: pages of the drain that need not be drained any more.
 */
int ahead_take(const struct lmm_drain *drain, unsigned long until)
{
	struct ahead *before = this_cpu_ptr(&ahead);
	int gone;

	if (before->list != drain->pcp || before->caller != drain->caller || before->until != until)
		return 0;
	gone = clamp(before->pages, 0, drain->count);
	before->pages -= gone;
	return gone;
}

/**
 * ahead_note() - more pages of a list have gone than the kernel asked for
 * @drain: a drain of this CPU's lists
 * @until: a value that stays the same until the last part of the drain
 * @more: pages that have gone besides those of this part; may be 0 or less
 *
 * Context: under pcp->lock, preemption off.
 */
void ahead_note(const struct lmm_drain *drain, unsigned long until, int more)
{
	*this_cpu_ptr(&ahead) = (struct ahead){ drain->pcp, drain->caller, until, more };
}

/**
 * ahead_decay() - the kernel gives back what a list does not need
 * @drain: the drain
 *
 * From 6.7 on the kernel lowers the bound that it has tuned, and gives back what this CPU's list
 * holds above, a batch under each hold of zone->lock (decay_pcp_high()).  All of that goes with the
 * first batch, as larger blocks; the other batches have gone by then.
 *
 * Context: under pcp->lock, interrupts or preemption off.
 * Return: pages of the drain that need not be drained any more.
 */
int ahead_decay(const struct lmm_drain *drain)
{
	unsigned long now = jiffies;
	int gone;

	if (!LMM_TUNES_LISTS || drain->count > READ_ONCE(drain->pcp->batch) || !drain->is_here)
		return 0;
	gone = ahead_take(drain, now);
	if (gone)
		return gone;
	gone = zonelock_list_shrink(drain->zone, drain->pcp, lmm_pageset_read(drain->pcp));
	ahead_note(drain, now, gone - drain->count);
	return min(gone, drain->count);
}
