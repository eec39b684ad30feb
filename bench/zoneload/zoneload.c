// SPDX-License-Identifier: GPL-2.0-only
/*
 * zoneload - loads that meet at zone->lock
 *
 * Prints one JSON object.  Each process is pinned to a CPU; those that never wait pause
 * now and then, since a guest whose clock counts instructions runs one CPU at a time, and
 * the next one only then.
 */
#include "load.h"

#include <sys/socket.h>
#include <sys/wait.h>

#define CHUNK		(64UL << 10)

/**
 * struct shared - what the processes tell each other
 * @ready: how many have done what is not measured
 * @go: they may go on
 * @pages: each has touched, or moved
 */
struct shared {
	int ready;
	int go;
	unsigned long pages[2];
};

static struct shared *shared;

static void let_others(void)
{
	__asm__ volatile("pause");
}

static void wait_for(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		usleep(1000);
}

/* Others are let run after each huge page, or as much memory in small ones. */
static void touch(char *at, unsigned long bytes, unsigned long step)
{
	unsigned long i;

	for (i = 0; i < bytes; i += step) {
		WRITE_BYTE(at + i);
		if (!((i + step) % HUGE_PAGE))
			let_others();
	}
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

static void write_all(int fd, const char *from, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, from, bytes);

		if (done < 0)
			err(1, "write");
		from += done;
		bytes -= done;
	}
}

/* CPU 0 sends so many bytes to CPU 1; what is in between is allocated there, freed here. */
static unsigned long send_over(int to, int from, unsigned long bytes)
{
	static char buffer[CHUNK];
	unsigned long sent;

	if (!fork_child()) {
		ssize_t got;

		pin(1);
		close(to);
		while ((got = read(from, buffer, sizeof(buffer))) > 0)
			;
		_exit(got ? 1 : 0);
	}
	pin(0);
	close(from);
	for (sent = 0; sent < bytes; sent += CHUNK)
		write_all(to, buffer, CHUNK);
	close(to);
	reap();
	return bytes / PAGE;
}

static unsigned long load_pipe(unsigned long bytes)
{
	int ends[2];

	if (pipe(ends))
		err(1, "pipe");
	return send_over(ends[1], ends[0], bytes);
}

static unsigned long load_socket(unsigned long bytes)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		err(1, "socketpair");
	return send_over(ends[0], ends[1], bytes);
}

/* Two processes that have so many bytes end together; the time is that of their end. */
static unsigned long load_exit(unsigned long bytes, __u64 *began)
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
	*began = now_ns();
	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
	reap();
	return 2 * bytes / PAGE;
}

/* Two processes map, touch and unmap so many bytes, eight times. */
static unsigned long load_fault(unsigned long bytes)
{
	int cpu, round;

	for (cpu = 0; cpu < 2; cpu++) {
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
	return 2 * 8 * bytes / PAGE;
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

/*
 * The series' worst case: memory was all in use, in small pages; then one process wants
 * huge ones and another small ones, for so many milliseconds.
 */
static void load_mixed(unsigned long ms, __u64 *began)
{
	unsigned long bytes = sysconf(_SC_AVPHYS_PAGES) * PAGE / 10 * 8;
	int cpu;

	if (!fork_child()) {
		char *at = map_memory(bytes, MAP_PRIVATE);

		if (madvise(at, bytes, MADV_NOHUGEPAGE))
			err(1, "madvise");
		touch(at, bytes, PAGE);
		_exit(0);
	}
	reap();
	*began = now_ns();
	for (cpu = 0; cpu < 2; cpu++) {
		if (fork_child())
			continue;
		faults(cpu, *began + ms * NSEC_PER_MSEC, !cpu);
		_exit(0);
	}
	reap();
}

int main(int argc, char **argv)
{
	unsigned long pages, size;
	__u64 began;
	char *end;

	if (argc != 3)
		errx(2, "usage: zoneload pipe|socket|exit|fault MIB, or zoneload mixed MS");
	size = strtoul(argv[2], &end, 10);
	if (!size || *end || size > 1000000)
		errx(2, "%s: not a size", argv[2]);
	shared = map_memory(sizeof(*shared), MAP_SHARED);
	began = now_ns();
	if (!strcmp(argv[1], "pipe")) {
		pages = load_pipe(size * MIB);
	} else if (!strcmp(argv[1], "socket")) {
		pages = load_socket(size * MIB);
	} else if (!strcmp(argv[1], "exit")) {
		pages = load_exit(size * MIB, &began);
	} else if (!strcmp(argv[1], "fault")) {
		pages = load_fault(size * MIB);
	} else if (!strcmp(argv[1], "mixed")) {
		load_mixed(size, &began);
		pages = shared->pages[0];
	} else {
		errx(2, "%s: no such load", argv[1]);
	}
	printf("{\"pages\": %lu, \"huge_pages\": %lu, \"ns\": %llu}\n", pages, shared->pages[1],
	       now_ns() - began);
	return 0;
}
