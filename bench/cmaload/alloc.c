// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations of contiguous memory while the workers are at it.
 */
#include "cmaload.h"

/* So many jobs a worker make memory as full as it becomes. */
#define WARM_UP		4
#define WARM_UP_LEAST	24UL

static int open_control(const char *area, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", area, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* Have so many pages allocated or released. */
static int ask(int fd, unsigned long pages)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lu", pages);

	return write(fd, text, len) == len ? 0 : errno;
}

void allocate(const struct options *opt, const struct work *work)
{
	int get = open_control(opt->area, "alloc"), release = open_control(opt->area, "free");
	unsigned long pages = opt->piece * MIB / PAGE;
	unsigned long warm = WARM_UP * opt->workers, i;

	if (warm < WARM_UP_LEAST)
		warm = WARM_UP_LEAST;
	while (READ_ONCE(work->done) < warm)
		nap(20);
	printf("\"allocations\": [");
	for (i = 0; i < opt->times; i++) {
		__u64 start, own;
		int error;

		nap(opt->pause);
		start = now_ns();
		own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		error = ask(get, pages);
		own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
		start = now_ns() - start;
		printf("%s{\"ns\": %llu, \"own_ns\": %llu, \"errno\": %d}", i ? ", " : "",
		       (unsigned long long)start, (unsigned long long)own, error);
		if (error)
			continue;
		if (ask(release, pages))
			err(1, "cannot release");
	}
	printf("], ");
}
