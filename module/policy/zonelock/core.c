// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of the zonelock policy; see core.h
 *
 * Pure: no kernel state, no lock, no clock.
 */
#include <linux/minmax.h>

#include "core.h"
#include "depot.h"

/**
 * depot_judge() - may a drained batch be stored?
 * @view: its zone
 * @count: pages in it
 *
 * The order of the answers is that of their weight: pages that somebody waits for come
 * before bounds of our own.
 *
 * Context: any.
 * Return: DEPOT_STORE, or why not.
 */
enum depot_verdict depot_judge(const struct depot_view *view, unsigned int count)
{
	if (view->disabled)
		return DEPOT_DISABLED;
	if (view->isolated)
		return DEPOT_ISOLATED;
	if (view->reclaim)
		return DEPOT_RECLAIM;
	if (view->free < view->mark)
		return DEPOT_WATERMARK;
	if (view->closed)
		return DEPOT_CLOSED;
	if (view->held + count > view->max)
		return DEPOT_FULL;
	return DEPOT_STORE;
}

/**
 * depot_duty() - why a pass gives back what it does
 * @view: a zone, whose depot holds pages
 *
 * Context: any.
 * Return: DEPOT_BY_AGE: what is old enough; DEPOT_BY_SIZE: down to the bound, and that;
 * any other: all.
 */
enum depot_reason depot_duty(const struct depot_view *view)
{
	if (view->isolated)
		return DEPOT_BY_DRAIN;
	if (view->reclaim)
		return DEPOT_BY_RECLAIM;
	if (view->free < view->mark)
		return DEPOT_BY_WATERMARK;
	if (view->closed)
		return DEPOT_BY_ORDER;
	return view->held > view->max ? DEPOT_BY_SIZE : DEPOT_BY_AGE;
}

/**
 * depot_cut() - how much of a list goes into the depot
 * @asked: pages that the kernel wants to drain, at least 1
 * @on_list: pages on the list, or 0 if that is not known
 *
 * A whole list is taken by its ends; part of one has to be counted off, page by page.
 * So it is taken whole where the kernel wants to be rid of most of it, as it does of a
 * list that is only freed to; its CPU, should it allocate after all, gets a batch from
 * the depot as cheaply as it has stored one.  Of a longer list only a batch is taken: the
 * next is when it is full again.
 *
 * Context: any.
 * Return: pages; all of @on_list, or at most @asked to be counted off its end.
 */
unsigned int depot_cut(unsigned int asked, unsigned int on_list)
{
	if (on_list && on_list <= DEPOT_BATCH_MAX && asked >= on_list / 2)
		return on_list;
	return min_t(unsigned int, asked, DEPOT_BATCH_MAX);
}
