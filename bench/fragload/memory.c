// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous memory: held, short-lived, and in huge pages.
 */
#include "fragload.h"

#include <sys/wait.h>

/* What is dropped at a time, of held memory. */
#define PIECE		(64UL << 10)
/* A process that ends soon has so much, as a compiler has. */
#define SHORT		(16 * MIB)

/* An eighth is dropped and written anew, another eighth only written to. */
unsigned long held_round(unsigned long amount)
{
	unsigned long pieces = amount * MIB / PIECE, i;
	static char *held;

	if (!rounds_done) {
		held = map_memory(amount * MIB, MAP_PRIVATE | MAP_NORESERVE);
		touch(held, amount * MIB);
	}
	for (i = 0; i < pieces / 4; i++) {
		char *piece = held + below(pieces) * PIECE;

		if (i % 2 && madvise(piece, PIECE, MADV_DONTNEED))
			err(1, "madvise");
		touch(piece, PIECE);
	}
	return i;
}

unsigned long short_round(unsigned long amount)
{
	unsigned long done, killed = 0;
	int status;
	pid_t pid;

	for (done = 0; done < amount; done += SHORT / MIB) {
		pid = fork_child();
		if (!pid) {
			seed_random(done);
			touch(map_memory(SHORT, MAP_PRIVATE | MAP_NORESERVE), SHORT);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid)
			err(1, "waitpid");
		killed += WIFSIGNALED(status);
	}
	return amount / (SHORT / MIB) - killed;
}

static void huge_map(char *place, unsigned long bytes)
{
	void *mem = mmap(place, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	if (mem != place || madvise(mem, bytes, MADV_HUGEPAGE))
		err(1, "cannot map huge pages");
}

/*
 * A part of the places, at random, is dropped and faulted again.  Mapped anew: a page
 * table that is left where a huge page could not be had would keep the next one out.
 */
unsigned long huge_round(unsigned long amount)
{
	unsigned long places = amount * MIB / HUGE_PAGE, i;
	static char *huge;

	if (!rounds_done) {
		huge = map_memory(amount * MIB + HUGE_PAGE, MAP_PRIVATE | MAP_NORESERVE);
		huge += -(unsigned long)huge % HUGE_PAGE;
		huge_map(huge, amount * MIB);
	}
	for (i = 0; i < places / 3; i++) {
		char *place = huge + below(places) * HUGE_PAGE;

		huge_map(place, HUGE_PAGE);
		touch(place, HUGE_PAGE);
	}
	return i;
}
