// SPDX-License-Identifier: GPL-2.0-only
/*
 * census.c - the census: a walk over all struct pages
 *
 * Only memory hotplug is locked; see inspect.c.  The walk does not wait for that lock without
 * limit, as get_online_mems() does: taking memory offline takes as long as its pages cannot be
 * moved, and a reader of the census holds the control mutex, which the lease needs.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mmzone.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "hook/hook.h"
#include "state.h"
#include "inspect.h"
#include "policy/common/zones.h"

/* Time limit of a read; the output names what was left out. */
#define CENSUS_MAX_JIFFIES	(2 * HZ)

static const char *const type_names[CENSUS_NR_TYPES] = {
	[CENSUS_TYPE_UNMOVABLE] = "unmovable",
	[CENSUS_TYPE_MOVABLE] = "movable",
	[CENSUS_TYPE_RECLAIMABLE] = "reclaimable",
	[CENSUS_TYPE_HIGHATOMIC] = "highatomic",
	[CENSUS_TYPE_CMA] = "cma",
	[CENSUS_TYPE_ISOLATE] = "isolate",
};

/* Sums by type of the zone being walked; under the control mutex. */
static struct census_row census_rows[CENSUS_NR_TYPES];

/* Return the first page frame number that there was no time for. */
static unsigned long zone_walk(struct zone *zone, unsigned long deadline)
{
	unsigned long pfn = zone->zone_start_pfn;
	unsigned long end = zone_end_pfn(zone);
	struct pageblock_run run = { };
	unsigned long block_end;

	memset(census_rows, 0, sizeof(census_rows));
	for (; pfn < end && time_before(jiffies, deadline); pfn = block_end) {
		struct census_block block = { };

		block_end = min(end, pageblock_end_pfn(pfn));
		if (pageblock_inspect(zone, pfn, block_end, &run, &block))
			pageblock_census_row_add(&census_rows[block.type], &block,
						 pageblock_nr_pages);
		cond_resched();
	}
	return min(pfn, end);
}

static void row_show(struct seq_file *m, struct zone *zone, const char *type,
		     const struct census_row *row)
{
	u32 memory = pageblock_census_memory_share(row);
	u32 blocks = pageblock_census_block_share(row);
	int i;

	seq_printf(m, "%-6d %-8s %-11s %8llu", zone_to_nid(zone), zone->name, type, row->blocks);
	for (i = 0; i < CENSUS_NR_CLASSES; i++)
		seq_printf(m, " %8llu", row->class[i]);
	seq_printf(m, " %8llu", row->held);
	for (i = 0; i < CENSUS_NR_KINDS; i++)
		seq_printf(m, " %10llu", row->pages[i]);
	/* Free, loose and reserved pages are foreign nowhere. */
	for (i = CENSUS_MOVABLE; i <= CENSUS_OTHER; i++)
		seq_printf(m, " %15llu", row->foreign[i]);
	seq_printf(m, " %10u.%u %9u.%u\n", memory / 10, memory % 10, blocks / 10, blocks % 10);
}

static void zone_show(struct seq_file *m, struct zone *zone)
{
	struct census_row all = { };
	int type;

	for (type = 0; type < CENSUS_NR_TYPES; type++) {
		row_show(m, zone, type_names[type], &census_rows[type]);
		pageblock_census_row_sum(&all, &census_rows[type]);
	}
	row_show(m, zone, "all", &all);
}

static void header_show(struct seq_file *m)
{
	static const char *const blocks[] = {
		"blocks", "pure", "mixed", "neutral", "absent", "held",
	};
	static const char *const pages[] = {
		"free", "loose", "movable", "slab", "table", "other", "reserved",
	};
	static const char *const foreign[] = {
		"foreign_movable", "foreign_slab", "foreign_table", "foreign_other",
	};
	int i;

	seq_printf(m, "# %-4s %-8s %-11s", "node", "zone", "type");
	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		seq_printf(m, " %8s", blocks[i]);
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		seq_printf(m, " %10s", pages[i]);
	for (i = 0; i < ARRAY_SIZE(foreign); i++)
		seq_printf(m, " %15s", foreign[i]);
	seq_printf(m, " %12s %11s\n", "memory_pct", "held_pct");
}

static bool hotplug_stopped(struct percpu_rw_semaphore *hotplug, unsigned long deadline)
{
	while (!percpu_down_read_trylock(hotplug)) {
		if (!time_before(jiffies, deadline))
			return false;
		msleep(20);
	}
	return true;
}

/**
 * pageblock_census_show() - print the census
 * @policy: the pageblock policy, on or off
 * @m: file to print to
 *
 * See debugfs-docs/pageblock.  If time is short, a last line names what was left out.
 *
 * Context: process, may sleep, control mutex held; up to CENSUS_MAX_JIFFIES.
 */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct percpu_rw_semaphore *hotplug =
		(void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	unsigned long deadline = jiffies + CENSUS_MAX_JIFFIES;
	unsigned long pfn = 0, end = 0;
	char why[LMM_WHY_LEN] = "";
	struct zone *zone;
	bool stopped;

	lockdep_assert_held(&lmm_control_mutex);

	if (!hotplug || !lmm_hook_available(LMM_HOOK_BLOCK_FLAGS) ||
	    !lmm_hooks_layout(policy->id, why, sizeof(why))) {
		seq_printf(m, "# unavailable: %s\n", why[0] ? why : "see hooks");
		return;
	}
	header_show(m);
	stopped = hotplug_stopped(hotplug, deadline);
	for (zone = lmm_zone_after(NULL); zone && stopped; zone = lmm_zone_after(zone)) {
		pfn = zone_walk(zone, deadline);
		end = zone_end_pfn(zone);
		zone_show(m, zone);
		if (pfn < end)
			break;
	}
	if (stopped)
		percpu_up_read(hotplug);
	else
		zone = lmm_zone_after(NULL);
	if (!zone)
		return;
	seq_printf(m, "# incomplete: %d %s %lu", zone_to_nid(zone), zone->name,
		   stopped ? pfn : zone->zone_start_pfn);
	while ((zone = lmm_zone_after(zone)))
		seq_printf(m, ", %d %s %lu", zone_to_nid(zone), zone->name, zone->zone_start_pfn);
	seq_putc(m, '\n');
}
