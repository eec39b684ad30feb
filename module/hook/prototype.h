/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prototype.h - comparing the prototype we were written for with the one the
 * running kernel has; text only, so that it can be tested anywhere
 */
#ifndef LIVEMM_HOOK_PROTOTYPE_H
#define LIVEMM_HOOK_PROTOTYPE_H

#include <linux/types.h>

bool lmm_prototype_equal(const char *want, const char *have, char *why, size_t len);

#endif /* LIVEMM_HOOK_PROTOTYPE_H */
