// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pattern over memory of a lower tier.
 */
#include "numaload.h"

#include <sys/syscall.h>

#define SLOW_NODE	1
#define LOOK_PAGES	1024UL

/* Memory on the slow node: a file, mapped to be read, or anonymous. */
static char *map_slow(unsigned long bytes, bool anon)
{
	char *mem;
	int fd;

	if (anon) {
		mem = map_memory(bytes, MAP_PRIVATE);
		touch_on(SLOW_NODE, mem, bytes);
		return mem;
	}
	fd = memfd_create("numaload", 0);
	if (fd < 0 || ftruncate(fd, bytes))
		err(1, "memfd");
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap");
	touch_on(SLOW_NODE, mem, bytes);
	munmap(mem, bytes);
	mem = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap");
	return mem;
}

static void read_page(const char *page)
{
	unsigned int i;

	for (i = 0; i < PAGE; i += LINE)
		(void)READ_ONCE(page[i]);
}

/* Percent on the slow node, by some of the pages. */
static double slow_share(char *mem, unsigned long bytes)
{
	unsigned long step = (bytes / PAGE + LOOK_PAGES - 1) / LOOK_PAGES * PAGE, at;
	static void *pages[LOOK_PAGES];
	static int nodes[LOOK_PAGES];
	unsigned long nr = 0, slow = 0, i;

	for (at = 0; at < bytes; at += step)
		pages[nr++] = mem + at;
	if (syscall(SYS_move_pages, 0, nr, pages, NULL, nodes, 0))
		err(1, "move_pages");
	for (i = 0; i < nr; i++)
		slow += nodes[i] == SLOW_NODE;
	return 100.0 * slow / nr;
}

/* Half of the memory is hot, the rest is read once.  Work counts in the second half of the time. */
void run_tier(const struct options *opt)
{
	__u64 time = opt->seconds * NSEC_PER_SEC, start = now_ns(), now, all = 0, work = 0;
	unsigned long hot = opt->part / 2, at = 0;
	char *mem = map_slow(opt->part, opt->pattern->anon);

	for (at = 0; at < opt->part; at += PAGE)
		read_page(mem + at);
	for (at = 0; (now = now_ns()) < start + time; at = (at + PAGE) % hot) {
		read_page(mem + at);
		work += now >= start + time / 2;
		if (!(++all % BLOCK))
			__builtin_ia32_pause();
	}
	printf("\"work\": %llu, \"work_all\": %llu,", work, all);
	printf("\"hot_slow_pct\": %.2f, \"cold_slow_pct\": %.2f,", slow_share(mem, hot),
	       slow_share(mem + hot, hot));
}
