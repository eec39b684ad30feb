/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lease.h - a host whose controller died goes back to stock by itself
 */
#ifndef LIVEMM_CONTROL_LEASE_H
#define LIVEMM_CONTROL_LEASE_H

#include "livemm.h"

extern const struct lmm_knob lmm_lease_knob;

void lmm_lease_init(void);
void lmm_lease_set(u32 seconds);
u32 lmm_lease_left(void);

#endif /* LIVEMM_CONTROL_LEASE_H */
