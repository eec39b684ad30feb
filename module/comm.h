/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm.h - names of tasks in text for people and programs
 */
#ifndef LIVEMM_COMM_H
#define LIVEMM_COMM_H

#include <linux/ctype.h>
#include <linux/sched.h>
#include <linux/string.h>

/**
 * lmm_comm() - name of a task, fit for a line
 * @to: receives the name, TASK_COMM_LEN bytes
 * @task: the task
 *
 * Any process may give itself a name with line ends, or with codes for a terminal.  Bytes that
 * cannot be printed become '?'.
 *
 * Context: any.
 * Return: @to.
 */
static inline char *lmm_comm(char *to, const struct task_struct *task)
{
	char *at;

	strscpy(to, task->comm, TASK_COMM_LEN);
	for (at = to; *at; at++)
		if (!isascii(*at) || !isprint(*at))
			*at = '?';
	return to;
}

#endif /* LIVEMM_COMM_H */
