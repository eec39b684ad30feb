// SPDX-License-Identifier: GPL-2.0-only
/*
 * census.c - the census: a walk over all struct pages, in rounds
 *
 * A machine may have more memory than a reader should wait for.  A read walks for CENSUS_MS at
 * most, and the next read goes on.  The file shows the sums of the last whole round, and their age
 * unless the round began after the read.
 *
 * Only memory hotplug is locked, for a slice at a time; see inspect.c.  The walk does not wait for
 * that lock without limit, as get_online_mems() does: taking memory offline takes as long as its
 * pages cannot be moved.
 *
 * No lock of control is held.  Readers take turns.  A reader whose time was spent on waiting for
 * another reader does not walk, so no reader waits for the sum of all.
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
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "compat/compat.h"
#include "hook/hook.h"
#include "state.h"
#include "inspect.h"
#include "core_walk.h"
#include "policy/common/zones.h"

/* Time of a read, in ms. */
#define CENSUS_MS		1000

/* Blocks, and ms, for which memory hotplug is kept waiting. */
#define SLICE_BLOCKS		128
#define SLICE_MS		20

static const char *const type_names[CENSUS_NR_TYPES] = {
	[CENSUS_TYPE_UNMOVABLE] = "unmovable",
	[CENSUS_TYPE_MOVABLE] = "movable",
	[CENSUS_TYPE_RECLAIMABLE] = "reclaimable",
	[CENSUS_TYPE_HIGHATOMIC] = "highatomic",
	[CENSUS_TYPE_CMA] = "cma",
	[CENSUS_TYPE_ISOLATE] = "isolate",
};

/* Sums of a zone by type of block. */
struct census_zone {
	struct census_row rows[CENSUS_NR_TYPES];
};

/**
 * struct census_round - a walk over all memory
 * @zones: the sums, by lmm_zone_slot()
 * @began: time before the first look, in ns since boot; 0: not begun
 * @ended: time after the last look, in ns since boot; 0: not yet
 * @reads: reads that had a part in the round
 */
struct census_round {
	struct census_zone *zones;
	u64 began;
	u64 ended;
	unsigned int reads;
};

/**
 * struct census_read - a read of the file
 * @hotplug: the kernel's lock of memory hotplug
 * @since: begin of the read, in ns since boot
 * @deadline: end of the read's time, in jiffies
 */
struct census_read {
	struct percpu_rw_semaphore *hotplug;
	u64 since;
	unsigned long deadline;
};

/* Of all that follows. */
static DEFINE_MUTEX(census_mutex);
static struct pageblock_walk walk;
/* The round under way, and the last one that came to its end. */
static struct census_round present, whole;

static struct pageblock_span zone_span(struct zone *zone)
{
	if (!zone)
		return (struct pageblock_span){ };
	return (struct pageblock_span){ zone->zone_start_pfn, zone_end_pfn(zone) };
}

static void block_count(struct zone *zone, const struct pageblock_span *part,
			struct pageblock_run *run)
{
	struct census_block block = { };
	struct census_zone *sums = &present.zones[walk.slot];

	if (pageblock_inspect(zone, part->start, part->end, run, &block))
		pageblock_census_row_add(&sums->rows[block.type], &block, pageblock_nr_pages);
}

/*
 * Is the next block apart from the last one?  The tail of a free page does not tell what the page
 * is, and pages may become one between two slices, though not across the largest order.  A
 * gigantic page, of 1 GiB at most, is counted at once for speed.
 */
static bool slice_may_end(const struct pageblock_run *run)
{
	return IS_ALIGNED(walk.next, 1UL << LMM_MAX_ORDER) && run->end <= walk.next;
}

/* Walk for a slice, while memory stays. */
static void slice_walk(void)
{
	unsigned long end = jiffies + max(msecs_to_jiffies(SLICE_MS), 1UL);
	struct pageblock_run run = { };
	unsigned int left = SLICE_BLOCKS;

	while (walk.slot < lmm_zone_slots() && (left || !slice_may_end(&run))) {
		struct zone *zone = lmm_zone_at(walk.slot);
		struct pageblock_span span = zone_span(zone), part;

		if (!pageblock_walk_next(&walk, &span, pageblock_order, &part)) {
			run = (struct pageblock_run){ };
			continue;
		}
		block_count(zone, &part, &run);
		left = left && time_before(jiffies, end) ? left - 1 : 0;
		cond_resched();
	}
}

static void round_begin(void)
{
	walk = (struct pageblock_walk){ };
	memset(present.zones, 0, lmm_zone_slots() * sizeof(*present.zones));
	present.began = ktime_get_boottime_ns();
}

static void round_end(void)
{
	struct census_zone *old = whole.zones;

	present.ended = ktime_get_boottime_ns();
	whole = present;
	present = (struct census_round){ .zones = old };
}

/* Is the reader's time over, or the reader gone? */
static bool read_over(const struct census_read *read)
{
	return time_after_eq(jiffies, read->deadline) || fatal_signal_pending(current);
}

/* Keep memory from going on- or offline; false if somebody else does so until the time is over. */
static bool hotplug_stop(const struct census_read *read)
{
	while (!percpu_down_read_trylock(read->hotplug)) {
		if (read_over(read))
			return false;
		msleep(20);
	}
	return true;
}

