// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagetouch - the page-touch workload: map, touch every page, unmap, again
 *
 * Each process is pinned to a CPU of its own, so that the pages it takes and
 * gives back go through that CPU's page lists alone.  Prints one JSON object.
 */
#include "load.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MAX_PROCS	1024
#define MAX_BYTES	(64ULL << 30)
#define MAX_ROUNDS	1000000
#define MAX_PAUSE_MS	600000

static struct options {
	unsigned long bytes;	/* mapped by each process in each round */
	unsigned long rounds;
	unsigned long procs;
	unsigned long held_ms;	/* pause with the memory held */
	unsigned long free_ms;	/* pause with the memory given back */
	bool sparse;		/* every other page is given back before the first */
	bool huge;		/* the kernel may use huge pages */
	bool says;		/* each process says "held" at the beginning of that pause */
} options = { .bytes = 64 << 20, .rounds = 16 };

/* What one process measured; in shared memory, written by it alone. */
struct result {
	__u64 touch_ns;
	__u64 unmap_ns;
	__u64 best_ns;	/* its cheapest round, pauses left out */
};

static void parse_size(const char *text)
{
	static const struct { const char *suffix; unsigned int shift; } units[] = {
		{ "", 20 }, { "K", 10 }, { "M", 20 }, { "G", 30 }, { NULL, 0 },
	}, *unit;
	char *end;
	unsigned long value = parse_number('w', text, &end);

	for (unit = units; unit->suffix; unit++) {
		if (strcmp(end, unit->suffix))
			continue;
		if (!value || value > MAX_BYTES >> unit->shift)
			errx(1, "-w: %s is not in 4K..%lluG", text, MAX_BYTES >> 30);
		options.bytes = value << unit->shift;
		return;
	}
	errx(1, "-w: '%s' is not a size (MiB, or with K, M, G)", text);
}

static const struct load_option option_rows[] = {
	{ 'w', "SIZE", "memory a process maps in a round, MiB, or with K, M, G (64)",
	  .call = parse_size },
	LOAD_NUMBER('r', "ROUNDS", "times it maps, touches and unmaps (16)",
		    &options.rounds, 1, MAX_ROUNDS),
	LOAD_NUMBER('p', "PROCS", "processes, each on a CPU of its own (every usable CPU)",
		    &options.procs, 1, MAX_PROCS),
	LOAD_NUMBER('H', "MS", "pause after touching, with the memory held (0)",
		    &options.held_ms, 0, MAX_PAUSE_MS),
	LOAD_NUMBER('F', "MS", "pause after unmapping (0)", &options.free_ms, 0, MAX_PAUSE_MS),
	{ 's', NULL, "gives back every other page before the pause", .flag = &options.sparse },
	{ 't', NULL, "allows transparent huge pages", .flag = &options.huge },
	{ 'a', NULL, "says 'held' each time the memory is touched", .flag = &options.says },
	{}
};

static __u64 page_faults(void)
{
	__u64 value = 0;
	char line[128];
	int found = 0;
	FILE *f = fopen("/proc/vmstat", "r");

	if (!f)
		err(1, "/proc/vmstat");
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "pgfault %llu", &value) == 1;
	fclose(f);
	if (!found)
		errx(1, "/proc/vmstat: no pgfault line");
	return value;
}

/* The n-th CPU that this process may run on, or -1. */
static int nth_cpu(const cpu_set_t *usable, __u64 n)
{
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, usable) && !n--)
			return cpu;
	return -1;
}

static void work(const struct options *opt, struct result *res)
{
	const __u64 page = sysconf(_SC_PAGESIZE);
	__u64 round, at, t0, t1, t2, t3;

	res->best_ns = ~0ULL;
	for (round = 0; round < opt->rounds; round++) {
		char *mem;

		t0 = now_ns();
		mem = mmap(NULL, opt->bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (mem == MAP_FAILED)
			err(1, "cannot map %lu bytes", opt->bytes);
		for (at = 0; at < opt->bytes; at += page)
			WRITE_BYTE(mem + at);
		t1 = now_ns();
		for (at = 0; opt->sparse && at < opt->bytes; at += 2 * page)
			if (madvise(mem + at, page, MADV_DONTNEED))
				err(1, "madvise");
		if (opt->says) {
			puts("held");
			fflush(stdout);
		}
		if (opt->held_ms)
			nap(opt->held_ms);
		t2 = now_ns();
		if (munmap(mem, opt->bytes))
			err(1, "munmap");
		t3 = now_ns();
		res->touch_ns += t1 - t0;
		res->unmap_ns += t3 - t2;
		if (t1 - t0 + t3 - t2 < res->best_ns)
			res->best_ns = t1 - t0 + t3 - t2;
		if (opt->free_ms)
			nap(opt->free_ms);
	}
}

/* Start all processes at one instant (the pipe's end) and wait for them. */
static void run(const struct options *opt, const cpu_set_t *usable, struct result *res)
{
	int go[2], status, failed = 0;
	__u64 i;

	if (pipe(go))
		err(1, "pipe");
	for (i = 0; i < opt->procs; i++) {
		char c;

		if (fork_child())
			continue;
		close(go[1]);
		pin(nth_cpu(usable, i));
		if (read(go[0], &c, 1) != 0)
			errx(1, "process %llu was not started", i);
		work(opt, &res[i]);
		_exit(0);
	}
	close(go[0]);
	close(go[1]);
	while (wait(&status) > 0)
		failed += !WIFEXITED(status) || WEXITSTATUS(status);
	if (failed)
		errx(1, "%d of %lu processes failed", failed, opt->procs);
}

static void print(const struct options *opt, const struct result *res, __u64 faults)
{
	__u64 pages = opt->bytes / sysconf(_SC_PAGESIZE);
	__u64 touch = 0, unmap = 0, best = 0, i;

	for (i = 0; i < opt->procs; i++) {
		touch += res[i].touch_ns;
		unmap += res[i].unmap_ns;
		best += res[i].best_ns;
	}
	printf("{\"bytes\": %lu, \"rounds\": %lu, \"procs\": %lu,",
	       opt->bytes, opt->rounds, opt->procs);
	printf(" \"pages\": %llu, \"pgfault\": %llu,",
	       pages * opt->rounds * opt->procs, faults);
	printf(" \"touch_ns\": %llu, \"unmap_ns\": %llu, \"best_round_ns\": %llu}\n",
	       touch, unmap, best);
}

int main(int argc, char **argv)
{
	struct result *res;
	cpu_set_t usable;
	unsigned long cpus;
	__u64 before;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		err(1, "sched_getaffinity");
	cpus = CPU_COUNT(&usable);
	options.procs = cpus;
	parse_options(argc, argv, option_rows, NULL);
	if (options.procs > cpus)
		errx(1, "%lu processes, but only %lu CPUs to pin them to",
		     options.procs, cpus);
	if (options.bytes < (__u64)sysconf(_SC_PAGESIZE))
		errx(1, "-w: less than a page");
	if (!options.huge && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		err(1, "cannot switch transparent huge pages off");
	res = map_memory(options.procs * sizeof(*res), MAP_SHARED);
	before = page_faults();
	run(&options, &usable, res);
	print(&options, res, page_faults() - before);
	return 0;
}
