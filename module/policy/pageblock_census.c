// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_census.c - the census: a walk over all struct pages
 *
 * Nothing is locked but memory hotplug: a page may change hands while it is looked at.
 * Whatever is read is read once, and what leads to another struct page, or to a number
 * of pages, is checked before it is used; so a race costs a few pages counted wrongly,
 * and nothing else.
 *
 * The lock of memory hotplug is tried for, and not waited for as get_online_mems()
 * does: taking memory offline may go on for as long as its pages cannot be moved, and a
 * reader has the control mutex, which the lease needs.
 *
 * A block's type is read by the kernel's own function, a symbol whose prototype BTF
 * vouches for.  Reading the section's bitmap would save that row and one call a block
 * (512 pages), but have the meaning of its bits in here, which is the kernel's to change.
 */
#include <linux/delay.h>
#include <linux/hugetlb.h>
#include <linux/jiffies.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pageblock-flags.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "../hook/hook.h"
#include "pageblock.h"
#include "pageblock_census_core.h"
#include "zones.h"

/* A read takes no longer, and names what it has left out. */
#define CENSUS_MAX_JIFFIES	(2 * HZ)

/* Orders that the buddy has; the kernel's name for their number is not the same in all. */
#define BUDDY_ORDERS		ARRAY_SIZE(((struct zone *)NULL)->free_area)

/* Orders of compound pages: the largest are those of hugetlb, mapped by a PUD. */
#define COMPOUND_ORDERS		(PUD_SHIFT - PAGE_SHIFT + 1)

DEFINE_STATIC_CALL_NULL(block_flags, unsigned long (const struct page *, unsigned long,
						    unsigned long));

/**
 * struct census_run - pages that one struct page has told of
 * @end: the first page number after them
 * @kind: what they are
 */
struct census_run {
	unsigned long end;
	enum census_kind kind;
};

static const char *const type_names[CENSUS_NR_TYPES] = {
	[CENSUS_TYPE_UNMOVABLE] = "unmovable",
	[CENSUS_TYPE_MOVABLE] = "movable",
	[CENSUS_TYPE_RECLAIMABLE] = "reclaimable",
	[CENSUS_TYPE_HIGHATOMIC] = "highatomic",
	[CENSUS_TYPE_CMA] = "cma",
	[CENSUS_TYPE_ISOLATE] = "isolate",
};

/* The kernel's numbers differ with its configuration. */
static const u8 type_of[MIGRATE_TYPES] = {
	[MIGRATE_UNMOVABLE] = CENSUS_TYPE_UNMOVABLE,
	[MIGRATE_MOVABLE] = CENSUS_TYPE_MOVABLE,
	[MIGRATE_RECLAIMABLE] = CENSUS_TYPE_RECLAIMABLE,
	[MIGRATE_HIGHATOMIC] = CENSUS_TYPE_HIGHATOMIC,
#ifdef CONFIG_CMA
	[MIGRATE_CMA] = CENSUS_TYPE_CMA,
#endif
#ifdef CONFIG_MEMORY_ISOLATION
	[MIGRATE_ISOLATE] = CENSUS_TYPE_ISOLATE,
#endif
};

/* The sums of the zone being walked, by type; under the control mutex. */
static struct census_row census_rows[CENSUS_NR_TYPES];

/* How many pages does an order speak for that was read without a lock? */
static unsigned long order_pages(unsigned long pfn, unsigned long order, unsigned int orders)
{
	if (order >= orders || !IS_ALIGNED(pfn, 1UL << order))
		return 1;
	return 1UL << order;
}

/*
 * The page that has the facts about @page: itself, or the head of what it is a tail of.
 * NULL if it was a tail, and its head is no more where it can have been.
 */
static struct page *facts_page(struct page *page, unsigned long pfn)
{
	struct page *head = compound_head(page);
	unsigned long bytes;

	if (head == page)
		return page;
	bytes = (unsigned long)page - (unsigned long)head;
	/* A head above is far below. */
	if (bytes % sizeof(*page) || bytes / sizeof(*page) >= 1UL << (COMPOUND_ORDERS - 1))
		return NULL;
	if (pfn_to_online_page(pfn - bytes / sizeof(*page)) != head || PagePoisoned(head))
		return NULL;
	return head;
}

/*
 * By flag numbers where the kernel's own test could panic on what it does not expect.
 * Those that look the head up anew find a struct page, whatever happens: no user of the
 * word sets its lowest bit but tails.
 */
static enum census_kind kind_of(struct page *page)
{
	const struct census_page facts = {
		.free = PageBuddy(page),
		.reserved = test_bit(PG_reserved, &page->flags),
		.broken = PageHWPoison(page),
		.offline = PageOffline(page),
		.slab = PageSlab(page),
		.table = PageTable(page),
		.hugetlb = PageHuge(page),
		.lru = test_bit(PG_lru, &page->flags),
		/* A page of the swap cache has no mapping before it is mapped. */
		.mapped = READ_ONCE(page->mapping) || test_bit(PG_swapbacked, &page->flags),
		.held = page_ref_count(page),
	};

