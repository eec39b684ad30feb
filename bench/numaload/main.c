// SPDX-License-Identifier: GPL-2.0-only
/*
 * The patterns, and the command.
 */
#include "numaload.h"

#include <sys/prctl.h>

static void run_spin(const struct options *opt)
{
	__u64 end = now_ns() + opt->pattern->seconds * NSEC_PER_SEC;

	while (now_ns() < end)
		__builtin_ia32_pause();
	fputs("\"work\": 0,", stdout);
}

static const struct pattern patterns[] = {
	{ .name = "stable", .words = "threads in parts of an array, first all on the wrong node",
	  .run = run_threads, .first = FIRST_FAR, .reach = REACH_OWN, .mib = 8, .seconds = 60 },
	{ .name = "local", .words = "threads in memory of their own from the start",
	  .run = run_threads, .apart = true, .mib = 8, .seconds = 40 },
	{ .name = "shared", .words = "all threads over all of an array",
	  .run = run_threads, .reach = REACH_ALL, .mib = 8, .seconds = 40 },
	{ .name = "phase", .words = "threads that swap their parts every 12 s",
	  .run = run_threads, .mib = 8, .seconds = 60, .phase_ms = 12000 },
	{ .name = "random", .words = "loose threads, random pages of all",
	  .run = run_threads, .reach = REACH_RANDOM, .loose = true, .mib = 8, .seconds = 40 },
	{ .name = "pingpong", .words = "threads on two nodes, random pages of the same few",
	  .run = run_threads, .reach = REACH_RANDOM, .mib = 2, .seconds = 60 },
	{ .name = "idle", .words = "threads that sleep but for 7 % of the time",
	  .run = run_threads, .first = FIRST_FAR, .nap_ms = 100, .visits = 2048, .mib = 8,
	  .seconds = 40 },
	{ .name = "forks", .words = "processes that live for 0.3 s",
	  .run = run_short, .loose = true, .visits = 50000, .mib = 4, .seconds = 10 },
	{ .name = "batch", .words = "processes of two threads that live for 3 s",
	  .run = run_short, .company = true, .visits = 500000, .mib = 4, .seconds = 30 },
	{ .name = "pipes", .words = "many pairs of processes with a message between, short-lived",
	  .run = run_pairs, .loose = true, .visits = 2000, .threads = 8, .mib = 1,
	  .seconds = 10 },
	{ .name = "rr", .words = "two processes on two nodes with a message between",
	  .run = run_pairs, .visits = ~0UL, .threads = 1, .mib = 1, .seconds = 20 },
	{ .name = "cost", .words = "instructions of a hint fault, if the clock counts them",
	  .run = run_cost, .mib = 2, .seconds = 1 },
	{ .name = "spin", .words = "nothing but pauses",
	  .run = run_spin, .mib = 1, .seconds = MAX_SECONDS },
};

static void show_patterns(FILE *to)
{
	unsigned int i;

	fputs("patterns:\n", to);
	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		fprintf(to, "  %-10s  %s\n", patterns[i].name, patterns[i].words);
}

static struct options options;

static void parse_pattern(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!strcmp(name, patterns[i].name))
			options.pattern = &patterns[i];
	if (!options.pattern || strcmp(name, options.pattern->name))
		errx(1, "-p: '%s' is not a pattern", name);
}

static const struct load_command command = {
	.usage = "numaload -p PATTERN [-g MS]\n",
	.options = (const struct load_option[]) {
		{ 'p', "PATTERN", "what to do", .call = parse_pattern },
		LOAD_NUMBER('g', "MS", "a thread begins so long after the one before (0)",
			    &options.stagger_ms, 0, 1000 * MAX_SECONDS),
		{}
	},
	.more = show_patterns,
};

int main(int argc, char **argv)
{
	__u64 before[NR_COUNTERS], after[NR_COUNTERS];
	unsigned int cpus = choose_cpus(), i;

	parse_options(argc, argv, &command);
	if (!options.pattern)
		errx(1, "no pattern (-p)");
	options.threads = options.pattern->threads ?: cpus;
	options.part = options.pattern->mib * MIB;
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		err(1, "cannot switch transparent huge pages off");
	shared = map_memory(sizeof(*shared), MAP_SHARED);
	/* Children must not have it in their buffers as well. */
	setvbuf(stdout, NULL, _IONBF, 0);
	read_counters(before);
	printf("{\"pattern\": \"%s\", \"threads\": %lu, \"bytes\": %lu, \"seconds\": %lu, ",
	       options.pattern->name, options.threads, options.part,
	       options.pattern->seconds);
	options.pattern->run(&options);
	read_counters(after);
	for (i = 0; i < NR_COUNTERS; i++)
		printf("%s \"%s\": %llu", i ? "," : "", counters[i], after[i] - before[i]);
	puts("}");
	return 0;
}
