// SPDX-License-Identifier: GPL-2.0-only
/*
 * killwriters.c - begin writes to control files and kill the writers
 *
 * Each writer writes one of the values to its file, in one write.  In the end one line:
 *
 *	rounds 60 writers 120 killed 97 done 12 refused 11 stuck 0 slowest_ms 140 EBUSY 4 EINTR 7
 *
 * "killed" counts writers that died of the kill, "done" and "refused" those that ended before.
 * "slowest_ms" is the longest time from a kill to the death of the writer.  A count per errno
 * follows.  The exit code is 0 unless a writer was stuck; a stuck writer ends the run.
 *
 * A line before tells the kernel functions in which a writer was 2 s after its kill, if any:
 *
 *	slow /sys/kernel/debug/livemm/pcp/enabled: synchronize_rcu_tasks klp_enable_patch ...
 */
#include "load.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOST	8
#define ERRNOS	256
#define SLOW_MS	2000

struct writer {
	pid_t pid;
	const char *file;
	int handle;
	int told;
	long due, sent;
};

static unsigned long killed, done, refused, stuck, errnos[ERRNOS];
static long slowest;

/* In the child: write once, and exit with the result. */
static void write_once(char *word)
{
	char *value = strchr(word, '=');
	int file;

	*value++ = '\0';
	file = open(word, O_WRONLY);
	if (file < 0 || write(file, value, strlen(value)) < 0)
		_exit(errno < ERRNOS ? errno : ERRNOS - 1);
	_exit(0);
}

static void begin(struct writer *writer, char *word, long due)
{
	*writer = (struct writer){ .pid = fork_child(), .file = word, .due = due };
	if (!writer->pid)
		write_once(word);
	writer->handle = syscall(SYS_pidfd_open, writer->pid, 0);
	if (writer->handle < 0)
		err(2, "pidfd_open");
}

/* Where in the kernel is a writer that does not die?  Functions on one line, innermost first. */
static void tell_stack(struct writer *writer)
{
	char path[64], line[256], name[128];
	FILE *stack;

	writer->told = 1;
	snprintf(path, sizeof(path), "/proc/%d/stack", writer->pid);
	stack = fopen(path, "r");
	if (!stack)
		return;
	printf("slow %.*s:", (int)strcspn(writer->file, "="), writer->file);
	while (fgets(line, sizeof(line), stack))
		if (sscanf(line, "[<%*[^]]] %127[^+ \n]", name) == 1)
			printf(" %s", name);
	putchar('\n');
	fclose(stack);
}

/* A writer has ended: count how. */
static void ended(struct writer *writer)
{
	int status;

	if (waitpid(writer->pid, &status, 0) != writer->pid)
		err(2, "waitpid");
	close(writer->handle);
	writer->pid = 0;
	if (writer->sent && now_ms() - writer->sent > slowest)
		slowest = now_ms() - writer->sent;
	if (WIFSIGNALED(status)) {
		killed++;
	} else if (WEXITSTATUS(status)) {
		refused++;
		errnos[WEXITSTATUS(status)]++;
	} else {
		done++;
	}
}

/* Until all have ended, or one does not. */
static void see_through(struct writer *writers, unsigned int count, long limit)
{
	for (;;) {
		unsigned int left = 0, i;
		long now = now_ms(), next = now + 1000;
		struct pollfd polled[MOST];

		for (i = 0; i < count; i++) {
			struct writer *writer = &writers[i];

			polled[i] = (struct pollfd){ writer->pid ? writer->handle : -1, POLLIN, 0 };
			if (!writer->pid)
				continue;
			left++;
			if (!writer->sent && now >= writer->due) {
				kill(writer->pid, SIGKILL);
				writer->sent = now;
			}
			if (writer->sent && !writer->told && now - writer->sent > SLOW_MS)
				tell_stack(writer);
			if (writer->sent && now - writer->sent > limit) {
				stuck++;
				return;
			}
			if (!writer->sent && writer->due < next)
				next = writer->due;
		}
		if (!left)
			return;
		poll(polled, count, next - now);
		for (i = 0; i < count; i++)
			if (polled[i].revents)
				ended(&writers[i]);
	}
}

static unsigned long rounds = 60, count = 2, most = 300, limit = 60, seed = 1;

static const struct load_option option_rows[] = {
	LOAD_NUMBER('r', "ROUNDS", "number of rounds (60)", &rounds, 0, UINT_MAX),
	LOAD_NUMBER('n', "WRITERS", "writers at once (2)", &count, 1, MOST),
	LOAD_NUMBER('m', "MS", "a writer is killed 0 to MS after its begin (300)",
		    &most, 0, INT_MAX),
	LOAD_NUMBER('s', "SEED", "seed of all random numbers (1)", &seed, 0, UINT_MAX),
	LOAD_NUMBER('l', "SECONDS", "a writer that lives so long after its kill is stuck (60)",
		    &limit, 0, INT_MAX / 1000),
	{}
};

int main(int argc, char **argv)
{
	struct writer writers[MOST] = { 0 };
	unsigned long round, i, begun = 0;

	parse_options(argc, argv, option_rows, "FILE=VALUE...");
	random_state = seed;
	if (optind == argc)
		errx(2, "no FILE=VALUE");
	for (i = optind; i < (unsigned long)argc; i++)
		if (!strchr(argv[i], '='))
			errx(2, "%s: not FILE=VALUE", argv[i]);
	for (round = 0; round < rounds && !stuck; round++) {
		for (i = 0; i < count; i++, begun++)
			begin(&writers[i], argv[optind + below(argc - optind)],
			      now_ms() + below(most + 1));
		see_through(writers, count, limit * 1000);
	}
	printf("rounds %lu writers %lu killed %lu done %lu refused %lu stuck %lu slowest_ms %ld",
	       round, begun, killed, done, refused, stuck, slowest);
	for (i = 1; i < ERRNOS; i++)
		if (errnos[i])
			printf(" %s %lu", strerrorname_np(i) ?: "E?", errnos[i]);
	putchar('\n');
	return stuck != 0;
}
