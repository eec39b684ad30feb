// SPDX-License-Identifier: GPL-2.0-only
/*
 * holdpages.c - hold pages so that they cannot be migrated
 *
 *	holdpages MIB COUNT
 *
 * Maps and touches MIB of memory, puts COUNT pages spread over it into a pipe without
 * copying them, which keeps a reference to each, says "held", and sleeps until killed.
 */
#include "load.h"

#include <fcntl.h>
#include <sys/uio.h>

int main(int argc, char **argv)
{
	unsigned long bytes = argc == 3 ? strtoul(argv[1], NULL, 10) * MIB : 0;
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int ends[2];
	char *at;

	if (!bytes || !count || count > bytes / PAGE)
		errx(2, "usage: holdpages MIB COUNT");
	at = map_memory(bytes, MAP_PRIVATE);
	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, count * PAGE) < 0)
		err(1, "%lu pages of %s MiB", count, argv[1]);
	memset(at, 1, bytes);
	for (unsigned long i = 0; i < count; i++) {
		struct iovec page = { at + bytes / count / PAGE * PAGE * i, PAGE };

		if (vmsplice(ends[1], &page, 1, 0) != (ssize_t)PAGE)
			err(1, "vmsplice");
	}
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}
