// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: page cache, inodes and dentries.
 */
#include "fragload.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Small files, so many at most, in folders of so many. */
#define FILES		24000UL
#define FOLDER		100UL
#define FILE_PAGES	8UL

/* The large one is a hole: to read it takes memory, but no disk. */
#define LARGE		(768 * MIB)
#define CHUNK		(256UL << 10)

static bool there[FILES];
static char buffer[CHUNK];

static void name_of(char *name, size_t size, unsigned long nr)
{
	snprintf(name, size, "%lu/source-file-of-some-length-%lu.c", nr / FOLDER, nr);
}

static unsigned long file_size(unsigned long nr)
{
	return (nr * 7919 % (FILE_PAGES * PAGE)) + 1;
}

static void make_folders(void)
{
	unsigned long i;
	char name[32];

	for (i = 0; i < FILES / FOLDER; i++) {
		snprintf(name, sizeof(name), "%lu", i);
		if (mkdir(name, 0700))
			err(1, "mkdir %s", name);
	}
}

static void transfer(unsigned long nr, bool out)
{
	char name[80];
	ssize_t size;
	int fd;

	name_of(name, sizeof(name), nr);
	fd = open(name, out ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY, 0600);
	if (fd < 0)
		err(1, "%s", name);
	size = out ? write(fd, buffer, file_size(nr)) : read(fd, buffer, sizeof(buffer));
	if (size != (ssize_t)file_size(nr))
		err(1, "%s: %zd of %lu bytes", name, size, file_size(nr));
	close(fd);
}

/* A third is made or removed, the rest is only read, or looked at as make does. */
unsigned long files_round(unsigned long amount)
{
	struct stat st;
	unsigned long i;
	char name[80];

	if (!rounds_done)
		make_folders();
	for (i = 0; i < amount; i++) {
		unsigned long nr = below(FILES);

		if (!there[nr]) {
			transfer(nr, true);
			there[nr] = true;
			continue;
		}
		name_of(name, sizeof(name), nr);
		switch (below(3)) {
		case 0:
			if (unlink(name))
				err(1, "unlink %s", name);
			there[nr] = false;
			break;
		case 1:
			if (stat(name, &st))
				err(1, "stat %s", name);
			break;
		default:
			transfer(nr, false);
		}
	}
	return amount;
}

unsigned long cache_round(unsigned long amount)
{
	static int large = -1;
	unsigned long i;

	if (!rounds_done) {
		large = open("large", O_RDWR | O_CREAT | O_EXCL, 0600);
		if (large < 0 || ftruncate(large, LARGE))
			err(1, "large");
	}
	for (i = 0; i < amount * MIB / CHUNK; i++)
		if (pread(large, buffer, CHUNK, below(LARGE / CHUNK) * CHUNK) != CHUNK)
			err(1, "large");
	return amount;
}
