// SPDX-License-Identifier: GPL-2.0-only
/*
 * The patterns, and the command.
 */
#include "numaload.h"

#include <sys/prctl.h>

static void run_spin(const struct options *opt)
{
	__u64 end = now_ns() + opt->seconds * NSEC_PER_SEC;

	while (now_ns() < end)
		__builtin_ia32_pause();
	fputs("\"work\": 0,", stdout);
}

static const struct pattern patterns[] = {
	/* Threads in parts of an array, first all on the wrong node. */
	{ .name = "stable", .run = run_threads, .first = FIRST_FAR, .mib = 8, .seconds = 60 },
	/* Threads in memory of their own from the start. */
	{ .name = "local", .run = run_threads, .apart = true, .mib = 8, .seconds = 40 },
	/* All threads over all of an array. */
	{ .name = "shared", .run = run_threads, .reach = REACH_ALL, .mib = 8, .seconds = 40 },
	/* Threads that swap their parts every 12 s. */
	{ .name = "phase", .run = run_threads, .mib = 8, .seconds = 60, .phase_ms = 12000 },
	/* Loose threads, random pages of all. */
	{ .name = "random", .run = run_threads, .reach = REACH_RANDOM, .loose = true, .mib = 8,
	  .seconds = 40 },
	/* As random; most pages on one node, others of them in the second half; children. */
	{ .name = "database", .run = run_threads, .first = FIRST_UNEVEN, .reach = REACH_HALF,
	  .loose = true, .mib = 48, .seconds = 12, .phase_ms = 6000, .fork_ms = 1000 },
	/* Threads on two nodes, random pages of the same few. */
	{ .name = "pingpong", .run = run_threads, .reach = REACH_RANDOM, .mib = 2, .seconds = 60 },
	/* Threads that sleep but for 7 % of the time. */
	{ .name = "idle", .run = run_threads, .first = FIRST_FAR, .nap_ms = 100, .visits = 2048,
	  .mib = 8, .seconds = 40 },
	/* Processes that live for 0.3 s. */
	{ .name = "forks", .run = run_processes, .loose = true, .visits = 50000, .mib = 4,
	  .seconds = 10 },
	/* Processes of two threads that live for 3 s. */
	{ .name = "batch", .run = run_processes, .company = true, .visits = 500000, .mib = 4,
	  .seconds = 30 },
	/* Many pairs of processes with a message between, short-lived. */
	{ .name = "pipes", .run = run_processes, .pairs = true, .loose = true, .visits = 2000,
	  .threads = 8, .mib = 1, .seconds = 10 },
	/* Two processes on two nodes with a message between. */
	{ .name = "rr", .run = run_processes, .pairs = true, .visits = ~0UL, .threads = 1,
	  .mib = 1, .seconds = 20 },
	/* Instructions of a hint fault, if the clock counts them. */
	{ .name = "cost", .run = run_cost, .mib = 2, .seconds = 1 },
	/* One thread reads half of a file on a slow node. */
	{ .name = "tier", .run = run_tier, .threads = 1, .mib = 32, .seconds = 40 },
	/* As tier, in anonymous memory, which the kernel promotes by itself. */
	{ .name = "tiers", .run = run_tier, .anon = true, .threads = 1, .mib = 160, .seconds = 14 },
	/* Nothing but pauses. */
	{ .name = "spin", .run = run_spin, .mib = 1, .seconds = MAX_SECONDS },
};

static struct options options = { .company = 1 };

static void parse_pattern(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!strcmp(name, patterns[i].name))
			options.pattern = &patterns[i];
	if (!options.pattern || strcmp(name, options.pattern->name))
		errx(1, "-p: '%s' is not a pattern", name);
}

static const struct load_option option_rows[] = {
	{ 'p', "PATTERN", "what to do, by name in patterns[]", .call = parse_pattern },
	LOAD_NUMBER('m', "MIB", "size of a thread's part (the pattern's own)",
		    &options.mib, 1, 4096),
	LOAD_NUMBER('s', "SECONDS", "length of the run (the pattern's own)",
		    &options.seconds, 1, MAX_SECONDS),
	LOAD_NUMBER('q', "MS", "length of a phase (the pattern's own)",
		    &options.phase_ms, 1, 1000 * MAX_SECONDS),
	LOAD_NUMBER('g', "MS", "a thread begins so long after the one before (0)",
		    &options.stagger_ms, 0, 1000 * MAX_SECONDS),
	LOAD_NUMBER('c', "PROCESSES", "that sleep beside pattern cost (0)",
		    &options.crowd, 0, 4096),
	LOAD_NUMBER('t', "THREADS", "that sleep in pattern cost (1)", &options.company, 1, 4096),
	{}
};

int main(int argc, char **argv)
{
	__u64 before[NR_COUNTERS], after[NR_COUNTERS];
	unsigned int cpus = choose_cpus(), i;

	parse_options(argc, argv, option_rows, NULL);
	if (!options.pattern)
		errx(1, "no pattern (-p)");
	options.threads = options.pattern->threads ?: cpus;
	options.part = (options.mib ?: options.pattern->mib) * MIB;
	options.seconds = options.seconds ?: options.pattern->seconds;
	if (!options.pattern->phase_ms && options.phase_ms)
		errx(1, "-q: pattern %s has no phases", options.pattern->name);
	options.phase_ms = options.phase_ms ?: options.pattern->phase_ms;
	if (options.phase_ms % SAMPLE_MS)
		errx(1, "-q: not a multiple of %u ms", SAMPLE_MS);
	if (options.phase_ms && 1000 * options.seconds / options.phase_ms >= MAX_PHASES)
		errx(1, "-q: a run has fewer than %u phases", MAX_PHASES);
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		err(1, "cannot switch transparent huge pages off");
	shared = map_memory(sizeof(*shared), MAP_SHARED);
	/* Children must not have it in their buffers as well. */
	setvbuf(stdout, NULL, _IONBF, 0);
	read_counters(before);
	printf("{\"pattern\": \"%s\", \"threads\": %lu, \"bytes\": %lu, \"seconds\": %lu, ",
	       options.pattern->name, options.threads, options.part,
	       options.seconds);
	options.pattern->run(&options);
	read_counters(after);
	for (i = 0; i < NR_COUNTERS; i++)
		printf("%s \"%s\": %llu", i ? "," : "", counters[i], after[i] - before[i]);
	puts("}");
	return 0;
}
