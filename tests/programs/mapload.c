// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapload - two threads that use memory of a kind, which NUMA balancing scans or leaves alone
 *
 * Each thread writes a number to its pages, checks the number a round later, and so would see
 * pages that were lost, mixed up or of another mapping.  Memory that cannot be written is read.
 * In the end the program prints how many times its memory was scanned.
 */
#include "load.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#define THREADS		2
#define ROUND_MS	1500
#define MERGE_MS	120000

enum kind {
	ANON,		/* private, anonymous */
	ANEW,		/* unmapped and mapped anew at the same place each round */
	MOVED,		/* moved by mremap() each round */
	HUGE,		/* transparent huge pages */
	KSM,		/* equal pages, which KSM merges */
	PRIVATE_FILE,	/* a file on tmpfs, mapped privately */
	SHARED,		/* shared, anonymous */
	READ_ONLY,	/* a file that can only be read: not scanned by the kernel */
	HUGETLB,	/* not scanned by the kernel */
	FORKED,		/* a child each round, which writes to its copy */
	NR_KINDS
};

static const char *const kind_words[NR_KINDS] = {
	[ANON] = "anon", [ANEW] = "anew", [MOVED] = "moved", [HUGE] = "huge", [KSM] = "ksm",
	[PRIVATE_FILE] = "file", [SHARED] = "shared", [READ_ONLY] = "readonly",
	[HUGETLB] = "hugetlb", [FORKED] = "forked",
};

static enum kind kind;
static unsigned long mib = 4, run_ms = 8000;
static char *memory, *places[2];
static unsigned long bytes;
static pthread_barrier_t round_begins, round_ends;
static bool over;
static long cpus;

static void parse_kind(const char *word)
{
	kind = parse_word('k', word, kind_words, NR_KINDS);
}

static const struct load_option option_rows[] = {
	{ 'k', "KIND",
	  "anon (default), anew, moved, huge, ksm, file, shared, readonly, hugetlb or forked",
	  .call = parse_kind },
	LOAD_NUMBER('m', "MIB", "memory, a multiple of 4 (4)", &mib, 4, 4096),
	LOAD_NUMBER('s', "MS", "time to run (8000)", &run_ms, 0, 86400000),
	{}
};

static bool readable_only(void)
{
	return kind == KSM || kind == READ_ONLY;
}

static char *map_at(char *at)
{
	int how = MAP_FIXED, prot = PROT_READ | PROT_WRITE, fd = -1;
	char *mem;

	if (kind == PRIVATE_FILE || kind == READ_ONLY) {
		fd = memfd_create("mapload", 0);
		if (fd < 0 || ftruncate(fd, bytes))
			err(1, "memfd");
		how |= kind == READ_ONLY ? MAP_SHARED : MAP_PRIVATE;
		prot = kind == READ_ONLY ? PROT_READ : prot;
	} else {
		how |= (kind == SHARED ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
	}
	if (kind == HUGETLB)
		how |= MAP_HUGETLB;
	mem = mmap(at, bytes, prot, how, fd, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap");
	if (fd >= 0)
		close(fd);
	if (kind == HUGE && madvise(mem, bytes, MADV_HUGEPAGE))
		err(1, "MADV_HUGEPAGE");
	if (kind == KSM) {
		memset(mem, 7, bytes);
		if (madvise(mem, bytes, MADV_MERGEABLE))
			err(1, "MADV_MERGEABLE");
	}
	return mem;
}

/* A number of one of this process's files of /proc, behind @word; 0 if there is none. */
static long proc_number(const char *name, const char *word)
{
	FILE *file = fopen(name, "r");
	char line[256], *colon;
	long number = 0;

	if (!file)
		err(1, "%s", name);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, word, strlen(word)))
			continue;
		colon = strchr(line, ':');
		number = atol(colon ? colon + 1 : line);
	}
	fclose(file);
	return number;
}

static void balance(bool on)
{
	int fd = open("/proc/sys/kernel/numa_balancing", O_WRONLY);

	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		err(1, "numa_balancing");
	close(fd);
}

/* Scans would count what KSM has not merged yet, and KSM does not merge what a scan has armed. */
static void wait_for_merge(void)
{
	long until = now_ms() + MERGE_MS;

	while (proc_number("/proc/self/ksm_merging_pages", "") < (long)(bytes / PAGE)) {
		if (now_ms() > until)
			errx(1, "KSM has merged %ld pages of %lu",
			     proc_number("/proc/self/ksm_merging_pages", ""), bytes / PAGE);
		usleep(10000);
	}
}

/* Two places, aligned for huge pages, with nothing mapped beside them. */
static void choose_places(void)
{
	unsigned long size = 2 * bytes + 4 * HUGE_PAGE;
	char *mem = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		err(1, "mmap");
	mem = (char *)(((unsigned long)mem + HUGE_PAGE - 1) & -HUGE_PAGE);
	places[0] = mem;
	places[1] = mem + bytes + HUGE_PAGE;
}

/* Between rounds, while no thread uses the memory. */
static void change(unsigned long round)
{
	pid_t child;

	if (kind == ANEW) {
		if (munmap(memory, bytes))
			err(1, "munmap");
		memory = map_at(memory);
	} else if (kind == MOVED) {
		memory = mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
				places[(round + 1) % 2]);
		if (memory == MAP_FAILED)
			err(1, "mremap");
	} else if (kind == FORKED) {
		child = fork_child();
		if (!child) {
			touch_pages(memory, bytes);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Write @next to each page of a thread, where @last must be. */
static void visit(char *mine, unsigned long size, unsigned long last, unsigned long next)
{
	unsigned long *word, at;

	for (at = 0; at < size; at += PAGE) {
		word = (unsigned long *)(mine + at + 64);
		if (readable_only()) {
			if (READ_ONCE(*word) != (kind == KSM ? 0x0707070707070707UL : 0))
				errx(1, "page %lu: %lx", at / PAGE, *word);
			continue;
		}
		if (READ_ONCE(*word) != last)
			errx(1, "page %lu: %lu, not %lu", at / PAGE, *word, last);
		WRITE_ONCE(*word, next);
	}
}

static void *work(void *arg)
{
	unsigned long self = (unsigned long)arg, size = bytes / THREADS, value = 0;
	long until;

	pin(self * (cpus - 1) % cpus);
	for (;;) {
		pthread_barrier_wait(&round_begins);
		if (over)
			return NULL;
		if (kind == ANEW)
			value = 0;
		until = now_ms() + ROUND_MS;
		while (now_ms() < until) {
			visit(memory + self * size, size, value, value + 1);
			value++;
		}
		pthread_barrier_wait(&round_ends);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	unsigned long i, round;
	long begun;

	parse_options(argc, argv, option_rows, NULL);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bytes = mib * MIB;
	choose_places();
	if (kind == KSM && !access("/sys/kernel/mm/ksm/run", F_OK)) {
		balance(false);
		memory = map_at(places[0]);
		wait_for_merge();
		balance(true);
	} else {
		memory = map_at(places[0]);
	}
	pthread_barrier_init(&round_begins, NULL, THREADS + 1);
	pthread_barrier_init(&round_ends, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			errx(1, "thread %lu", i);
	begun = now_ms();
	for (round = 0; !over; round++) {
		pthread_barrier_wait(&round_begins);
		pthread_barrier_wait(&round_ends);
		change(round);
		over = now_ms() - begun >= (long)run_ms;
	}
	pthread_barrier_wait(&round_begins);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%ld\n", proc_number("/proc/self/sched", "mm->numa_scan_seq"));
	return 0;
}
