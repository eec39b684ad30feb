/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * look.h - policies come and go; workers that tidy up, look after hooks, and say what hangs
 */
#ifndef LIVEMM_CONTROL_LOOK_H
#define LIVEMM_CONTROL_LOOK_H

#include <linux/types.h>

struct lmm_policy;
struct work_struct;

int lmm_look_init(void);
void lmm_look_exit(void);
void lmm_look_soon(void);
void lmm_look_hear(struct work_struct *work);
int lmm_policy_register(struct lmm_policy *policy);
void lmm_policy_unregister(struct lmm_policy *policy);
void lmm_policy_waits(const struct lmm_policy *policy, char *why, size_t len);
void lmm_policies_cut(unsigned int named);

#endif /* LIVEMM_CONTROL_LOOK_H */
