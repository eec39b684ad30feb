// SPDX-License-Identifier: GPL-2.0-only
/*
 * tierload - threads that use a part of memory that lies on a slow node
 *
 * The memory is filled while it is bound to node 1.  Then threads read or write the pages of the
 * hot part again and again, the rest stays cold.  The program prints milliseconds from then until
 * 95 % of the hot part were on node 0 (- : never), and percent on node 0 at the end, of the hot
 * part and of the cold.
 */
#include "load.h"

#include <pthread.h>
#include <sys/syscall.h>

#define SLOW_NODE	1
#define BIND		2	/* MPOL_BIND */
#define MAX_THREADS	64
#define LOOK_MS		250
#define LOOK_PAGES	1024UL
#define PROMOTED_PCT	95

enum kind {
	ANON,		/* private, anonymous, written */
	SHARED,		/* a file of tmpfs, mapped shared, written by all threads */
	READ_ONLY,	/* a file of tmpfs in a mapping that may only be read */
	NR_KINDS
};

static const char *const kind_words[NR_KINDS] = {
	[ANON] = "anon", [SHARED] = "shared", [READ_ONLY] = "readonly",
};

static enum kind kind;
static unsigned long mib = 64, hot_mib = 32, threads = 2, run_ms = 60000, stay;
static char *memory;
static bool over;

static void parse_kind(const char *word)
{
	kind = parse_word('k', word, kind_words, NR_KINDS);
}

static const struct load_option option_rows[] = {
	{ 'k', "KIND", "anon (default), shared or readonly", .call = parse_kind },
	LOAD_NUMBER('m', "MIB", "memory (64)", &mib, 1, 4096),
	LOAD_NUMBER('p', "MIB", "hot part of it (32)", &hot_mib, 1, 4096),
	LOAD_NUMBER('t', "THREADS", "threads (2)", &threads, 1, MAX_THREADS),
	LOAD_NUMBER('s', "MS", "longest time to run (60000)", &run_ms, 0, 86400000),
	LOAD_NUMBER('r', "MS", "go on for so long when 95 % are on node 0 (0)", &stay, 0, 86400000),
	{}
};

static void bind_memory(bool on)
{
	unsigned long nodes = 1UL << SLOW_NODE;

	if (syscall(SYS_set_mempolicy, on ? BIND : 0, on ? &nodes : NULL,
		    on ? 8 * sizeof(nodes) : 0))
		err(1, "set_mempolicy");
}

static char *fill_memory(void)
{
	int how = kind == ANON ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd = -1;
	char *mem;

	if (kind != ANON) {
		fd = memfd_create("tierload", 0);
		if (fd < 0 || ftruncate(fd, mib * MIB))
			err(1, "memfd");
	}
	mem = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, how, fd, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap");
	bind_memory(true);
	touch_pages(mem, mib * MIB);
	bind_memory(false);
	if (kind == READ_ONLY) {
		munmap(mem, mib * MIB);
		mem = mmap(NULL, mib * MIB, PROT_READ, how, fd, 0);
		if (mem == MAP_FAILED)
			err(1, "mmap");
	}
	return mem;
}

static void *work(void *arg)
{
	unsigned long at;

	while (!READ_ONCE(over)) {
		for (at = 0; at < hot_mib * MIB && !READ_ONCE(over); at += PAGE) {
			if (kind == READ_ONLY)
				(void)READ_ONCE(memory[at]);
			else
				WRITE_BYTE(memory + at);
		}
	}
	return arg;
}

/* Percent of a part on node 0, by some of its pages; those that are not mapped do not count. */
static long on_top(char *mem, unsigned long bytes)
{
	unsigned long step = (bytes / PAGE + LOOK_PAGES - 1) / LOOK_PAGES * PAGE, at;
	static void *pages[LOOK_PAGES];
	static int nodes[LOOK_PAGES];
	unsigned long nr = 0, i;
	long there = 0, top = 0;

	for (at = 0; at < bytes; at += step)
		pages[nr++] = mem + at;
	if (nr && syscall(SYS_move_pages, 0, nr, pages, NULL, nodes, 0))
		err(1, "move_pages");
	for (i = 0; i < nr; i++) {
		there += nodes[i] >= 0;
		top += nodes[i] == 0;
	}
	return there ? top * 100 / there : 0;
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	long begun, promoted = -1;
	unsigned long i;

	parse_options(argc, argv, option_rows, NULL);
	if (hot_mib > mib)
		errx(1, "-p: more than -m");
	memory = fill_memory();
	/* The cold part is mapped, too. */
	for (i = 0; i < mib * MIB; i += PAGE)
		(void)READ_ONCE(memory[i]);
	begun = now_ms();
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			errx(1, "pthread_create");
	while (now_ms() - begun < (long)run_ms &&
	       (promoted < 0 || now_ms() - begun < promoted + (long)stay)) {
		usleep(LOOK_MS * 1000);
		if (promoted < 0 && on_top(memory, hot_mib * MIB) >= PROMOTED_PCT)
			promoted = now_ms() - begun;
	}
	if (promoted < 0)
		printf("-");
	else
		printf("%ld", promoted);
	printf(" %ld %ld\n", on_top(memory, hot_mib * MIB),
	       on_top(memory + hot_mib * MIB, (mib - hot_mib) * MIB));
	WRITE_ONCE(over, true);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
