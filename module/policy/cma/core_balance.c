// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_balance.c - how many pages of regular memory to move to CMA memory, and when; see
 * core_balance.h
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "core_balance.h"

/**
 * cma_balance_goal() - free pages that regular memory is to have above its high watermark
 * @view: the zone
 *
 * Return: pages.
 */
long cma_balance_goal(const struct cma_view *view)
{
	return max(view->managed - view->cma, 0L) * CMA_REGULAR_FREE_PCT / 100;
}

/**
 * cma_balance_want() - how many pages should leave the regular memory of a zone?
 * @view: the zone
 * @moving: pages are being moved out already
 *
 * Movement begins when half of the goal is used up, and ends at the goal, so that the worker does
 * not move a few pages at a time.
 *
 * Return: pages; 0 if none.
 */
long cma_balance_want(const struct cma_view *view, bool moving)
{
	long goal = cma_balance_goal(view);
	long room = cma_room(view);

	if (room >= (moving ? goal : goal / 2))
		return 0;
	return goal - room;
}

/**
 * cma_balance_near() - may movement be due soon?
 * @view: the zone
 *
 * Return: true if regular memory has less than twice its goal.
 */
bool cma_balance_near(const struct cma_view *view)
{
	return cma_room(view) < 2 * cma_balance_goal(view);
}

/**
 * cma_balance_can() - how many pages may come to the CMA memory of a zone?
 * @view: the zone
 *
 * None while an owner allocates, and not the free pages that are kept for owners.  The kernel's own
 * rule is to give CMA memory to a movable request while over half of free memory is CMA memory, and
 * pages to move to come by that rule.  A page that is moved within a zone makes the surplus smaller
 * by two.
 *
 * Return: pages; 0 if none.
 */
long cma_balance_can(const struct cma_view *view)
{
	long surplus = 2 * view->free_cma - view->free;
	long can = min(view->free_cma - view->kept, surplus / 2);

	if (view->allocating || view->cma <= 0)
		return 0;
	return max(can, 0L);
}

/**
 * cma_oom_report() - which of the moved pages count for the OOM killer?
 * @oom: earlier reports; updated
 * @now: time in ms
 * @near: pages that left memory of nodes that the request may use
 * @far: pages that left memory of other nodes
 *
 * The kernel kills nobody while pages are reported, and a busy node has pages to move for ever.
 * The kernel's own requests may leave their cpuset, so other nodes do count for a while.
 *
 * Return: pages to report.
 */
u64 cma_oom_report(struct cma_oom *oom, u64 now, u64 near, u64 far)
{
	if (near || now > oom->last + CMA_OOM_ROW_MS)
		oom->far = 0;
	oom->last = now;
	if (near || !far)
		return near + far;
	if (oom->far == CMA_OOM_FAR)
		return 0;
	oom->far++;
	return far;
}

/**
 * cma_search_goes_on() - is a further block of a zone to be searched?
 * @search: the search; updated
 * @blocks: blocks of the zone
 *
 * Pages that were used lately are taken when some blocks have none of the others, until movement
 * ends: to move them costs their users a fault, to search the whole zone may take too long.  A new
 * page of a process counts as used lately.
 *
 * Return: false if all blocks were searched in vain.
 */
bool cma_search_goes_on(struct cma_search *search, unsigned long blocks)
{
	if (search->seen < (search->warm ? blocks : min_t(unsigned long, blocks, CMA_COLD_BLOCKS)))
		return true;
	if (!search->found) {
		if (search->warm)
			return false;
		search->warm = true;
	}
	search->seen = 0;
	search->found = 0;
	return true;
}

/**
 * cma_search_moved() - pages were moved out of a zone
 * @search: the search; updated
 * @pages: their number
 */
void cma_search_moved(struct cma_search *search, unsigned long pages)
{
	search->found += pages;
	if (pages)
		search->vain_ms = 0;
}

/**
 * cma_search_rests() - all blocks of a zone were searched in vain
 * @search: the search; updated
 */
void cma_search_rests(struct cma_search *search)
{
	*search = (struct cma_search){
		.vain_ms = clamp(2 * search->vain_ms, CMA_VAIN_MIN_MS, CMA_VAIN_MAX_MS),
	};
}

/**
 * cma_search_ends() - regular memory of a zone has room
 * @search: the search; updated
 *
 * What was there to be found in vain was freed, at least in part, and what comes next in its place
 * may be pages that can be moved.  So the next search does not wait for the rest to end.
 */
void cma_search_ends(struct cma_search *search)
{
	search->warm = false;
	search->vain_ms = 0;
}

/**
 * cma_woken_after() - when does the worker look after a wake-up of kswapd?
 * @now: time in jiffies
 * @soonest: kswapd has no look begin before this time, in jiffies
 * @planned: the next look begins at this time anyhow, in jiffies; a past time: none is planned
 *
 * No wake-up is lost, and no look is put off.
 *
 * Return: jiffies from @now.
 */
unsigned long cma_woken_after(unsigned long now, unsigned long soonest, unsigned long planned)
{
	if (time_before(planned, soonest))
		soonest = planned;
	return time_before(now, soonest) ? soonest - now : 0;
}
