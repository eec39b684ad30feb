// SPDX-License-Identifier: GPL-2.0-only
/*
 * prototype.c - comparing two prototypes, argument by argument
 *
 * A prototype is written "ret (arg, arg, ...)", as btf.c writes the running
 * kernel's: "int (struct zone *, unsigned int)".  No argument is "void".
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "prototype.h"

/* One part of a prototype: the return type (part 0) or an argument. */
struct proto_part {
	const char *start;
	int len;
};

/* Part @nr of @proto; a zero length says that there are not so many. */
static struct proto_part proto_part(const char *proto, unsigned int nr)
{
	const char *open = strchr(proto, '(');
	struct proto_part part = { .start = proto, .len = 0 };
	unsigned int depth = 0;
	const char *pos;

	if (!open)
		return part;
	if (nr == 0) {
		part.len = open - proto;
		while (part.len && part.start[part.len - 1] == ' ')
			part.len--;
		return part;
	}
	part.start = open + 1;
	for (pos = open + 1; *pos; pos++) {
		bool end = depth == 0 && (*pos == ',' || *pos == ')');

		if (end && --nr == 0) {
			part.len = pos - part.start;
			return part;
		}
		if (end && *pos == ')')
			break;
		if (end) {
			part.start = pos + 1;
			while (*part.start == ' ')
				part.start++;
			continue;
		}
		if (*pos == '(')
			depth++;
		else if (*pos == ')')
			depth--;
	}
	part.len = 0;
	return part;
}

/**
 * lmm_prototype_equal() - is the kernel's function the one we were written for?
 * @want: expected prototype
 * @have: prototype of the running kernel
 * @why: on false, which part differs and how, in words
 * @len: size of @why
 *
 * Context: any; pure.
 * Return: true if return type, number and types of arguments are the same.
 */
bool lmm_prototype_equal(const char *want, const char *have, char *why, size_t len)
{
	unsigned int nr;

	for (nr = 0; ; nr++) {
		struct proto_part w = proto_part(want, nr);
		struct proto_part h = proto_part(have, nr);

		if (!w.len && !h.len) {
			if (nr)
				return true;
			scnprintf(why, len, "no prototype to compare");
			return false;
		}
		if (w.len == h.len && !strncmp(w.start, h.start, w.len))
			continue;
		if (nr == 0)
			scnprintf(why, len, "returns '%.*s', expected '%.*s'",
				  h.len, h.start, w.len, w.start);
		else if (!w.len)
			scnprintf(why, len, "argument %u is new: '%.*s'",
				  nr, h.len, h.start);
		else if (!h.len)
			scnprintf(why, len, "argument %u is missing: '%.*s'",
				  nr, w.len, w.start);
		else
			scnprintf(why, len, "argument %u is '%.*s', expected '%.*s'",
				  nr, h.len, h.start, w.len, w.start);
		return false;
	}
}
