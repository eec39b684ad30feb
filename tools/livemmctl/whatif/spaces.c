// SPDX-License-Identifier: GPL-2.0-only
/*
 * spaces.c - address spaces that NUMA balancing scanned: their scans and hint faults
 */
#include <stdlib.h>

#include "replay.h"
#include "spaces.h"

/* Time by which a thread that has scanned asks later: two ticks, and 32 times the scan's. */
#define EXTRA_MS	8
#define EXTRA_TIMES	32
/* A scan is full if one resident page in so many has faulted. */
#define FULL_PART	4

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, long nr, double otherwise)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr ? values[nr / 2] : otherwise;
}

/**
 * space_faults() - hint faults from a recorded scan to the next
 * @space: an address space with a scan
 * @k: number of the scan
 *
 * Return: the number of faults.
 */
double space_faults(const struct space *space, long k)
{
	long i, end = k + 1 < space->nr_scans ? space->scans[k + 1].first : space->nr_faults;
	double sum = 0;

	for (i = space->scans[k].first; i < end; i++)
		sum += space->faults[i].faults;
	return sum;
}

/*
 * What the recorded scans tell of the threads that scan; -1 without memory.  The kernel lets a
 * thread that has scanned run longer before it asks again: two ticks, and 32 times what the scan
 * has cost.
 */
static int space_learn(struct space *space, int64_t end)
{
	double *extra = calloc(space->nr_scans, sizeof(*extra));
	double *share = calloc(space->nr_scans, sizeof(*share));
	const struct scan *scan = space->scans;
	long i, nr_extra = 0, nr_share = 0;
	int64_t left = end - space->last;

	if (!extra || !share) {
		free(extra);
		free(share);
		return -1;
	}
	for (i = 1; i < space->nr_scans; i++) {
		double took = scan[i].time - scan[i - 1].time;

		/* Another thread has a period of its own. */
		if (scan[i].pid != scan[i - 1].pid || took <= 0)
			continue;
		share[nr_share++] = (scan[i].run_ms - scan[i - 1].run_ms) * NS_PER_MS / took;
		/* A scan of little costs little. */
		if (space_faults(space, i - 1) * FULL_PART >= scan[i - 1].resident)
			extra[nr_extra++] = scan[i].run_ms - scan[i - 1].run_ms -
					    (double)max(scan[i - 1].period, scan[i].period);
	}
	space->cost = max(median(extra, nr_extra, EXTRA_MS) - EXTRA_MS, 0.0) * NS_PER_MS /
		      EXTRA_TIMES;
	space->share = clamp(median(share, nr_share, 1), 0.01, 1.0);
	/* Nothing is heard of a process between two scans: it has ended, or waits for the next. */
	if (left < scan[space->nr_scans - 1].period * NS_PER_MS + EXTRA_TIMES * space->cost)
		space->last = end;
	free(extra);
	free(share);
	return 0;
}

/* Open addressing: the place of an address space. */
static long place_of(struct space *spaces, long size, uint64_t mm)
{
	long at = mm * 0x9E3779B97F4A7C15ULL % size;

	while (spaces[at].mm && spaces[at].mm != mm + 1)
		at = (at + 1) % size;
	return at;
}

/* Faults are told of when others come, which may be after the next scan. */
static void fault_read(struct space *space, const int64_t *row)
{
	const int64_t *f = row + 3;
	int64_t time = row[0] - f[10] * NS_PER_MS;
	long i, at = space->nr_faults;
	struct fault *fault;
	int class;

	/* The policy would know an address space from its first scan on. */
	if (!space->nr_scans || time < space->scans[0].time)
		return;
	for (; at && space->faults[at - 1].time > time; at--)
		space->faults[at] = space->faults[at - 1];
	for (i = space->nr_scans - 1; space->scans[i].time > time; i--)
		space->scans[i].first++;
	fault = &space->faults[at];
	space->nr_faults++;
	*fault = (struct fault){
		.time = time, .pid = f[1], .faults = f[2],
		.period = f[7], .run_ms = f[8], .stamp_ms = f[9],
	};
	for (class = 0; class < NUMA_NR_CLASSES; class++)
		fault->pages[class] = f[3 + class];
}

