// SPDX-License-Identifier: GPL-2.0-only
/*
 * prototype.c - comparing two prototypes
 *
 * A prototype is written "ret (type name, type name)", as btf.c writes the running kernel's:
 * "int (struct zone *zone, unsigned int order)".  No argument is "void".  The name of a pointer to
 * a function comes last: "int (*)(struct cma *, void *) it".
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "prototype.h"

/* The length of a part, without a blank before @end and without the end of the prototype. */
static int part_len(const char *part, const char *end)
{
	int len = strcspn(part, end);

	return len && (part[len - 1] == ' ' || !part[len]) ? len - 1 : len;
}

/**
 * lmm_prototype_equal() - does the kernel's function have the expected prototype?
 * @want: expected prototype
 * @have: prototype of the running kernel
 * @why: on false, the first part that differs, in words
 * @len: size of @why
 *
 * An argument of another name may mean another thing of the same type, so names count.
 *
 * Context: any; pure.
 * Return: true if return type, number, types and names of arguments are equal.
 */
bool lmm_prototype_equal(const char *want, const char *have, char *why, size_t len)
{
	const char *until = "(";
	size_t end = strlen(have);
	size_t at = 0;

	/* A prototype that was cut short has arguments that nobody sees. */
	if (!end || have[end - 1] != ')') {
		scnprintf(why, len, "prototype too long to compare");
		return false;
	}
	while (want[at] && want[at] == have[at])
		at++;
	if (want[at] == have[at])
		return true;
	if (want[at] && strchr(",)", want[at]) && strchr(",)", have[at])) {
		scnprintf(why, len, "has %s arguments than expected",
			  have[at] == ',' ? "more" : "fewer");
		return false;
	}
	while (at && want[at - 1] != '(' && want[at - 1] != ',')
		at--;
	if (at)
		until = ",";
	want = skip_spaces(want + at);
	have = skip_spaces(have + at);
	scnprintf(why, len, "has '%.*s', expected '%.*s'", part_len(have, until), have,
		  part_len(want, until), want);
	return false;
}
