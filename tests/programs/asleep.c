// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - put the guest to sleep with a lease that ends meanwhile, and judge
 *
 *	asleep DEBUGFS SECONDS RTC
 *
 * pcp is on.  Takes a lease of a quarter of SECONDS, sets the alarm of the clock, and suspends
 * to idle.  Awake again, pcp is to be off within two seconds, as a lease counts the time asleep.
 *
 * The guest's root, on 9p, is dead afterwards: so this is one static program in memory, which
 * writes to the verdict channel (fd 3) as lib.sh does, ends the script there, and switches the
 * machine off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

static void say(const char *format, ...)
{
	char line[512];
	va_list words;
	int length;

	va_start(words, format);
	length = vsnprintf(line, sizeof(line), format, words);
	va_end(words);
	if (write(3, line, length) < 0 || write(1, line, length) < 0)
		return;
}

static void judge(int good, const char *name, const char *why)
{
	if (good)
		say("ok %s\n", name);
	else
		say("not ok %s # %s\n", name, why);
}

static void end(void)
{
	struct timespec second = { 1, 0 };

	say("end 0\n");
	nanosleep(&second, NULL);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY), wrong = file < 0;

	wrong = wrong || write(file, text, strlen(text)) < 0;
	if (file >= 0)
		close(file);
	return wrong ? errno ?: EIO : 0;
}

static const char *get(const char *path)
{
	static char text[4096];
	int file = open(path, O_RDONLY);
	ssize_t got = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	text[got < 0 ? 0 : got] = '\0';
	return text;
}

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double boot, running, awake, off;
	char path[512], text[64];
	struct timespec tick = { 0, 100000000 };
	long seconds;
	int error;

	if (argc != 4 || chdir("/run") || mlockall(MCL_CURRENT | MCL_FUTURE))
		return 2;
	seconds = atol(argv[2]);
	snprintf(path, sizeof(path), "%s/pcp/enabled", argv[1]);
	judge(get(path)[0] == '1', "pcp is on before the machine sleeps", "it is not");
	snprintf(path, sizeof(path), "%s/wakealarm", argv[3]);
	put(path, "0");
	snprintf(text, sizeof(text), "+%ld", seconds);
	error = put(path, text);
	judge(!error, "the alarm is set", strerror(error));
	if (error)
		end();
	snprintf(path, sizeof(path), "%s/lease", argv[1]);
	snprintf(text, sizeof(text), "%ld", seconds / 4);
	judge(!put(path, text), "a lease is taken", "refused");
	boot = now(CLOCK_BOOTTIME);
	running = now(CLOCK_MONOTONIC);
	error = put("/sys/power/state", "freeze");
	judge(!error, "the machine sleeps", strerror(error));
	awake = now(CLOCK_BOOTTIME);
	say("note asleep: %.1f s by the boot clock, %.1f s by the one that stops\n", awake - boot,
	    now(CLOCK_MONOTONIC) - running);
	snprintf(path, sizeof(path), "%s/pcp/enabled", argv[1]);
	do {
		nanosleep(&tick, NULL);
		off = now(CLOCK_BOOTTIME);
	} while (get(path)[0] != '0' && off - awake < 4 * seconds);
	say("note pcp was off %.1f s after the machine woke\n", off - awake);
	judge(get(path)[0] == '0', "a lease ends, though the machine slept", "it has not");
	judge(awake - boot > seconds / 2 ? off - awake < 2.5 : off - awake < seconds,
	      "a lease counts the time asleep", "pcp was on longer");
	end();
}
