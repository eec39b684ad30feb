// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure.c - what the recorded lists did, without any model
 */
#include <stdlib.h>

#include <linux/kernel.h>

#include "replay.h"

/* Of the distance to pages inside a span, a bound gives up one part in so many each moment. */
#define SPAN_SHARE	16

/*
 * Pages that came into a list whose refills are not recorded: what its CPU took, net, and what the
 * list has more.  The CPU's net is that of all zones; no more came than were allocated here, and
 * the rest of a refill.
 */
long whatif_came(long net, long allocated, long delta, int batch)
{
	return allocated > 0 ? clamp(net + delta, 0L, allocated + (batch << SCALE_MAX)) : 0;
}

/* Add the faults of a CPU since the look before; @before has those of each CPU at that look. */
void whatif_faults(int64_t *before, int64_t cpu, int64_t faults, int64_t *sum)
{
	if (cpu < 0 || cpu >= WHATIF_CPUS)
		return;
	if (before[cpu])
		*sum += faults - before[cpu];
	before[cpu] = faults;
}

/* The list of a row, or -1, and the pages in the list. */
long whatif_list(const int64_t *row, int64_t *count)
{
	const int64_t *f = row + 3;
	int64_t cpu = row[2] == WHATIF_REFILL ? row[1] : f[1];

	if (row[2] > WHATIF_LIST || f[0] < 0 || f[0] >= WHATIF_SLOTS || cpu < 0 ||
	    cpu >= WHATIF_CPUS)
		return -1;
	*count = f[row[2] == WHATIF_LIST ? 2 : 4];
	return f[0] * WHATIF_CPUS + cpu;
}

/* A bound moves to the pages at once, or by a part where the pages are on its other side. */
static void span_see(struct whatif_span *span, int64_t count)
{
	span->low = min(count, span->low + (count - span->low) / SPAN_SHARE);
	span->high = max(count, span->high - (span->high - count) / SPAN_SHARE);
}

/* Zeros: @of_row bytes a row, and @of_list bytes for each list in @lists; NULL: no memory. */
static void *room(int64_t nr, size_t of_row, size_t of_list, void **lists)
{
	void *rows = calloc(nr + 1, of_row);

	*lists = calloc((size_t)WHATIF_SLOTS * WHATIF_CPUS, of_list);
	if (rows && *lists)
		return rows;
	free(rows);
	free(*lists);
	return NULL;
}

/*
 * A span for each row that tells of a list, else zeros; NULL without memory.  Rows before and after
 * count, the less the farther away: a load changes.
 */
struct whatif_span *whatif_spans(const int64_t *rows, int64_t nr)
{
	struct seen { struct whatif_span span; int pass; } *lists;
	struct whatif_span *spans;
	int64_t i, count;
	int back;

	spans = room(nr, sizeof(*spans), sizeof(*lists), (void **)&lists);
	if (!spans)
		return NULL;
	for (back = 0; back < 2; back++) {
		for (i = 0; i < nr; i++) {
			int64_t at = back ? nr - 1 - i : i;
			long list = whatif_list(rows + at * WHATIF_COLUMNS, &count);

			if (list < 0)
				continue;
			if (lists[list].pass != back + 1)
				lists[list].span = (struct whatif_span){ count, count };
			lists[list].pass = back + 1;
			span_see(&lists[list].span, count);
			if (!back)
				spans[at] = lists[list].span;
			spans[at].low = min(spans[at].low, lists[list].span.low);
			spans[at].high = max(spans[at].high, lists[list].span.high);
		}
	}
	free(lists);
	return spans;
}

/* Pages of a list that requests cannot use: what the rows of a phase of refills allow. */
struct phase {
	int64_t known, count, net, allocated;
	int64_t low, high;
	int64_t first;			/* row, of a phase that goes on; else -1 */
	int64_t before;			/* a row before any phase */
	int32_t others;
};

static void phase_end(struct phase *list, const int64_t *back, int32_t *floors, int64_t last)
{
	if (list->first < 0)
		return;
	list->others = (min(list->low, list->high) + list->high) / 2;
	/* Rows before the first phase know no better. */
	for (; last >= 0; last = back[last])
		if (last >= list->first || list->before)
			floors[last] = list->others;
		else
			break;
	list->before = 0;
	list->first = -1;
}

/*
 * Where refills are not recorded: for each row that tells of a list, pages there that its CPU's
 * requests cannot use, as pages of other types are.  NULL without memory.
 *
 * A refill comes when nothing else is left.  While refills come, one look after the other, these
 * pages are therefore no more than the list is seen with, and no fewer than the list is seen with
 * less the largest refill and what the CPU has freed: the mean of the two bounds.  Until the next
 * refills they stay.
 */
