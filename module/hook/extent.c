// SPDX-License-Identifier: GPL-2.0-only
/*
 * extent.c - can a variable of that size lie there?
 *
 * BTF describes no variable but per-CPU ones, and the symbol table of a running kernel
 * tells where one begins, not how long it is.  It tells where the next one begins: in
 * between are the variable, and the gap that aligns the next one.
 */
#include <linux/kernel.h>

#include "extent.h"

/**
 * lmm_extent_within() - does a piece of memory lie in one of several?
 * @part: the piece
 * @wholes: the others; an empty one holds nothing
 * @nr: how many these are
 *
 * Context: any; pure.
 * Return: true if all of it lies in one of them.
 */
bool lmm_extent_within(struct lmm_extent part, const struct lmm_extent *wholes,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (part.start < part.end && part.start >= wholes[i].start &&
		    part.end <= wholes[i].end)
			return true;
	return false;
}

/**
 * lmm_extent_fits() - is what lies between two symbols a variable of that size?
 * @room: from its symbol to the next
 * @size: of the variable, as we were compiled
 * @align: of its type
 * @padded: variables may be longer than their types (KASAN)
 * @why: on false, how it differs, in words
 * @len: size of @why
 *
 * A gap that is as long as the next symbol is aligned is no gap: something longer than
 * we know lies there.  A shorter gap may hide a variable that has grown into it.
 *
 * Context: any; pure.
 * Return: true if it can be one.
 */
bool lmm_extent_fits(struct lmm_extent room, size_t size, size_t align, bool padded,
		     char *why, size_t len)
{
	unsigned long bytes = room.end - room.start;
	unsigned long next_align = room.end & -room.end;

	if (room.start % align) {
		scnprintf(why, len, "is not aligned to %zu bytes", align);
		return false;
	}
	if (bytes < size) {
		scnprintf(why, len, "is at most %lu bytes long, expected %zu", bytes, size);
		return false;
	}
	if (!padded && bytes - size >= next_align) {
		scnprintf(why, len, "is about %lu bytes long, expected %zu", bytes, size);
		return false;
	}
	return true;
}
