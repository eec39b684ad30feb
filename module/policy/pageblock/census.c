// SPDX-License-Identifier: GPL-2.0-only
/*
 * census.c - the census: a walk over all struct pages
 *
 * Only memory hotplug is locked, for a slice at a time; see inspect.c.  The walk does not wait for
 * that lock without limit, as get_online_mems() does: taking memory offline takes as long as its
 * pages cannot be moved.
 *
 * No lock of control is held.  Readers take turns.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "state.h"
#include "inspect.h"
#include "policy/common/zones.h"

/* Time in ms that a read waits for memory that goes on- or offline. */
#define WAIT_MS			1000U
#define WAIT_POLL		20U

/* Blocks for which memory hotplug is kept waiting. */
#define SLICE_BLOCKS		128

static const char *const type_names[CENSUS_NR_TYPES] = {
	[CENSUS_TYPE_UNMOVABLE] = "unmovable",
	[CENSUS_TYPE_MOVABLE] = "movable",
	[CENSUS_TYPE_RECLAIMABLE] = "reclaimable",
	[CENSUS_TYPE_HIGHATOMIC] = "highatomic",
	[CENSUS_TYPE_CMA] = "cma",
	[CENSUS_TYPE_ISOLATE] = "isolate",
};

static DEFINE_MUTEX(census_mutex);
/* Sums of a zone by type of block; of the reader that holds the mutex. */
static struct census_row sums[CENSUS_NR_TYPES];

/* Keep memory from going on- or offline; false if somebody else does so until the time is over. */
static bool hotplug_stop(struct percpu_rw_semaphore *hotplug)
{
	unsigned int tries = WAIT_MS / WAIT_POLL;

	while (!percpu_down_read_trylock(hotplug)) {
		if (!tries-- || fatal_signal_pending(current))
			return false;
		msleep(WAIT_POLL);
	}
	return true;
}

/*
 * Count the blocks of a zone from @pfn on, for a slice; return the page frame number to go on at.
 * A slice ends where no page reaches beyond: the tail of a free page does not tell what the page
 * is, and pages may become one between two slices, though not across the largest order.
 */
static unsigned long slice_count(struct zone *zone, unsigned long pfn)
{
	struct pageblock_run run = { };
	unsigned int left = SLICE_BLOCKS;

	while (pfn < zone_end_pfn(zone) &&
	       (left || run.end > pfn || !IS_ALIGNED(pfn, 1UL << LMM_MAX_ORDER))) {
		unsigned long end = min(ALIGN(pfn + 1, pageblock_nr_pages), zone_end_pfn(zone));
		struct census_block block = { };

		if (pageblock_inspect(zone, pfn, end, &run, &block))
			pageblock_census_row_add(&sums[block.type], &block, pageblock_nr_pages);
		pfn = end;
		left -= !!left;
		cond_resched();
	}
	return pfn;
}

/* Count the blocks of a zone; false if memory goes on- or offline, or if the reader is killed. */
static bool zone_count(struct zone *zone, struct percpu_rw_semaphore *hotplug)
{
	unsigned long pfn = zone->zone_start_pfn;

	memset(sums, 0, sizeof(sums));
	while (pfn < zone_end_pfn(zone)) {
		if (fatal_signal_pending(current) || !hotplug_stop(hotplug))
			return false;
		pfn = slice_count(zone, pfn);
		percpu_up_read(hotplug);
	}
	return true;
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
		row_show(m, zone, type_names[type], &sums[type]);
		pageblock_census_row_sum(&all, &sums[type]);
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

/* The rows of all zones, as far as memory can be looked at. */
static void zones_show(struct seq_file *m, struct percpu_rw_semaphore *hotplug)
{
	struct zone *zone;

	header_show(m);
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		if (!zone_count(zone, hotplug)) {
			seq_puts(m, "# incomplete: memory goes on- or offline\n");
			return;
		}
		zone_show(m, zone);
	}
}

/**
 * pageblock_census_show() - print the census
 * @policy: the pageblock policy, on or off
 * @m: file to print to
 *
 * See debugfs-docs/pageblock.
 *
 * Context: process, may sleep; takes as long as the walk over all memory.
 */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct percpu_rw_semaphore *hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);

	if (!hotplug || !lmm_hook_available(LMM_HOOK_BLOCK_FLAGS)) {
		seq_puts(m, "# unavailable: see hooks\n");
		return;
	}
	if (mutex_lock_killable(&census_mutex))
		return;
	zones_show(m, hotplug);
	mutex_unlock(&census_mutex);
}
