/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fragload - what a build does to the page allocator, beside a process of huge pages
 *
 * One process a kind of memory, each with a fixed amount of work a round and random
 * numbers of its own, all from one seed.  None is ever more than a round ahead of the
 * others, so that the mixture is the same whoever has to wait for memory.  Prints one
 * JSON object when all are done, or killed.
 */
#ifndef FRAGLOAD_H
#define FRAGLOAD_H

#include "load.h"

/**
 * struct kind - a process of the load
 * @name:	of it, and of its figure in the output
 * @amount:	work a round
 * @round:	one round; returns the work done, in units of the kind's own
 */
struct kind {
	const char *name;
	unsigned long amount;
	unsigned long (*round)(unsigned long amount);
};

/* How many rounds the process has done. */
extern unsigned int rounds_done;

void seed_random(__u64 seed);
void touch(char *mem, unsigned long bytes);

unsigned long files_round(unsigned long amount);
unsigned long cache_round(unsigned long amount);

unsigned long pipes_round(unsigned long amount);
unsigned long tables_round(unsigned long amount);

unsigned long held_round(unsigned long amount);
unsigned long short_round(unsigned long amount);
unsigned long huge_round(unsigned long amount);

int census(void);

#endif /* FRAGLOAD_H */
