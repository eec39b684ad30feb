/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * numaload - loads for NUMA balancing, one pattern of memory use a run
 *
 * Runs a pattern for a time and prints one JSON object: the work done in it, what
 * /proc/vmstat counted meanwhile, and how soon the memory came to be on the nodes of
 * the threads that use it.
 *
 * With QEMU's -icount all CPUs of a guest share one count of instructions, and one
 * gives way to the next only where it idles or pauses: every loop here pauses.
 */
#ifndef NUMALOAD_H
#define NUMALOAD_H

#include "load.h"

#include <pthread.h>
#include <sched.h>

#define LINE		64	/* bytes of a cache line */
#define MAX_THREADS	64UL
#define MAX_SECONDS	3600UL
#define MAX_PHASES	8	/* of a run */
#define SAMPLE_MS	100	/* between two looks at where pages are */

/* Page visits between two pauses. */
#define BLOCK		8

struct options {
	const struct pattern *pattern;
	unsigned long threads;
	unsigned long mib;	/* asked for, of each thread; 0: the pattern's own */
	unsigned long part;	/* bytes for each thread */
	unsigned long seconds;	/* asked for, then those of the run; 0: the pattern's own */
	unsigned long stagger_ms;
	unsigned long phase_ms;	/* as seconds; of a pattern without phases: 0 */
	unsigned long crowd;	/* processes beside pattern cost, which sleep */
	unsigned long company;	/* threads that sleep in pattern cost */
};

/* Who writes to a page first; the kernel puts it on the node of that CPU. */
enum first {
	FIRST_OWN,	/* the thread that uses it */
	FIRST_FAR,	/* one on another node */
	FIRST_UNEVEN,	/* nobody: nine in ten are on the first node, the rest on the next */
};

/* Which pages a thread uses. */
enum reach {
	REACH_OWN,	/* its part, one after the other */
	REACH_ALL,	/* all threads' parts, one page after the other */
	REACH_RANDOM,	/* all, at random */
	REACH_HALF,	/* at random, of every part one half, and in the next phase the other */
};

/*
 * struct pattern - a way to use memory
 * run		does it until the time is up
 * first, reach	see there
 * loose	each runs on any CPU; else on its own, neighbours on different nodes
 * company	a process has a second thread, which sleeps: the kernel does not scan what
 *		is local to a process of one
 * pairs	processes are two and two, with pipes between them; else each works alone
 * apart	each thread has a mapping of its own; else one serves all
 * nap_ms	a thread sleeps so long after a burst of visits
 * visits	of a burst, or of a process until it ends
 * threads	number of threads, processes or pairs; 0: one a CPU
 * mib		size of a thread's part
 * seconds	time
 * anon		memory of a slow node is anonymous; else a file, which is only read
 * phase_ms	time after which two threads swap their parts, or halves; 0: never
 * fork_ms	time after which another child begins, which writes to some pages and ends
 */
struct pattern {
	const char *name;
	void (*run)(const struct options *opt);
	enum first first;
	enum reach reach;
	bool loose;
	bool company;
	bool pairs;
	bool apart;
	bool anon;
	unsigned long nap_ms;
	unsigned long visits;
	unsigned long threads;
	unsigned long mib;
	unsigned long seconds;
	unsigned long phase_ms;
	unsigned long fork_ms;
};

/* What the threads or processes of a run have in common. */
struct shared {
	bool stop;
	unsigned int phase;
	__u64 work[MAX_THREADS][LINE / sizeof(__u64)];	/* of processes, by slot */
};

/* Where the thread or process of that number runs. */
struct place {
	int cpu;
	unsigned int node;
};

enum counter {
	PTE_UPDATES,
	HINT_FAULTS,
	HINT_FAULTS_LOCAL,
	PAGES_MIGRATED,
	FAULTS,
	NR_COUNTERS
};

extern struct shared *shared;
extern struct place places[MAX_THREADS];
extern const char * const counters[NR_COUNTERS];

static inline unsigned long lesser(unsigned long one, unsigned long other)
{
	return one < other ? one : other;
}

void sleep_until(__u64 at);
void visit(char *page);
void read_counters(__u64 *values);

unsigned int choose_cpus(void);
void unpin(void);
void touch_on(unsigned int node, char *mem, unsigned long bytes);

void run_threads(const struct options *opt);
void run_processes(const struct options *opt);
void keep_company(unsigned long threads);
void run_cost(const struct options *opt);
void run_tier(const struct options *opt);

#endif /* NUMALOAD_H */
