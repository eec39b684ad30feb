/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - the lists and depots of a host with policies pcp and zonelock: shared by lists.c,
 * depots.c and replay.c
 */
#ifndef LIVEMM_WHATIF_MODEL_H
#define LIVEMM_WHATIF_MODEL_H

#include <linux/kernel.h>

#include "policy/pcp/core.h"
#include "policy/pcp/core_event.h"
#include "policy/zonelock/core.h"
#include "policy/zonelock/depot.h"
#include "replay.h"

#define NS_PER_MS	1000000LL

/* A list: first as recorded, then of the model. */
struct list {
	bool known;
	int seen;			/* pages at the latest moment */
	bool freed_last;		/* the list was last drained, not refilled */
	bool took_last;			/* the CPU has last taken more than it gave */
	long net;
	unsigned long allocated;
	long due;			/* pages that came, and that no refill has brought yet */
	int floor;			/* pages that a request cannot use */
	int64_t since;			/* up to when pages that came are in the list */
	int64_t next;			/* when the recording tells of the list again, or 0 */
	int next_count;			/* and its pages then */
	bool movable;			/* the CPU last wanted movable pages */

	int count;
	int batch;
	int tuned;			/* pcp->high where the kernel tunes */
	int free_factor;		/* 6.1 */
	int alloc_factor;		/* from 6.7 on */
	int free_count;			/* from 6.7 on */
	unsigned int refills;		/* one after the other, for zonelock */

	struct pcp_event event;
	struct pcp_limits limits;
	struct pcp_decision decision;
	int written;			/* bound that the policy has set, or 0 */
	bool changed;			/* a policy has once set its bound, or taken its pages */
};

struct zone {
	bool known;
	int cpus;
	bool reclaim;
	int low;
	int high;
	long managed;
	long free;			/* as recorded */
	long high_mark;
	long mark;
	long gap;
	long more;			/* pages in lists of the model beyond those recorded */
	long raised;
	bool near;
	int64_t kicked;
	int64_t pass_at;

	struct depot depot;		/* has no shards where zonelock is off */
	struct depot_shard *shard;
	struct depot_batch *batches;
	unsigned long took;
	int64_t reckoned;		/* time of @took */
	unsigned long open_at;		/* jiffies */
	bool wanted;

	struct list *lists[WHATIF_CPUS];
};

struct model {
	const struct whatif_pcp *config;
	const struct whatif_zonelock *zonelock;
	struct whatif_result *result;
	struct whatif_span span;	/* of the list that the row at hand tells of */
	int others;			/* pages there that a request cannot use, an estimate */
	struct zone zones[WHATIF_SLOTS];
	int nr_slots;
	int nr_cpus;
	bool tunes;
	bool leapt;			/* a CPU took or gave more than any can */
	int64_t now;
	int64_t next_tick;
	int64_t next_vmstat;
	int64_t depot_tick;		/* next pass over the depots, or 0 */
	int64_t depot_kick;		/* and one that a hook asked for */
	long kept;
};

/* Free pages of a zone, as the kernel counts them. */
static inline long model_free(const struct zone *zone)
{
	return zone->free - zone->more;
}

/*
 * Is the list as recorded, its bound too?  From 6.7 on the kernel tunes the bound, and knows more
 * than a recording; until a policy changes the list, the recorded bound is the model's.
 */
static inline bool model_follows(const struct model *model, const struct list *list)
{
	return model->tunes && !list->changed;
}

/* lists.c */
void model_keep(struct model *model, struct zone *zone, long pages);
void model_add(struct model *model, struct zone *zone, struct list *list, int pages);
void model_came(struct model *model, struct zone *zone, struct list *list, int pages);
void model_drain(struct model *model, struct zone *zone, struct list *list, int pages);
void model_take(struct model *model, struct zone *zone, struct list *list, long pages);
void model_give(struct model *model, struct zone *zone, struct list *list, long pages);
void model_exit(struct model *model, struct zone *zone, struct list *list);
void model_meanwhile(struct model *model, struct zone *zone, const struct list *asks);
void model_pass(struct model *model, struct zone *zone, bool tick);
void model_vmstat(struct model *model, struct zone *zone);

/* depots.c */
int depot_begin(const struct model *model, struct zone *zone);
void depot_end(struct zone *zone);
int depot_store(struct model *model, struct zone *zone, struct list *list, int asked);
int depot_exit(struct model *model, struct zone *zone, struct list *list, int asked);
int depot_fill(struct model *model, struct zone *zone, struct list *list);
int depot_shrink(struct model *model, struct zone *zone, struct list *list, int keep);
int depot_split(struct model *model, struct zone *zone, struct list *list, int asked, int high);
long depot_return_zone(struct model *model, struct zone *zone, enum depot_reason reason);
void depot_pass(struct model *model);
void depot_wanted(struct model *model);

#endif /* LIVEMM_WHATIF_MODEL_H */
