/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the load programs of the bench and of the scenarios have in common.  What a load
 * consists of, and from what seed its random numbers come, is each program's own.
 */
#ifndef LOAD_H
#define LOAD_H

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define HUGE_PAGE	(2UL << 20)
#define MIB		(1024UL * 1024)
#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

/* A store that the compiler may not drop: it cannot see who reads memory. */
#define WRITE_BYTE(at)	do { *(at) = 1; __asm__ volatile("" : : : "memory"); } while (0)

/* Set from a seed, by a rule of each program's own. */
extern __u64 random_state;

/*
 * A random number from 0 to limit - 1: splitmix64 (Steele, Lea, Flood, 2014).  This and
 * the clock are inline since guests count every instruction of the loops they are in.
 */
static inline unsigned long below(unsigned long limit)
{
	__u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % limit;
}

static inline __u64 clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		err(1, "clock_gettime");
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline __u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline long now_ms(void)
{
	return now_ns() / NSEC_PER_MSEC;
}

void nap(unsigned long ms);

/* An option of a program; one of number, text, flag and call is set.  The last row is empty. */
struct load_option {
	char letter;
	const char *argument;		/* its name in the help; NULL: a switch */
	const char *words;		/* line of the help */
	unsigned long *number;		/* gets a number from min to max */
	unsigned long min;
	unsigned long max;
	const char **text;		/* gets the text */
	bool *flag;			/* becomes true */
	void (*call)(const char *text);	/* gets the text */
};

/* A row for a number. */
#define LOAD_NUMBER(l, arg, help, to, low, high) \
	{ .letter = l, .argument = arg, .words = help, .number = to, .min = low, .max = high }

void parse_options(int argc, char **argv, const struct load_option *options, const char *operands);
unsigned long parse_number(char opt, const char *text, char **end);
unsigned int parse_word(char opt, const char *text, const char *const words[], unsigned int nr);

void *map_memory(unsigned long bytes, int how);
void touch_pages(char *mem, unsigned long bytes);

void pin(int cpu);
pid_t fork_child(void);

#endif /* LOAD_H */
