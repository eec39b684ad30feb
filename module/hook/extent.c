// SPDX-License-Identifier: GPL-2.0-only
/*
 * extent.c - can a variable of a given size lie at an address?
 *
 * BTF describes only per-CPU variables.  The symbol table of a running kernel tells where each
 * variable begins, but not how long a variable is.  Between two symbols lie the first variable
 * and the gap that aligns the second variable.
 */
#include <linux/kernel.h>

#include "extent.h"

/**
 * lmm_extent_within() - does a piece of memory lie in one of several?
 * @part: the piece
 * @wholes: the pieces that may contain @part; an empty piece contains nothing
 * @nr: number of @wholes
 *
 * Context: any; pure.
 * Return: true if one of @wholes contains all of @part.
 */
bool lmm_extent_within(struct lmm_extent part, const struct lmm_extent *wholes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (part.start < part.end && part.start >= wholes[i].start &&
		    part.end <= wholes[i].end)
			return true;
	return false;
}

/**
 * lmm_extent_fits() - can a variable of a given size fill the room between two symbols?
 * @room: from the symbol of the variable to the next symbol
 * @size: of the variable, as we were compiled
 * @align: alignment of the type of the variable
 * @padded: variables may be longer than their types (KASAN)
 * @why: on false, how the room differs, in words
 * @len: size of @why
 *
 * A gap as long as the alignment of the next symbol means that the variable is longer than the
 * type we know.  A shorter gap may hide a variable that has grown into the gap.
 *
 * Context: any; pure.
 * Return: true if the variable can fill the room.
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