int32_t *whatif_floors(const int64_t *rows, int64_t nr)
{
	struct phase *lists = calloc((size_t)WHATIF_SLOTS * WHATIF_CPUS, sizeof(*lists));
	int32_t *floors = calloc(nr + 1, sizeof(*floors));
	int64_t *back = calloc(nr + 1, sizeof(*back));
	int64_t *last = calloc((size_t)WHATIF_SLOTS * WHATIF_CPUS, sizeof(*last));
	int64_t i, count;
	long places = 0;

	for (i = 0; lists && floors && back && last && i < nr; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS;
		const int64_t *f = row + (row[2] == WHATIF_LIST ? 5 : 7);
		long place = whatif_list(row, &count);
		struct phase *list = &lists[max(place, 0L)];
		int64_t largest = f[2] << SCALE_MAX, gave;

		if (place < 0)
			continue;
		places = max(places, place + 1);
		gave = (f[4] - list->allocated) - (f[3] - list->net);
		back[i] = list->known ? last[place] : -1;
		if (!list->known) {
			*list = (struct phase){ .known = 1, .first = -1, .before = 1 };
		} else if (whatif_came(f[3] - list->net, f[4] - list->allocated,
				       count - list->count, f[2]) > 0) {
			if (list->first < 0) {
				list->first = i;
				list->low = 0;
				list->high = list->count;
			}
			/* What the CPU has freed came after the refills, or before. */
			list->low = max(list->low, count - largest - gave);
			list->high = min(list->high, count);
		} else {
			phase_end(list, back, floors, last[place]);
		}
		floors[i] = list->others;
		last[place] = i;
		list->count = row[2] == WHATIF_DRAIN ? count - min(row[6], count) : count;
		list->net = f[3];
		list->allocated = f[4];
	}
	for (i = 0; i < places; i++)
		if (lists[i].known)
			phase_end(&lists[i], back, floors, last[i]);
	if (!lists || !back || !last) {
		free(floors);
		floors = NULL;
	}
	free(lists);
	free(back);
	free(last);
	return floors;
}

/* For each row that tells of a list, the next such row, or 0; NULL without memory. */
int64_t *whatif_ahead(const int64_t *rows, int64_t nr)
{
	int64_t *ahead, *later, count;
	long list;

	ahead = room(nr, sizeof(*ahead), sizeof(*later), (void **)&later);
	if (!ahead)
		return NULL;
	while (nr--) {
		list = whatif_list(rows + nr * WHATIF_COLUMNS, &count);
		if (list < 0)
			continue;
		ahead[nr] = later[list];
		later[list] = nr;
	}
	free(later);
	return ahead;
}

/* What the recorded lists did; where refills are not recorded, worked out from the counts. */
int64_t whatif_measure(const int64_t *rows, int64_t nr, struct whatif_result *result)
{
	int64_t *before = calloc(WHATIF_CPUS, sizeof(*before));
	struct seen { int64_t known, count, net, allocated; } *lists, *list;
	int64_t i, kept = 0, last = nr ? rows[0] : 0, saw_refills = 0;

	memset(result, 0, sizeof(*result));
	lists = calloc((size_t)WHATIF_SLOTS * WHATIF_CPUS, sizeof(*lists));
	if (!before || !lists) {
		free(before);
		free(lists);
		return -1;
	}
	for (i = 0; i < nr; i++)
		saw_refills += rows[i * WHATIF_COLUMNS + 2] == WHATIF_REFILL;
	for (i = 0; i < nr; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS, *f = row + 3;
		int64_t cpu = row[2] == WHATIF_REFILL ? row[1] : f[1];
		int64_t at = row[2] == WHATIF_LIST ? 2 : 4, left, came;

		result->kept_area += (double)kept * (row[0] - last);
		last = row[0];
		if (row[2] == WHATIF_CPU)
			whatif_faults(before, f[0], f[1], &result->faults);
		if (row[2] > WHATIF_LIST || f[0] < 0 || f[0] >= WHATIF_SLOTS || cpu < 0 ||
		    cpu >= WHATIF_CPUS)
			continue;
		list = &lists[f[0] * WHATIF_CPUS + cpu];
		left = f[at];
		if (!saw_refills && list->known) {
			came = whatif_came(f[at + 3] - list->net, f[at + 4] - list->allocated,
					   f[at] - list->count, f[at + 2]);
			if (came > 0) {
				result->refill_pages += came;
				result->refills += 1;
			}
		}
		if (row[2] == WHATIF_REFILL) {
			result->refills++;
			result->refill_pages += f[3];
			left += f[3];
		} else if (row[2] == WHATIF_DRAIN) {
			int64_t pages = f[3] < f[4] ? f[3] : f[4];

			result->drains += pages > 0;
			result->drain_pages += pages;
			left -= pages;
		}
		kept += left - (list->known ? list->count : 0);
		if (kept > result->kept_max)
			result->kept_max = kept;
		*list = (struct seen){ 1, left, f[at + 3], f[at + 4] };
	}
	result->ns = nr ? last - rows[0] : 0;
	free(before);
	free(lists);
	return saw_refills;
}
