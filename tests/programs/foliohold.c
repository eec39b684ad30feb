// SPDX-License-Identifier: GPL-2.0-only
/*
 * foliohold.c - hold memory in larger folios, with as much free memory between them
 *
 *	foliohold MIB KIB
 *
 * Takes MIB MiB of memory, which the kernel shall give in folios of KIB KiB, writes to each page
 * what tells the page from all others, and gives every second KIB KiB back.  Says "held".  On
 * SIGUSR1 the program reads all that is left, says "intact" or how many pages are not, and goes on.
 */
#include "load.h"

#include <signal.h>

static unsigned long *page_at(char *at, unsigned long i)
{
	return (unsigned long *)(at + i * PAGE);
}

int main(int argc, char **argv)
{
	unsigned long pages = argc == 3 ? strtoul(argv[1], NULL, 10) * MIB / PAGE : 0;
	unsigned long part = argc == 3 ? (strtoul(argv[2], NULL, 10) << 10) / PAGE : 0;
	unsigned long i, wrong;
	sigset_t asked;
	int signal;
	char *at;

	if (!pages || !part || pages % (2 * part))
		errx(2, "usage: foliohold MIB KIB, MIB a multiple of twice KIB");
	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	at = map_memory(pages * PAGE, MAP_PRIVATE);
	for (i = 0; i < pages; i++)
		*page_at(at, i) = i + 1;
	for (i = part; i < pages; i += 2 * part)
		if (madvise(at + i * PAGE, part * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	puts("held");
	fflush(stdout);
	for (;;) {
		if (sigwait(&asked, &signal))
			errx(1, "sigwait");
		wrong = 0;
		for (i = 0; i < pages; i++)
			wrong += i / part % 2 == 0 && *page_at(at, i) != i + 1;
		if (wrong)
			printf("%lu pages differ\n", wrong);
		else
			puts("intact");
		fflush(stdout);
	}
}
