/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * free_path.h - was a per-CPU list drained because a page was freed to it?
 *
 * Others drain a list because they want its pages in the buddy.  The return address of the drain
 * tells the callers apart.  (A tracer that changes return addresses, as the function graph tracer
 * does, makes every drain look like one of the others.)
 */
#ifndef LIVEMM_POLICY_COMMON_FREE_PATH_H
#define LIVEMM_POLICY_COMMON_FREE_PATH_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Number of kernel functions that drain a list because a page was freed to it. */
#define LMM_NR_FREE_PATHS	3

/**
 * struct lmm_code - code of a kernel function
 * @start: address of the first byte
 * @size: length in bytes, 0 if not known
 */
struct lmm_code {
	unsigned long start;
	unsigned long size;
};

extern struct lmm_code lmm_free_paths[LMM_NR_FREE_PATHS];

bool lmm_free_paths_find(char *why, size_t len);

/**
 * lmm_frees() - is an address in a function that drains a list because a page was freed to it?
 * @caller: return address of a drain
 *
 * Context: any, after lmm_free_paths_find().
 * Return: true if so; false also for functions that are not known.
 */
static inline bool lmm_frees(unsigned long caller)
{
	unsigned int i;

	for (i = 0; i < LMM_NR_FREE_PATHS; i++)
		if (caller - READ_ONCE(lmm_free_paths[i].start) <
		    READ_ONCE(lmm_free_paths[i].size))
			return true;
	return false;
}

#endif /* LIVEMM_POLICY_COMMON_FREE_PATH_H */
