/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmaload - a build's load on memory, and what it does to CMA
 *
 * Some workers run one job after the other, each a process as a compiler is one: it reads
 * sources, fills memory, uses it, writes its result and ends.  What a job does follows
 * from the seed and its number alone, so the work in all is the same whoever did it.
 */
#ifndef CMALOAD_H
#define CMALOAD_H

#include "load.h"

#include <fcntl.h>

/* What a page table of 4 KiB maps. */
#define TABLE		(2 * MIB)

/**
 * struct work - what the workers have in common
 * @next:	number of the job that is begun next
 * @done:	jobs that ended
 * @lost:	of them, those that were killed as memory ran out
 * @jobs:	no job is begun from this number on
 */
struct work {
	unsigned long next;
	unsigned long done;
	unsigned long lost;
	unsigned long jobs;
};

struct options {
	const char *dir;
	const char *area;
	unsigned long workers;
	unsigned long jobs;
	unsigned long held;
	unsigned long kernel;
	unsigned long seed;
	unsigned long piece;
	unsigned long times;
	unsigned long pause;
	unsigned long hold;
};

void seed_random(__u64 seed, __u64 nr);
void touch(char *mem, unsigned long bytes);

void make_sources(void);
void have_tables(unsigned long tables, unsigned long most);
void run_job(const struct options *opt, unsigned long nr);
void allocate(const struct options *opt, const struct work *work);

#endif /* CMALOAD_H */
