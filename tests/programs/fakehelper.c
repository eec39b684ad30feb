// SPDX-License-Identifier: GPL-2.0-only
/*
 * fakehelper.c - stands in for /sbin/modprobe and /sbin/rmmod, as its mode file says
 *
 * Called as modprobe or rmmod, the program adds a line to /run/helper/log: name, process id, every
 * argument and every word of the environment, each after a '|', unprintable bytes as \xNN.  The
 * words in /run/helper/mode.NAME, or else in /run/helper/mode, say what the program does next:
 *
 *	(nothing)		the real thing: loads or unloads the module by its name
 *	real			the real thing, by the host's own program, /run/helper/kmod
 *	slow MS			sleeps, then does the real thing
 *	late MS			does the real thing, then sleeps
 *	hang			sleeps ten minutes, then fails
 *	exit N			fails
 *	signal N		kills itself
 *	first FILE [OPTION]	loads that module file, then does the real thing
 *	after FILE [OPTION]	loads that module file, waits until its livepatch is in force,
 *				then does the real thing
 *
 * /run/helper/modules names the folder with modules of ours.  The host's own program loads every
 * other module.  The log gets "end" as well when the program has done its work.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE	"/run/helper/"
#define REAL	PLACE "kmod"

extern char **environ;

static char line[8192];
static size_t length;

static void add(const char *text)
{
	for (; *text && length < sizeof(line) - 8; text++) {
		if (*text > ' ' && *text < 0x7f && *text != '|' && *text != '\\')
			line[length++] = *text;
		else
			length += sprintf(line + length, "\\x%02x", (unsigned char)*text);
	}
}

/* One write a line, so that lines of two programs do not mix. */
static void say(const char *name, char **words, char **more)
{
	char pid[24];
	int log;

	length = 0;
	add(name);
	line[length++] = ' ';
	sprintf(pid, "%d", (int)getpid());
	add(pid);
	line[length++] = ' ';
	for (; *words; words++) {
		line[length++] = '|';
		add(*words);
	}
	if (more) {
		line[length++] = ' ';
		line[length++] = 'e';
		for (; *more; more++) {
			line[length++] = '|';
			add(*more);
		}
	}
	line[length++] = '\n';
	log = open(PLACE "log", O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (log < 0 || write(log, line, length) < 0)
		_exit(99);
	close(log);
}

/* The first line of a file, or "". */
static int first_line(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY);
	ssize_t got = file < 0 ? -1 : read(file, text, size - 1);

	text[got < 0 ? 0 : got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file >= 0)
		close(file);
	return got < 0 ? -1 : 0;
}

static void rest(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static int load(const char *path, const char *options)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int wrong = file < 0;

	if (!wrong)
		wrong = syscall(SYS_finit_module, file, options, 0) && errno != EEXIST;
	if (wrong)
		fprintf(stderr, "fakehelper: %s: %s\n", path, strerror(errno));
	if (file >= 0)
		close(file);
	return wrong;
}

/* Until the livepatch of a module file is in force; at most a minute. */
static void settle(const char *file)
{
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	char path[300], text[8];
	int i;

	snprintf(path, sizeof(path), "/sys/kernel/livepatch/%.*s/transition",
		 (int)strcspn(name, "."), name);
	for (i = 0; i < 600; i++) {
		if (!first_line(path, text, sizeof(text)) && !strcmp(text, "0"))
			return;
		rest(100);
	}
}

/* Load or unload a module of ours as modprobe and rmmod do. */
static int real_thing(const char *name, char **argv)
{
	char folder[400], path[512], options[512] = "";
	char **word = argv + 1;

	while (*word && **word == '-')
		word++;
	if (!*word)
		return 1;
	if (!strcmp(name, "rmmod")) {
		if (!syscall(SYS_delete_module, *word, O_NONBLOCK))
			return 0;
		fprintf(stderr, "fakehelper: rmmod %s: %s\n", *word, strerror(errno));
		return 1;
	}
	first_line(PLACE "modules", folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/%s.ko", folder, *word);
	if (access(path, R_OK)) {
		execv(REAL, argv);
		return 1;
	}
	while (*++word) {
		if (options[0])
			strncat(options, " ", sizeof(options) - strlen(options) - 1);
		strncat(options, *word, sizeof(options) - strlen(options) - 1);
	}
	return load(path, options);
}

int main(int argc, char **argv)
{
	char *end[] = { "end", NULL };
	char mode[512], path[64];
	const char *name, *words;
	long number;
	int status;

	if (argc < 1)
		return 98;
	name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	say(name, argv, environ);
	snprintf(path, sizeof(path), PLACE "mode.%.32s", name);
	if (first_line(path, mode, sizeof(mode)))
		first_line(PLACE "mode", mode, sizeof(mode));
	words = strchr(mode, ' ') ? strchr(mode, ' ') + 1 : "";
	mode[strcspn(mode, " ")] = '\0';
	number = strtol(words, NULL, 10);
	if (!strcmp(mode, "hang")) {
		rest(600000);
		return 1;
	}
	if (!strcmp(mode, "exit"))
		return number;
	if (!strcmp(mode, "signal")) {
		signal(number, SIG_DFL);
		kill(getpid(), number);
	}
	if (!strcmp(mode, "real")) {
		execv(REAL, argv);
		return 97;
	}
	if (!strcmp(mode, "slow"))
		rest(number);
	if (!strcmp(mode, "first") || !strcmp(mode, "after")) {
		char *file = strdup(words), *options = file ? strchr(file, ' ') : NULL;

		if (options)
			*options++ = '\0';
		if (!file || load(file, options ?: ""))
			return 96;
		if (!strcmp(mode, "after"))
			settle(file);
	}
	status = real_thing(name, argv);
	if (!strcmp(mode, "late"))
		rest(number);
	say(name, end, NULL);
	return status;
}
