// SPDX-License-Identifier: GPL-2.0-only
/*
 * prototype.c - comparing two prototypes, argument by argument
 *
 * A prototype is written "ret (arg, arg, ...)", as btf.c writes the running
 * kernel's: "int (struct zone *zone, unsigned int order)".  No argument is "void".  An
 * argument may come without its name: "int (struct zone *, unsigned int)".  The name of a
 * pointer to a function comes last: "int (*)(struct cma *, void *) it".
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "prototype.h"

/* One part of a prototype: the return type (part 0) or an argument. */
struct proto_part {
	const char *start;
	int len;
};

/* Part @nr of @proto; the length is zero if @proto has fewer parts. */
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

static bool one_of(struct proto_part word, const char *const *words, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (strlen(words[i]) == word.len && !memcmp(words[i], word.start, word.len))
			return true;
	return false;
}

/* The last word of @part; empty if @part ends with another character, such as a star. */
static struct proto_part last_word(struct proto_part part)
{
	struct proto_part word = { .start = part.start + part.len, .len = 0 };

	while (word.start > part.start && (isalnum(word.start[-1]) || word.start[-1] == '_')) {
		word.start--;
		word.len++;
	}
	return word;
}

/*
 * Remove the name of an argument from @part, and return the name; empty for an argument without
 * a name.  The last word is the name if the words before are a type by themselves, and if the
 * last word is not a keyword of C for a type.
 */
static struct proto_part take_name(struct proto_part *part)
{
	static const char *const types[] = {
		"void", "char", "short", "int", "long", "signed", "unsigned", "float",
		"double", "bool", "_Bool", "__int128",
	};
	static const char *const unfinished[] = {
		"struct", "union", "enum", "const", "volatile",
	};
	struct proto_part none = { .start = part->start, .len = 0 };
	struct proto_part name = last_word(*part);
	struct proto_part type = { .start = part->start, .len = part->len - name.len };

	while (type.len && type.start[type.len - 1] == ' ')
		type.len--;
	if (!name.len || !type.len || one_of(name, types, ARRAY_SIZE(types)) ||
	    one_of(last_word(type), unfinished, ARRAY_SIZE(unfinished)))
		return none;
	*part = type;
	return name;
}

static bool part_equal(struct proto_part a, struct proto_part b)
{
	return a.len == b.len && !strncmp(a.start, b.start, a.len);
}

/**
 * lmm_prototype_equal() - does the kernel's function have the expected prototype?
 * @want: expected prototype
 * @have: prototype of the running kernel
 * @why: on false, which part differs and how, in words
 * @len: size of @why
 *
 * The names of an argument are compared where both prototypes have one: an argument of another
 * name may mean another thing of the same type.
 *
 * Context: any; pure.
 * Return: true if return type, number, types and names of arguments are equal.
 */
bool lmm_prototype_equal(const char *want, const char *have, char *why, size_t len)
{
	unsigned int nr;

	for (nr = 0; ; nr++) {
		struct proto_part w = proto_part(want, nr);
		struct proto_part h = proto_part(have, nr);
		struct proto_part w_name, h_name;

		if (!w.len && !h.len) {
			/* A prototype that was cut short has arguments that nobody sees. */
			if (nr && have[strlen(have) - 1] == ')')
				return true;
			scnprintf(why, len, "%s", nr ? "prototype too long to compare" :
						      "no prototype to compare");
			return false;
		}
		/* A return type has no name, and take_name() finds none. */
		w_name = take_name(&w);
		h_name = take_name(&h);
		if (part_equal(w, h) && (!w_name.len || !h_name.len || part_equal(w_name, h_name)))
			continue;
		if (nr == 0)
			scnprintf(why, len, "returns '%.*s', expected '%.*s'",
				  h.len, h.start, w.len, w.start);
		else if (!w.len)
			scnprintf(why, len, "argument %u is new: '%.*s'", nr, h.len, h.start);
		else if (!h.len)
			scnprintf(why, len, "argument %u is missing: '%.*s'", nr, w.len, w.start);
		else if (part_equal(w, h))
			scnprintf(why, len, "parameter %u is called '%.*s', expected '%.*s'",
				  nr, h_name.len, h_name.start, w_name.len, w_name.start);
		else
			scnprintf(why, len, "argument %u is '%.*s', expected '%.*s'",
				  nr, h.len, h.start, w.len, w.start);
		return false;
	}
}
