// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_oracle.ko - is every page where the kernel believes the page to be?
 *
 * Reading parameter `check` stops all CPUs and walks the free lists, the per-CPU lists and the
 * memory map.  Nothing here asks livemm.  Each line is a word and a number; all words but the
 * last six must read 0:
 *
 *	list_order	free blocks without the mark of the buddy, or with the order of another list
 *	list_type	free blocks on the list of another type than their pageblock's
 *	list_count	lists of an order that hold another number of blocks than nr_free says
 *	twice		pages that are on two lists
 *	free_pages	zones whose free lists hold another number than NR_FREE_PAGES says
 *	free_cma	zones whose CMA lists hold another number than NR_FREE_CMA says
 *	referenced	pages on a list that somebody holds a reference to
 *	pcp_count	per-CPU lists that hold another number of pages than their count says
 *	pcp_bound	per-CPU lists whose bound or batch is not the kernel's own
 *	unowned		pages without a reference that are on no list of the kernel
 *	tails		such pages where they may be the rest of a block whose first page is used
 *	buddy, pcp, used, reserved	pages
 *	poisoned	pages on no list that the kernel keeps from use as broken (PG_hwpoison)
 *
 * The kernel keeps a reference to the first page of a block that is no compound page, such as a
 * stack, and none to the rest.  A lost page behind a used page may therefore count as a tail.
 * Unowned are a page on its way between a list and its user, for a moment, a page that livemm has
 * in a depot, and on 7.2 a page that was freed where zone->lock could not be had, until the next
 * free.
 * Parameter `where` has the page frame numbers of the first unowned pages of the last look.
 * Writing parameter `race` makes a data race.
 */
#include <linux/bitmap.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/page-isolation.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include "../../module/compat/compat.h"
#include "../../module/compat/pageset.h"
#include "../../module/policy/common/zones.h"
#include "lmm_kmod.h"

/* Words in the order above. */
#define WORDS(word) \
	word(list_order) word(list_type) word(list_count) word(twice) word(free_pages) \
	word(free_cma) word(referenced) word(pcp_count) word(pcp_bound) word(unowned) \
	word(tails) word(buddy) word(pcp) word(used) word(reserved) word(poisoned)

#define WORD_ID(name)	WORD_##name,
enum word { WORDS(WORD_ID) NR_WORDS };

#define WORD_TEXT(name)	#name,
static const char *const word_texts[NR_WORDS] = { WORDS(WORD_TEXT) };

/* Of a block. */
#define MOST_PAGES	(1UL << LMM_MAX_ORDER)

/* Pages that are unowned in the last look, the first of them. */
static unsigned long unowned[256];
static unsigned int nr_unowned;

DEFINE_STATIC_CALL_NULL(oracle_block_type, LMM_BLOCK_TYPE_RETURN(LMM_BLOCK_TYPE_ARGS));

/**
 * struct oracle - one look at all pages
 * @found: a bit for each page that is on a list, by page frame number
 * @nr_pfns: bits in @found
 * @count: number of each word
 */
struct oracle {
	unsigned long *found;
	unsigned long nr_pfns;
	unsigned long count[NR_WORDS];
};

static void see(struct oracle *oracle, struct page *page, unsigned int order)
{
	unsigned long pfn = page_to_pfn(page);
	unsigned long end = min(pfn + (1UL << order), oracle->nr_pfns);

	for (; pfn < end; pfn++) {
		if (__test_and_set_bit(pfn, oracle->found))
			oracle->count[WORD_twice]++;
		if (page_ref_count(pfn_to_page(pfn)))
			oracle->count[WORD_referenced]++;
	}
}

/*
 * Blocks of CMA memory and isolated blocks have lists of their own on every kernel.  Other
 * types may be mixed on kernels before LMM_FREE_LISTS_MATCH_BLOCKS.
 */
