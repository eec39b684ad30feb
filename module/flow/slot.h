/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slot.h - index of a zone in an array that covers each zone of each node
 */
#ifndef LIVEMM_FLOW_SLOT_H
#define LIVEMM_FLOW_SLOT_H

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>

static inline unsigned int lmm_zone_slots(void)
{
	return nr_node_ids * MAX_NR_ZONES;
}

static inline unsigned int lmm_zone_slot(const struct zone *zone)
{
	return zone_to_nid((struct zone *)zone) * MAX_NR_ZONES + zone_idx(zone);
}

#endif /* LIVEMM_FLOW_SLOT_H */
