// SPDX-License-Identifier: GPL-2.0-only
/*
 * hintload - threads that make NUMA hint faults of a class that can be foretold
 *
 * Thread i is bound to CPU i, modulo the CPUs there are, and writes to the pages that
 * its pattern gives it, over and over.
 */
#include "load.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#define MAX_THREADS	256
#define SWAP_MS		2000
/* No divisor of a size in MiB, so that a page does not stay with a thread. */
#define TURN_PAGES	61

enum pattern {
	OWN,	/* each has its own part: private, and soon local */
	SWAP,	/* each has its own part, but changes CPU now and then: remote */
	SHARED,	/* all write to all pages, in turns: shared, local and remote */
	NR_PATTERNS
};

static const char *const pattern_words[NR_PATTERNS] = {
	[OWN] = "own", [SWAP] = "swap", [SHARED] = "shared",
};

static struct options {
	enum pattern pattern;
	unsigned long threads;
	unsigned long processes;
	unsigned long mib;		/* of each thread */
	unsigned long run_ms;
	unsigned long alone_ms;	/* time before the second thread begins */
	unsigned long rest_ms;	/* a thread rests so long after as much work */
	unsigned long protect_mib;	/* a thread more changes the protection of so much */
} options = {
	.pattern = OWN,
	.threads = 2,
	.processes = 1,
	.mib = 8,
	.run_ms = 3600000,
};

static char *memory;
static size_t part;	/* of it, for each thread */
static sem_t turns[MAX_THREADS];
static size_t next_page;	/* for the thread whose turn it is */
static long cpus;
static unsigned long begun_ms;

static void parse_pattern(const char *word)
{
	options.pattern = parse_word('p', word, pattern_words, NR_PATTERNS);
}

static const struct load_option option_rows[] = {
	{ 'p', "PATTERN", "what the threads touch: own (default), swap, shared",
	  .call = parse_pattern },
	LOAD_NUMBER('t', "THREADS", "threads of each process (2)",
		    &options.threads, 1, MAX_THREADS),
	LOAD_NUMBER('f', "PROCESSES",
		    "forked when the memory is there, so that they share it\n"
		    "                until they write (1: none is forked)",
		    &options.processes, 1, 1024),
	LOAD_NUMBER('m', "MIB", "memory of each thread (8)", &options.mib, 1, 4096),
	LOAD_NUMBER('s', "MS", "time to run (an hour)", &options.run_ms, 0, 86400000),
	LOAD_NUMBER('a', "MS", "time that the first thread is alone (0)",
		    &options.alone_ms, 0, 86400000),
	LOAD_NUMBER('r', "MS", "rest after as much work; not with pattern shared (0: never)",
		    &options.rest_ms, 0, 1000),
	LOAD_NUMBER('w', "MIB",
		    "a thread more changes the protection of so much memory all the\n"
		    "                time, and so holds mmap_lock for writing (0: there is none)",
		    &options.protect_mib, 0, 4096),
	{}
};

static int over(void)
{
	return now_ms() - begun_ms >= options.run_ms;
}

/*
 * In turns, and not all at once: a thread that runs while another does not, as under
 * emulation, would have all the faults of a scan to itself.
 */
static void share(unsigned long self)
{
	size_t pages = part / PAGE * options.threads;
	unsigned int i;

	while (!over()) {
		sem_wait(&turns[self]);
		for (i = 0; i < TURN_PAGES; i++) {
			touch_pages(memory + next_page * PAGE, 1);
			next_page = (next_page + 1) % pages;
		}
		sem_post(&turns[(self + 1) % options.threads]);
	}
	/* The next thread may wait for a turn, having looked at the clock a moment earlier. */
	sem_post(&turns[(self + 1) % options.threads]);
}

static void *work(void *arg)
{
	unsigned long self = (unsigned long)arg, turn = 0, rested_ms = begun_ms;
	char *mine = memory + self * part;

	pin(self % cpus);
	if (options.pattern == SHARED)
		share(self);
	while (!over()) {
		if (options.pattern == SWAP && (now_ms() - begun_ms) / SWAP_MS != turn) {
			turn = (now_ms() - begun_ms) / SWAP_MS;
			pin((self + turn * (cpus / 2)) % cpus);
		}
		touch_pages(mine, part);
		if (options.rest_ms && now_ms() - rested_ms >= options.rest_ms) {
			usleep(options.rest_ms * 1000);
			rested_ms = now_ms();
		}
	}
	return NULL;
}

/* Kernels hold mmap_lock for writing while they walk the page tables. */
static void *protect(void *arg)
{
	char *mine = map_memory(options.protect_mib * MIB, MAP_PRIVATE | MAP_POPULATE);
	int writable = PROT_WRITE;

	while (!over()) {
		writable ^= PROT_WRITE;
		if (mprotect(mine, options.protect_mib * MIB, PROT_READ | writable))
			err(1, "mprotect");
	}
	return arg;
}

static void run(void)
{
	pthread_t thread[MAX_THREADS], protector;
	unsigned long i;

	for (i = 0; i < options.threads; i++)
		sem_init(&turns[i], 0, !i);
	/* The first runs in this one; alone, at first, it is a process of one thread. */
	if (options.alone_ms && options.threads > 1) {
		pin(0);
		while (now_ms() - begun_ms < options.alone_ms)
			touch_pages(memory, part);
	}
	errno = options.protect_mib ? pthread_create(&protector, NULL, protect, NULL) : 0;
	if (errno)
		err(1, "thread of -w");
	for (i = 1; i < options.threads; i++) {
		errno = pthread_create(&thread[i], NULL, work, (void *)i);
		if (errno)
			err(1, "thread %lu", i);
	}
	work(NULL);
	for (i = 1; i < options.threads; i++)
		pthread_join(thread[i], NULL);
	if (options.protect_mib)
		pthread_join(protector, NULL);
}

int main(int argc, char **argv)
{
	size_t all;
	unsigned int i;

	parse_options(argc, argv, option_rows, NULL);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	part = options.mib * MIB;
	all = part * options.threads;
	memory = map_memory(all, MAP_PRIVATE);
	begun_ms = now_ms();
	if (options.processes == 1) {
		run();
		return 0;
	}
	touch_pages(memory, all);
	for (i = 0; i < options.processes; i++) {
		if (!fork_child()) {
			run();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
