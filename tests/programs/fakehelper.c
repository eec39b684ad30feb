// SPDX-License-Identifier: GPL-2.0-only
/*
 * fakehelper.c - stands in for /sbin/modprobe and /sbin/rmmod, as its mode file says
 *
 * Called as modprobe or rmmod, the program adds a line to /run/helper/log: name, process id, every
 * argument and every word of the environment, each after a '|', unprintable bytes as \xNN.  The
 * words in /run/helper/mode.NAME, or else in /run/helper/mode, say what the program does next:
 *
 *	(nothing)		the real thing: loads or unloads the module by its name
 *	slow MS			sleeps, then does the real thing
 *	hang			sleeps ten minutes, then fails
 *	signal N		kills itself
 *	first FILE [OPTION]	loads that module file, then does the real thing
 *	after FILE [OPTION]	loads that module file, waits until its livepatch is in force,
 *				then does the real thing
 *
 * /run/helper/modules names the folder with modules of ours.  The host's own program,
 * /run/helper/kmod, loads every other module.  The log gets "end" as well when the program has
 * done its work.
 */
#include "load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#define PLACE	"/run/helper/"

static void add(FILE *log, const char *text)
{
	for (; *text; text++) {
		if (*text > ' ' && *text < 0x7f && *text != '|' && *text != '\\')
			putc(*text, log);
		else
			fprintf(log, "\\x%02x", (unsigned char)*text);
	}
}

static void add_words(FILE *log, char **words)
{
	for (; *words; words++) {
		putc('|', log);
		add(log, *words);
	}
}

/* Buffered, so that a line is one write and lines of two programs do not mix. */
static void say(const char *name, char **words, char **more)
{
	static char buffer[8192];
	FILE *log = fopen(PLACE "log", "a");

	if (!log || setvbuf(log, buffer, _IOFBF, sizeof(buffer)))
		_exit(99);
	add(log, name);
	fprintf(log, " %d ", getpid());
	add_words(log, words);
	if (more) {
		fputs(" e", log);
		add_words(log, more);
	}
	putc('\n', log);
	if (fclose(log))
		_exit(99);
}

/* The first line of a file, or "". */
static int first_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	if (!file || !fgets(text, size, file))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return file ? 0 : -1;
}

static int load(const char *path, const char *options)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file >= 0 && (!syscall(SYS_finit_module, file, options, 0) || errno == EEXIST))
		return 0;
	warn("fakehelper: %s", path);
	return 1;
}

/* Until the livepatch of a module file is in force; at most a minute. */
static void settle(const char *file)
{
	const char *name = basename(file);
	char path[300], text[8];
	int i;

	snprintf(path, sizeof(path), "/sys/kernel/livepatch/%.*s/transition",
		 (int)strcspn(name, "."), name);
	for (i = 0; i < 600; i++) {
		if (!first_line(path, text, sizeof(text)) && !strcmp(text, "0"))
			return;
		nap(100);
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
		warn("fakehelper: %s", *word);
		return 1;
	}
	first_line(PLACE "modules", folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/%s.ko", folder, *word);
	if (access(path, R_OK)) {
		execv(PLACE "kmod", argv);
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
	name = basename(argv[0]);
	say(name, argv, environ);
	snprintf(path, sizeof(path), PLACE "mode.%.32s", name);
	if (first_line(path, mode, sizeof(mode)))
		first_line(PLACE "mode", mode, sizeof(mode));
	words = strchr(mode, ' ') ? strchr(mode, ' ') + 1 : "";
	mode[strcspn(mode, " ")] = '\0';
	number = strtol(words, NULL, 10);
	if (!strcmp(mode, "hang")) {
		nap(600000);
		return 1;
	}
	if (!strcmp(mode, "signal")) {
		signal(number, SIG_DFL);
		kill(getpid(), number);
	}
	if (!strcmp(mode, "slow"))
		nap(number);
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
	say(name, end, NULL);
	return status;
}
