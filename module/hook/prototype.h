/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prototype.h - compare the expected prototype of a function with the running kernel's
 * prototype; text only
 */
#ifndef LIVEMM_HOOK_PROTOTYPE_H
#define LIVEMM_HOOK_PROTOTYPE_H

#include <linux/types.h>

bool lmm_prototype_equal(const char *want, const char *have, char *why, size_t len);

#endif /* LIVEMM_HOOK_PROTOTYPE_H */
