// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagetables.c - take page tables, and hardly anything else
 *
 *	pagetables TABLES [NODE]
 *
 * Reads one byte of each of TABLES ranges of 2 MiB: each needs a page table, and all of them map
 * the one page of zeros.  With NODE, memory may come from that node alone (MPOL_BIND).  Says
 * "held", and sleeps until killed.
 */
#include "load.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	unsigned long tables = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long nodes = argc > 2 ? 1UL << strtoul(argv[2], NULL, 10) : 0;
	const volatile char *at;

	if (!tables || argc > 3)
		errx(2, "usage: pagetables TABLES [NODE]");
	if (nodes && syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8 * sizeof(nodes)))
		err(1, "set_mempolicy");
	at = map_memory(tables * HUGE_PAGE, MAP_PRIVATE | MAP_NORESERVE);
	for (unsigned long i = 0; i < tables; i++)
		(void)at[i * HUGE_PAGE];
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}
