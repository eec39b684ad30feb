/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * extent.h - can a variable of a given size lie at an address?  Pure arithmetic
 */
#ifndef LIVEMM_HOOK_EXTENT_H
#define LIVEMM_HOOK_EXTENT_H

#include <linux/types.h>

/**
 * struct lmm_extent - a piece of memory
 * @start: address of the first byte
 * @end: address behind the last byte
 */
struct lmm_extent {
	unsigned long start;
	unsigned long end;
};

bool lmm_extent_within(struct lmm_extent part, const struct lmm_extent *wholes, unsigned int nr);
bool lmm_extent_fits(struct lmm_extent room, size_t size, size_t align, bool padded,
		     char *why, size_t len);

#endif /* LIVEMM_HOOK_EXTENT_H */
