// SPDX-License-Identifier: GPL-2.0-only
/*
 * free_path.c - the kernel functions that drain a list because a page was freed to it
 */
#include <linux/kernel.h>

#include "free_path.h"
#include "hook/symbols.h"

/* By the names that kernels have; nobody calls them, so their prototypes do not matter. */
static const char *const functions[LMM_NR_FREE_PATHS][2] = {
	/* Frees a page to a list, and drains a full list. */
	{ "free_unref_page_commit", "free_frozen_page_commit" },
	/*
	 * Frees one page, by the function above; a drain returns there where the compiler made the
	 * call of the drain a jump.
	 */
	{ "free_unref_page", "__free_frozen_pages" },
	/* Frees many pages, by the first function. */
	{ "free_unref_folios", "free_unref_page_list" },
};

struct lmm_code lmm_free_paths[LMM_NR_FREE_PATHS];

/**
 * lmm_free_paths_find() - find the functions
 * @why: on false, what is missing
 * @len: size of @why
 *
 * What is found does not change, so that each policy may look when it is switched on.
 *
 * Context: process.
 * Return: true if all were found.
 */
bool lmm_free_paths_find(char *why, size_t len)
{
	bool found = true;
	unsigned int i;

	for (i = 0; i < LMM_NR_FREE_PATHS; i++) {
		unsigned long start = lmm_symbol_find(functions[i][0]) ?:
				      lmm_symbol_find(functions[i][1]);
		unsigned long size = lmm_symbol_size(start);

		WRITE_ONCE(lmm_free_paths[i].start, start);
		WRITE_ONCE(lmm_free_paths[i].size, size);
		if (size)
			continue;
		scnprintf(why, len, "drains that a free causes cannot be told: no %s, no %s",
			  functions[i][0], functions[i][1]);
		found = false;
	}
	return found;
}
