// SPDX-License-Identifier: GPL-2.0-only
/*
 * zones_test.c - suite livemm-zones
 */
#include <kunit/test.h>

#include "../module/compat/pageset.h"
#include "../module/policy/common/zones.h"

/**
 * struct zones_case - a zone, and what a huge fault is to find
 * @name: shown in the report
 * @managed: pageblocks of the zone
 * @blocks: free blocks of a pageblock each
 * @doubles: free blocks of two pageblocks each
 * @scarce: few free blocks are left for huge pages
 */
struct zones_case {
	const char *name;
	unsigned long managed;
	unsigned long blocks;
	unsigned long doubles;
	bool scarce;
};

static const struct zones_case zones_cases[] = {
	{ "none free of many", 512, 0, 0, true },
	{ "one less than enough", 512, 7, 0, true },
	{ "enough", 512, 8, 0, false },
	{ "larger blocks count as two", 512, 0, 4, false },
	{ "larger blocks, one short", 512, 1, 3, true },
	{ "small zone, all free", 7, 7, 0, false },
	{ "small zone, none free", 7, 0, 0, false },
	{ "smallest zone that counts", 8, 7, 0, true },
};

NAMED_CASES(zones, zones_cases);

static void zones_test_huge_scarce(struct kunit *test)
{
	const struct zones_case *one = test->param_value;
	struct zone *zone = kunit_kzalloc(test, sizeof(*zone), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, zone);
	atomic_long_set(&zone->managed_pages, one->managed * pageblock_nr_pages);
	zone->free_area[pageblock_order].nr_free = one->blocks;
	if (one->doubles)
		zone->free_area[pageblock_order + 1].nr_free = one->doubles;
	KUNIT_EXPECT_EQ(test, one->scarce, lmm_zone_huge_scarce(zone));
}

/* kswapd does not count CMA memory, and sleeps at a higher mark while a zone has a boost. */
static void zones_test_mark(struct kunit *test)
{
	struct zone *zone = kunit_kzalloc(test, sizeof(*zone), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, zone);
	zone->_watermark[WMARK_HIGH] = 1000;
	zone->lowmem_reserve[0] = 30;
	zone->nr_reserved_highatomic = 512;
#if LMM_HAS_FREE_HIGHATOMIC
	/* The kernel knows how many of these pages are free. */
	KUNIT_EXPECT_EQ(test, 1030, lmm_zone_mark(zone));
	zone->nr_free_highatomic = 512;
#endif
	KUNIT_EXPECT_EQ(test, 1542, lmm_zone_mark(zone));
	zone->watermark_boost = 4;
	atomic_long_set(&zone->vm_stat[NR_FREE_CMA_PAGES], 70000);
	KUNIT_EXPECT_EQ(test, IS_ENABLED(CONFIG_CMA) ? 71546 : 1546, lmm_zone_mark(zone));
}

/* Before 6.3 a drain looks at the first page of a block for what a free page must not have. */
static void zones_test_page_is_free(struct kunit *test)
{
	struct page page = { };

	atomic_set(&page._mapcount, -1);
	KUNIT_EXPECT_TRUE(test, lmm_page_is_free(&page));
	page.mapping = (void *)&page;
	KUNIT_EXPECT_EQ(test, LMM_TUNES_LISTS, lmm_page_is_free(&page));
	page.mapping = NULL;
	set_page_count(&page, 1);
	KUNIT_EXPECT_EQ(test, LMM_TUNES_LISTS, lmm_page_is_free(&page));
	set_page_count(&page, 0);
	__set_bit(PG_lru, lmm_page_flags(&page));
	KUNIT_EXPECT_EQ(test, LMM_TUNES_LISTS, lmm_page_is_free(&page));
}

static struct kunit_case zones_test_cases[] = {
	KUNIT_CASE_PARAM(zones_test_huge_scarce, zones_gen_params),
	KUNIT_CASE(zones_test_mark),
	KUNIT_CASE(zones_test_page_is_free),
	{}
};

static struct kunit_suite zones_suite = {
	.name = "livemm-zones",
	.test_cases = zones_test_cases,
};
