// SPDX-License-Identifier: GPL-2.0-only
/*
 * cma.c - where the lists of a recorded host are refilled from with policy cma
 *
 * The module's own core decides for each recorded refill of movable pages.  A zone has as many free
 * pages as recorded; the model knows how many of the pages in use are CMA memory.  Of pages that go
 * back to the buddy, as many are CMA memory as of those that came since the recording began.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/cma/core.h"
#include "replay.h"

#define PAGEBLOCK	512
/* MIGRATE_MOVABLE */
#define MOVABLE		1

struct cma_zone {
	bool known;
	int64_t cma;
	int64_t managed;
	int64_t high_mark;
	int64_t free;			/* as recorded, CMA memory included */
	int64_t free_cma;		/* as recorded */
	double lent;			/* pages of CMA memory in use that no owner has */
	double came_cma;		/* of refills, and not back yet */
	double came_regular;
	struct cma_ratio ratio;
};

struct cma_model {
	const struct whatif_cma *config;
	struct whatif_cma_result *result;
	struct cma_zone zones[WHATIF_SLOTS];
	struct cma_zone *owned;		/* the zone with CMA memory that was seen first */
	int64_t owner;			/* pages that owners have taken since the recording began */
	int64_t allocating;
};

static int64_t owner_pages(const struct cma_model *model, const struct cma_zone *zone)
{
	return zone == model->owned ? model->owner : 0;
}

static int64_t free_cma(const struct cma_model *model, const struct cma_zone *zone)
{
	int64_t left = zone->cma - owner_pages(model, zone) - (int64_t)zone->lent;

	return clamp(left, (int64_t)0, min(zone->cma, zone->free));
}

static void took(struct cma_model *model, struct cma_zone *zone, int64_t pages, int64_t cma)
{
	zone->came_cma += cma;
	zone->came_regular += pages - cma;
	zone->lent += cma;
	model->result->lent_pages += cma;
	model->result->regular_pages += pages - cma;
}

static void refill(struct cma_model *model, struct cma_zone *zone, int64_t pages)
{
	const struct cma_settings settings = {
		.mode = model->config->mode, .cap_pct = model->config->cap_pct,
	};
	const struct cma_view view = {
		.free = zone->free,
		.free_cma = free_cma(model, zone),
		.high = zone->high_mark,
		.managed = zone->managed,
		.cma = zone->cma,
		.allocating = zone == model->owned && model->allocating > 0,
	};
	enum cma_verdict verdict = CMA_AS_STOCK_MODE;
	int64_t room = max(view.free - view.free_cma, 0L), cma = 0;
	unsigned int share;

	if (model->config->enabled)
		verdict = cma_judge(&view, &settings, &zone->ratio);
	if (cma_lends(verdict))
		cma = min(pages, (int64_t)view.free_cma);
	else if (cma_wants_regular(verdict))
		cma = max(pages - room, (int64_t)0);
	/* The kernel's own rule. */
	else if (view.free_cma > view.free / 2)
		cma = min(pages, (int64_t)view.free_cma);
	if (cma_by_ratio(verdict)) {
		share = cma_share(&view);
		cma_charge(&zone->ratio, share, pages - cma, cma, PAGEBLOCK);
	}
	took(model, zone, pages, cma);
	model->result->refills++;
}

static void drain(struct cma_zone *zone, int64_t pages)
{
	double all = zone->came_cma + zone->came_regular;
	double part = all ? min(pages / all, 1.0) : 0;

	zone->lent = max(zone->lent - zone->came_cma * part, 0.0);
	zone->came_cma -= zone->came_cma * part;
	zone->came_regular -= zone->came_regular * part;
}

static void look(struct cma_model *model, struct cma_zone *zone, const int64_t *f)
{
	struct whatif_cma_result *result = model->result;
	int64_t cma;

	zone->managed = f[5];
	zone->free = f[6];
	zone->high_mark = f[7];
	zone->cma = f[10];
	zone->free_cma = f[11];
	if (!zone->cma)
		return;
	if (!model->owned)
		model->owned = zone;
	if (!zone->known)
		zone->lent = zone->cma - zone->free_cma;
	zone->known = true;
	cma = free_cma(model, zone);
	result->looks++;
	result->recorded_free_cma += zone->free_cma;
	result->free_cma += cma;
	result->recorded_free_regular += zone->free - zone->free_cma;
	result->free_regular += zone->free - cma;
	result->recorded_short += zone->free - zone->free_cma <= zone->high_mark;
	result->short_looks += zone->free - cma <= zone->high_mark;
	result->recorded_used_most = max(result->recorded_used_most, zone->cma - zone->free_cma);
	result->used_most = max(result->used_most, zone->cma - cma);
}

static void step(struct cma_model *model, const int64_t *row)
{
	const int64_t *f = row + 3;
	struct cma_zone *zone;

	switch (row[2]) {
	case WHATIF_CMA_START:
		model->allocating++;
		return;
	case WHATIF_CMA_FINISH:
		model->allocating = max(model->allocating - 1, (int64_t)0);
		if (!f[3])
			model->owner += f[1];
		return;
	case WHATIF_CMA_RELEASE:
		model->owner -= f[1];
		return;
	case WHATIF_REFILL:
	case WHATIF_DRAIN:
	case WHATIF_ZONE:
		break;
	default:
		return;
	}
	if (f[0] < 0 || f[0] >= WHATIF_SLOTS)
		return;
	zone = &model->zones[f[0]];
	if (row[2] == WHATIF_ZONE) {
		look(model, zone, f);
	} else if (!zone->known) {
		return;
	} else if (row[2] == WHATIF_DRAIN) {
		drain(zone, min(f[3], f[4]));
	} else {
		zone->free = f[9];
		if (f[2] == MOVABLE)
			refill(model, zone, f[3]);
		else
			zone->came_regular += f[3];
	}
}

/**
 * whatif_cma_replay() - where lists are refilled from with policy cma
 * @rows: the recording, by time
 * @nr: number of rows
 * @config: knobs
 * @result: gets the prediction
 *
 * Return: 0, or -1 without memory.
 */
int whatif_cma_replay(const int64_t *rows, int64_t nr, const struct whatif_cma *config,
		      struct whatif_cma_result *result)
{
	struct cma_model *model = calloc(1, sizeof(*model));
	int64_t i;

	if (!model)
		return -1;
	memset(result, 0, sizeof(*result));
	model->config = config;
	model->result = result;
	for (i = 0; i < nr; i++)
		step(model, rows + i * WHATIF_COLUMNS);
	free(model);
	return 0;
}
