// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix.c - which of a recorded host's mixes policy pageblock lets through at once
 *
 * A mix: a request takes a part of another type's block.  The module's own core judges each
 * recorded mix as the first attempt in the slow path of a request that may wait.  Nothing else is
 * known of the request but order, type, and the free pages of the zone.  A mix that the core
 * refuses may still come to pass: the request reclaims first, and what reclaim finds is not
 * recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/pageblock/core.h"
#include "replay.h"

#define BLOCK_ORDER	9
/* MIGRATE_MOVABLE */
#define MOVABLE		1

struct mix_zone {
	int64_t free;
	int64_t free_cma;
	int64_t high_mark;
};

static int by_block(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Different ones among the blocks. */
static int64_t distinct(int64_t *blocks, int64_t nr)
{
	int64_t i, found = nr > 0;

	qsort(blocks, nr, sizeof(*blocks), by_block);
	for (i = 1; i < nr; i++)
		found += blocks[i] != blocks[i - 1];
	return found;
}

static bool at_once(const struct mix_zone *zone, int64_t order, bool movable,
		    const struct pageblock_settings *settings)
{
	unsigned long pages = pageblock_pages_but_cma(zone->free, zone->free_cma);
	const struct pageblock_request request = {
		.slow = true,
		.waits = true,
		/* Whether the caller can do with less is not recorded. */
		.has_fallback = order > 0,
		.grouped = true,
		.above_high = movable && pages > (unsigned long)zone->high_mark,
		.much_free = !movable && pageblock_much_is_free(pages, zone->high_mark),
	};

	return pageblock_allows(pageblock_judge(&request, settings));
}

/**
 * whatif_mix_replay() - judge each recorded mix
 * @rows: the recording, by time
 * @nr: number of rows
 * @places: of each zone its slot, first page frame, and the page frame after the last
 * @nr_places: number of zones
 * @config: knobs
 * @result: gets the counts
 *
 * Return: 0, or -1 without memory.
 */
int whatif_mix_replay(const int64_t *rows, int64_t nr, const int64_t *places, int64_t nr_places,
		      const struct whatif_mix *config, struct whatif_mix_result *result)
{
	const struct pageblock_settings settings = {
		.mode = config->mode, .max_attempts = config->max_attempts,
	};
	struct mix_zone *zones = calloc(WHATIF_SLOTS, sizeof(*zones));
	int64_t *all = calloc(nr + 1, sizeof(*all)), *sure = calloc(nr + 1, sizeof(*sure));
	int64_t i, place, nr_all = 0, nr_sure = 0;

	memset(result, 0, sizeof(*result));
	for (i = 0; zones && all && sure && i < nr; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS, *f = row + 3;
		bool movable, lets;

		if ((row[2] == WHATIF_ZONE || row[2] == WHATIF_REFILL) &&
		    (f[0] < 0 || f[0] >= WHATIF_SLOTS))
			continue;
		if (row[2] == WHATIF_ZONE)
			zones[f[0]] = (struct mix_zone){ f[6], f[11], f[7] };
		else if (row[2] == WHATIF_REFILL)
			zones[f[0]].free = f[9];
		if (row[2] != WHATIF_EXTFRAG || f[2] >= BLOCK_ORDER)
			continue;
		for (place = 0; place < nr_places; place++)
			if (f[0] >= places[3 * place + 1] && f[0] < places[3 * place + 2])
				break;
		if (place == nr_places)
			continue;
		movable = f[3] == MOVABLE;
		lets = at_once(&zones[places[3 * place]], f[1], movable, &settings);
		result->mixes++;
		result->mixes_at_once += lets;
		/* Pages that cannot leave, in a block of pages that can. */
		if (movable || f[4] != MOVABLE)
			continue;
		all[nr_all++] = f[0] >> BLOCK_ORDER;
		if (lets)
			sure[nr_sure++] = f[0] >> BLOCK_ORDER;
	}
	i = zones && all && sure ? 0 : -1;
	if (!i) {
		result->blocks = distinct(all, nr_all);
		result->blocks_at_once = distinct(sure, nr_sure);
	}
	free(zones);
	free(all);
	free(sure);
	return i;
}
