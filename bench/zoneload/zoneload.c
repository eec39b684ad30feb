// SPDX-License-Identifier: GPL-2.0-only
/*
 * zoneload - loads that meet at zone->lock
 *
 * Prints one JSON object.  Each process is pinned to a CPU; those that never wait pause
 * now and then, since a guest whose clock counts instructions runs one CPU at a time, and
 * the next one only then.
 */
#include "load.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define CHUNK		(64L << 10)
#define CHURN_BYTES	(48L << 20)
#define HUGE_ROUNDS	8
#define FILE_ROUNDS	4
#define SHARE		4
#define PIPES		16
#define LOCKS		"/sys/module/lmm_locks/parameters/"

/**
 * struct shared - what the processes tell each other
 * @ready: how many have done what is not measured
 * @go: they may go on
 * @pages: each has touched, moved or got: small ones, huge ones
 * @asked: huge ones that were asked for
 */
struct shared {
	int ready;
	int go;
	unsigned long pages[2];
	unsigned long asked;
};

static struct shared *shared;
/* Of what is measured, in the process that measures it. */
static __u64 began;
/* Holds of zone->lock until then, and instructions under it, where lmm_locks counts them. */
static unsigned long holds_before, held_before;

static unsigned long parameter(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long value = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%lu", &value) != 1)
		errx(1, "%s: not a number", path);
	fclose(file);
	return value;
}

static void begin(void)
{
	holds_before = parameter(LOCKS "holds");
	held_before = parameter(LOCKS "held_ns");
	began = now_ns();
}

static void wait_for(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		usleep(1000);
}

/* Others are let run after so much memory. */
static void touch_in_turns(char *at, unsigned long bytes, unsigned long step, unsigned long turn)
{
	unsigned long i;

	for (i = 0; i < bytes; i += step) {
		WRITE_BYTE(at + i);
		if (!((i + step) % turn))
			__builtin_ia32_pause();
	}
}

/* Others are let run after each huge page, or as much memory in small ones. */
static void touch(char *at, unsigned long bytes, unsigned long step)
{
	touch_in_turns(at, bytes, step, HUGE_PAGE);
}

static void reap(void)
{
	int status;

	while (wait(&status) > 0)
		if (status)
			errx(1, "a process ended with status %d", status);
	if (errno != ECHILD)
		err(1, "wait");
}

/* A CPU sends so many bytes to the next; what is in between is allocated there, freed here. */
static unsigned long send_over(int to, int from, int cpu, unsigned long bytes)
{
	static char buffer[CHUNK];
	unsigned long sent;

	if (!fork_child()) {
		ssize_t got;

		pin(cpu + 1);
		close(to);
		while ((got = read(from, buffer, sizeof(buffer))) > 0)
			;
		_exit(got ? 1 : 0);
	}
	pin(cpu);
	close(from);
	for (sent = 0; sent < bytes; sent += CHUNK)
		if (write(to, buffer, CHUNK) != CHUNK)
			err(1, "write");
	close(to);
	reap();
	return bytes / PAGE;
}

static unsigned long pipe_from(int cpu, unsigned long bytes)
{
	int ends[2];

	if (pipe(ends))
		err(1, "pipe");
	return send_over(ends[1], ends[0], cpu, bytes);
}

static unsigned long load_pipe(unsigned long bytes)
{
	return pipe_from(0, bytes);
}

/* Each second CPU has a pipe to the next. */
static unsigned long load_pipe_all(unsigned long bytes)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN) / 2 * 2;
	int cpu;

	for (cpu = 0; cpu < cpus; cpu += 2) {
		if (fork_child())
			continue;
		pipe_from(cpu, bytes);
		_exit(0);
	}
	reap();
	return cpus / 2 * bytes / PAGE;
}

static unsigned long load_socket(unsigned long bytes)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		err(1, "socketpair");
	return send_over(ends[0], ends[1], 0, bytes);
}

