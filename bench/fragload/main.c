// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes, and the command.
 */
#include "fragload.h"

#include <limits.h>
#include <sys/wait.h>

#define MAX_ROUNDS	10000

static const struct kind kinds[] = {
	{ "files", 2000, files_round },		/* small files created, read, removed */
	{ "cache", 48, cache_round },		/* MiB read of a large file */
	{ "pipes", 600, pipes_round },		/* pipes and sockets filled and closed */
	{ "tables", 400, tables_round },	/* sparse mappings, for their page tables */
	{ "held", 240, held_round },		/* MiB held, parts dropped and touched again */
	{ "short", 48, short_round },		/* MiB filled by processes that end */
	{ "huge", 288, huge_round },		/* MiB of huge pages faulted and dropped */
};

#define KINDS ARRAY_SIZE(kinds)

/* What the processes have in common. */
static struct shared {
	unsigned int done[KINDS];	/* rounds */
	unsigned long work[KINDS];
} *shared;

static struct options {
	const char *dir;
	unsigned long rounds;
	unsigned long seed;
	bool census;
} options = { .rounds = 16, .seed = 1 };

unsigned int rounds_done;

void seed_random(__u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

/* Write to every page, what is not the same twice: swap may not find it compressible. */
void touch(char *mem, unsigned long bytes)
{
	unsigned long at;

	for (at = 0; at < bytes; at += PAGE)
		WRITE_ONCE(*(__u64 *)(mem + at), below(~0UL));
}

/* Wait until everybody has done so many rounds. */
static void wait_for(unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		while (READ_ONCE(shared->done[i]) < rounds)
			nap(2);
}

static void work(unsigned int nr, const struct options *opt)
{
	const struct kind *kind = &kinds[nr];

	seed_random(opt->seed * KINDS + nr);
	for (; rounds_done < opt->rounds; rounds_done++) {
		wait_for(rounds_done ? rounds_done - 1 : 0);
		shared->work[nr] += kind->round(kind->amount);
		WRITE_ONCE(shared->done[nr], rounds_done + 1);
	}
	/* Nobody's memory goes before the last has done its work. */
	wait_for(opt->rounds);
}

static int run(const struct options *opt)
{
	unsigned int i, lost = 0, failed = 0;
	pid_t pids[KINDS], pid;
	__u64 start = now_ns();
	int status;

	shared = map_memory(sizeof(*shared), MAP_SHARED | MAP_NORESERVE);
	for (i = 0; i < KINDS; i++) {
		pids[i] = fork_child();
		if (pids[i])
			continue;
		work(i, opt);
		exit(0);
	}
	while ((pid = wait(&status)) > 0) {
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		/* Killed, as memory ran out: the others go on. */
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			lost++;
		else
			failed++;
		for (i = 0; i < KINDS; i++)
			if (pids[i] == pid)
				WRITE_ONCE(shared->done[i], UINT_MAX);
	}
	printf("{\"seconds\": %.3f, \"lost\": %u, \"work\": {",
	       (now_ns() - start) / (double)NSEC_PER_SEC, lost);
	for (i = 0; i < KINDS; i++)
		printf("%s\"%s\": %lu", i ? ", " : "", kinds[i].name, shared->work[i]);
	puts("}}");
	if (failed)
		errx(1, "%u processes failed", failed);
	return 0;
}

static const struct load_option option_rows[] = {
	{ 'd', "DIR", "folder for its files, empty", .text = &options.dir },
	LOAD_NUMBER('r', "ROUNDS", "number of rounds (16)", &options.rounds, 1, MAX_ROUNDS),
	LOAD_NUMBER('s', "SEED", "seed of all random numbers (1)", &options.seed, 0, LONG_MAX),
	{ 'c', NULL, "only say what the kernel's pages are, by block; prints JSON",
	  .flag = &options.census },
	{}
};

int main(int argc, char **argv)
{
	parse_options(argc, argv, option_rows, NULL);
	if (options.census)
		return census();
	if (!options.dir)
		errx(1, "no folder (-d)");
	if (chdir(options.dir))
		err(1, "%s", options.dir);
	return run(&options);
}
