// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hint fault costs.
 */
#include "numaload.h"

#include <signal.h>
#include <sys/wait.h>

/* Few, as the policy doubles the period of local memory: 6.4 s in round 6. */
#define COST_ROUNDS	6
#define COST_TRIES	(4 * COST_ROUNDS)
#define COST_WAIT	(20 * NSEC_PER_SEC)
/* CPU time in which a process of the crowd is scanned, with a scan delay of 4 ms. */
#define CROWD_RUN	(16 * NSEC_PER_MSEC)
#define FORKS		200

/*
 * The kernel does not arm pages that wait in a CPU's batch of pages new to the LRU
 * lists, 15 at most, as they have one reference more: let others wait there.
 */
static void fill_batch(void)
{
	unsigned long bytes = 64 * PAGE;
	char *mem = map_memory(bytes, MAP_PRIVATE);

	touch_pages(mem, bytes);
	if (munmap(mem, bytes))
		err(1, "munmap");
}

static void wait_for_updates(__u64 pages)
{
	__u64 before[NR_COUNTERS], now[NR_COUNTERS], start = now_ns();

	read_counters(before);
	do {
		if (now_ns() - start > COST_WAIT)
			errx(1, "no scan in %llu s", COST_WAIT / NSEC_PER_SEC);
		read_counters(now);
	} while (now[PTE_UPDATES] - before[PTE_UPDATES] < pages);
}

static __u64 sweep(char *mem, unsigned long bytes)
{
	__u64 start = now_ns();

	touch_pages(mem, bytes);
	return now_ns() - start;
}

/* A process that runs for as long as it takes to be scanned, and then sleeps. */
static pid_t join_crowd(void)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < CROWD_RUN)
		__builtin_ia32_pause();
	for (;;)
		pause();
}

static void crowd_begins(unsigned long nr, pid_t *crowd)
{
	unsigned long i;

	for (i = 0; i < nr; i++) {
		crowd[i] = join_crowd();
		sleep_until(now_ns() + CROWD_RUN);
	}
}

/* The time of the end of a process of the crowd. */
static __u64 crowd_ends(unsigned long nr, const pid_t *crowd)
{
	__u64 start = now_ns();
	unsigned long i;

	for (i = 0; i < nr; i++) {
		kill(crowd[i], SIGKILL);
		waitpid(crowd[i], NULL, 0);
	}
	return nr ? (now_ns() - start) / nr : 0;
}

/* The time of a process that only ends. */
static __u64 time_forks(void)
{
	__u64 start = now_ns();
	unsigned int i;
	pid_t pid;

	for (i = 0; i < FORKS; i++) {
		pid = fork();
		if (pid < 0)
			err(1, "fork");
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (now_ns() - start) / FORKS;
}

/*
 * The time of a hint fault.  It is for a clock that counts instructions: wait, without
 * touching memory, until a scan has armed every page; touch them, once with a fault
 * each, once without.  A round in which some were not armed does not count: a scan
 * may have begun before the wait.  The second thread is there since the kernel does
 * not arm local pages of a process that has one.
 */
void run_cost(const struct options *opt)
{
	__u64 before[NR_COUNTERS], after[NR_COUNTERS], hits, armed, bare;
	__u64 best = ~0ULL, sum = 0, rounds = 0, tries, pages = opt->part / PAGE;
	pid_t *crowd = calloc(opt->crowd + 1, sizeof(*crowd));
	char *mem;

	if (!crowd)
		err(1, "calloc");
	crowd_begins(opt->crowd, crowd);
	mem = map_memory(opt->part, MAP_PRIVATE);
	keep_company(opt->company);
	touch_pages(mem, opt->part);
	fill_batch();
	for (tries = 0; tries < COST_TRIES && rounds < COST_ROUNDS; tries++) {
		touch_pages(mem, opt->part);
		wait_for_updates(pages);
		read_counters(before);
		armed = sweep(mem, opt->part);
		bare = sweep(mem, opt->part);
		read_counters(after);
		hits = after[HINT_FAULTS] - before[HINT_FAULTS];
		if (hits != pages)
			continue;
		if (after[HINT_FAULTS_LOCAL] - before[HINT_FAULTS_LOCAL] != pages)
			errx(1, "hint faults were not local");
		best = lesser(best, armed - bare);
		sum += armed - bare;
		rounds++;
	}
	if (rounds < COST_ROUNDS)
		errx(1, "only %llu of %llu rounds had all pages armed", rounds, tries);
	if (opt->crowd) {
		printf("\"fork_ns\": %llu,", time_forks());
		printf("\"exit_ns\": %llu,", crowd_ends(opt->crowd, crowd));
	}
	printf("\"work\": %llu, \"best_ns\": %.3f, \"mean_ns\": %.3f,",
	       rounds, (double)best / pages, (double)sum / rounds / pages);
}
