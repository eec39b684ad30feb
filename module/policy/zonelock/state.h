/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - declarations that the files of the zonelock policy share
 *
 *	knobs.c		knobs and counters
 *	policy.c	switching on and off, settings, `state`
 *	handlers.c	what the hooks report; runs under the kernel's pcp->lock
 *	urgent.c	requests that cannot wait for a pass, and pages that break
 *	giveback.c	gives pages of depots back to the buddy
 *	hand.c		blocks on their way to the buddy, under few holds of zone->lock
 *	runs.c		neighbouring pages as larger blocks
 *	depot.c		the depot: a container that CPUs share
 *	shards.c	which CPUs share a part of a depot
 *	core.c		what a depot may keep
 */
#ifndef LIVEMM_POLICY_ZONELOCK_STATE_H
#define LIVEMM_POLICY_ZONELOCK_STATE_H

#include <linux/jiffies.h>
#include <linux/mmzone.h>
#include <linux/workqueue.h>

#include "livemm.h"
#include "core.h"
#include "knobs.h"
#include "depot.h"
#include "policy/common/worker.h"
#include "policy/common/zones.h"

struct lmm_drain;
struct lmm_klp_return;
struct lmm_refill;

/* Memory of batches; freed when the policy goes off. */
struct zonelock_chunk {
	struct zonelock_chunk *next;
	struct depot_batch batch[];
};

/**
 * struct zonelock_zone - the policy's state of a zone
 * @depot: depot of the zone; has no shards if the zone had no memory when the policy came on
 * @chunks: the batches that the depot was given
 * @returning: CPUs between taking a batch out and the end of its drain, preemption off
 * @took: pages that CPUs take in max_age, as a pass has last reckoned
 * @reckoned: jiffies when @took was last reckoned; for passes alone
 * @closed_at: jiffies when the depot was last closed, for a second
 * @broken: a page of the zone broke: nothing is stored or taken any more
 * @wanted: a request found too little in the buddy while the depot held pages
 * @asked_at: jiffies when a request last found too little in the buddy
 * @kicked: jiffies when a hook last asked for a pass
 *
 * Any hook may write the last five, with one store each; a pass clears @wanted.
 */
struct zonelock_zone {
	struct depot depot;
	struct zonelock_chunk *chunks;
	atomic_t returning;
	unsigned long took;
	unsigned long reckoned;
	unsigned long closed_at ____cacheline_aligned_in_smp;
	bool broken;
	bool wanted;
	unsigned long asked_at;
	unsigned long kicked;
};

/**
 * struct zonelock_state - the policy while it is on
 * @zones: indexed by lmm_zone_slot()
 * @max_tenths: share of a zone that its depot may hold, in tenths of a percent
 * @max_age: jiffies that a batch may stay
 * @shard_of: shard of each CPU in every depot
 * @nr_shards: shards of every depot
 * @topup: refills cannot be hooked, so lists are filled before an allocation
 * @ticking: 1 while a pass is queued or about to be
 * @worker: gives pages back; its pass is queued while any depot is used
 *
 * Hooks read the knobs without a lock.
 */
struct zonelock_state {
	struct zonelock_zone *zones;
	u32 max_tenths;
	unsigned long max_age;
	u16 *shard_of;
	unsigned int nr_shards;
	bool topup;
	atomic_t ticking;
	struct lmm_worker worker;
};

extern struct zonelock_state zonelock;

static inline struct zonelock_zone *zonelock_of(const struct zone *zone)
{
	return &zonelock.zones[lmm_zone_slot(zone)];
}

void zonelock_view(struct zone *zone, const struct zonelock_zone *zz, struct depot_view *view);
void zonelock_close(struct zone *zone);

/* Pages that CPUs take of a depot in max_age. */
static inline unsigned long zonelock_took(const struct zonelock_zone *zz)
{
	return READ_ONCE(zz->took) + atomic_long_read(&zz->depot.taken);
}

long zonelock_return_zone(struct zone *zone, enum depot_reason reason);
void zonelock_return_now(struct zone *zone, unsigned int most);
void zonelock_pass(struct work_struct *work);
int zonelock_oom(struct notifier_block *nb, unsigned long unused, void *parm);

void zonelock_on_refill_stock(struct lmm_refill *refill);
void zonelock_on_refill_split(struct lmm_refill *refill);
void zonelock_on_drain_store(struct lmm_drain *drain);
void zonelock_on_request(struct zone *zone, unsigned int order, int migratetype);
void zonelock_give_soon(struct zone *zone);
void zonelock_want(struct zone *zone);
void zonelock_on_zone_lacks(struct zone *zone, unsigned int order, bool huge);
void zonelock_on_page_breaks(unsigned long pfn);

bool zonelock_on_give_back(struct lmm_klp_return *part);

#endif /* LIVEMM_POLICY_ZONELOCK_STATE_H */
