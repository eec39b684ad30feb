/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change.h - the one door to settings: what a text says, judged once and done whole
 */
#ifndef LIVEMM_CONTROL_CHANGE_H
#define LIVEMM_CONTROL_CHANGE_H

#include "knobs.h"

int lmm_control_write(const struct lmm_policy *policy, unsigned int key, char *text, char *why);
size_t lmm_control_format(struct lmm_policy *policy, unsigned int key, char *buf, size_t len);

#endif /* LIVEMM_CONTROL_CHANGE_H */