/* Two processes that have so many bytes end together; the time is that of their end. */
static unsigned long load_exit(unsigned long bytes)
{
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		if (fork_child())
			continue;
		pin(cpu);
		touch(map_memory(bytes, MAP_PRIVATE), bytes, PAGE);
		__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
		wait_for(&shared->go, 1);
		_exit(0);
	}
	wait_for(&shared->ready, 2);
	begin();
	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
	reap();
	return 2 * bytes / PAGE;
}

/* What a thread touches: so many bytes on a CPU. */
struct part {
	char *at;
	unsigned long bytes;
	int cpu;
};

static void *touch_part(void *arg)
{
	const struct part *part = arg;

	pin(part->cpu);
	touch(part->at, part->bytes, PAGE);
	return NULL;
}

/* Two threads touch so many bytes each, and a third gives all of it back at once. */
static unsigned long load_purge(unsigned long bytes)
{
	char *at = map_memory(2 * bytes, MAP_PRIVATE);
	struct part parts[2];
	pthread_t threads[2];
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		parts[cpu] = (struct part){ at + cpu * bytes, bytes, cpu };
		if (pthread_create(&threads[cpu], NULL, touch_part, &parts[cpu]))
			errx(1, "pthread_create");
	}
	for (cpu = 0; cpu < 2; cpu++)
		pthread_join(threads[cpu], NULL);
	pin(0);
	begin();
	if (madvise(at, 2 * bytes, MADV_DONTNEED))
		err(1, "madvise");
	return 2 * bytes / PAGE;
}

/* A process on each of these CPUs maps, touches and unmaps so many bytes, eight times. */
static unsigned long fault_on(int cpus, unsigned long bytes)
{
	int cpu, round;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (fork_child())
			continue;
		pin(cpu);
		for (round = 0; round < 8; round++) {
			char *at = map_memory(bytes, MAP_PRIVATE);

			touch(at, bytes, PAGE);
			munmap(at, bytes);
		}
		_exit(0);
	}
	reap();
	return cpus * 8 * bytes / PAGE;
}

static unsigned long load_fault(unsigned long bytes)
{
	return fault_on(2, bytes);
}

static unsigned long load_fault_all(unsigned long bytes)
{
	return fault_on(sysconf(_SC_NPROCESSORS_ONLN), bytes);
}

/*
 * Two processes write so many bytes of a private mapping of a file of their own, four times: a page
 * of page cache for each page that is written, and a copy.  Then the file is emptied.
 */
static unsigned long load_files(unsigned long bytes)
{
	int cpu, round;

	for (cpu = 0; cpu < 2; cpu++) {
		int fd;

		if (fork_child())
			continue;
		pin(cpu);
		fd = memfd_create("zoneload", 0);
		if (fd < 0)
			err(1, "memfd_create");
		for (round = 0; round < FILE_ROUNDS; round++) {
			char *at;

			if (ftruncate(fd, bytes))
				err(1, "ftruncate");
			at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
			if (at == MAP_FAILED)
				err(1, "mmap");
			touch(at, bytes, PAGE);
			munmap(at, bytes);
			if (ftruncate(fd, 0))
				err(1, "ftruncate");
		}
		_exit(0);
	}
	reap();
	return 2 * 2 * FILE_ROUNDS * bytes / PAGE;
}