static bool type_fits(struct page *page, int list_type)
{
	int type = lmm_block_type(static_call(oracle_block_type), page, page_to_pfn(page));

	if (type == list_type)
		return true;
	return !LMM_FREE_LISTS_MATCH_BLOCKS && !is_migrate_cma(type) &&
	       !is_migrate_cma(list_type) && !is_migrate_isolate(type) &&
	       !is_migrate_isolate(list_type);
}

static void walk_free_lists(struct oracle *oracle, struct zone *zone)
{
	unsigned long free = 0, cma = 0;
	unsigned int order;
	int type;

	for (order = 0; order <= LMM_MAX_ORDER; order++) {
		struct free_area *area = &zone->free_area[order];
		unsigned long blocks = 0;

		for (type = 0; type < MIGRATE_TYPES; type++) {
			struct page *page;

			list_for_each_entry(page, &area->free_list[type], buddy_list) {
				/* A list that runs in a circle has no end. */
				if (++blocks > zone->spanned_pages)
					break;
				if (!PageBuddy(page) || page_private(page) != order)
					oracle->count[WORD_list_order]++;
				if (!type_fits(page, type))
					oracle->count[WORD_list_type]++;
				see(oracle, page, order);
				if (is_migrate_isolate(type))
					continue;
				free += 1UL << order;
				if (is_migrate_cma(type))
					cma += 1UL << order;
			}
		}
		if (blocks != area->nr_free)
			oracle->count[WORD_list_count]++;
		oracle->count[WORD_buddy] += blocks << order;
	}
	if (free != zone_page_state_snapshot(zone, NR_FREE_PAGES))
		oracle->count[WORD_free_pages]++;
	if (cma != zone_page_state_snapshot(zone, NR_FREE_CMA_PAGES))
		oracle->count[WORD_free_cma]++;
}

static bool bound_is_the_kernels(struct zone *zone, struct per_cpu_pages *pcp)
{
#if LMM_TUNES_LISTS
	/* The kernel brings pcp->high within these at the next free or refill. */
	return pcp->high_min == zone->pageset_high_min &&
	       pcp->high_max == zone->pageset_high_max && pcp->batch == zone->pageset_batch;
#else
	return pcp->high == zone->pageset_high && pcp->batch == zone->pageset_batch;
#endif
}

static void walk_cpu_lists(struct oracle *oracle, struct zone *zone)
{
	unsigned int cpu, pindex;

	for_each_possible_cpu(cpu) {
		struct per_cpu_pages *pcp = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		unsigned long pages = 0;

		for (pindex = 0; pindex < NR_PCP_LISTS; pindex++) {
			unsigned int order = lmm_pindex_order(pindex);
			struct page *page;

			list_for_each_entry(page, &pcp->lists[pindex], pcp_list) {
				if (pages > zone->spanned_pages)
					break;
				if (PageBuddy(page))
					oracle->count[WORD_list_order]++;
				see(oracle, page, order);
				pages += 1UL << order;
			}
		}
		if (pages != pcp->count)
			oracle->count[WORD_pcp_count]++;
		if (!bound_is_the_kernels(zone, pcp))
			oracle->count[WORD_pcp_bound]++;
		oracle->count[WORD_pcp] += pages;
	}
}

/* A page that may be the first one of a block whose other pages have no reference. */
static bool begins_block(struct page *page)
{
	return page_ref_count(page) && !PageCompound(page) && !PageReserved(page);
}

/* Since 6.14 a slab has a type but no reference; the first page of a compound page has both. */
static bool is_used(struct page *page)
{
	struct page *head = compound_head(page);

	return PageReserved(page) || page_ref_count(head) || page_has_type(head);
}

static enum word word_of(struct page *page, bool in_block)
{
	if (PageHWPoison(page))
		return WORD_poisoned;
	if (PageReserved(page))
		return WORD_reserved;
	if (is_used(page))
		return WORD_used;
	return in_block ? WORD_tails : WORD_unowned;
}

