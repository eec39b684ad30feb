/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ahead.h - pages of a list that go before the kernel asks for them
 */
#ifndef LIVEMM_POLICY_ZONELOCK_AHEAD_H
#define LIVEMM_POLICY_ZONELOCK_AHEAD_H

struct lmm_drain;

int ahead_take(const struct lmm_drain *drain, unsigned long until);
void ahead_note(const struct lmm_drain *drain, unsigned long until, int more);
int ahead_decay(const struct lmm_drain *drain);

#endif /* LIVEMM_POLICY_ZONELOCK_AHEAD_H */
