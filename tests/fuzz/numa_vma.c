// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_vma.c - fuzz what scans leave out: no page is left out for ever
 */
#include "input.h"

#include "policy/numa/core_sample.c"
#include "policy/numa/core_vma.c"

/* 64 regions of the least size, and of the size after that. */
#define PAGES	(NUMA_REGIONS << (NUMA_REGION_SHIFT + 1))

/* Scans that took each part of 64 pages. */
#define PART	64
static u8 scanned[PAGES / PART];

static bool take_pages(const struct numa_range *run, u64 *pages)
{
	u64 part;

	*pages += run->end - run->start;
	for (part = run->start / PART; part * PART < run->end; part++)
		scanned[part] = 1;
	return true;
}

/* A pass over a VMA, in one scan or in several; the pages that were scanned. */
static u64 pass_over(struct input *input, struct numa_vma *vma, unsigned int slot,
		     const struct numa_settings *settings)
{
	struct numa_range left = { 0, vma->pages }, run;
	u64 pages = 0;

	while (left.start < left.end) {
		if (!numa_vma_next(vma, slot, &left, &run, settings))
			break;
		MUST(run.start, >=, left.start);
		MUST(run.start, <, run.end);
		MUST(run.end, <=, left.end);
		/* The budget of a scan may end within a run. */
		if (take_bool(input))
			run.end = run.start + take_within(input, 1, run.end - run.start);
		take_pages(&run, &pages);
		numa_vma_scanned(vma, &run, take_bool(input) ? take(input, 2) : 0);
		left.start = run.end;
	}
	return pages;
}

static void scans(struct input *input)
{
	struct numa_settings settings = {
		.full_pass_interval = take_within(input, 1, 8),
		.skip_by_thread = take_bool(input),
		.skip_by_region = take_bool(input),
	};
	u32 pass = take(input, 4), since = 0, part;
	struct numa_vma vma;

	numa_vma_begin(&vma, take_within(input, 1, PAGES), pass);
	memset(scanned, 0, sizeof(scanned));
	while (input->left) {
		u8 what = take(input, 1);
		u64 before = vma.pages;

		switch (what % 4) {
		case 0:
			numa_vma_fault(&vma, take_within(input, 0, NUMA_THREADS - 1));
			break;
		case 1:
			numa_vma_fit(&vma, take_within(input, 1, PAGES));
			MUST((vma.pages - 1) >> vma.shift, <, NUMA_REGIONS);
			/* New pages wait for their first scan. */
			for (part = 0; vma.pages < before && part < ARRAY_SIZE(scanned); part++)
				scanned[part] &= (u64)part * PART < vma.pages;
			if (vma.pages > before)
				memset(scanned, 0, sizeof(scanned));
			since = 0;
			break;
		default:
			numa_vma_visit(&vma, ++pass, &settings);
			pass_over(input, &vma, what % NUMA_THREADS, &settings);
			/* A full pass has come by now: every page was scanned. */
			if (++since < 2 * settings.full_pass_interval)
				break;
			for (part = 0; (u64)part * PART < vma.pages; part++)
				MUST(scanned[part], ==, 1);
			memset(scanned, 0, sizeof(scanned));
			since = 0;
		}
	}
}

/* Sampling scans: after a round of all turns each page was taken once. */
static void samples(struct input *input)
{
	struct numa_sampling sampling = {
		.stride = take_within(input, 1, 512),
		.turn = take(input, 3),
	};
	u64 region = take(input, 3), first = region << NUMA_REGION_SHIFT;
	static u32 taken[1 << NUMA_REGION_SHIFT];
	bool huge = take_bool(input);
	u32 turn, gap = 0, i;

	memset(taken, 0, sizeof(taken));
	for (turn = 0; turn < sampling.stride; turn++, sampling.turn++) {
		struct numa_range run;
		u64 page;

		if (!numa_sampling_region(&sampling, region, huge, &run))
			continue;
		MUST(run.start, >=, first);
		MUST(run.end, <=, first + REGION_PAGES);
		for (page = run.start; page < run.end; page++)
			taken[page - first]++;
	}
	for (i = 0; i < ARRAY_SIZE(taken); i++)
		MUST(taken[i], ==, 1);
	for (i = 0; i < 64; i++) {
		u32 next = numa_sampling_gap(gap);

		MUST(next, >=, gap);
		MUST(next, <=, NUMA_GAP_MAX_MS);
		gap = next;
	}
	MUST(gap, ==, NUMA_GAP_MAX_MS);
	i = numa_sampling_faults(take(input, 5), sampling.stride);
	MUST_BE(i >= NUMA_RESAMPLE_FAULTS_MIN && i <= NUMA_RESAMPLE_FAULTS_MAX);
	/* What was expected is no alarm. */
	MUST_BE(!numa_sampling_differs(i * take_within(input, 0, 100) / 100, i, 100));
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };

	if (take_bool(&input))
		samples(&input);
	else
		scans(&input);
	return 0;
}
