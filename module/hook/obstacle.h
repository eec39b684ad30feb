/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * obstacle.h - reasons why a verified row cannot be armed, or an armed row is not called
 */
#ifndef LIVEMM_HOOK_OBSTACLE_H
#define LIVEMM_HOOK_OBSTACLE_H

#include "table.h"

void lmm_obstacles_init(void);
bool lmm_mechanism_off(void);
void lmm_row_obstacle(const struct lmm_hook *hook, char *why, size_t len);
void lmm_row_silence(const struct lmm_hook *hook, char *why, size_t len);

#endif /* LIVEMM_HOOK_OBSTACLE_H */
