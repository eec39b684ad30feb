// SPDX-License-Identifier: GPL-2.0-only
/*
 * comm_test.c - suite livemm-comm
 */
#include <kunit/test.h>

#include "../module/comm.h"

/* What a process calls itself, and what a line says. */
static const struct comm_case {
	const char *name;
	const char *comm;
	const char *said;
} comm_cases[] = {
	{ "a program", "kswapd0", "kswapd0" },
	{ "blanks", "Web Content", "Web Content" },
	{ "a line of its own", "\n# held 0 D 99\n", "?# held 0 D 99?" },
	{ "codes for a terminal", "\033[2J\033[H", "?[2J?[H" },
	{ "not ASCII", "\xc3\xa4\x9b", "???" },
	{ "none", "", "" },
};

NAMED_CASES(comm, comm_cases);

static void comm_is_fit_for_a_line(struct kunit *test)
{
	const struct comm_case *one = test->param_value;
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	char said[TASK_COMM_LEN];

	KUNIT_ASSERT_NOT_NULL(test, task);
	strscpy(task->comm, one->comm, sizeof(task->comm));
	KUNIT_EXPECT_STREQ(test, lmm_comm(said, task), one->said);
}

static struct kunit_case comm_test_cases[] = {
	KUNIT_CASE_PARAM(comm_is_fit_for_a_line, comm_gen_params),
	{ }
};

static struct kunit_suite comm_suite = {
	.name = "livemm-comm",
	.test_cases = comm_test_cases,
};
