// SPDX-License-Identifier: GPL-2.0-only
/*
 * pinpages.c - how many pages the kernel migrates for long-term pins
 *
 *	pinpages MIB
 *
 * Has lmm_pins.ko pin three parts of so much memory, one after the other: the first touched before
 * the process ever pinned memory, the second touched later, the third never touched.  Prints the
 * pages that were migrated meanwhile, for each part.
 */
#include "load.h"

#include <fcntl.h>

#define PIN	"/sys/module/lmm_pins/parameters/pin"

static unsigned long migrated(void)
{
	unsigned long pages = 0;
	char line[128];
	FILE *f = fopen("/proc/vmstat", "r");

	if (!f)
		err(1, "/proc/vmstat");
	while (fgets(line, sizeof(line), f) && sscanf(line, "pgmigrate_success %lu", &pages) != 1)
		;
	fclose(f);
	return pages;
}

/* Pages that were migrated for a pin of this memory. */
static unsigned long pin_pages(const char *at, unsigned long bytes)
{
	unsigned long before = migrated();
	int fd = open(PIN, O_WRONLY);
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "%lx %lu", (unsigned long)at, bytes / PAGE);
	if (fd < 0 || write(fd, text, len) != len)
		err(1, PIN);
	close(fd);
	return migrated() - before;
}

int main(int argc, char **argv)
{
	unsigned long bytes = argc == 2 ? strtoul(argv[1], NULL, 10) * MIB : 0;
	char *at;

	if (!bytes)
		errx(2, "usage: pinpages MIB");
	at = map_memory(3 * bytes, MAP_PRIVATE | MAP_NORESERVE);
	touch_pages(at, bytes);
	printf("%lu", pin_pages(at, bytes));
	touch_pages(at + bytes, bytes);
	printf(" %lu", pin_pages(at + bytes, bytes));
	printf(" %lu\n", pin_pages(at + 2 * bytes, bytes));
	return 0;
}
