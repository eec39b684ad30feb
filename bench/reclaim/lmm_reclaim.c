// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a free cost while kswapd runs?
 *
 * kswapd marks the zones that it may scan, and a free then looks at its list differently.  While
 * this module is loaded every zone is marked, with memory free and kswapd asleep: nothing but the
 * free is counted.  Unload the module before kswapd has work, because kswapd takes its mark away.
 */
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/nodemask.h>

static void mark(bool active)
{
	struct zone *zone;
	int nid, i;

	for_each_online_node(nid) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			zone = &NODE_DATA(nid)->node_zones[i];
			if (active && populated_zone(zone))
				set_bit(ZONE_RECLAIM_ACTIVE, &zone->flags);
			else
				clear_bit(ZONE_RECLAIM_ACTIVE, &zone->flags);
		}
	}
}

static int __init reclaim_init(void)
{
	mark(true);
	return 0;
}

static void __exit reclaim_exit(void)
{
	mark(false);
}

module_init(reclaim_init);
module_exit(reclaim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm's bench: marks zones as kswapd does");
