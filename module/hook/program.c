// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - run a program of user space, as the kernel runs modprobe
 *
 * request_module() cannot pass parameters, and waits for the end of modprobe in the caller.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/umh.h>

#include "program.h"

/* Time between two looks whether the program still runs. */
#define LOOK_JIFFIES	(HZ / 20)

/* Tries to run a program, one a second, while the kernel is being suspended. */
#define TRIES		30

/* Runs in the new process, before the program: note the process to wait for. */
static int note_pid(struct subprocess_info *info, struct cred *new)
{
	struct pid **pid = info->data;

	/* That of a try before, if the kernel answered -EBUSY after the process had begun. */
	put_pid(*pid);
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
 * @program: path of the program
 * @module: first argument, the name of a module
 * @option: second argument, or NULL
 * @why: the reason in words on failure
 * @len: size of @why
 *
 * The caller has to look at what the program has done: the exit status is not known.  The kernel
 * does not suspend while the kernel itself waits for a program (usermodehelper_disable()).  The
 * kernel therefore waits here for the begin of the program only, and livemm waits for the end.
 *
 * The arguments are in the frame of a kernel thread.  No signal reaches a kernel thread, so the
 * wait cannot end before the kernel has copied the arguments.  The wait is killable only to keep
 * the hung task detector silent.
 *
 * Context: a kernel thread, may sleep for as long as the program runs.
 * Return: 0, or -errno when the program could not be run.
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
		/* The kernel answers -EBUSY while the machine goes to sleep. */
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