static void row_read(struct space *space, const int64_t *row)
{
	const int64_t *f = row + 3;

	space->last = row[0];
	if (row[2] == WHATIF_SCAN) {
		space->scans[space->nr_scans++] = (struct scan){
			.time = row[0], .pid = f[2], .seq = f[3], .period = f[4], .resident = f[5],
			.run_ms = f[6], .threads = f[7], .stamp_ms = f[8],
			.first = space->nr_faults,
		};
	} else {
		fault_read(space, row);
	}
}

/* Room for scans and faults of each address space; false without memory. */
static bool rooms(struct space *spaces, long size)
{
	long i;

	for (i = 0; i < size; i++) {
		spaces[i].scans = calloc(spaces[i].nr_scans + 1, sizeof(*spaces[i].scans));
		spaces[i].faults = calloc(spaces[i].nr_faults + 1, sizeof(*spaces[i].faults));
		if (!spaces[i].scans || !spaces[i].faults)
			return false;
		spaces[i].nr_scans = 0;
		spaces[i].nr_faults = 0;
	}
	return true;
}

/* Address spaces are no more than the rows that tell of one. */
static long places_for(const int64_t *rows, int64_t nr)
{
	long size = 64, told = 0;
	int64_t i;

	for (i = 0; i < nr; i++) {
		int64_t kind = rows[i * WHATIF_COLUMNS + 2];

		told += kind == WHATIF_SCAN || kind == WHATIF_HINTS;
	}
	while (size < 2 * told)
		size *= 2;
	return size;
}

/**
 * spaces_free() - free what spaces_read() has returned
 * @spaces: the address spaces
 * @size: number of places
 */
void spaces_free(struct space *spaces, long size)
{
	long i;

	for (i = 0; i < size; i++) {
		free(spaces[i].scans);
		free(spaces[i].faults);
	}
	free(spaces);
}

/**
 * spaces_read() - gather the scans and hint faults of each address space
 * @rows: the recording, by time
 * @nr: number of rows
 * @size: gets the number of places, of which most have no scan
 *
 * Return: the places, or NULL without memory.
 */
struct space *spaces_read(const int64_t *rows, int64_t nr, long *size)
{
	struct space *spaces, *space;
	bool done;
	int64_t i;
	long at;

	*size = places_for(rows, nr);
	spaces = calloc(*size, sizeof(*spaces));
	if (!spaces)
		return NULL;
	for (i = 0; i < nr; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS;

		if (row[2] != WHATIF_SCAN && row[2] != WHATIF_HINTS)
			continue;
		space = &spaces[place_of(spaces, *size, row[3])];
		space->mm = row[3] + 1;
		space->nr_scans += row[2] == WHATIF_SCAN;
		space->nr_faults += row[2] == WHATIF_HINTS;
	}
	done = rooms(spaces, *size);
	for (i = 0; done && i < nr; i++) {
		const int64_t *row = rows + i * WHATIF_COLUMNS;

		if (row[2] == WHATIF_SCAN || row[2] == WHATIF_HINTS)
			row_read(&spaces[place_of(spaces, *size, row[3])], row);
	}
	for (at = 0; done && at < *size; at++)
		done = !spaces[at].nr_scans ||
		       !space_learn(&spaces[at], rows[(nr - 1) * WHATIF_COLUMNS]);
	if (done)
		return spaces;
	spaces_free(spaces, *size);
	return NULL;
}

/**
 * space_scan() - the recorded scan that is the last at a time
 * @space: an address space with a scan
 * @time: the time
 *
 * Return: its number.
 */
long space_scan(const struct space *space, int64_t time)
{
	long low = 0, high = space->nr_scans - 1;

	while (low < high) {
		long middle = (low + high + 1) / 2;

		if (space->scans[middle].time <= time)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}
