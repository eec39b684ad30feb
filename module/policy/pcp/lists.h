/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lists.h - the lists that the pcp policy sizes, and its counters
 */
#ifndef LIVEMM_POLICY_PCP_LISTS_H
#define LIVEMM_POLICY_PCP_LISTS_H

#include "compat/pageset.h"
#include "core.h"
#include "knobs.h"
#include "core_depth.h"
#include "core_event.h"

/**
 * struct pcp_list - the policy's state of the list of one zone on one CPU
 * @depth: averages of its periods, in mode `depth`
 * @event: its recent events, in mode `event`
 * @decision: latest decision of a pass
 * @reason: latest reason, of a pass or a hook, for `state`; each writes it with one store
 * @limits: limits of @decision; @max is 0 until the first pass
 * @written: the bound that the policy has set, in pages; 0 while the kernel's own stands
 * @tuned: the bound before the policy's first write, in pages
 * @returning: a pass is draining the list, so a drain says nothing about the list's needs
 *
 * All but @depth, @decision and @reason are written under the list's pcp->lock.
 * Only a pass uses @depth and @decision.
 */
struct pcp_list {
	struct pcp_depth depth;
	struct pcp_event event;
	struct pcp_decision decision;
	enum pcp_reason reason;
	struct pcp_limits limits;
	int written;
	int tuned;
	bool returning;
};

/* Words of `state` and of tracepoints. */
extern const char *const pcp_reason_words[PCP_NR_REASONS];

void pcp_list_sample(struct zone *zone, int cpu, unsigned int type, struct pcp_sample *sample);
int pcp_list_raised(struct per_cpu_pages *pages, const struct pcp_list *list);
int pcp_list_excess(struct zone *zone, int cpu, const struct pcp_list *list);
enum pcp_reason pcp_list_reason(const struct pcp_list *list);
bool pcp_list_grow(struct zone *zone, int cpu, struct pcp_list *list, int high);
void pcp_list_yield(struct zone *zone, int cpu, struct pcp_list *list);
int pcp_list_set(struct zone *zone, int cpu, struct pcp_list *list, int high);
int pcp_list_restore(struct zone *zone, int cpu, struct pcp_list *list, int tuned);

#endif /* LIVEMM_POLICY_PCP_LISTS_H */
