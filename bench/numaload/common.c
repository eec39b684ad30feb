// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all patterns use.
 */
#include "numaload.h"

struct shared *shared;

const char * const counters[NR_COUNTERS] = {
	[PTE_UPDATES] = "numa_pte_updates",
	[HINT_FAULTS] = "numa_hint_faults",
	[HINT_FAULTS_LOCAL] = "numa_hint_faults_local",
	[PAGES_MIGRATED] = "numa_pages_migrated",
	[FAULTS] = "pgfault",
};

static void *stand_by(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Be a process of more threads, which do nothing. */
void keep_company(unsigned long threads)
{
	pthread_attr_t small;
	pthread_t other;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16 * PAGE);
	while (threads--)
		if (pthread_create(&other, &small, stand_by, NULL))
			errx(1, "cannot start a thread");
}

void sleep_until(__u64 at)
{
	struct timespec ts = { at / NSEC_PER_SEC, at % NSEC_PER_SEC };
	int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);

	if (error)
		errx(1, "clock_nanosleep: %s", strerror(error));
}

/* One unit of work: a write to every cache line of a page. */
void visit(char *page)
{
	__u64 *line = (__u64 *)page;
	unsigned int i;

	for (i = 0; i < PAGE / sizeof(*line); i += LINE / sizeof(*line))
		WRITE_ONCE(line[i], READ_ONCE(line[i]) * 3 + 1);
}

void read_counters(__u64 *values)
{
	unsigned int found = 0, i;
	char name[64];
	__u64 value;
	FILE *f = fopen("/proc/vmstat", "r");

	if (!f)
		err(1, "/proc/vmstat");
	while (fscanf(f, "%63s %llu", name, &value) == 2) {
		for (i = 0; i < NR_COUNTERS; i++) {
			if (strcmp(name, counters[i]))
				continue;
			values[i] = value;
			found++;
		}
	}
	fclose(f);
	if (found != NR_COUNTERS)
		errx(1, "/proc/vmstat: counters of NUMA balancing are missing");
}
