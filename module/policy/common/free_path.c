// SPDX-License-Identifier: GPL-2.0-only
/*
 * free_path.c - the kernel functions that drain a list because a page was freed to it
 */
#include "free_path.h"
#include "hook/hook.h"
#include "hook/symbols.h"

static const enum lmm_hook_id rows[LMM_NR_FREE_PATHS] = {
	LMM_HOOK_FREE_COMMIT,
	LMM_HOOK_FREE_PAGE,
	LMM_HOOK_FREE_PAGES,
};

struct lmm_code lmm_free_paths[LMM_NR_FREE_PATHS];

/**
 * lmm_free_paths_find() - find the functions
 *
 * What is found does not change, so that each policy may look when it is switched on.
 *
 * Context: process.
 * Return: true if all were found.
 */
bool lmm_free_paths_find(void)
{
	bool found = true;
	unsigned int i;

	for (i = 0; i < LMM_NR_FREE_PATHS; i++) {
		unsigned long start = lmm_hook_address(rows[i]);
		unsigned long size = lmm_symbol_size(start);

		WRITE_ONCE(lmm_free_paths[i].start, start);
		WRITE_ONCE(lmm_free_paths[i].size, size);
		found &= size > 0;
	}
	return found;
}
