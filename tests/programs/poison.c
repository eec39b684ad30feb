// SPDX-License-Identifier: GPL-2.0-only
/*
 * poison.c - a process has the kernel take pages of its memory as broken
 *
 *	poison hard|soft small|huge COUNT SEED
 *
 * Maps 4 MiB, in huge pages if the kernel has some and `huge` is asked for, touches the memory, and
 * has COUNT pages at random fail (MADV_HWPOISON) or moved off their place (MADV_SOFT_OFFLINE).  A
 * line a page: its page frame number and the errno, 0 for success.
 */
#include "load.h"

#include <asm/mman.h>
#include <fcntl.h>
#include <signal.h>

#define BYTES		(4 * MIB)
#define PFN_MASK	((1ULL << 55) - 1)

/* The kernel tells a process of the failure that the process has asked for. */
static void told(int signal)
{
	(void)signal;
}

static unsigned long pfn_of(const char *at)
{
	int map = open("/proc/self/pagemap", O_RDONLY);
	__u64 entry;

	if (map < 0 || pread(map, &entry, sizeof(entry),
			     (unsigned long)at / PAGE * sizeof(entry)) != sizeof(entry))
		err(1, "pagemap");
	close(map);
	return entry & PFN_MASK;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = told };
	bool hard, huge;
	unsigned long count;
	char *mem;

	if (argc != 5)
		errx(2, "usage: poison hard|soft small|huge COUNT SEED");
	hard = !strcmp(argv[1], "hard");
	huge = !strcmp(argv[2], "huge");
	count = strtoul(argv[3], NULL, 10);
	random_state = strtoul(argv[4], NULL, 10);
	if (sigaction(SIGBUS, &action, NULL))
		err(1, "sigaction");
	mem = mmap(NULL, BYTES + HUGE_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap");
	mem += -(unsigned long)mem % HUGE_PAGE;
	madvise(mem, BYTES, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(mem, 1, BYTES);
	for (unsigned long i = 0; i < count; i++) {
		/* Each page once: a page that has failed cannot be touched any more. */
		char *at = mem + (below(BYTES / PAGE / count) + i * (BYTES / PAGE / count)) * PAGE;
		unsigned long pfn = pfn_of(at);
		int failed = 0;

		if (madvise(at, PAGE, hard ? MADV_HWPOISON : MADV_SOFT_OFFLINE))
			failed = errno;
		printf("%lu %d\n", pfn, failed);
	}
	return 0;
}
