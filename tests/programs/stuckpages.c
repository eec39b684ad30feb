// SPDX-License-Identifier: GPL-2.0-only
/*
 * stuckpages.c - memory in which every second block has pages of a device that does not answer
 *
 *	stuckpages FOLDER MIB
 *
 * FOLDER has two files, "read" and "written", with a page for each 4 MiB.  Their device shall
 * accept requests and complete none.  The program takes MIB MiB of memory; with every 4 MiB, a
 * thread reads a page of the one file, which stays locked, and a page of the other file is
 * overwritten and sent to the device, which stays under writeback.  Then most memory is given
 * back: of the 2 MiB with these two pages all but every eighth page, of the other 2 MiB every
 * second.  So a block with stuck pages has the fewest pages to move.  The program says "held" and
 * how many threads still read, and sleeps until killed.
 */
#include "load.h"

#include <fcntl.h>
#include <pthread.h>

/* Memory for each page read and written: two blocks. */
#define STRIDE		(2 * HUGE_PAGE)

static int read_from;
static unsigned long begun, ended;

static int file_open(const char *folder, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags);
	if (fd < 0)
		err(1, "%s", path);
	/* No page is in the cache, and each read is of the page that is asked for. */
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		errx(1, "%s: no advice taken", path);
	return fd;
}

static bool page_kept(unsigned long at)
{
	return at / PAGE % (at % STRIDE < HUGE_PAGE ? 8 : 2) == 1;
}

static void *page_read(void *offset)
{
	char page[PAGE];

	__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	if (pread(read_from, page, PAGE, (unsigned long)offset) != (ssize_t)PAGE)
		err(1, "read");
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void read_begin(unsigned long offset)
{
	unsigned long before = READ_ONCE(begun);
	pthread_t thread;

	errno = pthread_create(&thread, NULL, page_read, (void *)offset);
	if (errno)
		err(1, "thread");
	while (READ_ONCE(begun) == before)
		nap(1);
	/* The read takes its page before more memory is taken. */
	nap(2);
}

int main(int argc, char **argv)
{
	unsigned long bytes = argc == 3 ? strtoul(argv[2], NULL, 10) * MIB : 0, at;
	char *memory;
	int writes;

	if (!bytes)
		errx(2, "usage: stuckpages FOLDER MIB");
	read_from = file_open(argv[1], "read", O_RDONLY);
	writes = file_open(argv[1], "written", O_RDWR);
	memory = map_memory(bytes, MAP_PRIVATE);
	for (at = 0; at < bytes; at += PAGE) {
		unsigned long offset = at / STRIDE * PAGE;

		WRITE_BYTE(memory + at);
		if (at % STRIDE)
			continue;
		read_begin(offset);
		if (pwrite(writes, memory + at, PAGE, offset) != (ssize_t)PAGE)
			err(1, "write");
		if (sync_file_range(writes, offset, PAGE, SYNC_FILE_RANGE_WRITE))
			err(1, "writeback");
	}
	for (at = 0; at < bytes; at += PAGE)
		if (!page_kept(at) && madvise(memory + at, PAGE, MADV_DONTNEED))
			err(1, "madvise");
	printf("held, %lu reading\n", READ_ONCE(begun) - READ_ONCE(ended));
	fflush(stdout);
	for (;;)
		pause();
}
