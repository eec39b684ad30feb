// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command line, memory, CPUs and processes of the load programs.
 */
#include "load.h"

#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

__u64 random_state;

void nap(unsigned long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * NSEC_PER_MSEC };

	while (nanosleep(&left, &left))
		if (errno != EINTR)
			err(1, "nanosleep");
}

/* The number that an option's text begins with; where it ends is the caller's to check. */
unsigned long parse_number(char opt, const char *text, char **end)
{
	unsigned long value;

	errno = 0;
	value = strtoul(text, end, 10);
	if (*text < '0' || *text > '9' || errno)
		errx(1, "-%c: '%s' is not a number", opt, text);
	return value;
}

/* The index of an option's text among words. */
unsigned int parse_word(char opt, const char *text, const char *const words[], unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(words[i], text))
			return i;
	errx(1, "-%c: '%s' is none of the words of --help", opt, text);
}

static unsigned long parse_count(char opt, const char *text, unsigned long min,
				 unsigned long max)
{
	char *end;
	unsigned long value = parse_number(opt, text, &end);

	if (*end)
		errx(1, "-%c: '%s' is not a number", opt, text);
	if (value < min || value > max)
		errx(1, "-%c: %s is not in %lu..%lu", opt, text, min, max);
	return value;
}

static void show_help(const struct load_option *row, const char *operands, FILE *to)
{
	fprintf(to, "usage: %s [OPTION]... %s\n", program_invocation_short_name, operands ?: "");
	for (; row->letter; row++)
		fprintf(to, "  -%c %-10s %s\n", row->letter, row->argument ?: "", row->words);
}

/*
 * Ends the program at -h and at an option that is not in the table.  operands: what may follow the
 * options, for the help; NULL: nothing.
 */
void parse_options(int argc, char **argv, const struct load_option *options, const char *operands)
{
	const struct load_option *row;
	char letters[64] = "h", *end = letters + 1;
	int c;

	for (row = options; row->letter; row++)
		end += sprintf(end, "%c%s", row->letter, row->argument ? ":" : "");
	while ((c = getopt(argc, argv, letters)) != -1) {
		for (row = options; row->letter && row->letter != c;)
			row++;
		if (!row->letter) {
			show_help(options, operands, c == 'h' ? stdout : stderr);
			exit(c != 'h');
		}
		if (row->number)
			*row->number = parse_count(c, optarg, row->min, row->max);
		else if (row->text)
			*row->text = optarg;
		else if (row->flag)
			*row->flag = true;
		else
			row->call(optarg);
	}
	if (optind < argc && !operands)
		errx(1, "'%s': not an option", argv[optind]);
}

void *map_memory(unsigned long bytes, int how)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		err(1, "cannot map %lu bytes", bytes);
	return mem;
}

void touch_pages(char *mem, unsigned long bytes)
{
	unsigned long at;

	for (at = 0; at < bytes; at += PAGE)
		WRITE_ONCE(mem[at], 1);
}

void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "cannot run on CPU %d", cpu);
}

/* None is left behind if we die, between the two calls either. */
pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid && prctl(PR_SET_PDEATHSIG, SIGKILL))
		err(1, "prctl");
	if (!pid && getppid() != parent)
		_exit(1);
	return pid;
}
