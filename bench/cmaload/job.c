// SPDX-License-Identifier: GPL-2.0-only
/*
 * One job, and the files that jobs read.
 */
#include "cmaload.h"

#define SOURCE		(512UL << 10)
#define SOURCES		(160 * MIB / SOURCE)
/* Of what a job reads, so much is headers, which are one in eight of the files. */
#define HEADERS		60	/* percent */
#define RARE		8

#define SMALLEST	4UL
#define LARGEST		40UL
/* One in so many jobs links, and needs memory for as many objects. */
#define LINKS		24
#define LINK		4UL

/* Memory that is the kernel's: these a job has, page tables a worker. */
#define PIPES		6UL
#define PIPE		(16 * PAGE)
#define OUTPUTS		48UL

static char buffer[64 << 10];

static void put(const char *what, unsigned long nr, unsigned long bytes)
{
	char name[40];
	int fd;

	snprintf(name, sizeof(name), "%s%lu", what, nr);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		err(1, "%s", name);
	while (bytes) {
		size_t size = bytes < sizeof(buffer) ? bytes : sizeof(buffer);

		if (write(fd, buffer, size) != (ssize_t)size)
			err(1, "%s", name);
		bytes -= size;
	}
	close(fd);
}

void make_sources(void)
{
	unsigned long nr;

	for (nr = 0; nr < SOURCES; nr++)
		put("source", nr, SOURCE);
	sync();
}

static void read_source(void)
{
	char name[40];
	int fd;

	snprintf(name, sizeof(name), "source%lu",
		 below(100) < HEADERS ? below(SOURCES / RARE) : below(SOURCES));
	fd = open(name, O_RDONLY);
	if (fd < 0)
		err(1, "%s", name);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static void fill_pipe(void)
{
	int pair[2];

	if (pipe2(pair, O_NONBLOCK))
		err(1, "cannot make a pipe");
	if (write(pair[1], buffer, PIPE) < 0 && errno != EAGAIN && errno != ENOMEM)
		err(1, "a pipe");
}

/*
 * Make or drop page tables until there are so many: what a kernel has on behalf of
 * programs swells and shrinks, and none of it can be in CMA.  Read, not written: the zero
 * page is mapped, and only the tables are new.
 */
void have_tables(unsigned long tables, unsigned long most)
{
	static unsigned long there;
	static char *mem;

	if (!mem)
		mem = map_memory((most + 1) * TABLE, MAP_PRIVATE | MAP_NORESERVE);
	if (there > tables &&
	    mmap(mem + tables * TABLE, (there - tables) * TABLE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "cannot drop page tables");
	for (; there < tables; there++)
		(void)READ_ONCE(mem[there * TABLE]);
	there = tables;
}

/* If memory runs out a job shall go, and not the worker that waits for it. */
static void be_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	if (fd < 0 || write(fd, "500", 3) != 3)
		err(1, "/proc/self/oom_score_adj");
	close(fd);
}

void run_job(const struct options *opt, unsigned long nr)
{
	unsigned long mib, at, i;
	char *mem;

	be_first();
	seed_random(opt->seed, nr);
	mib = SMALLEST + below(LARGEST - SMALLEST + 1);
	if (nr % LINKS == LINKS - 1)
		mib *= LINK;
	mem = map_memory(mib * MIB, MAP_PRIVATE | MAP_NORESERVE);
	for (i = 0; i < PIPES; i++)
		fill_pipe();
	/* What was filled before is used again, most of it soon. */
	for (at = 0; at < mib; at++) {
		touch(mem + at * MIB, MIB);
		if (at % 2)
			read_source();
		for (i = 0; i < MIB / PAGE / 4; i++)
			touch(mem + below((at + 1) * MIB / PAGE) * PAGE, PAGE);
	}
	put("output", nr % OUTPUTS, mib * MIB / 16);
}