	return census_page_kind(&facts);
}

/* What is the page, and how many from it on are the same? */
static struct census_run run_from(struct page *page, unsigned long pfn)
{
	struct page *head = facts_page(page, pfn);
	struct census_run run = { pfn + 1, CENSUS_LOOSE };

	if (!head)
		return run;
	run.kind = kind_of(head);
	if (head != page)
		return run;
	if (run.kind == CENSUS_FREE)
		run.end = pfn + order_pages(pfn, READ_ONCE(page->private), BUDDY_ORDERS);
	else if (test_bit(PG_head, &page->flags))
		run.end = pfn + order_pages(pfn, compound_order(page), COMPOUND_ORDERS);
	return run;
}

static bool page_is_of(const struct page *page, struct zone *zone)
{
	return !PagePoisoned(page) && page_to_nid(page) == zone_to_nid(zone) &&
	       page_zonenum(page) == zone_idx(zone);
}

static enum census_type block_type(const struct page *page, unsigned long pfn)
{
	unsigned long type = static_call(block_flags)(page, pfn, MIGRATETYPE_MASK);

	/* The kernel writes no other; there is room for some. */
	return type_of[min_t(unsigned long, type, MIGRATE_TYPES - 1)];
}

/* Memory is online, or not, by the subsection. */
static unsigned long subsection_end(unsigned long pfn)
{
	return ALIGN(pfn + 1, PAGES_PER_SUBSECTION);
}

/*
 * Look at the pages from @pfn to @end of one block.  @run is what earlier ones have told
 * of; one free or compound page may be larger than a block.
 *
 * Return: is any of it memory of the zone?  Only then has the block a type.
 */
static bool block_look(struct zone *zone, unsigned long pfn, unsigned long end,
		       struct census_run *run, struct census_block *block)
{
	struct page *page = NULL;
	bool found = false;

	while (pfn < end) {
		unsigned long next = pfn + 1;

		if (!page)
			page = pfn_to_online_page(pfn);
		if (!page) {
			pfn = min(end, subsection_end(pfn));
			continue;
		}
		if (page_is_of(page, zone)) {
			if (!found)
				block->type = block_type(page, pfn);
			found = true;
			if (run->end <= pfn)
				*run = run_from(page, pfn);
			next = min(end, run->end);
			census_block_add(block, run->kind, next - pfn);
		}
		page = next < subsection_end(pfn) ? page + (next - pfn) : NULL;
		pfn = next;
	}
	return found;
}

/* Walk a zone; return the first page number that there was no time for. */
static unsigned long zone_walk(struct zone *zone, unsigned long deadline)
{
	unsigned long pfn = zone->zone_start_pfn;
	unsigned long end = zone_end_pfn(zone);
	struct census_run run = { };
	unsigned long block_end;

	memset(census_rows, 0, sizeof(census_rows));
	for (; pfn < end && time_before(jiffies, deadline); pfn = block_end) {
		struct census_block block = { };

		block_end = min(end, pageblock_end_pfn(pfn));
		if (block_look(zone, pfn, block_end, &run, &block))
			census_row_add(&census_rows[block.type], &block, pageblock_nr_pages);
		cond_resched();
	}
	return min(pfn, end);
}

static void row_show(struct seq_file *m, struct zone *zone, const char *type,
		     const struct census_row *row)
{
	u32 memory = census_memory_share(row);
	u32 blocks = census_block_share(row);
	int i;

	seq_printf(m, "%-6d %-8s %-11s %8llu", zone_to_nid(zone), zone->name, type,
		   row->blocks);
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
		census_row_sum(&all, &census_rows[type]);
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
 * @m: where to
 *
 * A header, a row a zone and type, and if time was short a last line that names what
 * was left out; see debugfs-docs/pageblock.
 *
 * Context: process, may sleep, control mutex held; up to CENSUS_MAX_JIFFIES.
 */
void pageblock_census_show(struct lmm_policy *policy, struct seq_file *m)
{
	struct percpu_rw_semaphore *hotplug =
		(void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	unsigned long flags = lmm_hook_address(LMM_HOOK_BLOCK_FLAGS);
	unsigned long deadline = jiffies + CENSUS_MAX_JIFFIES;
	unsigned long pfn = 0, end = 0;
	char why[LMM_WHY_LEN] = "";
	struct zone *zone;
	bool stopped;

	lockdep_assert_held(&lmm_control_mutex);

	if (!hotplug || !flags || !lmm_hooks_layout(policy->id, why, sizeof(why))) {
		seq_printf(m, "# unavailable: %s\n", why[0] ? why : "see hooks");
		return;
	}
	static_call_update(block_flags, (void *)flags);
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
		seq_printf(m, ", %d %s %lu", zone_to_nid(zone), zone->name,
			   zone->zone_start_pfn);
	seq_putc(m, '\n');
}
