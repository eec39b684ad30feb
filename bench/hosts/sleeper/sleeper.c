// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeper - how late a real-time task wakes up, on each CPU, until the input ends
 *
 * A thread on each CPU sleeps so many milliseconds at a time under SCHED_FIFO: it is late for as
 * long as nothing can take the CPU from the kernel.  Prints one JSON object: of all CPUs the
 * longest delay, and the one that one wake-up in a hundred exceeds.
 */
#include "load.h"

#include <pthread.h>
#include <sched.h>

#define MOST_CPUS	64
#define SLOT_NS		1000
#define SLOTS		20000	/* the last one takes all longer delays */

static struct late {
	pthread_t thread;
	__u64 worst;
	unsigned int slots[SLOTS];
} lates[MOST_CPUS];

static __u64 every_ns;
static bool ended;

static void *sleep_and_wake(void *data)
{
	struct late *late = data;
	struct timespec ts;
	__u64 due = now_ns(), delay;

	pin(late - lates);
	while (!READ_ONCE(ended)) {
		due += every_ns;
		ts = (struct timespec){ due / NSEC_PER_SEC, due % NSEC_PER_SEC };
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			errx(1, "clock_nanosleep");
		delay = now_ns() - due;
		if (delay > late->worst)
			late->worst = delay;
		late->slots[delay / SLOT_NS < SLOTS ? delay / SLOT_NS : SLOTS - 1]++;
		/* What a long delay has let pass is not late besides. */
		if (delay > every_ns)
			due = now_ns();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 90 };
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), slot, i;
	__u64 worst = 0, all = 0, left;
	char byte;

	if (argc != 2 || atoi(argv[1]) < 1)
		errx(2, "usage: sleeper MS");
	every_ns = atoi(argv[1]) * NSEC_PER_MSEC;
	if (cpus > MOST_CPUS)
		errx(1, "%d CPUs, at most %d", cpus, MOST_CPUS);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "cannot become a real-time task");
	for (i = 0; i < cpus; i++)
		if (pthread_create(&lates[i].thread, NULL, sleep_and_wake, &lates[i]))
			errx(1, "pthread_create");
	puts("begun");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	WRITE_ONCE(ended, true);
	for (i = 0; i < cpus; i++) {
		pthread_join(lates[i].thread, NULL);
		if (lates[i].worst > worst)
			worst = lates[i].worst;
		for (slot = 0; slot < SLOTS; slot++)
			all += lates[i].slots[slot];
	}
	left = all / 100;
	for (slot = SLOTS; slot-- > 0;) {
		for (i = 0, all = 0; i < cpus; i++)
			all += lates[i].slots[slot];
		if (all > left)
			break;
		left -= all;
	}
	printf("{\"worst_ns\": %llu, \"hundredth_ns\": %llu}\n", worst, (slot + 1ULL) * SLOT_NS);
	return 0;
}
