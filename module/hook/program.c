// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - run a program of user space, as the kernel runs modprobe
 *
 * request_module() cannot pass parameters, and waits for the end of modprobe itself.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/umh.h>

#include "program.h"

/* Between two looks whether it still runs. */
#define LOOK_JIFFIES	(HZ / 20)

/* Of running a program while the kernel runs none, one a second. */
#define TRIES		30

/* In the new process, before the program: who to wait for. */
static int note_pid(struct subprocess_info *info, struct cred *new)
{
	struct pid **pid = info->data;

	*pid = get_task_pid(current, PIDTYPE_PID);
	return 0;
}

static bool pid_runs(struct pid *pid)
{
	bool runs;

	rcu_read_lock();
	runs = pid_task(pid, PIDTYPE_PID);
	rcu_read_unlock();
	return runs;
}

/**
 * lmm_program_run() - run a program to its end
 * @program: its path
 * @module: its first argument, the module that it is about
 * @option: its second argument, or NULL
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * How it ends is not told; what it has done is to be seen.  The kernel counts the programs that
 * it itself waits for, and suspends nothing while there is one (usermodehelper_disable()): so it
 * waits until this one has begun, and we until it has ended.
 *
 * The arguments are in the frame of a kernel thread, which no signal reaches: so the wait cannot
 * end before the kernel has copied them.  It is killable only so that nobody reports it as hung.
 *
 * Context: a kernel thread, may sleep for as long as the program runs.
 * Return: 0, or -errno when it could not be run.
 */
int lmm_program_run(char *program, const char *module, char *option, char *why, size_t len)
{
	static char *const environment[] = {
		"HOME=/", "TERM=linux", "PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL
	};
	struct subprocess_info *info;
	struct pid *pid = NULL;
	unsigned int tries;
	int err = -ENOMEM;
	char *argv[4];

	argv[0] = program;
	argv[1] = (char *)module;
	argv[2] = option;
	argv[3] = NULL;
	for (tries = 0; tries < TRIES; tries++) {
		info = call_usermodehelper_setup(program, argv, (char **)environment, GFP_KERNEL,
						 note_pid, NULL, &pid);
		if (info)
			err = call_usermodehelper_exec(info, UMH_WAIT_EXEC | UMH_KILLABLE);
		/* That is what there is to hear while the machine goes to sleep. */
		if (err != -EBUSY)
			break;
		schedule_timeout_idle(HZ);
	}
	if (err)
		scnprintf(why, len, "cannot run %s (%d) for %s", program, err, module);
	while (!err && pid && pid_runs(pid))
		schedule_timeout_idle(LOOK_JIFFIES);
	put_pid(pid);
	return err;
}