/* Until it is over: map, touch and unmap, in huge pages or small ones. */
static void faults(int cpu, __u64 until, bool huge)
{
	unsigned long bytes = 32 * MIB;

	pin(cpu);
	while (now_ns() < until) {
		char *at = map_memory(bytes + HUGE_PAGE, MAP_PRIVATE);
		char *start = (char *)(((unsigned long)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

		if (madvise(start, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
			err(1, "madvise");
		touch(start, bytes, huge ? HUGE_PAGE : PAGE);
		shared->pages[huge] += bytes / (huge ? HUGE_PAGE : PAGE);
		munmap(at, bytes + HUGE_PAGE);
	}
}

/* Four fifths of what is free, in small pages. */
static char *touch_most(unsigned long *bytes)
{
	char *at;

	*bytes = sysconf(_SC_AVPHYS_PAGES) / 10 * 8 * PAGE;
	at = map_memory(*bytes, MAP_PRIVATE);
	if (madvise(at, *bytes, MADV_NOHUGEPAGE))
		err(1, "madvise");
	touch(at, *bytes, PAGE);
	return at;
}

/*
 * The series' worst case: memory was all in use, in small pages; then one process wants
 * huge ones and another small ones, for so many milliseconds.
 */
static unsigned long load_mixed(unsigned long ms)
{
	unsigned long bytes;
	int cpu;

	if (!fork_child()) {
		touch_most(&bytes);
		_exit(0);
	}
	reap();
	begin();
	for (cpu = 0; cpu < 2; cpu++) {
		if (fork_child())
			continue;
		faults(cpu, began + ms * NSEC_PER_MSEC, !cpu);
		_exit(0);
	}
	reap();
	return shared->pages[0];
}

/* Write how many huge pages the pool is to have; returns how many it has then. */
static unsigned long pool_of(unsigned long wanted)
{
	FILE *file = fopen("/proc/sys/vm/nr_hugepages", "r+");
	unsigned long got;

	if (!file || fprintf(file, "%lu", wanted) < 0 || fflush(file))
		err(1, "nr_hugepages");
	rewind(file);
	if (fscanf(file, "%lu", &got) != 1)
		errx(1, "nr_hugepages: not a number");
	fclose(file);
	return got;
}

/*
 * Of most of memory every other page is in use; beside a process that takes small pages and
 * gives them back the kernel is asked for so many percent of what is free, in huge pages, a
 * few at a time.  None of them is there before others have been moved.
 */
static unsigned long load_stress(unsigned long percent)
{
	unsigned long bytes, i, wanted;
	pid_t holder, other;

	holder = fork_child();
	if (!holder) {
		char *at = touch_most(&bytes);

		for (i = 0; i < bytes; i += 2 * PAGE)
			if (madvise(at + i, PAGE, MADV_DONTNEED))
				err(1, "madvise");
		__atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
		pause();
		_exit(1);
	}
	wait_for(&shared->ready, 1);
	wanted = sysconf(_SC_AVPHYS_PAGES) * PAGE / HUGE_PAGE * percent / 100;
	begin();
	other = fork_child();
	if (!other)
		faults(1, ULLONG_MAX, false);
	pin(0);
	for (shared->asked = 0; shared->asked < wanted; shared->asked += 4)
		shared->pages[1] = pool_of(shared->pages[1] + 4);
	kill(other, SIGKILL);
	kill(holder, SIGKILL);
	while (wait(NULL) > 0)
		;
	return shared->pages[0];
}

/* Has four fifths of what is free in small pages, but every so many-th; stays when this is over. */
static unsigned long load_hold(unsigned long every)
{
	unsigned long bytes, i;
	char *at;

	if (fork_child()) {
		wait_for(&shared->ready, 1);
		return shared->pages[0];
	}
	at = touch_most(&bytes);
	for (i = 0; i < bytes; i += every * PAGE)
		if (madvise(at + i, PAGE, MADV_DONTNEED))
			err(1, "madvise");
	/* Locked, these pages stay where they are, if the kernel's settings say so too. */
	if (mlock2(at, bytes, MLOCK_ONFAULT))
		err(1, "mlock2");
	/* Who started the load waits for the end of what the load says. */
	if (prctl(PR_SET_PDEATHSIG, 0) || close(STDOUT_FILENO) || close(STDERR_FILENO))
		err(1, "cannot stay");
	shared->pages[0] = bytes / PAGE;
	__atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* Map, touch, unmap, so many times; in huge pages where the kernel has them without being asked. */
static void fault_rounds(int cpu, unsigned long bytes, int rounds, bool huge)
{
	pin(cpu);
	while (rounds--) {
		char *at = map_memory(bytes + HUGE_PAGE, MAP_PRIVATE);
		char *start = (char *)(((unsigned long)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

		if (!huge && madvise(start, bytes, MADV_NOHUGEPAGE))
			err(1, "madvise");
		/* So that a huge page comes with a SHARE of its size in small pages a CPU. */
		if (huge)
			touch(start, bytes, HUGE_PAGE);
		else
			touch_in_turns(start, bytes, PAGE, HUGE_PAGE / SHARE);
		munmap(at, bytes + HUGE_PAGE);
	}
	_exit(0);
}

/* Fill pipes on one CPU and empty them on the other, so many times: pages that cannot be moved. */
static void pipe_rounds(int rounds)
{
	static char buffer[CHUNK];
	int ends[PIPES][2];
	unsigned long sent;
	int i;

	for (i = 0; i < PIPES; i++)
		if (pipe(ends[i]) || fcntl(ends[i][1], F_SETPIPE_SZ, (int)MIB) != (int)MIB)
			err(1, "pipe");
	while (rounds--) {
		pin(0);
		for (i = 0; i < PIPES; i++)
			for (sent = 0; sent < MIB; sent += CHUNK) {
				if (write(ends[i][1], buffer, CHUNK) != CHUNK)
					err(1, "write");
				__builtin_ia32_pause();
			}
		pin(1);
		for (i = 0; i < PIPES; i++)
			for (sent = 0; sent < MIB; sent += CHUNK) {
				if (read(ends[i][0], buffer, CHUNK) != CHUNK)
					err(1, "read");
				__builtin_ia32_pause();
			}
	}
	_exit(0);
}

/*
 * A process faults so many bytes in huge pages and gives them back, again and again.  Beside it
 * one on each CPU does so with small pages, and pipes are filled on a CPU and emptied on another.
 */
static unsigned long load_huge(unsigned long bytes)
{
	int churn = HUGE_ROUNDS * bytes / SHARE / CHURN_BYTES;
	int cpu;

	if (!fork_child())
		fault_rounds(0, bytes, HUGE_ROUNDS, true);
	for (cpu = 0; cpu < 2; cpu++)
		if (!fork_child())
			fault_rounds(cpu, CHURN_BYTES, churn, false);
	if (!fork_child())
		pipe_rounds(HUGE_ROUNDS);
	reap();
	shared->pages[1] = HUGE_ROUNDS * (bytes / HUGE_PAGE);
	return (2 * churn * CHURN_BYTES + HUGE_ROUNDS * PIPES * MIB) / PAGE;
}

/* Each returns how many small pages it was about. */
static const struct load {
	const char *name;
	unsigned long unit;
	unsigned long (*run)(unsigned long size);
} loads[] = {
	{ "pipe", MIB, load_pipe },
	{ "socket", MIB, load_socket },
	{ "exit", MIB, load_exit },
	{ "purge", MIB, load_purge },
	{ "fault", MIB, load_fault },
	{ "fault-all", MIB, load_fault_all },
	{ "pipe-all", MIB, load_pipe_all },
	{ "files", MIB, load_files },
	{ "mixed", 1, load_mixed },
	{ "stress", 1, load_stress },
	{ "hold", 1, load_hold },
	{ "huge", MIB, load_huge },
};

int main(int argc, char **argv)
{
	const struct load *load = loads;
	unsigned long pages, size;
	char *end;

	if (argc != 3)
		errx(2, "usage: zoneload LOAD SIZE, in MiB; mixed MS, stress %%, hold N");
	size = strtoul(argv[2], &end, 10);
	if (!size || *end || size > 1000000)
		errx(2, "%s: not a size", argv[2]);
	while (strcmp(load->name, argv[1]))
		if (++load == loads + ARRAY_SIZE(loads))
			errx(2, "%s: no such load", argv[1]);
	shared = map_memory(sizeof(*shared), MAP_SHARED);
	begin();
	pages = load->run(size * load->unit);
	printf("{\"pages\": %lu, \"huge_pages\": %lu, \"asked\": %lu, \"ns\": %llu, ", pages,
	       shared->pages[1], shared->asked, now_ns() - began);
	printf("\"holds_before\": %lu, \"held_before\": %lu}\n", holds_before, held_before);
	if (shared->asked)
		pool_of(0);
	return 0;
}
