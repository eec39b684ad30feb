// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the kernel has on a program's behalf and cannot move: what is in pipes
 * and sockets, and page tables.
 */
#include "fragload.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define PAIRS		1200UL
#define PIPE_PAGES	16UL
#define SOCKET_PAGES	32UL

/* A mapping of so many page tables, of which each maps 2 MiB. */
#define TABLES		16UL
#define MAPPINGS	1000UL

/*
 * Such memory swells for some rounds and shrinks for some: a build has many processes
 * at once and then few.  What it swells into is full of other memory by then.
 */
#define TIDE		4
#define FLOOD		90	/* percent of what is touched is there afterwards */
#define EBB		15

static bool stays(unsigned int round)
{
	return below(100) < (round % TIDE < TIDE / 2 ? FLOOD : EBB);
}

static int pairs[PAIRS][2];
static char data[SOCKET_PAGES * PAGE];
static char *mappings[MAPPINGS];

static void allow_pairs(void)
{
	struct rlimit limit = { 3 * PAIRS, 3 * PAIRS };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "cannot open %lu files", 3 * PAIRS);
}

static void fill(int fd, unsigned long bytes)
{
	ssize_t size = write(fd, data, bytes);

	if (size < 0 && errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM)
		err(1, "a pipe or socket");
}

/* What was in a pair is dropped with it. */
unsigned long pipes_round(unsigned long amount)
{
	unsigned long i;

	if (!rounds_done)
		allow_pairs();
	for (i = 0; i < amount; i++) {
		unsigned long nr = below(PAIRS);
		int *pair = pairs[nr];
		bool socket = nr % 2;

		if (pair[0]) {
			close(pair[0]);
			close(pair[1]);
			pair[0] = 0;
		}
		if (!stays(rounds_done))
			continue;
		if (socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) :
			     pipe2(pair, O_NONBLOCK))
			err(1, "cannot make a pair");
		fill(pair[1], (below(socket ? SOCKET_PAGES : PIPE_PAGES) + 1) * PAGE);
	}
	return amount;
}

/* Read, not written: the zero page is mapped, and only the table is new. */
unsigned long tables_round(unsigned long amount)
{
	unsigned long made = 0, i, at;

	for (i = 0; i < amount; i++) {
		char **mapping = &mappings[below(MAPPINGS)];

		if (*mapping && munmap(*mapping, TABLES * HUGE_PAGE))
			err(1, "munmap");
		*mapping = NULL;
		/* Its tide is another than that of pipes. */
		if (!stays(rounds_done + 1))
			continue;
		*mapping = map_memory(TABLES * HUGE_PAGE, MAP_PRIVATE | MAP_NORESERVE);
		for (at = 0; at < TABLES; at++)
			(void)READ_ONCE((*mapping)[at * HUGE_PAGE]);
		made += TABLES;
	}
	return made;
}