/* Pages on no list are someone's: a reference or a type says so, or the first page of the block. */
static void walk_memory_map(struct oracle *oracle, struct zone *zone)
{
	/* Where the block of the last page with a reference ends at most. */
	unsigned long pfn, end = 0;
	enum word word;

	for (pfn = zone->zone_start_pfn; pfn < zone_end_pfn(zone); pfn++) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page || page_zone(page) != zone || pfn >= oracle->nr_pfns ||
		    test_bit(pfn, oracle->found)) {
			end = 0;
			continue;
		}
		word = word_of(page, pfn < end);
		oracle->count[word]++;
		if (word == WORD_unowned && nr_unowned < ARRAY_SIZE(unowned))
			unowned[nr_unowned++] = pfn;
		/* A block begins at a multiple of its size. */
		if (word == WORD_used || word == WORD_reserved)
			end = begins_block(page) ? pfn + min(pfn & -pfn, MOST_PAGES) : 0;
	}
}

static int look(void *data)
{
	struct oracle *oracle = data;
	struct zone *zone = NULL;

	nr_unowned = 0;
	while ((zone = lmm_zone_after(zone))) {
		walk_free_lists(oracle, zone);
		walk_cpu_lists(oracle, zone);
		walk_memory_map(oracle, zone);
	}
	return 0;
}

static unsigned long last_pfn(void)
{
	unsigned long end = 0;
	int nid;

	for_each_online_node(nid)
		end = max(end, node_end_pfn(nid));
	return end;
}

static int check_get(char *buf, const struct kernel_param *kp)
{
	struct oracle oracle = { .nr_pfns = last_pfn() };
	int i, err, len = 0;

	oracle.found = vzalloc(BITS_TO_LONGS(oracle.nr_pfns) * sizeof(long));
	if (!oracle.found)
		return -ENOMEM;
	err = stop_machine(look, &oracle, NULL);
	vfree(oracle.found);
	if (err)
		return err;
	for (i = 0; i < NR_WORDS; i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, "%s %lu\n", word_texts[i],
				 oracle.count[i]);
	return len;
}

LMM_PARAM_GET(check, check_get, "look at all pages, with all CPUs stopped");

static int where_get(char *buf, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < nr_unowned; i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, "%lu\n", unowned[i]);
	return len;
}

LMM_PARAM_GET(where, where_get, "page frame numbers of unowned pages, by the last look");

/* More than pages change hands between two looks while nothing runs. */
static struct page *lost[64];

static void find_lost(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lost) && lost[i]; i++) {
		set_page_count(lost[i], 1);
		__free_page(lost[i]);
		lost[i] = NULL;
	}
}

static int lose_set(const char *text, const struct kernel_param *kp)
{
	unsigned int i;
	bool lose;
	int err = kstrtobool(text, &lose);

	if (err || lose == !!lost[0])
		return err;
	if (!lose) {
		find_lost();
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(lost); i++) {
		lost[i] = alloc_page(GFP_KERNEL);
		if (!lost[i]) {
			find_lost();
			return -ENOMEM;
		}
		set_page_count(lost[i], 0);
	}
	return 0;
}

LMM_PARAM_SET(lose, lose_set,
	      "1: have 64 pages that nobody owns, to show that check sees such pages; 0: no more");

/* KCSAN looks at one access of some thousand. */
#define RACES	100000

static unsigned long raced;

static void race(void *unused)
{
	unsigned int i;

	for (i = 0; i < RACES; i++) {
		raced++;
		barrier();
	}
}

static int race_set(const char *text, const struct kernel_param *kp)
{
	on_each_cpu(race, NULL, 1);
	return 0;
}

LMM_PARAM_SET(race, race_set, "have all CPUs count in one variable, a race for KCSAN to see");

static int __init lmm_oracle_init(void)
{
	return lmm_bind(oracle_block_type, __stringify(LMM_BLOCK_TYPE_SYMBOL)) ? 0 : -ENOENT;
}

static void __exit lmm_oracle_exit(void)
{
	find_lost();
}

module_init(lmm_oracle_init);
module_exit(lmm_oracle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm test: is every page where the kernel believes the page to be?");
