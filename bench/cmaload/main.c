// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workers, what memory was free meanwhile, and the command.
 */
#include "cmaload.h"

#include <limits.h>
#include <sys/wait.h>

#define SAMPLE_MS	20
#define MAX_WORKERS	64UL

static struct work *work;

void seed_random(__u64 seed, __u64 nr)
{
	random_state = seed << 32 ^ nr;
	random_state = below(ULONG_MAX);
}

void touch(char *mem, unsigned long bytes)
{
	unsigned long at;

	for (at = 0; at < bytes; at += PAGE)
		WRITE_ONCE(*(__u64 *)(mem + at), at);
}

/*
 * What is held is there while the workers are, as a desktop or a daemon is: most of it
 * is not used any more, a part now and then.
 */
static void worker(const struct options *opt)
{
	unsigned long bytes = opt->held * MIB / opt->workers, nr, i;
	unsigned long most = opt->kernel * MIB / PAGE / opt->workers;
	char *held = map_memory(bytes + PAGE, MAP_PRIVATE | MAP_NORESERVE);
	int status;
	pid_t pid;

	if (madvise(held, bytes + PAGE, MADV_DONTFORK))
		err(1, "madvise");
	touch(held, bytes);
	for (;;) {
		nr = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
		if (nr >= READ_ONCE(work->jobs))
			break;
		seed_random(opt->seed + 2, nr);
		have_tables(below(most + 1), most);
		pid = fork_child();
		if (!pid) {
			run_job(opt, nr);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid)
			err(1, "waitpid");
		if (WIFEXITED(status) && WEXITSTATUS(status))
			errx(1, "job %lu failed", nr);
		if (WIFSIGNALED(status))
			__atomic_fetch_add(&work->lost, 1, __ATOMIC_RELAXED);
		seed_random(opt->seed + 1, nr);
		for (i = 0; i < bytes / PAGE / 64; i++)
			touch(held + below(bytes / PAGE / 4 + 1) * PAGE, PAGE);
		__atomic_fetch_add(&work->done, 1, __ATOMIC_RELAXED);
	}
}

/* Lines of /proc/meminfo, and the sums of what they said, in KiB. */
static const char *const watched[] = {
	"MemFree:", "CmaFree:", "Slab:", "PageTables:", "AnonPages:", "Cached:",
};

static unsigned long long sums[ARRAY_SIZE(watched)];
static unsigned long samples;

static void sample(void)
{
	char text[4096], *line;
	ssize_t size;
	unsigned int i;
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/meminfo", O_RDONLY);
	size = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	if (size < 0)
		err(1, "/proc/meminfo");
	text[size] = 0;
	for (i = 0; i < ARRAY_SIZE(watched); i++) {
		/* Kernels without CMA have no line of it. */
		line = strstr(text, watched[i]);
		if (line)
			sums[i] += strtoul(line + strlen(watched[i]), NULL, 10);
	}
	samples++;
}

static bool failed;

/* Whether a worker is left. */
static bool anybody(int how)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, how)) > 0)
		failed |= !WIFEXITED(status) || WEXITSTATUS(status);
	return !pid;
}

static int run(const struct options *opt)
{
	__u64 start = now_ns();
	unsigned int i;

	work = map_memory(sizeof(*work), MAP_SHARED | MAP_NORESERVE);
	work->jobs = opt->jobs;
	for (i = 0; i < opt->workers; i++) {
		if (fork_child())
			continue;
		worker(opt);
		exit(0);
	}
	putchar('{');
	if (opt->area) {
		allocate(opt, work);
		WRITE_ONCE(work->jobs, 0);
		anybody(0);
	} else {
		do {
			nap(SAMPLE_MS);
			sample();
		} while (anybody(WNOHANG));
		for (i = 0; i < ARRAY_SIZE(watched); i++)
			printf("\"%.*s\": %llu, ", (int)strlen(watched[i]) - 1, watched[i],
			       sums[i] / samples);
	}
	printf("\"ns\": %llu, \"done\": %lu, \"lost\": %lu}\n",
	       (unsigned long long)(now_ns() - start), work->done, work->lost);
	if (failed)
		errx(1, "a worker failed");
	return 0;
}

static struct options options = {
	.workers = 6, .jobs = 120, .held = 280, .kernel = 520, .seed = 1,
	.piece = 8, .times = 20, .pause = 200,
};

static bool prepare;

static const struct load_option option_rows[] = {
	{ 'd', "DIR", "folder of its files", .text = &options.dir },
	{ 'p', NULL, "make the sources there", .flag = &prepare },
	LOAD_NUMBER('H', "MIB", "held by the workers, and not used much (280)",
		    &options.held, 0, 65536),
	LOAD_NUMBER('K', "MIB", "of page tables that they have at most; half of it as a rule (520)",
		    &options.kernel, 0, 65536),
	LOAD_NUMBER('j', "WORKERS", "number of workers (6)", &options.workers, 1, MAX_WORKERS),
	LOAD_NUMBER('n', "JOBS", "number of all jobs (120)", &options.jobs, 1, 1000000),
	LOAD_NUMBER('s', "SEED", "seed of all random numbers (1)", &options.seed, 0, INT_MAX),
	{ 'a', "AREA", "folder in debugfs of an area to allocate from", .text = &options.area },
	LOAD_NUMBER('m', "MIB", "of an allocation (8)", &options.piece, 1, 4096),
	LOAD_NUMBER('t', "TIMES", "allocations, which end the jobs (20); 0: until the jobs end",
		    &options.times, 0, 1000000),
	LOAD_NUMBER('w', "MS", "pause before each allocation (200)", &options.pause, 1, 3600000),
	{}
};

int main(int argc, char **argv)
{
	parse_options(argc, argv, option_rows, NULL);
	/* Until told to stop. */
	if (options.area && options.times)
		options.jobs = LONG_MAX;
	if (!options.dir)
		errx(1, "no folder (-d)");
	if (chdir(options.dir))
		err(1, "%s", options.dir);
	if (prepare) {
		make_sources();
		return 0;
	}
	return run(&options);
}
