/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registry.h - policies come and go
 */
#ifndef LIVEMM_CONTROL_REGISTRY_H
#define LIVEMM_CONTROL_REGISTRY_H

struct lmm_policy;

int lmm_policy_register(struct lmm_policy *policy);
void lmm_policy_unregister(struct lmm_policy *policy);

#endif /* LIVEMM_CONTROL_REGISTRY_H */
