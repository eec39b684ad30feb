// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells the plugin which side runs from now on: irqoff SIDE SECONDS, after so many seconds; side 0:
 * none.  irqoff symbols FILE has the plugin know the kernel's functions, and comes first.
 *
 * The number is in an instruction that does nothing, which the plugin knows by its other bytes.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mark.h"

/* A nop with a number of 32 bits.  The plugin cannot see a number that is in a register. */
#define CASE(side) \
	case side: \
		asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0" :: "i"(MARK + (side))); \
		break

static void mark(unsigned long side)
{
	switch (side) {
	CASE(0);
	CASE(1);
	CASE(2);
	CASE(3);
	CASE(4);
	CASE(5);
	CASE(6);
	CASE(7);
	default:
		errx(2, "%lu: not below %d", side, SIDES);
	}
}

static void copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char line[512];

	if (!in)
		err(1, "%s", from);
	if (!out)
		err(1, "%s", to);
	while (fgets(line, sizeof(line), in))
		if (fputs(line, out) == EOF)
			err(1, "%s", to);
	if (fclose(out))
		err(1, "%s", to);
	fclose(in);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "symbols"))
		copy("/proc/kallsyms", argv[2]);
	else if (argc == 3 && !sleep(atoi(argv[2])))
		mark(strtoul(argv[1], NULL, 10));
	else
		errx(2, "usage: irqoff SIDE SECONDS, or irqoff symbols FILE");
	puts("{}");
	return 0;
}
