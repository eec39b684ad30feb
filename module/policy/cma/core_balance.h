/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_balance.h - how many pages of regular memory to move to CMA memory, and when
 *
 * A kernel that lends CMA memory at allocation alone can still run out of memory: what is in
 * regular memory already stays there when CMA memory becomes free, and a request that may not use
 * CMA memory finds none.  So movable pages are moved, before reclaim begins: reclaim begins when
 * regular memory is at its low watermark, and ends at the high watermark.
 *
 * That movement is needed besides earlier allocation is the argument of "CMA balancing" (2025,
 * Frank van der Linden).  When to move, and how much, is not taken from there.
 *
 * Pure: no kernel state, lock, clock or struct page.
 */
#ifndef LIVEMM_POLICY_CMA_CORE_BALANCE_H
#define LIVEMM_POLICY_CMA_CORE_BALANCE_H

#include <linux/types.h>

#include "core.h"

/*
 * Share of regular memory that is to be free above the high watermark, in percent: what a burst
 * takes between two looks.
 */
#define CMA_REGULAR_FREE_PCT	4

/*
 * Looks at page counts a second: far from the aim; near the aim.  A look costs some hundred
 * instructions a zone.
 */
#define CMA_LOOKS_FAR	1U
#define CMA_LOOKS_NEAR	50U

/*
 * Blocks that the worker may search for pages in a second; each takes up to 90,000 instructions
 * (see core_reserve.h of pageblock), so that a search in vain takes at most 92 million a second.
 */
#define CMA_BLOCKS_PER_S	1024U

/* Blocks in which the worker finds no page that was not used lately, before it takes those too. */
#define CMA_COLD_BLOCKS	16U

/* Pages that the worker moves before the kernel chooses a task to kill; 4 MiB. */
#define CMA_OOM_PAGES	1024U

/*
 * So often in a row pages are reported to the OOM killer that were moved on nodes which the request
 * may not use, as far as is known.  A row ends after so many ms without the OOM killer.
 */
#define CMA_OOM_FAR	16U
#define CMA_OOM_ROW_MS	10000U

/**
 * struct cma_oom - what was reported to the OOM killer
 * @last: time of the last report, in ms
 * @far: reports in a row that had only pages of nodes which the request may not use
 */
struct cma_oom {
	u64 last;
	unsigned int far;
};

u64 cma_oom_report(struct cma_oom *oom, u64 now, u64 near, u64 far);

long cma_balance_goal(const struct cma_view *view);
long cma_balance_want(const struct cma_view *view, bool moving);
long cma_balance_can(const struct cma_view *view);
bool cma_balance_near(const struct cma_view *view);

/*
 * Time without a search of a zone after one in vain, in ms: at first, and at most.  Where processes
 * begin and end, pages that can be moved come soon; a zone of the kernel's own pages has none for
 * long.
 */
#define CMA_VAIN_MIN_MS	100U
#define CMA_VAIN_MAX_MS	10000U

/**
 * struct cma_search - the search of a zone for pages to move
 * @seen: blocks that were searched since the search last began at its present effort
 * @found: pages that were moved out of them
 * @warm: take pages that were used lately, too
 * @vain_ms: time without a search after the last one in vain, in ms; 0: none is due
 */
struct cma_search {
	unsigned long seen;
	unsigned long found;
	bool warm;
	unsigned int vain_ms;
};

bool cma_search_goes_on(struct cma_search *search, unsigned long blocks);
void cma_search_moved(struct cma_search *search, unsigned long pages);
void cma_search_rests(struct cma_search *search);
void cma_search_ends(struct cma_search *search);
unsigned long cma_woken_after(unsigned long now, unsigned long soonest, unsigned long planned);

#endif /* LIVEMM_POLICY_CMA_CORE_BALANCE_H */
