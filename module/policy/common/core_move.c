// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_move.c - which pages the worker leaves where they are; see core_move.h
 */
#include <linux/bits.h>

#include "core_move.h"

/* Reasons that time may remove.  Other pages stay as they are until their owners free them. */
#define PASSING \
	(BIT(LMM_SKIP_OFF_LIST) | BIT(LMM_SKIP_LOCKED) |		\
	 BIT(LMM_SKIP_WRITEBACK) | BIT(LMM_SKIP_NOT_READ) |		\
	 BIT(LMM_SKIP_FILESYSTEM) | BIT(LMM_SKIP_PINNED))

/**
 * lmm_skip_passes() - may a page that is skipped now be moved later?
 * @why: why the page is skipped
 *
 * Return: true if another look at the block is worth while.
 */
bool lmm_skip_passes(enum lmm_skip why)
{
	return PASSING & BIT(why);
}
