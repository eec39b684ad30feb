// SPDX-License-Identifier: GPL-2.0-only
/*
 * foliohold.c - hold memory in larger folios, with as much free memory between them
 *
 *	foliohold MIB KIB [pin]
 *
 * Takes MIB MiB of memory, which the kernel shall give in folios of KIB KiB, writes to each page
 * what tells the page from all others, and gives every second KIB KiB back.  With pin, a pipe then
 * has a reference to the first page of each part that is left.  Says "held".  On SIGUSR1 the
 * program reads all that is left, says "intact" or how many pages are not, and goes on.
 */
#include "load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

static unsigned long *page_at(char *at, unsigned long i)
{
	return (unsigned long *)(at + i * PAGE);
}

/* The pipe stays open, and nobody reads. */
static void parts_pin(char *at, unsigned long pages, unsigned long part)
{
	unsigned long i;
	int ends[2];

	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, pages / part * PAGE) < 0)
		err(1, "pipe");
	for (i = 0; i < pages; i += 2 * part) {
		struct iovec page = { page_at(at, i), PAGE };

		if (vmsplice(ends[1], &page, 1, SPLICE_F_NONBLOCK) != PAGE)
			err(1, "vmsplice");
	}
}

int main(int argc, char **argv)
{
	bool pins = argc == 4 && !strcmp(argv[3], "pin");
	unsigned long pages = argc == 3 + pins ? strtoul(argv[1], NULL, 10) * MIB / PAGE : 0;
	unsigned long part = argc == 3 + pins ? (strtoul(argv[2], NULL, 10) << 10) / PAGE : 0;
	unsigned long i, wrong;
	sigset_t asked;
	int signal;
	char *at;

	if (!pages || !part || pages % (2 * part))
		errx(2, "usage: foliohold MIB KIB [pin], MIB a multiple of twice KIB");
	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	at = map_memory(pages * PAGE, MAP_PRIVATE);
	for (i = 0; i < pages; i++)
		*page_at(at, i) = i + 1;
	for (i = part; i < pages; i += 2 * part)
		if (madvise(at + i * PAGE, part * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	if (pins)
		parts_pin(at, pages, part);
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
