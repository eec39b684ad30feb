/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ahead.h - pages of a list that go before the kernel asks for them
 */
#ifndef LIVEMM_POLICY_ZONELOCK_AHEAD_H
#define LIVEMM_POLICY_ZONELOCK_AHEAD_H

struct per_cpu_pages;
struct zone;

int ahead_take(const struct per_cpu_pages *pages, unsigned long caller, unsigned long until,
	       int count);
void ahead_note(const struct per_cpu_pages *pages, unsigned long caller, unsigned long until,
		int more);
int ahead_decay(struct zone *zone, int count, struct per_cpu_pages *pages, unsigned long caller);

#endif /* LIVEMM_POLICY_ZONELOCK_AHEAD_H */
