// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth.c - one action, in which the N-th allocation of this task fails, by lmm_failnth.ko
 *
 *	failnth N write FILE TEXT	open, and one write
 *	failnth N read FILE		open, and read to the end
 *	failnth N load FILE PARAMETERS	finit_module()
 *	failnth N unload MODULE		delete_module()
 *
 * With N of 0 nothing fails, and the module need not be there.  In the end one line: the call that
 * ended the action, the name of its errno or "done", and how many more allocations would have had
 * to come:
 *
 *	write ENOMEM 0
 *	write done 17
 */
#include "load.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define FILE_OF_MODULE	"/sys/kernel/debug/lmm_failnth"

static const char *call;

static int act_on_file(const char *path, const char *text)
{
	static char buffer[64 * PAGE];
	int file, status = 0;

	call = "open";
	file = open(path, text ? O_WRONLY : O_RDONLY);
	if (file < 0)
		return errno;
	call = text ? "write" : "read";
	for (;;) {
		ssize_t done = text ? write(file, text, strlen(text)) :
				      read(file, buffer, sizeof(buffer));

		status = done < 0 ? errno : 0;
		if (text || done <= 0)
			break;
	}
	close(file);
	return status;
}

static int act(char **words, int file)
{
	if (!strcmp(words[0], "write"))
		return act_on_file(words[1], words[2]);
	if (!strcmp(words[0], "read"))
		return act_on_file(words[1], NULL);
	call = words[0];
	if (!strcmp(words[0], "load"))
		return syscall(SYS_finit_module, file, words[2], 0) ? errno : 0;
	return syscall(SYS_delete_module, words[1], O_NONBLOCK) ? errno : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		int words;
	} actions[] = { { "write", 3 }, { "read", 2 }, { "load", 3 }, { "unload", 2 } };
	char nth[16] = "";
	int count, file = -1, status;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (argc == 2 + actions[i].words && !strcmp(argv[2], actions[i].word))
			break;
	if (i == ARRAY_SIZE(actions))
		errx(2, "failnth N write FILE TEXT|read FILE|load FILE PARAMETERS|unload MODULE");
	count = open(FILE_OF_MODULE, O_RDWR);
	if (count < 0 && strcmp(argv[1], "0"))
		err(2, FILE_OF_MODULE);
	if (!strcmp(argv[2], "load")) {
		file = open(argv[3], O_RDONLY);
		if (file < 0)
			err(2, "%s", argv[3]);
	}
	/* Page faults of this program allocate too. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(2, "mlockall");
	if (count >= 0 && write(count, argv[1], strlen(argv[1])) < 0)
		err(2, FILE_OF_MODULE ": %s", argv[1]);
	status = act(argv + 2, file);
	if (count >= 0 && read(count, nth, sizeof(nth) - 1) < 0)
		err(2, FILE_OF_MODULE);
	printf("%s %s %d\n", call, status ? strerrorname_np(status) ?: "E?" : "done", atoi(nth));
	return 0;
}
