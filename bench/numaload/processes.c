// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns of processes that come and go, or talk to each other.
 */
#include "numaload.h"

#include <signal.h>
#include <sys/wait.h>

static void add_work(unsigned int slot, __u64 work)
{
	WRITE_ONCE(shared->work[slot][0], shared->work[slot][0] + work);
}

/* A process that touches memory of its own, works in it for a while, and ends. */
static void be_short(const struct options *opt, unsigned int slot)
{
	char *mem = map_memory(opt->part, MAP_PRIVATE);
	unsigned long pages = opt->part / PAGE, done, i;

	if (!opt->pattern->loose)
		pin(places[slot].cpu);
	if (opt->pattern->company)
		keep_company(1);
	touch_pages(mem, opt->part);
	for (done = 0; done < opt->pattern->visits && !READ_ONCE(shared->stop); done += BLOCK) {
		for (i = 0; i < BLOCK; i++)
			visit(mem + (done + i) % pages * PAGE);
		add_work(slot, BLOCK);
		__builtin_ia32_pause();
	}
}

static void transfer(int fd, bool out)
{
	char message[100] = {};
	ssize_t size = out ? write(fd, message, sizeof(message)) :
			     read(fd, message, sizeof(message));

	if (size != sizeof(message))
		errx(1, "a message was lost");
	__builtin_ia32_pause();
}

/* One of two processes that pass a message back and forth: the odd one answers. */
static void be_partner(const struct options *opt, unsigned int side, const int *in,
		       const int *out, unsigned int slot)
{
	char *mem = map_memory(opt->part, MAP_PRIVATE);
	unsigned long pages = opt->part / PAGE, done;

	close(in[1]);
	close(out[0]);
	if (!opt->pattern->loose)
		pin(places[side].cpu);
	touch_pages(mem, opt->part);
	for (done = 0; done < opt->pattern->visits; done++) {
		transfer(side ? in[0] : out[1], !side);
		visit(mem + done % pages * PAGE);
		transfer(side ? out[1] : in[0], side);
		if (!side)
			add_work(slot, 1);
	}
}

/* Start what stands in a slot: a process, or two with pipes between them. */
static unsigned int start_slot(const struct options *opt, unsigned int slot, pid_t *pids)
{
	int pipes[2][2];
	unsigned int side;

	if (!opt->pattern->pairs) {
		pids[0] = fork_child();
		if (pids[0])
			return 1;
		be_short(opt, slot);
		_exit(0);
	}
	if (pipe(pipes[0]) || pipe(pipes[1]))
		err(1, "pipe");
	for (side = 0; side < 2; side++) {
		pids[side] = fork_child();
		if (pids[side])
			continue;
		be_partner(opt, side, pipes[!side], pipes[side], slot);
		_exit(0);
	}
	for (side = 0; side < 2; side++) {
		close(pipes[side][0]);
		close(pipes[side][1]);
	}
	return 2;
}

/* Keep every slot busy until the time is up. */
void run_processes(const struct options *opt)
{
	pid_t pids[MAX_THREADS][2] = {};
	unsigned int left[MAX_THREADS] = {}, slot, side;
	__u64 end = now_ns() + opt->seconds * NSEC_PER_SEC, sum = 0, ended = 0;
	int status;

	while (now_ns() < end) {
		pid_t pid;

		for (slot = 0; slot < opt->threads; slot++)
			if (!left[slot])
				left[slot] = start_slot(opt, slot, pids[slot]);
		pid = waitpid(-1, &status, WNOHANG);
		if (!pid) {
			nap(1);
			continue;
		}
		if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			errx(1, "a process failed");
		ended++;
		for (slot = 0; slot < opt->threads; slot++)
			for (side = 0; side < 2; side++)
				if (left[slot] && pids[slot][side] == pid)
					left[slot]--;
	}
	for (slot = 0; slot < opt->threads; slot++)
		sum += READ_ONCE(shared->work[slot][0]);
	for (slot = 0; slot < opt->threads; slot++)
		for (side = 0; side < (left[slot] ? 1U + opt->pattern->pairs : 0); side++)
			kill(pids[slot][side], SIGKILL);
	while (wait(&status) > 0)
		;
	printf("\"work\": %llu, \"processes\": %llu,", sum, ended);
}