/* Did the last whole round begin after the read did? */
static bool whole_is_new(const struct census_read *read)
{
	return whole.ended && whole.began >= read->since;
}

/*
 * Walk on, and into the next round where time is left: where a read has time for a round, the file
 * shows nothing old.
 */
static void rounds_walk(const struct census_read *read)
{
	bool counted = false;

	while (!whole_is_new(read) && !read_over(read) && hotplug_stop(read)) {
		if (!present.began)
			round_begin();
		present.reads += !counted;
		counted = true;
		slice_walk();
		percpu_up_read(read->hotplug);
		if (walk.slot < lmm_zone_slots())
			continue;
		round_end();
		counted = false;
	}
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

static void zone_show(struct seq_file *m, struct zone *zone, const struct census_zone *sums)
{
	struct census_row all = { };
	int type;

	for (type = 0; type < CENSUS_NR_TYPES; type++) {
		row_show(m, zone, type_names[type], &sums->rows[type]);
		pageblock_census_row_sum(&all, &sums->rows[type]);
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

/* How far the round under way is; memory may come and go while this is told. */
static void progress_show(struct seq_file *m)
{
	u64 done = 0, all = 0;
	struct zone *zone;

	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		struct pageblock_span span = zone_span(zone);

		done += pageblock_walk_done(&walk, lmm_zone_slot(zone), &span, pageblock_order);
		all += pageblock_walk_blocks(&span, pageblock_order);
	}
	seq_printf(m, "%llu of %llu blocks", present.began ? done : 0, all);
}

/* Zones that the first round has not walked to the end, and the page frames where it goes on. */
static void incomplete_show(struct seq_file *m)
{
	const char *before = "# incomplete: ";
	struct zone *zone;

	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone)) {
		unsigned int slot = lmm_zone_slot(zone);
		u64 pfn = zone->zone_start_pfn;

		if (slot == walk.slot)
			pfn = max(pfn, walk.next);
		if (slot < walk.slot || pfn >= zone_end_pfn(zone))
			continue;
		seq_printf(m, "%s%d %s %llu", before, zone_to_nid(zone), zone->name, pfn);
		before = ", ";
	}
	seq_putc(m, '\n');
}

static u64 ms_since(u64 ns)
{
	return ns ? div_u64(ktime_get_boottime_ns() - ns, NSEC_PER_MSEC) : 0;
}

/* What the reader has to know if the sums are not of a round that began after the read did. */
static void age_show(struct seq_file *m)
{
	if (whole.ended) {
		seq_printf(m, "# older: began %llu ms ago, ended %llu ms ago, reads %u; next round: ",
			   ms_since(whole.began), ms_since(whole.ended), whole.reads);
		progress_show(m);
		seq_putc(m, '\n');
		return;
	}
	seq_printf(m, "# first round: began %llu ms ago, reads %u, ", ms_since(present.began),
		   present.reads);
	progress_show(m);
	seq_puts(m, "; the next read goes on\n");
	incomplete_show(m);
}

/* Walk, and print the last whole round; of the first round print what there is. */
static void read_serve(const struct census_read *read, struct seq_file *m)
{
	const struct census_round *round;
	struct zone *zone;

	rounds_walk(read);
	header_show(m);
	round = whole.ended ? &whole : &present;
	for (zone = lmm_zone_after(NULL); zone; zone = lmm_zone_after(zone))
		zone_show(m, zone, &round->zones[lmm_zone_slot(zone)]);
	if (!whole_is_new(read))
		age_show(m);
}

/* Room for the sums, from the first read on. */
static bool sums_there(void)
{
	if (!present.zones)
		present.zones = kvcalloc(lmm_zone_slots(), sizeof(*present.zones), GFP_KERNEL);
	if (!whole.zones)
		whole.zones = kvcalloc(lmm_zone_slots(), sizeof(*whole.zones), GFP_KERNEL);
	return present.zones && whole.zones;
}

/**
 * pageblock_census_show() - print the census
 * @policy: the pageblock policy, on or off
 * @m: file to print to
 *
 * See debugfs-docs/pageblock.  If time is short, the last lines say how old the sums are, or what
 * was left out.
 *
 * Context: process, may sleep; up to CENSUS_MS.
 */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m)
{
	const struct census_read read = {
		.hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG),
		.since = ktime_get_boottime_ns(),
		.deadline = jiffies + msecs_to_jiffies(CENSUS_MS),
	};

	if (!read.hotplug || !lmm_hook_available(LMM_HOOK_BLOCK_FLAGS)) {
		seq_puts(m, "# unavailable: see hooks\n");
		return;
	}
	if (mutex_lock_killable(&census_mutex))
		return;
	if (sums_there())
		read_serve(&read, m);
	else
		seq_printf(m, "# unavailable: out of memory for %u zones\n", lmm_zone_slots());
	mutex_unlock(&census_mutex);
}

/**
 * pageblock_census_forget() - free the sums
 * @policy: the pageblock policy
 *
 * Context: process; nobody reads the census any more.
 */
void pageblock_census_forget(struct lmm_policy *policy)
{
	kvfree(present.zones);
	kvfree(whole.zones);
	present = (struct census_round){ };
	whole = (struct census_round){ };
}
