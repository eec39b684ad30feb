// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_move_test.c - which pages the worker leaves where they are
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>

#include "../module/policy/common/core_move.h"

/* A page that can be moved: on a list, read, and with no reference but the worker's. */
#define GOES	.listed = true, .uptodate = true, .migrates = true, .pages = 1, .refs = 1
/* In the page cache, with a reference for that and @more; FILE: the file system moves pages. */
#define CACHED(more)	\
	.listed = true, .uptodate = true, .cached = true, .pages = 1, .refs = 2 + (more)
#define FILE(more)	CACHED(more), .migrates = true
/* A larger folio of 16 pages. */
#define FOLIO	.listed = true, .uptodate = true, .migrates = true, .pages = 16

#define SKIP(why)	LMM_SKIP_##why

/* Facts about a page, and why the page is skipped. */
static const struct skip_case {
	const char *name;
	struct lmm_page_facts page;
	enum lmm_skip why;
} skip_cases[] = {
	{ "anonymous, mapped", { .listed = true, .uptodate = true, .migrates = true, .mapped = 1,
	  .refs = 2 }, SKIP(NONE) },
	{ "anonymous, mapped often", { .listed = true, .uptodate = true, .migrates = true,
	  .mapped = 900, .refs = 901 }, SKIP(NONE) },
	{ "anonymous, in the swap cache", { FILE(0), .dirty = true }, SKIP(NONE) },
	{ "of a file", { FILE(0) }, SKIP(NONE) },
	{ "of a file, mapped", { FILE(3), .mapped = 3 }, SKIP(NONE) },
	{ "of a file, with buffers", { FILE(1), .private = true }, SKIP(NONE) },
	{ "dirty", { FILE(0), .dirty = true }, SKIP(NONE) },
	{ "truncated", { GOES }, SKIP(NONE) },
	{ "freed by its other users", { .listed = true, .uptodate = true, .migrates = true,
	  .cached = true, .mapped = 1, .refs = 1 }, SKIP(NONE) },
	/* A list takes the page up, or has let the page go; the other facts mean nothing. */
	{ "off the lists", { .uptodate = true, .migrates = true, .refs = 1 }, SKIP(OFF_LIST) },
	{ "slab", { .locked = true, .writeback = true, .refs = 1 }, SKIP(OFF_LIST) },
	{ "large", { GOES, .large = true }, SKIP(LARGE) },
	{ "mlocked", { GOES, .unevictable = true }, SKIP(UNEVICTABLE) },
	/* What a device that does not answer leaves behind. */
	{ "being read", { .listed = true, .migrates = true, .cached = true, .locked = true,
	  .refs = 2 }, SKIP(LOCKED) },
	{ "being written", { FILE(0), .writeback = true }, SKIP(WRITEBACK) },
	{ "to be written, locked", { FILE(0), .dirty = true, .locked = true }, SKIP(LOCKED) },
	{ "never read", { .listed = true, .migrates = true, .cached = true, .refs = 2 },
	  SKIP(NOT_READ) },
	{ "metadata", { FILE(1), .private = true, .bound = true }, SKIP(BOUND) },
	/* Each buffer was read for itself: the page never is up to date. */
	{ "metadata, not read as a page", { .listed = true, .cached = true, .private = true,
	  .bound = true, .refs = 4 }, SKIP(BOUND) },
	{ "metadata, locked", { FILE(1), .private = true, .bound = true, .locked = true },
	  SKIP(BOUND) },
	/* A file system without a function that moves pages. */
	{ "clean, of such", { CACHED(0) }, SKIP(NONE) },
	{ "dirty, of such", { CACHED(0), .dirty = true }, SKIP(FILESYSTEM) },
	{ "clean, of such with a local cache", { CACHED(0), .asks = true }, SKIP(FILESYSTEM) },
	{ "of a file, with a local cache", { FILE(0), .asks = true }, SKIP(NONE) },
	{ "with data of such", { CACHED(1), .private = true }, SKIP(FILESYSTEM) },
	/* One reference more than the page itself accounts for. */
	{ "pinned, anonymous", { .listed = true, .uptodate = true, .migrates = true, .mapped = 1,
	  .refs = 3 }, SKIP(PINNED) },
	{ "pinned, of a file", { FILE(1) }, SKIP(PINNED) },
	{ "pinned, with buffers", { FILE(2), .private = true }, SKIP(PINNED) },
	{ "larger folio", { FOLIO, .mapped = 16, .refs = 17 }, SKIP(NONE) },
	{ "larger folio, mapped in part", { FOLIO, .mapped = 3, .refs = 4 }, SKIP(NONE) },
	{ "larger folio of a file", { FOLIO, .cached = true, .refs = 17 }, SKIP(NONE) },
	{ "larger folio of a file, mapped, with buffers", { FOLIO, .cached = true, .private = true,
	  .mapped = 20, .refs = 38 }, SKIP(NONE) },
	{ "larger folio, pinned", { FOLIO, .mapped = 16, .refs = 18 }, SKIP(PINNED) },
	{ "larger folio of a file, pinned", { FOLIO, .cached = true, .refs = 18 }, SKIP(PINNED) },
	{ "pinned for DMA", { .listed = true, .uptodate = true, .migrates = true, .mapped = 1,
	  .refs = 2 + 1024 }, SKIP(PINNED) },
};

NAMED_CASES(skip, skip_cases);

static void why_a_page_is_skipped(struct kunit *test)
{
	const struct skip_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, lmm_page_skip(&c->page), c->why);
}

/* Any combination of the facts: no page that moving could wait for is moved. */
static void nothing_is_waited_for(struct kunit *test)
{
	unsigned int bits, goes = 0;
	long refs;

	for (bits = 0; bits < 1U << 12; bits++) {
		for (refs = 1; refs < 6; refs++) {
			const struct lmm_page_facts page = {
				.listed = bits & 1, .large = bits & 2, .unevictable = bits & 4,
				.locked = bits & 8, .writeback = bits & 16, .uptodate = bits & 32,
				.dirty = bits & 64, .bound = bits & 128, .migrates = bits & 256,
				.private = bits & 512, .cached = bits & 1024, .asks = bits & 2048,
				.mapped = 1, .refs = refs, .pages = 1,
			};
			enum lmm_skip why = lmm_page_skip(&page);

			KUNIT_ASSERT_LT(test, why, LMM_NR_SKIPS);
			if (why != LMM_SKIP_NONE)
				continue;
			goes++;
			KUNIT_ASSERT_TRUE(test, page.listed && page.uptodate);
			KUNIT_ASSERT_FALSE(test, page.locked || page.writeback || page.large ||
					   page.unevictable || page.bound);
			KUNIT_ASSERT_LE(test, refs, 2L + page.cached + page.private);
			if (!page.migrates)
				KUNIT_ASSERT_FALSE(test, page.dirty || page.private || page.asks);
		}
	}
	KUNIT_EXPECT_GT(test, goes, 0U);
}

static struct kunit_case pageblock_move_cases[] = {
	KUNIT_CASE_PARAM(why_a_page_is_skipped, skip_gen_params),
	KUNIT_CASE(nothing_is_waited_for),
	{ }
};

static struct kunit_suite pageblock_move_suite = {
	.name = "livemm_pageblock_move",
	.test_cases = pageblock_move_cases,
};
