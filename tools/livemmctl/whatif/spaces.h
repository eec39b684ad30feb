/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spaces.h - address spaces that NUMA balancing scanned, as recorded
 */
#ifndef LIVEMM_WHATIF_SPACES_H
#define LIVEMM_WHATIF_SPACES_H

#include "policy/numa/core.h"

#define NS_PER_MS	1000000LL

struct fault {
	int64_t time;
	int pid;
	double faults;
	double pages[NUMA_NR_CLASSES];
	unsigned int period;		/* of the thread, in ms; 0: nothing recorded from here on */
	int64_t run_ms;
	int64_t stamp_ms;
};

struct scan {
	int64_t time;
	int pid;
	int seq;
	unsigned int period;
	int64_t resident;
	int64_t run_ms;
	int threads;
	int64_t stamp_ms;
	long first;			/* of its hint faults */
};

/* An address space, as recorded. */
struct space {
	uint64_t mm;
	struct scan *scans;
	long nr_scans;
	struct fault *faults;
	long nr_faults;
	int64_t last;			/* event */
	/* What follows from these. */
	double share;			/* of a CPU that the scanning thread has */
	int64_t cost;			/* CPU time of a full scan, in ns */
};

struct space *spaces_read(const int64_t *rows, int64_t nr, long *size);
void spaces_free(struct space *spaces, long size);
double space_faults(const struct space *space, long k);
long space_scan(const struct space *space, int64_t time);

#endif /* LIVEMM_WHATIF_SPACES_H */
